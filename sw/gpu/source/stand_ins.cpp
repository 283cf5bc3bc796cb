// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/source/stand_ins.h"

namespace sluice::gpu {

namespace {

constexpr const char* kNothing = "#pragma once\n";
constexpr const char* kAssert = R"(
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
extern "C" __device__ void __assertfail(const char*, const char*, unsigned, const char*, decltype(sizeof 0));
#define assert(condition) ((condition) ? (void)0 : __assertfail(#condition, __FILE__, __LINE__, "", 1))
#endif
)";
constexpr const char* kIntegers = R"(#pragma once
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned uint32_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
#define INT32_MAX 2147483647
#define INT32_MIN (-INT32_MAX - 1)
#define UINT32_MAX 4294967295U
#define INT64_MAX 9223372036854775807L
#define INT64_MIN (-INT64_MAX - 1)
#define UINT64_MAX 18446744073709551615UL
)";
constexpr const char* kSizes = R"(#pragma once
typedef decltype(sizeof 0) size_t;
typedef long ptrdiff_t;
#ifndef NULL
#define NULL 0
#endif
)";
constexpr const char* kLimits = R"(#pragma once
#define CHAR_BIT 8
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295U
#define LONG_MAX 9223372036854775807L
#define LONG_MIN (-LONG_MAX - 1)
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MAX 9223372036854775807LL
#define ULLONG_MAX 18446744073709551615ULL
)";
constexpr const char* kFloats = R"(#pragma once
#define FLT_MAX 3.402823466e+38F
#define FLT_MIN 1.175494351e-38F
#define FLT_EPSILON 1.192092896e-07F
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-016
)";
constexpr const char* kMathematics = R"(#pragma once
#ifndef M_PI
#define M_PI 3.14159265358979323846
#define M_E 2.7182818284590452354
#define M_SQRT2 1.41421356237309504880
#define M_LN2 0.69314718055994530942
#endif
)";

constexpr StandIn kStandIns[] = {{"stdio.h", kNothing},
                                 {"cstdio", kNothing},
                                 {"string.h", kSizes},
                                 {"cstring", kSizes},
                                 {"stdlib.h", kSizes},
                                 {"cstdlib", kSizes},
                                 {"stddef.h", kSizes},
                                 {"cstddef", kSizes},
                                 {"stdint.h", kIntegers},
                                 {"cstdint", kIntegers},
                                 {"inttypes.h", kIntegers},
                                 {"limits.h", kLimits},
                                 {"climits", kLimits},
                                 {"float.h", kFloats},
                                 {"cfloat", kFloats},
                                 {"math.h", kMathematics},
                                 {"cmath", kMathematics},
                                 {"assert.h", kAssert},
                                 {"cassert", kAssert},
                                 {"time.h", kNothing},
                                 {"stdbool.h", kNothing},
                                 {"sys/time.h", kNothing},
                                 {"unistd.h", kNothing},
                                 {"iostream", kNothing},
                                 {"cuda.h", kNothing},
                                 {"cuda_runtime.h", kNothing},
                                 {"cuda_runtime_api.h", kNothing},
                                 {"device_launch_parameters.h", kNothing},
                                 {"device_functions.h", kNothing}};

}  // namespace

std::span<const StandIn> stand_ins() { return kStandIns; }

}  // namespace sluice::gpu
