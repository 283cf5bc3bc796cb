// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the parts of the probe share.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                    \
  do {                                                                                                 \
    const auto status = (call);                                                                        \
    if (static_cast<int>(status) != 0) {                                                               \
      std::printf("%s:%d: %s = %d\n", __FILE__, __LINE__, #call, static_cast<int>(status));            \
      std::exit(1);                                                                                    \
    }                                                                                                  \
  } while (false)

inline double us_since(std::chrono::steady_clock::time_point t) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - t).count();
}
int check();                               // check.cu
int node();
int requota(const char* path, int rounds);  // requota.cu
