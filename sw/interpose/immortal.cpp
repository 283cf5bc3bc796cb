// SPDX-License-Identifier: Apache-2.0
// Objects with static storage of this library are never destroyed. Its threads work on while the process ends, and what a thread
// makes late would be destroyed first, before the end waits for that thread. The library stays until the process is gone.
#include <dlfcn.h>

// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" int __cxa_atexit(void (*function)(void*), void* object, void* library) {
  if (object != nullptr) return 0;  // a destructor; std::atexit has no object
  using Register = int (*)(void (*)(void*), void*, void*);
  const auto next = reinterpret_cast<Register>(::dlsym(RTLD_NEXT, "__cxa_atexit"));
  return next == nullptr ? -1 : next(function, object, library);
}
