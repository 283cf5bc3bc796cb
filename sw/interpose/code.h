// SPDX-License-Identifier: Apache-2.0
#pragma once
// The machine code that is loaded in place of a program's module.
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sw/interpose/module_code.h"

namespace sluice::interpose {

/// A module that is compiled by a thread, while the program's own runs.
class Later {
 public:
  [[nodiscard]] bool done() const;
  void wait_until(std::chrono::steady_clock::time_point end) const;
  [[nodiscard]] std::shared_ptr<const Code> code() const;  ///< @pre done. null: it failed
  [[nodiscard]] std::string why() const;                   ///< it failed
  void set(std::shared_ptr<const Code> code, std::string why = "");

 private:
  mutable std::mutex lock_;
  mutable std::condition_variable set_;
  bool done_ = false;
  std::shared_ptr<const Code> code_;
  std::string why_;
};

/// A module without variables: each kernel is compiled by the thread when it is first launched, and loaded beside the program's
/// module.
class Lazy {
 public:
  /// @param key  of the text, and of what decides about the code beside it
  Lazy(std::string ptx, std::string key) : ptx_(std::move(ptx)), key_(std::move(key)) {}
  /// @param registers  of a thread of the program's own kernel; 0: not known. The driver's linker, where it has to give us
  /// machine code, takes more than its loader does, and fewer CTAs would fit an SM
  /// @return what the kernel becomes, now or later. @pre there is a context, or a GPU to make one
  [[nodiscard]] std::shared_ptr<Later> kernel(const std::string& name, unsigned registers);

 private:
  std::mutex lock_;
  const std::string ptx_, key_;
  std::map<std::string, std::shared_ptr<Later>> kernels_;
};

/// What an image becomes: code, or code later, or a reason.
struct Prepared {
  std::shared_ptr<const Code> code;
  std::shared_ptr<Later> later;
  std::shared_ptr<Lazy> lazy;
  std::string why;
  std::uint64_t text = 0;  ///< of the PTX: a hash; 0: there is none
};
/// @param image  as cuModuleLoadData takes it: PTX, a fat binary, or a cubin whose PTX the cache has
[[nodiscard]] Prepared prepared(const void* image);
/// The PTX of an image for a device; empty: it has none. @throws InputError for a damaged fat binary
[[nodiscard]] std::string ptx_of(const void* image, unsigned sm);
[[nodiscard]] int driver_version();  ///< of the CUDA that the driver has, as 13000
[[nodiscard]] unsigned device_sm();  ///< of the current context's device, as 90; 0: there is none
/// At the process's end: waits for the driver's compiler, where it is at work, as it cannot be stopped and the process would
/// crash if it ran on while the driver ends. What is not begun is dropped.
void finish_compiling();

}  // namespace sluice::interpose
