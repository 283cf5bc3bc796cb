// SPDX-License-Identifier: Apache-2.0
// Copies that the host waits for. The driver waits within them under a lock that keeps other threads out of it (seen with
// registered memory, driver 580): with a launch asleep before them, the order that wakes it would never be sent. So the wait is
// done before.
#include "sw/interpose/hooks.h"
#include "sw/interpose/program.h"

namespace sluice::interpose {

namespace {

template <Symbol Own, bool PerThread, class Function>
struct Copy;
template <Symbol Own, bool PerThread, class... Arguments>
struct Copy<Own, PerThread, CUresult(Arguments...)> {
  static CUresult call(Arguments... arguments) {
    Program::instance().wait_for_launches(PerThread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY);
    return real<CUresult(Arguments...)>(Own)(arguments...);
  }
};

}  // namespace

void* copy_hook(Symbol symbol) {
  switch (symbol) {
    case kcuMemcpy: return address(Copy<kcuMemcpy, false, decltype(cuMemcpy)>::call);
    case kcuMemcpyDtoH_v2: return address(Copy<kcuMemcpyDtoH_v2, false, decltype(cuMemcpyDtoH_v2)>::call);
    case kcuMemcpyHtoD_v2: return address(Copy<kcuMemcpyHtoD_v2, false, decltype(cuMemcpyHtoD_v2)>::call);
    case kcuMemcpyDtoD_v2: return address(Copy<kcuMemcpyDtoD_v2, false, decltype(cuMemcpyDtoD_v2)>::call);
    case kcuMemcpy2D_v2: return address(Copy<kcuMemcpy2D_v2, false, decltype(cuMemcpy2D_v2)>::call);
    case kcuMemcpy2DUnaligned_v2: return address(Copy<kcuMemcpy2DUnaligned_v2, false, decltype(cuMemcpy2DUnaligned_v2)>::call);
    case kcuMemcpy3D_v2: return address(Copy<kcuMemcpy3D_v2, false, decltype(cuMemcpy3D_v2)>::call);
    case kcuMemcpy_ptds: return address(Copy<kcuMemcpy_ptds, true, decltype(cuMemcpy)>::call);
    case kcuMemcpyDtoH_v2_ptds: return address(Copy<kcuMemcpyDtoH_v2_ptds, true, decltype(cuMemcpyDtoH_v2)>::call);
    case kcuMemcpyHtoD_v2_ptds: return address(Copy<kcuMemcpyHtoD_v2_ptds, true, decltype(cuMemcpyHtoD_v2)>::call);
    case kcuMemcpyDtoD_v2_ptds: return address(Copy<kcuMemcpyDtoD_v2_ptds, true, decltype(cuMemcpyDtoD_v2)>::call);
    case kcuMemcpy2D_v2_ptds: return address(Copy<kcuMemcpy2D_v2_ptds, true, decltype(cuMemcpy2D_v2)>::call);
    case kcuMemcpy2DUnaligned_v2_ptds:
      return address(Copy<kcuMemcpy2DUnaligned_v2_ptds, true, decltype(cuMemcpy2DUnaligned_v2)>::call);
    case kcuMemcpy3D_v2_ptds: return address(Copy<kcuMemcpy3D_v2_ptds, true, decltype(cuMemcpy3D_v2)>::call);
    default: return nullptr;
  }
}

}  // namespace sluice::interpose
