// SPDX-License-Identifier: Apache-2.0
#pragma once
// The driver's linker, and threads for what takes long.
#include <functional>
#include <string>

#include "sw/interpose/module_code.h"

namespace sluice::interpose {

class Cache;
[[nodiscard]] const Cache& user_cache();

/// A context for the driver's linker, where the thread has none: the first GPU's own, kept until the process ends.
class SomeContext {
 public:
  SomeContext();
  ~SomeContext();
  SomeContext(const SomeContext&) = delete;
  SomeContext& operator=(const SomeContext&) = delete;

 private:
  bool pushed_ = false;
};

/// A module's code by the driver's linker. @param registers  of a thread of the program's own kernel; 0: not known
/// @throws std::runtime_error as the process ends
[[nodiscard]] Code made_by_driver(const std::string& ptx, bool variables, unsigned registers);

/// Runs `work` in one of a few threads of ours. @param what  it makes
void compile_later(const void* what, std::function<void()> work);
/// Somebody waits for it.
void compile_next(const void* what);

}  // namespace sluice::interpose
