// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/compile.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "sw/interpose/code.h"
#include "sw/interpose/table.h"
#include "sw/interpose/threads.h"

namespace sluice::interpose {

namespace {

constexpr unsigned kThreads = 4;

struct Queue {
  std::mutex lock;
  std::condition_variable moved;
  std::deque<std::pair<const void*, std::function<void()>>> work;
  unsigned running = 0;            ///< threads
  unsigned linking = 0;            ///< threads in the driver's linker
  bool ending = false;             ///< the process: the driver's linker is left alone
  std::atomic<pid_t> process = 0;  ///< whose threads they are: a forked child has none
};
Queue g_queue;  // made with the library: the process's end makes nothing
Queue& queue() { return g_queue; }

void run_queue() {
  Queue& q = queue();
  std::unique_lock held(q.lock);
  while (!q.ending && !q.work.empty()) {
    const std::function<void()> work = std::move(q.work.front().second);
    q.work.pop_front();
    held.unlock();
    work();
    held.lock();
  }
  --q.running;
}

std::vector<char> linked(const std::string& ptx) {
  std::array<char, 2048> log{};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  CUlinkState link = nullptr;
  if (SLUICE_REAL(cuLinkCreate_v2)(2, options, values, &link) != CUDA_SUCCESS)
    throw std::runtime_error("the driver's linker does not start");
  void* cubin = nullptr;
  std::size_t bytes = 0;
  CUresult result = SLUICE_REAL(cuLinkAddData_v2)(link, CU_JIT_INPUT_PTX, const_cast<char*>(ptx.c_str()), ptx.size() + 1,
                                                  "sluice", 0, nullptr, nullptr);
  if (result == CUDA_SUCCESS) result = SLUICE_REAL(cuLinkComplete)(link, &cubin, &bytes);
  std::vector<char> out;
  if (result == CUDA_SUCCESS) out.assign(static_cast<char*>(cubin), static_cast<char*>(cubin) + bytes);
  SLUICE_REAL(cuLinkDestroy)(link);
  if (result != CUDA_SUCCESS) throw std::runtime_error(log[0] != 0 ? log.data() : "the driver does not assemble it");
  return out;
}

/// The driver loads its compiler at the first use. What is registered for the process's end before that runs after the compiler
/// is gone; so the compiler is loaded here, and the end waits for what it still does.
void end_before_the_compiler() {
  static const bool once = [] {
    try {
      const SomeContext context;
      static_cast<void>(linked(".version 7.0\n.target sm_80\n.address_size 64\n"));
    } catch (const std::exception&) {
      return false;  // no code will be compiled then
    }
    return std::atexit(finish_compiling) == 0;
  }();
  static_cast<void>(once);
}

thread_local bool links_here = false;

/// While it lives, the process does not end, unless by this thread, in a signal's handler.
class Linking {
 public:
  Linking() {
    const std::scoped_lock held(queue().lock);
    if (queue().ending) throw std::runtime_error("the process ends");
    queue().process = ::getpid();
    ++queue().linking;
    links_here = true;
  }
  ~Linking() {
    const std::scoped_lock held(queue().lock);
    --queue().linking;
    links_here = false;
    queue().moved.notify_all();
  }
  Linking(const Linking&) = delete;
  Linking& operator=(const Linking&) = delete;
};

}  // namespace

SomeContext::SomeContext() {
  CUcontext context = nullptr;
  if (SLUICE_REAL(cuCtxGetCurrent)(&context) == CUDA_SUCCESS && context != nullptr) return;
  static const CUcontext primary = [] {
    CUcontext made = nullptr;
    CUdevice device = 0;
    if (SLUICE_REAL(cuDeviceGet)(&device, 0) != CUDA_SUCCESS) return made;
    return SLUICE_REAL(cuDevicePrimaryCtxRetain)(&made, device) == CUDA_SUCCESS ? made : nullptr;
  }();
  pushed_ = primary != nullptr && SLUICE_REAL(cuCtxPushCurrent_v2)(primary) == CUDA_SUCCESS;
}
SomeContext::~SomeContext() {
  CUcontext gone = nullptr;
  if (pushed_) SLUICE_REAL(cuCtxPopCurrent_v2)(&gone);
}

Code made_by_driver(const std::string& ptx, bool variables, unsigned registers) {
  const Linking now;
  end_before_the_compiler();
  const SomeContext context;
  return made(ptx, variables, registers, linked);
}

void compile_later(const void* what, std::function<void()> work) {
  Queue& q = queue();
  const std::scoped_lock held(q.lock);
  q.work.emplace_back(what, std::move(work));
  if (q.process != ::getpid()) q.running = 0;  // a forked child
  if (q.running == kThreads) return;
  start_thread(run_queue);
  ++q.running;
  q.process = ::getpid();
}

void compile_next(const void* what) {
  Queue& q = queue();
  const std::scoped_lock held(q.lock);
  std::ranges::stable_partition(q.work, [&](const auto& w) { return w.first == what; });
}

void finish_compiling() {
  Queue& q = queue();
  if (q.process != ::getpid()) return;
  std::unique_lock held = lock_at_exit(q.lock);
  if (!held.owns_lock() || links_here) return;
  q.ending = true;
  q.moved.wait(held, [&] { return q.linking == 0; });
}

}  // namespace sluice::interpose
