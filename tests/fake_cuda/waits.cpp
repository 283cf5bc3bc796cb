// SPDX-License-Identifier: Apache-2.0
// Which calls of the driver for tests wait for the GPU, and keep others out of the driver meanwhile: as measured on an H100
// (results/h200/service/driver_waits_h100.jsonl).
#include <chrono>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "sw/interpose/threads.h"
#include "tests/fake_cuda/fake.h"

namespace sluice::fake {

namespace {

std::mutex g_driver, g_lock;

std::map<const char*, std::size_t>& allocated() {
  static auto* all = new std::map<const char*, std::size_t>;
  return *all;
}

}  // namespace

std::unique_lock<std::mutex> in_driver() { return std::unique_lock(g_driver); }

void wait_for_all() {
  const auto inside = in_driver();
  wait_for_streams();
}
void others_wait_for_all() {
  std::promise<void> inside;
  interpose::start_thread([&inside] {
    const auto held = in_driver();
    inside.set_value();
    wait_for_streams();
  });
  inside.get_future().wait();
}
void wait_for_room(CUstream stream) {
  constexpr std::size_t kRoom = 1000;
  while (open_in(stream) > kRoom) std::this_thread::sleep_for(std::chrono::microseconds(50));
}

void loads(Function& function, bool returns_at_once) {
  if (function.loaded.exchange(true)) return;
  returns_at_once ? others_wait_for_all() : wait_for_all();
}

void knows(const void* memory, std::size_t bytes) {
  const std::scoped_lock held(g_lock);
  allocated()[static_cast<const char*>(memory)] = bytes;
}
bool known(const void* at) {
  const std::scoped_lock held(g_lock);
  auto after = allocated().upper_bound(static_cast<const char*>(at));
  return after != allocated().begin() && static_cast<const char*>(at) < (--after)->first + after->second;
}

}  // namespace sluice::fake

using sluice::fake::Function;

extern "C" {
CUresult cuMemFree_v2(CUdeviceptr) { return sluice::fake::wait_for_all(), sluice::fake::error_of(nullptr); }
CUresult cuCtxResetPersistingL2Cache() { return sluice::fake::wait_for_all(), CUDA_SUCCESS; }
CUresult cuMemFreeHost(void*) { return sluice::fake::wait_for_all(), CUDA_SUCCESS; }
CUresult cuCtxSetLimit(CUlimit limit, std::size_t) {
  if (limit == CU_LIMIT_STACK_SIZE) sluice::fake::wait_for_all();
  return CUDA_SUCCESS;
}
CUresult cuLibraryGetModule(CUmodule* m, CUlibrary l) {
  sluice::fake::wait_for_all();
  return *m = reinterpret_cast<CUmodule>(l), CUDA_SUCCESS;
}
CUresult cuFuncLoad(CUfunction f) { return sluice::fake::loads(*reinterpret_cast<Function*>(f), true), CUDA_SUCCESS; }
CUresult cuKernelGetFunction(CUfunction* f, CUkernel k) {
  sluice::fake::loads(*reinterpret_cast<Function*>(k), false);
  return *f = reinterpret_cast<CUfunction>(k), CUDA_SUCCESS;
}
}
