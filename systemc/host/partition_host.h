// SPDX-License-Identifier: Apache-2.0
#pragma once
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

/// The host of the model, and an executor of schedulers: launches kernels as they arrive, stops them when their target is met,
/// asks the run's scheduler, programs its shares as STATIC quotas and masks, and reads the unit's decisions, all through the
/// driver and the unit's register socket, in as many cycles as that takes. Reports Arrived and Ready, Done, Profiled and Timer.
class PartitionHost : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(PartitionHost);
  PartitionHost(const sc_core::sc_module_name& name, const RunSpec& spec, SimClock clock, PartitionUnit& unit);

  TlmRegisterBus registers;

  [[nodiscard]] const std::vector<Decision>& decisions() const { return decisions_; }

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
  void launch_arrived(SluiceDriver& driver);  ///< those that are there together, together
  void tell_present();
  void stop_met(SluiceDriver& driver);
  void handle_interrupt(SluiceDriver& driver);
  void record_decision(SluiceDriver& driver);
  [[nodiscard]] Time now() const;
  [[nodiscard]] bool timer_due() const;
  void arrive(KernelId kernel);
  void decide(SluiceDriver& driver);  ///< asks the scheduler, and puts its plan into force

  const RunSpec& spec_;
  SimClock clock_;
  PartitionUnit& unit_;
  std::unique_ptr<IScheduler> scheduler_;
  JobTable jobs_;  ///< job k is launch k
  std::optional<Time> wake_at_;
  std::vector<KernelId> arrived_;   ///< not launched yet
  std::vector<InSlot> present_;     ///< oldest first
  std::uint32_t slots_in_use_ = 0;  ///< a bit a slot: launched, and its KERNEL_DONE not seen
  sc_core::sc_event arrival_, alarm_, timer_;
  std::size_t next_action_ = 0;
  std::vector<Decision> decisions_;
};

}  // namespace sluice
