// SPDX-License-Identifier: Apache-2.0
// Look-ups, and which functions are ours.
#include "sw/interpose/hooks.h"

#include <utility>

#include "sw/interpose/recorder.h"

namespace sluice::interpose {

namespace {

CUresult substituted(const char* name, int version, cuuint64_t flags, void** function) {
  void* const found = std::exchange(*function, nullptr);
  *function = substitute(name, version, flags, found);
  return found != nullptr && *function == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

using GetProcAddressV1 = CUresult(const char*, void**, int, cuuint64_t);
CUresult get_proc_address(const char* name, void** function, int version, cuuint64_t flags) {
  const CUresult result = real<GetProcAddressV1>(kcuGetProcAddress)(name, function, version, flags);
  return result == CUDA_SUCCESS && function != nullptr ? substituted(name, version, flags, function) : result;
}
CUresult get_proc_address_v2(const char* name, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  CUresult result = SLUICE_REAL(cuGetProcAddress_v2)(name, function, version, flags, status);
  if (result == CUDA_SUCCESS && function != nullptr) result = substituted(name, version, flags, function);
  if (result == CUDA_ERROR_NOT_FOUND && status != nullptr) *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return result;
}

}  // namespace

void* hook(Symbol symbol) {
  if (symbol == kcuGetProcAddress) return address(get_proc_address);
  if (symbol == kcuGetProcAddress_v2) return address(get_proc_address_v2);
  for (const auto of : {module_hook, launch_hook, memory_hook, wait_hook})
    if (void* ours = of(symbol)) return ours;
  return Recorder::instance() == nullptr ? graph_hook(symbol) : nullptr;  // graphs are not recorded
}

}  // namespace sluice::interpose
