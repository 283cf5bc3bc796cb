// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the interposer has of its own in a context: streams, staging memory, words in host memory that the GPU writes.
#include <cuda.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <vector>

#include "sw/interpose/shares.h"

namespace sluice::interpose {

/// Calls of the driver by the interposer's own: allowed while another thread captures a stream.
class Relaxed {
 public:
  Relaxed();
  ~Relaxed();
  Relaxed(const Relaxed&) = delete;
  Relaxed& operator=(const Relaxed&) = delete;

 private:
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

using ContextId = unsigned long long;                      ///< the driver's: never used again in the process
[[nodiscard]] std::optional<ContextId> current_context();  ///< nothing: none is current
[[nodiscard]] GpuNumber current_gpu();                     ///< of the current context; 0: none is, or there is one GPU
[[nodiscard]] CUcontext primary_of(CUdevice device);       ///< the device's own context; null: none is active
[[nodiscard]] CUcontext context_of(CUstream stream);       ///< null: of the current one, or the driver does not say

/// While it lives, the context is current. Null: the one that is.
class InContext {
 public:
  explicit InContext(CUcontext context);
  ~InContext();
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;

 private:
  bool pushed_ = false;
};

/// An event that ends with its last user.
using Event = std::shared_ptr<std::remove_pointer_t<CUevent>>;

/// Channels of the process to the GPU, which its streams share: CUDA_DEVICE_MAX_CONNECTIONS.
[[nodiscard]] std::size_t channels_of_process();

/// A word in host memory that a lane's GPU code writes (SluiceControl.told).
struct Notice {
  volatile std::uint64_t* word = nullptr;
  CUdeviceptr device = 0;
  std::shared_ptr<void> memory;
};

/// Of one context. It must be current in every call, and no two calls at a time, but for those that say so.
class ContextState {
 public:
  /// Of the current context. @return null where the driver refuses
  [[nodiscard]] static std::shared_ptr<ContextState> make();
  [[nodiscard]] CUcontext context() const { return context_; }
  [[nodiscard]] ContextId id() const { return id_; }
  [[nodiscard]] GpuNumber gpu() const { return gpu_; }
  /// @return false: it was reset by a way that no hook sees, and its address is another context's
  [[nodiscard]] bool is_there() const;
  [[nodiscard]] bool enter() const;  ///< makes it current, where it is there
  /// A launch of it has failed, as every call of the driver says from then on: nothing of it is on the GPU any more.
  [[nodiscard]] bool has_failed() const;
  void ends() { *lives_ = false; }                  ///< the context: the driver has nothing of it any more
  [[nodiscard]] Event event(unsigned flags) const;  ///< null: the driver refuses
  [[nodiscard]] const DeviceShape& shape() const { return shape_; }
  /// Copies, and waits until it is there, by another channel where the first is held up. At most 2 KB.
  [[nodiscard]] bool write(CUdeviceptr to, const void* from, std::size_t bytes);
  [[nodiscard]] bool read(void* to, CUdeviceptr from, std::size_t bytes);
  /// Begins to copy so many bytes from each place, and does not wait: copies to the host come behind all that the program has
  /// there. One such look at a time. @return of how many places, from the first on; 0: one is under way, or refused
  [[nodiscard]] std::size_t look(const std::vector<CUdeviceptr>& from, std::size_t bytes);
  [[nodiscard]] bool looks() const { return looking_; }  ///< one is under way
  /// What it has seen, places behind each other, until the next look. @return null: it has not come, or never will
  [[nodiscard]] const std::byte* seen();
  /// Copies, and does not wait: what is in the stream of copies behind it comes later.
  [[nodiscard]] bool order(CUdeviceptr to, const void* from, std::size_t bytes);
  /// Copies that were held up may have brought orders that were old, or none: all have to be sent again.
  [[nodiscard]] bool orders_are_lost();
  [[nodiscard]] bool orders_have_come() const;  ///< all of them
  void make_later_streams();  ///< and that of looks. Once; apart from make(), as the program's first launch waits for that
  [[nodiscard]] CUstream idle_stream();  ///< of those for later grids; null: none
  // From any thread at any time:
  /// `count` streams for copies and as many for later grids, those made before included. A stream that is made beyond the
  /// channels is not there before what sleeps in them has ended: to be called while nothing of this context sleeps, or by a
  /// thread that may wait. Without a lock.
  void make_spares(std::mutex& lock, std::size_t count);
  [[nodiscard]] bool has_spares() const { return spares_ > 0; }
  /// Device memory, zero but for a pointer at `at`. @return 0: there is none
  [[nodiscard]] CUdeviceptr zeroed(std::size_t bytes, std::size_t at, CUdeviceptr pointer);
  [[nodiscard]] Notice told();  ///< word 0: there is none
  [[nodiscard]] static DeviceShape shape_of_current();

 private:
  /// Streams share the process's channels, and a channel waits for what is behind a launch in one of them.
  struct Copies {
    CUstream stream = nullptr;
    std::shared_ptr<void> staging;
    std::size_t next_order = 0;
  };
  [[nodiscard]] bool make_copies(Copies& copies);
  void add_words(const std::shared_ptr<void>& memory, std::size_t at);  ///< @pre free_lock_ is held
  [[nodiscard]] bool through_some_channel(const std::function<bool()>& copy);
  void take_back();
  CUcontext context_ = nullptr;
  ContextId id_ = 0;
  GpuNumber gpu_ = current_gpu();
  std::shared_ptr<bool> lives_ = std::make_shared<bool>(true);  ///< also of its events
  DeviceShape shape_;
  Copies copies_, looks_;
  std::vector<Copies> held_up_, passable_;
  std::byte* seen_ = nullptr;   ///< where the look's copies go
  void* many_ = nullptr;        ///< staging memory for many places at a time
  CUstream many_in_ = nullptr;  ///< that wrote there last
  bool looking_ = false;
  std::chrono::steady_clock::time_point looking_since_;
  bool lost_orders_ = false;
  std::atomic<std::size_t> spares_ = 0;
  CUstream setup_ = nullptr;
  std::mutex free_lock_;
  std::vector<CUstream> later_;
  std::vector<Notice> free_;
  bool later_tried_ = false;
};

}  // namespace sluice::interpose
