#pragma once
#include <cstdint>
#include <systemc>
#include <vector>

#include "sw/core/machine.h"
#include "sw/device/i_device.h"
#include "systemc/partition/cta_dispatcher.h"
#include "systemc/partition/i_partition_core.h"
#include "systemc/sim_clock.h"

namespace sluice {

/// Warped-Slicer's process flow (figure 4): WARM_UP -> PROFILE -> SCALE -> ALLOCATE -> ENFORCE. The SMs are divided among the
/// kernels and run 1, 2, 3, ... CTAs of theirs from the start of the warm-up; a kernel with more levels than SMs takes several
/// windows. The samples go through the partition core (TLM or RTL) at one port cycle per core cycle; the SMs run on meanwhile.
/// A kernel that arrives or ends starts it again; a kernel that is alone gets every SM without profiling.
class PartitionSequencer : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(PartitionSequencer);
  PartitionSequencer(const sc_core::sc_module_name& name, const MachineConfig& machine, SimClock clock, CtaDispatcher& dispatcher,
                     IPartitionCore& core, const std::vector<RunningKernel>& kernels, std::vector<StreamingMultiprocessor*> sms);

  [[nodiscard]] const std::vector<Decision>& decisions() const { return decisions_; }

 private:
  /// What one SM does in one profile window: `ctas` CTAs of `kernel` (index into the present kernels); 0 = nothing.
  struct Level {
    std::uint32_t kernel = 0, ctas = 0;
    bool sampled = false;  ///< the first SM of its level in all windows; others repeat a level to keep the load up
  };
  struct LevelSample {
    std::uint32_t warp_instructions = 0, stall_cycles = 0, cta_sum = 0, num_samples = 0;
  };

  void run();                                         ///< SC_THREAD
  bool decide(const std::vector<KernelId>& present);  ///< false: interrupted by an arrival or an end
  [[nodiscard]] std::vector<std::vector<Level>> plan_windows(const std::vector<KernelId>& present) const;
  bool sleep(std::uint64_t cycles);  ///< false: kernels_changed came first
  void enforce(const std::vector<KernelId>& present, const std::vector<Level>& window);
  void enforce(const std::vector<KernelId>& present, const Partition& partition);
  /// Runs the core from start to done; nullopt-like false when interrupted.
  bool run_core(const std::vector<KernelId>& present, const std::vector<std::vector<LevelSample>>& samples,
                PartitionCoreOut& out);

  MachineConfig machine_;
  SimClock clock_;
  CtaDispatcher& dispatcher_;
  IPartitionCore& core_;
  const std::vector<RunningKernel>& kernels_;
  std::vector<StreamingMultiprocessor*> sms_;
  std::vector<Decision> decisions_;
  std::uint64_t seen_changes_ = 0;  ///< CtaDispatcher::changes() that the current decision is about
};

}  // namespace sluice
