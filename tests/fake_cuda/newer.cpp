// SPDX-License-Identifier: Apache-2.0
// A driver that is newer than the build: it launches in ways of its own, each a function that it exports or only gives out.
#include <dlfcn.h>

#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "tests/fake_cuda/fake.h"

namespace {
/// Of the driver for tests: the first of that name is the interposer's.
template <class Function>
Function* older(Function* /*type*/, const char* name) {
  return reinterpret_cast<Function*>(dlsym(dlopen("libfake_cuda.so.1", RTLD_NOW | RTLD_NOLOAD), name));
}
}  // namespace

extern "C" {
CUresult cuLaunchFuture(CUfunction f, void** parameters, CUstream stream) {
  return older(&cuLaunchKernel, "cuLaunchKernel")(f, 3, 1, 1, 64, 1, 1, 0, stream, parameters, nullptr);
}
CUresult cuFutureAsync(int number) { return number == 7 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; }
CUresult cuFutureAsync_ptsz(int number) { return cuFutureAsync(number); }
CUresult cuFutureQuery(int number) { return cuFutureAsync(number); }
}

namespace {
template <int number>
CUresult launch_later(CUfunction f, void** parameters, CUstream stream) {
  return cuLaunchFuture(f, parameters, stream);
}
template <int... numbers>
constexpr auto all(std::integer_sequence<int, numbers...> /*count*/) {
  return std::array{&launch_later<numbers>...};
}
}  // namespace

extern "C" CUresult cuGetProcAddress_v2(const char* name, void** function, int version, cuuint64_t flags,
                                        CUdriverProcAddressQueryResult* status) {
  constexpr auto kLater = all(std::make_integer_sequence<int, 20>{});
  *function = std::strcmp(name, "cuLaunchFuture") == 0  ? reinterpret_cast<void*>(&cuLaunchFuture)
              : std::strcmp(name, "cuFutureAsync") == 0 ? reinterpret_cast<void*>(&cuFutureAsync)
              : std::strcmp(name, "cuFutureQuery") == 0 ? reinterpret_cast<void*>(&cuFutureQuery)
                                                        : nullptr;
  for (std::size_t k = 0; k < kLater.size(); ++k)
    if (name == "cuLaunchLater" + std::to_string(k)) *function = reinterpret_cast<void*>(kLater[k]);
  if (*function != nullptr) return CUDA_SUCCESS;
  return older(&cuGetProcAddress_v2, "cuGetProcAddress_v2")(name, function, version, flags, status);
}
