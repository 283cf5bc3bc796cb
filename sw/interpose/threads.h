// SPDX-License-Identifier: Apache-2.0
#pragma once
// Threads of ours in a program that is not.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace sluice::interpose {

/// Until the process ends. The program's signals are the program's.
template <class Work>
void start_thread(Work work) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(std::move(work)).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// For what is done at the end: who calls exit() in a signal's handler may hold the lock itself, and never gives it up.
[[nodiscard]] inline std::unique_lock<std::mutex> lock_at_exit(std::mutex& lock) {
  std::unique_lock held(lock, std::try_to_lock);
  for (int ms = 0; ms < 200 && !held.owns_lock(); ++ms) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    static_cast<void>(held.try_lock());
  }
  return held;
}

/// What is done when the process ends, by a thread that has waited for it: who calls exit() in a signal's handler may have
/// stopped malloc or the driver in their middle. The end waits three seconds at most.
class LastWork {
 public:
  explicit LastWork(std::function<void()> work) : work_(std::move(work)) {
    start_thread([this] {
      asked_.wait(false);
      work_();
      done_ = true;
    });
  }
  void operator()() {
    if (process_ != ::getpid()) return work_();  // a forked child has no thread but its own
    asked_ = true;
    asked_.notify_one();
    for (int ms = 0; ms < 3000 && !done_; ++ms) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  const pid_t process_ = ::getpid();
  std::function<void()> work_;
  std::atomic<bool> asked_{false}, done_{false};
};

}  // namespace sluice::interpose
