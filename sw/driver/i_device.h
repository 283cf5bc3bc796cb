// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sw/core/balance.h"
#include "sw/core/counters.h"
#include "sw/core/kernel.h"
#include "sw/core/machine.h"
#include "sw/core/profile.h"
#include "sw/core/share.h"
#include "sw/core/units.h"
#include "sw/scheduler/i_scheduler.h"
#include "sw/workload/i_instruction_source.h"
#include "sw/workload/persistent_source.h"

namespace sluice {

/// Which implementation of the partition hardware decides in Dynamic mode.
enum class PartitionerKind { Twin, Rtl, Both };

[[nodiscard]] std::string_view to_string(PartitionerKind kind);  ///< "twin", "rtl", "both"

class SluiceDriver;

/// Something the host does at a time of its own: evict, resume, change quotas, masks or the mode. Kernel slots are taken from 0
/// on, in order of arrival.
struct HostAction {
  Cycles at;
  std::function<void(SluiceDriver&)> act;
};

/// One kernel of a run.
struct KernelLaunch {
  KernelDescriptor kernel;
  std::uint64_t target_warp_instructions =
      0;                               ///< the kernel is halted and its CTAs released here; 0 = runs to the end of the window
  Cycles arrival;                      ///< 0 = at once
  std::optional<std::size_t> after{};  ///< arrives when this launch (of the same stream) is over, but not before `arrival`
  Cycles delay{};                      ///< with `after`: so long after its end
  /// Its instructions; empty = synthetic, from kernel.behaviour. Called once, in the process that runs the model.
  std::function<std::unique_ptr<IInstructionSource>()> make_source{};
  bool once = false;          ///< over when its grid is done; otherwise the grid is launched again and again
  std::int32_t priority = 0;  ///< larger is more important; for schedulers that look at it
};

/// One simulation. Equal specs give bit-identical results.
struct RunSpec {
  MachineConfig machine;
  std::vector<KernelLaunch> launches;
  /// Who decides what each launch may hold: job k is launch k. Called in the process that runs the model; empty: Left-Over.
  MakeScheduler make_scheduler;
  /// Kernels are preempted by software: each launch, which must be `once`, runs as persistent CTAs. Empty: by the partition unit.
  std::optional<SoftwarePreemption> software{};
  std::vector<HostAction> actions;       ///< in order of time; by the model only
  std::vector<std::size_t> until_one{};  ///< the run is over when one of these launches is
  Cycles window;  ///< at most so many; 0 = no bound. Ends before it once every kernel with a target has reached it
  PartitionerKind partitioner = PartitionerKind::Twin;
  /// Of long grids one CTA of so many is simulated, and the result is an estimate of the whole (sw/workload/sampled_source.h);
  /// 1: all. Every launch must be `once`.
  std::uint32_t sample = 1;
  /// Kernel slots of the partition unit, 2..8 (RTL: 4); 0: 4, or 8 where more than four launches may be there at once.
  std::uint32_t kernel_slots = 0;
  std::uint64_t seed = 1;
  bool check_protocol = false;          ///< puts a TLM-2.0 protocol checker on every memory socket; a violation ends the run
  std::filesystem::path fst_file;       ///< waveform of the partition core (Rtl only); empty = none
  std::filesystem::path timeline_file;  ///< Chrome trace of the CTAs on every SM; empty = none
};

/// What a decision rests on. NoFit, NoProfile and LossGuard fall back to Spatial.
enum class DecisionReason : std::uint8_t {
  WaterFilling,
  LossGuard,     ///< a kernel would lose more than loss_limit / K of its best
  NoFit,         ///< one CTA of each kernel does not fit an SM together
  NoProfile,     ///< a kernel has no clean sample
  Measured,      ///< the best of the partitions that were measured (Balance)
  NotWorth,      ///< none of them was worth sharing: kernels run in order (Balance)
  FloorsMissed,  ///< none of them keeps every kernel's floor: the nearest (Balance)
};

/// "water_filling", "loss_guard", "no_fit", "no_profile", "measured", "not_worth", "floors_missed".
[[nodiscard]] std::string_view reason_name(DecisionReason reason);

/// One decision of the partition sequencer.
struct Decision {
  Cycles sampled_at, decided_at;  ///< end of the profile window; quotas valid
  std::vector<KernelId> kernels;  ///< who took part
  std::vector<Profile> profiles;  ///< scaled IPC per kernel, 1..N CTAs (one SM)
  Partition partition;
  std::vector<ProfileSample> samples{};  ///< in order of time; `kernel` as in `kernels`. Empty where the device keeps none
  DecisionReason reason = DecisionReason::WaterFilling;
  BalanceReport balance{};  ///< of mode Balance
};

/// What the host did.
struct HostRecord {
  std::vector<std::uint64_t> evictions;  ///< of each launch: it left with CTAs left to run
  std::vector<std::uint64_t> began{};    ///< cycle in which the first CTA of each launch began; 0 where none did
  std::vector<std::vector<std::uint64_t>> eviction_cycles;  ///< of each of these: from the order until the host knows it is gone
  std::uint64_t pcie_reads = 0;                             ///< of host memory, by all kernels
  std::uint64_t decisions = 0;                              ///< calls of the scheduler
};

/// What a sampled launch's figures rest on.
struct Sampled {
  std::uint64_t ctas = 0;  ///< simulated; 0: all
  double interval = 0;     ///< half of that of the cycle in which it ended
};

struct RunResult {
  Cycles cycles;                        ///< until the last target was reached (or the window ended)
  std::vector<KernelCounters> kernels;  ///< in launch order
  KernelCounters total;
  StallCycles stalls;
  /// In launch order: the same SM cycles by what most of that kernel's warps on the SM waited for; idle: it had none there.
  std::vector<StallCycles> kernel_stalls;
  std::vector<SmCounters> sms;
  std::uint64_t sm_cycles = 0;  ///< cycles * SMs: the denominator of stalls and utilisations
  std::uint64_t threads_resident = 0, registers_resident = 0, shared_bytes_resident = 0;  ///< resource-cycles, summed over SMs
  std::vector<Decision> decisions;
  HostRecord host;
  std::map<std::string, std::uint64_t> unknown_opcodes;  ///< of traces: name, instructions that had it
  std::vector<Sampled> sampled;                          ///< in launch order; empty: RunSpec::sample is 1
};

/// Anything that can run a mix: the SystemC model, later a real GPU.
class IDevice {
 public:
  virtual ~IDevice() = default;
  /// @throws InputError when the spec can't run on this device (a CTA that does not fit, no kernel, quota 0 for all)
  virtual RunResult run(const RunSpec& spec) = 0;
};

}  // namespace sluice
