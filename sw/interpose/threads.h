// SPDX-License-Identifier: Apache-2.0
#pragma once
// Threads of ours in a program that is not.
#include <pthread.h>

#include <chrono>
#include <csignal>
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

}  // namespace sluice::interpose
