#pragma once
#include <optional>
#include <systemc>
#include <vector>

#include "sw/driver/sluice_driver.h"
#include "sw/workload/i_device.h"
#include "systemc/host/partition_unit.h"
#include "systemc/sim/sim_clock.h"

namespace sluice {

/// The host of the model: launches kernels as they arrive, stops them when their target is met, programs STATIC quotas, and reads
/// decisions, all through the driver and the unit's register socket, in as many cycles as that takes.
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
  void apply_quotas(SluiceDriver& driver, const std::vector<InSlot>& present);

  const RunSpec& spec_;
  SimClock clock_;
  PartitionUnit& unit_;
  std::vector<KernelId> arrived_;   ///< not launched yet
  std::vector<InSlot> present_;     ///< oldest first
  std::uint32_t slots_in_use_ = 0;  ///< a bit a slot: launched, and its KERNEL_DONE not seen
  sc_core::sc_event arrival_, alarm_;
  std::size_t next_action_ = 0;
  std::vector<Decision> decisions_;
};

}  // namespace sluice
