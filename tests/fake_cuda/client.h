// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the programs share that use the driver for tests. They look for its functions as CUDA's runtime does.
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace sluice::fake_client {

/// A function of the driver. `name` is the symbol that cuda.h makes of it.
template <class Function>
Function* of_driver(Function* /*type*/, const char* name) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) std::exit(100);
  return reinterpret_cast<Function*>(dlsym(driver, name));
}
#define CU_SYMBOL(NAME) #NAME
#define CU_NAME(NAME) CU_SYMBOL(NAME)
#define CU(NAME)                                                                                            \
  ([] {                                                                                                     \
    static auto* const cu_found = sluice::fake_client::of_driver(decltype (&NAME)(nullptr), CU_NAME(NAME)); \
    return cu_found;                                                                                        \
  }())

inline int wrong = 0;  ///< calls
inline void expect(bool good, const char* what) {
  if (!good) std::printf("wrong: %s\n", what);
  wrong += good ? 0 : 1;
}
inline bool good(CUresult result) { return result == CUDA_SUCCESS; }
/// A graph's node: so many CTAs of 64 threads.
inline CUDA_KERNEL_NODE_PARAMS node_of(CUfunction k, unsigned ctas, void** arguments) {
  CUDA_KERNEL_NODE_PARAMS node{};
  node.func = k;
  node.gridDimX = ctas;
  node.gridDimY = node.gridDimZ = node.blockDimY = node.blockDimZ = 1;
  node.blockDimX = 64;
  node.kernelParams = arguments;
  return node;
}

}  // namespace sluice::fake_client
