// SPDX-License-Identifier: Apache-2.0
#pragma once
// The driver's linker, and a thread for what takes long.
#include <functional>
#include <string>
#include <vector>

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

/// PTX as machine code: by ptxas, else by the driver's linker. @throws std::runtime_error with the linker's words
[[nodiscard]] std::vector<char> assembled(const std::string& ptx);

/// Runs `work` in a thread of ours, one after the other.
void compile_later(std::function<void()> work);

}  // namespace sluice::interpose
