// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/code.h"

#include <fmt/format.h>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "sw/gpu/rewrite/ptx.h"
#include "sw/gpu/rewrite/transform.h"
#include "sw/interpose/cache.h"
#include "sw/interpose/compile.h"
#include "sw/interpose/compiler_process.h"
#include "sw/interpose/ptx_in_memory.h"
#include "sw/interpose/table.h"

namespace sluice::interpose {

namespace {

constexpr int kVersion = 11;              // of the transformation, beside the runtime's text
constexpr std::size_t kAtOnce = 100'000;  // bytes of PTX that a program waits for

unsigned sm_of(CUdevice device) {
  int major = 0, minor = 0;
  SLUICE_REAL(cuDeviceGetAttribute)(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  SLUICE_REAL(cuDeviceGetAttribute)(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  return static_cast<unsigned>(major * 10 + minor);
}

}  // namespace

unsigned device_sm() {
  CUdevice device = 0;
  return SLUICE_REAL(cuCtxGetDevice)(&device) == CUDA_SUCCESS ? sm_of(device) : 0;
}

int driver_version() {
  int version = 0;
  SLUICE_REAL(cuDriverGetVersion)(&version);
  return version;
}

std::string ptx_of(const void* image, unsigned sm) {
  if (const std::size_t bytes = elf_bytes(image); bytes > 0)
    return user_cache().load("ptx-" + digest({static_cast<const std::byte*>(image), bytes})).value_or("");
  return ptx_in_memory(image, sm);
}

const Cache& user_cache() {
  static const auto* cache = new Cache(Cache::of_user());
  return *cache;
}

bool Later::done() const {
  const std::scoped_lock held(lock_);
  return done_;
}
std::shared_ptr<const Code> Later::code() const {
  const std::scoped_lock held(lock_);
  return code_;
}
std::string Later::why() const {
  const std::scoped_lock held(lock_);
  return why_;
}
void Later::set(std::shared_ptr<const Code> code, std::string why) {
  const std::scoped_lock held(lock_);
  code_ = std::move(code);
  why_ = std::move(why);
  done_ = true;
  set_.notify_all();
}
void Later::wait_until(std::chrono::steady_clock::time_point end) const {
  compile_next(this);
  std::unique_lock held(lock_);
  set_.wait_until(held, end, [&] { return done_; });
}

namespace {

/// From the cache, or made now or in the background, and kept.
/// @param now  does not return before it is done
/// @param text       the PTX, where the cache does not have what `key` says
/// @param registers  of a thread of the program's own kernel; 0: not known
template <class Text>
std::shared_ptr<Later> compile(const std::string& key, const Text& text, bool variables, bool now, unsigned registers = 0) {
  auto later = std::make_shared<Later>();
  if (const auto kept = user_cache().load(key))
    if (auto code = unpacked(*kept)) {
      later->set(std::make_shared<const Code>(std::move(*code)));
      return later;
    }
  const auto make = [later, ptx = text(), key, variables, registers, sm = device_sm(), driver = driver_version()] {
    try {
      if (auto code = compiled_elsewhere(ptx, key, variables, registers, sm, driver)) {
        later->set(std::make_shared<const Code>(std::move(*code)));
        return;
      }
      auto code = std::make_shared<const Code>(made_by_driver(ptx, variables, registers));
      user_cache().store(key, packed(*code));
      later->set(std::move(code));
    } catch (const std::exception& e) {
      later->set(nullptr, e.what());
    }
  };
  if (now)
    make();
  else
    compile_later(later.get(), make);
  return later;
}

}  // namespace

std::shared_ptr<Later> Lazy::kernel(const std::string& name, unsigned registers) {
  if (registers > 0) registers = gpu::allotted(registers);
  const std::scoped_lock held(lock_);
  std::shared_ptr<Later>& later = kernels_[name];
  if (later != nullptr) return later;
  try {
    const auto text = [&] { return gpu::only_kernel(gpu::normalised(ptx_), name); };
    const std::string by = toolkit().ptxas.empty() ? "" : toolkit().stamp;
    const std::string key = fmt::format("code-{}-{}-{}-{}", key_, digest(std::string_view(name)).substr(0, 16), registers, by);
    later = compile(key, text, false, false, registers);
  } catch (const std::exception& e) {
    later = std::make_shared<Later>();
    later->set(nullptr, e.what());
  }
  return later;
}

Prepared prepared(const void* image) {
  Prepared out;
  try {
    const SomeContext context;
    const unsigned sm = device_sm();
    out.why = "the device is older than compute capability 9.0";
    if (sm < 90) return out;
    std::string ptx = ptx_of(image, sm);
    out.why = gpu::gate_row(gpu::GateRule::NoPtx).native;
    if (ptx.empty()) return out;
    const std::string version =
        fmt::format("-{}-{}-sm{}-{}", kVersion, digest(std::string_view(runtime_text())).substr(0, 8), sm, driver_version());
    out.why = gpu::gate_row(gpu::GateRule::Unreadable).native;
    const std::string of_text = digest(std::string_view(ptx)), key = of_text + version, plain = "plain-" + key;
    out.text = std::stoull(of_text.substr(0, 16), nullptr, 16);
    const bool known = user_cache().load(plain).has_value();
    if (known || !has_variables(gpu::normalised(ptx))) {
      if (!known) user_cache().store(plain, "");
      out.why = "it is being compiled";
      out.lazy = std::make_shared<Lazy>(ptx, key);
      return out;
    }
    int gpus = 0;
    SLUICE_REAL(cuDeviceGetCount)(&gpus);
    out.why = "GPUs of several kinds: its module has variables, and is loaded on each";
    for (CUdevice gpu = 0; gpu < gpus; ++gpu)
      if (sm_of(gpu) != sm) return out;
    out.later = compile(
        fmt::format("code-{}-{}", key, toolkit().stamp), [&] { return ptx; }, true, ptx.size() <= kAtOnce);
    out.why = "its module is being compiled in the background";
    if (!out.later->done()) return out;
    out.code = out.later->code();
    out.why = out.later->why();
    out.later = nullptr;
    if (out.code != nullptr && out.code->kernels.empty()) out.why = gpu::gate_row(gpu::GateRule::Unreadable).native;
  } catch (const std::exception& e) {
    out.why = e.what();
  }
  return out;
}

}  // namespace sluice::interpose
