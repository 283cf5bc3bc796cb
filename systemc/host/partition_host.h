// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <systemc>
#include <vector>

#include "sw/driver/i_device.h"
#include "sw/driver/sluice_driver.h"
#include "sw/scheduler/job_table.h"
#include "systemc/host/partition_unit.h"
#include "systemc/sim/sim_clock.h"

namespace sluice {

/// The host of the model, and an executor of schedulers: launches kernels, stops them when their target is met, asks the run's
/// scheduler, programs its shares as STATIC quotas and masks, and reads the unit's decisions, all through the driver and the
/// unit's register socket, in as many cycles as that takes, and in the times of the machine's `[host]` more.
///
/// Under a scheduler of mode Static a job has a kernel slot only while it holds SMs: with an empty share it is stopped, drains
/// and leaves; with a share again it takes a free slot, with the CTAs that are left. So there may be more jobs than slots. In
/// every other mode kernels are launched as they arrive and slots are free, and the unit shares the SMs.
///
/// A launch has as many CTAs as the job's task limit allows: it is a slice. When they have ended and the limit allows more, the
/// next slice is launched. A limit that falls below the CTAs of the slice stops it as an eviction does, but the job stays.
///
/// Under software preemption a job is launched as persistent CTAs, and told to leave by the flag in host memory that these poll.
/// That the last one is gone the host learns from the unit in both flavours.
///
/// Reports Arrived and Ready, LastTaskBegun, Evicted, Done, Profiled and Timer.
class PartitionHost : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(PartitionHost);
  PartitionHost(const sc_core::sc_module_name& name, const RunSpec& spec, SimClock clock, PartitionUnit& unit);

  TlmRegisterBus registers;

  [[nodiscard]] const std::vector<Decision>& decisions() const { return decisions_; }
  /// Will the unit profile those that are there, and decide?
  [[nodiscard]] bool undecided() const;
  [[nodiscard]] const HostRecord& record() const { return record_; }

 private:
  struct InSlot {
    KernelId kernel;
    unsigned slot;
  };

  void run();       ///< SC_THREAD
  void arrivals();  ///< SC_THREAD
  void alarms();    ///< SC_THREAD
  [[nodiscard]] bool action_due() const;
  void act(SluiceDriver& driver);
  [[nodiscard]] std::optional<unsigned> free_slot(const SluiceDriver& driver) const;
  [[nodiscard]] bool can_take_arrived(const SluiceDriver& driver) const;
  void take_arrived(SluiceDriver& driver);
  [[nodiscard]] std::uint64_t may_begin(KernelId kernel) const;  ///< CTAs in all, by grid and plan; kNoTaskLimit: without end
  /// Of what it may begin, what is left; of a grid without end, all; of persistent CTAs, as many as the machine holds.
  [[nodiscard]] std::uint32_t ctas_to_launch(KernelId kernel);
  void launch(SluiceDriver& driver, const std::vector<InSlot>& together);  ///< all in one cycle
  void stop(SluiceDriver& driver, InSlot job);                             ///< no CTA of it begins; those that have drain
  void leave(SluiceDriver& driver, InSlot job);
  void leave_between_slices(KernelId kernel);  ///< of a job that has no slot, or whose slice is being stopped
  void evicted(KernelId kernel);
  void left(std::uint32_t slots);   ///< a bit a slot: what they held has drained
  void obey(SluiceDriver& driver);  ///< puts the plan into force, as far as slots are free
  [[nodiscard]] bool has_slot(KernelId kernel) const;
  [[nodiscard]] bool waits_for_slot(const JobView& job) const;
  [[nodiscard]] const Share& share_of(KernelId kernel) const;
  void take_time(double microseconds);
  void tell_present();
  void stop_met(SluiceDriver& driver);
  void handle_interrupt(SluiceDriver& driver);
  void record_decision(SluiceDriver& driver);
  void record_balance(SluiceDriver& driver, const std::vector<CtaCount>& ctas, Decision& decision);
  /// A kernel's weight as the unit takes it.
  [[nodiscard]] std::uint32_t unit_weight(KernelId kernel) const;
  [[nodiscard]] Time now() const;
  [[nodiscard]] bool timer_due() const;
  void arrive(KernelId kernel);
  void decide(SluiceDriver& driver);  ///< asks the scheduler, and obeys
  void set_mode(SluiceDriver& driver, Mode mode);

  const RunSpec& spec_;
  SimClock clock_;
  PartitionUnit& unit_;
  std::unique_ptr<IScheduler> scheduler_;
  JobTable jobs_;  ///< job k is launch k
  Plan plan_;      ///< in force
  Mode mode_;      ///< of the unit: the scheduler's, or Balance while a plan of Static wants partitions measured
  std::optional<Time> wake_at_;
  std::vector<KernelId> arrived_;   ///< not launched yet
  std::vector<InSlot> present_;     ///< oldest first
  std::vector<InSlot> leaving_;     ///< stopped, their CTAs still there
  std::uint32_t slots_in_use_ = 0;  ///< a bit a slot: launched, and its KERNEL_DONE not seen
  sc_core::sc_event arrival_, alarm_, timer_;
  std::map<std::int32_t, std::uint32_t> priorities_;  ///< of the unit, by a launch's; where it has the option
  std::vector<std::uint64_t> slice_ends_;  ///< of each kernel: its CTAs begun when its last launch has begun all of its own
  std::vector<std::uint64_t> ordered_;     ///< core cycle of each kernel's last order to leave
  std::size_t next_action_ = 0;
  std::vector<Decision> decisions_;
  HostRecord record_;
};

}  // namespace sluice
