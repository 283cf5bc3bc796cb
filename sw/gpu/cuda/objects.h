// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sw/gpu/cuda/driver.h"

namespace sluice::gpu {

/// Owns one driver object; `Release` gives it back on every path, errors included.
template <class Handle, void (*Release)(Handle)>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Handle handle) : handle_(handle) {}
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, Handle{})) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (handle_ != Handle{}) Release(handle_);
  }
  [[nodiscard]] Handle get() const { return handle_; }

 private:
  Handle handle_{};
};

inline void release_stream(CUstream s) { driver().cuStreamDestroy(s); }
inline void release_event(CUevent e) { driver().cuEventDestroy(e); }
inline void release_library(CUlibrary l) { driver().cuLibraryUnload(l); }
inline void release_device(CUdeviceptr p) { driver().cuMemFree(p); }
using StreamHandle = Owned<CUstream, release_stream>;
using EventHandle = Owned<CUevent, release_event>;
using LibraryHandle = Owned<CUlibrary, release_library>;
using DeviceMemory = Owned<CUdeviceptr, release_device>;

/// What a kernel's code needs of an SM, and what fits.
struct DeviceLimits {
  std::string name;
  int compute_major = 0, compute_minor = 0;
  unsigned sms = 0, threads_per_sm = 0, registers_per_sm = 0, shared_per_sm = 0, ctas_per_sm = 0;
  unsigned reserved_shared_per_cta = 0, shared_per_cta_optin = 0, l2_bytes = 0;
  int driver_version = 0;
  double core_mhz = 0;
  std::size_t memory_bytes = 0;
};

/// The GPU: its primary context, made current in the calling thread.
class Context {
 public:
  /// @throws GpuError when there is no such GPU, or it is older than compute capability 8.0
  explicit Context(int ordinal = 0);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  [[nodiscard]] const DeviceLimits& limits() const { return limits_; }
  [[nodiscard]] CUdevice device() const { return device_; }

 private:
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  DeviceLimits limits_;
};

[[nodiscard]] StreamHandle make_stream();
[[nodiscard]] EventHandle make_event();
/// Seconds between events around what `work` puts into the stream; waits for its end. @param label  for messages
[[nodiscard]] double timed(CUstream stream, const std::string& label, const std::function<void()>& work);
/// @throws GpuError saying how much was asked for and how much is free
[[nodiscard]] DeviceMemory allocate(std::size_t bytes, const std::string& what);

/// A loaded module, shared by its kernels.
using Library = std::shared_ptr<const LibraryHandle>;
/// @param name  how messages call it. @throws GpuError when the driver does not take the PTX
[[nodiscard]] Library load_library(const Context& context, const std::string& ptx, const std::string& name);

/// A loaded kernel and its resources.
class Kernel {
 public:
  Kernel() = default;
  /// @throws GpuError when the library has no such kernel
  Kernel(const Context& context, Library library, const std::string& name);
  /// @throws GpuError when the driver does not take the PTX, or it has no such kernel
  Kernel(const Context& context, const std::string& ptx, const std::string& name)
      : Kernel(context, load_library(context, ptx, name), name) {}
  [[nodiscard]] CUfunction function() const { return reinterpret_cast<CUfunction>(kernel_); }
  [[nodiscard]] CUlibrary library() const { return library_->get(); }
  [[nodiscard]] unsigned registers() const { return registers_; }          ///< per thread
  [[nodiscard]] unsigned static_shared() const { return static_shared_; }  ///< bytes
  [[nodiscard]] unsigned local_bytes() const { return local_; }            ///< per thread: stack and spills
  [[nodiscard]] unsigned max_threads() const { return max_threads_; }
  /// Sizes of the first `count` parameters, in order.
  [[nodiscard]] std::vector<std::size_t> parameter_sizes(std::size_t count) const;
  /// CTAs of this shape that fit an SM. @throws GpuError when not even one does
  [[nodiscard]] unsigned occupancy(unsigned threads, unsigned dynamic_shared) const;
  /// Allows the dynamic shared memory, and sets how much of the L1 is scratchpad: percent of the most, -1 = the driver's choice.
  void configure(unsigned dynamic_shared, int carveout_percent) const;

 private:
  Library library_;
  CUkernel kernel_ = nullptr;
  CUdevice device_ = 0;
  unsigned registers_ = 0, static_shared_ = 0, local_ = 0, max_threads_ = 0;
};

}  // namespace sluice::gpu
