// SPDX-License-Identifier: Apache-2.0
#include "systemc/sim/main_stack.h"

#ifdef __SANITIZE_ADDRESS__
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>

#include <cstddef>
#endif

namespace sluice {

void restore_main_stack_bounds() {
#ifdef __SANITIZE_ADDRESS__
  struct Bounds {
    void* bottom = nullptr;
    std::size_t size = 0;
  };
  static const Bounds main = [] {
    Bounds bounds;
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &bounds.bottom, &bounds.size);
    pthread_attr_destroy(&attributes);
    return bounds;
  }();
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, main.bottom, main.size);
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

}  // namespace sluice
