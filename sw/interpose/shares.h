// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who says what a program's launches hold, and who carries it out: the seam between the interposer and the service.
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sw/core/resources.h"
#include "sw/core/share.h"

namespace sluice::interpose {

/// What follows each other: a stream, or all graphs of a context. A number that is never used again in the process.
using LaneId = std::uint64_t;

/// A GPU, as the driver numbers them in this process.
using GpuNumber = int;

/// One CTA of a kernel as it is launched, and how it fits.
struct KernelDemand {
  std::string name;
  std::uint32_t threads = 0;    ///< of a CTA
  std::uint32_t registers = 0;  ///< of a CTA, as the device allots them
  std::uint32_t shared = 0;     ///< of a CTA, bytes, static and dynamic
  std::uint32_t fits = 0;       ///< CTAs on an SM that is empty
  std::uint64_t module = 0;     ///< of the text that the kernel is from: a hash
  bool operator==(const KernelDemand&) const = default;
};

struct DeviceShape {
  std::uint32_t sms = 0;
  SmResources sm;                          ///< of one
  std::array<std::uint8_t, 16> uuid = {};  ///< zeros: the driver does not say
  bool part = false;                       ///< an instance of a GPU that is divided (MIG): its SMs have any numbers
};

/// What became of a kernel's launches in one way.
struct CoverageLine {
  bool quota = false;  ///< else natively
  std::string kernel, reason;
  std::uint64_t launches = 0, gpu_ns = 0, module = 0;
  bool operator==(const CoverageLine&) const = default;
};

/// What a program has of the GPU's memory: bytes, but for `refused`, which counts allocations beyond the limit.
struct MemoryFigures {
  std::uint64_t limit = 0, used = 0, most = 0, refused = 0;  ///< limit 0: none
  bool operator==(const MemoryFigures&) const = default;
};

/// The interposer, as who decides sees it. Calls come from threads of who decides, never from inside a call of IShares.
class ILanes {
 public:
  virtual ~ILanes() = default;
  /// The share of the lane's launches from here on: those that run, and those that wait behind them. No CTAs: evicted.
  virtual void on_share(LaneId lane, const Share& share) = 0;
  /// Waits, without sleep and not for long, until these lanes have been reported as evicted, or do something else.
  virtual void await_leaving(std::span<const LaneId>) {}
  /// What was admitted to it, and has not ended, may be on the GPU.
  [[nodiscard]] virtual bool admitted_runs(GpuNumber) { return true; }
  virtual void look_at_admitted(GpuNumber) {}  ///< IShares::admitted_ended(), where what was admitted has ended
  /// Nobody decides there any more: every lane gets the whole GPU, launches to come run natively with IShares::native().
  virtual void on_gone(GpuNumber gpu) = 0;
  [[nodiscard]] virtual std::vector<CoverageLine> coverage(GpuNumber gpu) = 0;
  [[nodiscard]] virtual MemoryFigures memory(GpuNumber) { return {}; }
  [[nodiscard]] virtual bool has_failed(GpuNumber) { return false; }  ///< at the process's end: a context there
  [[nodiscard]] virtual DeviceShape device(GpuNumber gpu) = 0;
};

/// Decides for a GPU, or for all. Calls come with the interposer's lock held, or from its thread: they do not wait, and do not
/// call ILanes::on_share for the lane that they are about.
class IShares {
 public:
  virtual ~IShares() = default;
  /// A transformed launch enters the lane, or one of another kernel than the one told last has been in front for a moment.
  /// @param in_front  kernel of the launch in front; of a graph its largest
  /// @return what the lane's launches hold now
  [[nodiscard]] virtual Share launched(LaneId lane, const KernelDemand& in_front) = 0;
  /// The CTAs of shares are 32nds of an SM's: of as many as fit of each launch's kernel, at least one. Constant.
  [[nodiscard]] virtual bool in_parts() const { return false; }
  /// Launches that cannot be transformed wait for admit(), where the program's environment says nothing of it. Constant.
  [[nodiscard]] virtual bool holds() const { return false; }
  /// Such a launch wants to start. @return false: ask again soon
  [[nodiscard]] virtual bool admit(const std::string& kernel) = 0;
  virtual void admitted_ended() {}  ///< all that was admitted has ended
  /// Bytes of a GPU's memory that the program may allocate; 0: any. Constant.
  [[nodiscard]] virtual std::uint64_t memory_limit() const { return 0; }
  /// About each millisecond, of the launch in front. @param begun, done  blocks since the lane's first launch
  virtual void progress(LaneId /*lane*/, std::uint64_t /*begun*/, std::uint64_t /*done*/) {}
  virtual void evicted(LaneId) {}  ///< without a share, and the last CTA has left; blocks are left
  virtual void idle(LaneId) {}     ///< all launches of the lane have ended
  virtual void failed() {}         ///< the GPU's context has failed
  /// Shares may change: the interposer's thread watches the lanes and tells what happens there. Constant.
  [[nodiscard]] virtual bool changes() const = 0;
  /// What it measured, JSON; empty: nothing.
  [[nodiscard]] virtual std::string times_json() const { return ""; }
  /// Why nothing is transformed; empty: launches are. Constant until on_gone().
  [[nodiscard]] virtual std::string native() const = 0;
};

[[nodiscard]] bool service_decides();  ///< the environment says; for each GPU by itself
/// As the environment says, at the first launch that could be transformed: SLUICE_QUOTA, SLUICE_SMS, SLUICE_QUOTA_FILE, or the
/// service.
[[nodiscard]] std::unique_ptr<IShares> make_shares(ILanes& lanes, GpuNumber gpu);

/// `sluice serve` decides: SLUICE_SOCKET is where it listens, SLUICE_NAME and SLUICE_PRIORITY what it is told. Without a service,
/// or when it dies, launches run natively with one line on standard error; with SLUICE_REQUIRE_SERVICE the process ends with code
/// 2 at once. With SLUICE_SPIN a thread waits for the service without sleep while the program has launches.
[[nodiscard]] std::unique_ptr<IShares> service_shares(ILanes& lanes, GpuNumber gpu);

}  // namespace sluice::interpose
