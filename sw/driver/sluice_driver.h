// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sw/core/errors.h"
#include "sw/core/resources.h"
#include "sw/driver/i_register_bus.h"
#include "sw/driver/sluice_regs.h"

namespace sluice {

/// The unit does not answer, is not a Sluice, or refused what was asked.
class DeviceError : public SystemError {
 public:
  using SystemError::SystemError;
};

/// What mode BALANCE is to reach for a kernel.
struct BalanceUnitWish {
  std::uint32_t weight = 64;  ///< 1..127, of any unit
  double floor = 0;           ///< 0..3.99, of the rate alone
};

/// What runs in a kernel slot.
struct SlotLaunch {
  SmResources cta;                          ///< of one CTA; cta_slots is not looked at
  std::uint32_t grid_ctas = 0;              ///< 1..2^32-1
  bool repeat = false;                      ///< the grid starts again at its end, until stop()
  bool wait = false;                        ///< does not begin before go()
  std::optional<std::uint32_t> priority{};  ///< 0..7, the highest first; only where the unit has the option
  std::optional<BalanceUnitWish> wish{};    ///< only where the unit has mode BALANCE
};

struct SlotReport {
  regs::SlotState state;
  std::uint32_t resident;    ///< CTAs on all SMs
  std::uint32_t dispatched;  ///< CTAs since launch, wraps
  std::uint32_t ctas;        ///< quota in force, CTAs on one SM; MAX_CTAS is no limit
};

/// Sticky errors: bits of register ERROR, and where the first came from.
struct ErrorReport {
  std::uint32_t bits = 0;
  std::string first;  ///< its name in the register map; empty without an error
  unsigned kernel = 0, sm = 0;
};

/// The last decision of DYNAMIC mode.
struct DecisionReport {
  std::uint32_t count;              ///< decisions since reset, wraps
  bool spatial;                     ///< the loss guard fell back to spatial
  bool no_fit;                      ///< one CTA of each kernel does not fit together
  bool dropped;                     ///< a sample was dropped: its SM did not hold what the label says
  bool no_profile;                  ///< spatial, because a kernel had no clean sample
  std::vector<std::uint32_t> ctas;  ///< by kernel slot, quota in force, 0..MAX_CTAS
};

/// The last decision of mode BALANCE.
struct BalanceUnitReport {
  enum class Kept { Nothing, Partition, InTurn, InOrder };
  Kept kept = Kept::Nothing;
  bool floors = false;    ///< every kernel has its floor
  bool measured = false;  ///< what is kept was, with a rate of every kernel:
  double time = 0;        ///< the sum of the weights over its score
};

struct SequencerSettings {
  std::uint32_t warm_up_cycles = 20000;  ///< 0..1,048,575
  std::uint32_t window_cycles = 5120;    ///< 1,024..65,535
  std::uint32_t delay_cycles = 0;        ///< 0..65,535, from a decision to its enforcement
  double epsilon = 0;                    ///< 0..1, saturation threshold; 0: the paper's rule
  double loss_limit = 1.2;               ///< 0..3.99, over the number of kernels: what a kernel may lose
  /// Lines that an SM may exchange with the memory system in a window and be counted, its share: 0..8,191; 0: 8,192.
  std::uint32_t request_share = 0;
  std::uint32_t drain_cycles = 255 * 4096;  ///< 0..1,044,480, rounded up to 4,096: the warm-up waits so long for SMs to settle
};

/// Programs the partition unit through any bus. Every argument is checked before anything is written: @throws InputError that
/// names the argument and its range; DeviceError when the bus reports an error.
class SluiceDriver {
 public:
  /// Reads ID and PARAMS. @throws DeviceError when there is no Sluice with this register map on the bus
  explicit SluiceDriver(IRegisterBus& bus);
  [[nodiscard]] const regs::Parameters& parameters() const { return parameters_; }

  /// Capacity of one SM; every slot must be free.
  void configure_machine(const SmResources& sm);
  void set_mode(Mode mode);
  void configure_sequencer(const SequencerSettings& settings);
  /// @param threshold relative change of IPC, 0..1.99; @param window_cycles 16..65,535; @param hold_windows 1..255
  void configure_monitor(bool enable, double threshold, std::uint32_t window_cycles, std::uint32_t hold_windows);
  /// What the three above write stays as it is until a reset; only set_mode() goes on.
  void lock_configuration();
  /// Mode BALANCE. @param keep 0..7.99, the least score at which kernels share; @param candidates 0..15 in a round
  void configure_balance(double keep, std::uint32_t candidates);
  void reprofile();

  /// The slot must be free and one CTA must fit the SM.
  void launch(unsigned slot, const SlotLaunch& kernel);
  /// Every launch that waits begins, all in one cycle, in order of their slots.
  void go();
  void stop(unsigned slot);
  /// Refills nothing until resume(); evicted() when `ctas` have ended, or none is left. @param ctas 0..65,535
  void evict(unsigned slot, std::uint32_t ctas);
  [[nodiscard]] bool evicted(unsigned slot);
  void resume(unsigned slot);

  /// STATIC mode. @param ctas 0..MAX_CTAS on one SM; MAX_CTAS is no limit
  void set_quota(unsigned slot, std::uint32_t ctas);
  /// STATIC mode. @param sms the SMs it may use
  void set_mask(unsigned slot, std::span<const unsigned> sms);

  [[nodiscard]] SlotReport slot_report(unsigned slot);
  [[nodiscard]] regs::SequencerState sequencer_state();
  [[nodiscard]] DecisionReport last_decision();
  [[nodiscard]] BalanceUnitReport balance_report();
  [[nodiscard]] ErrorReport errors();
  void clear_errors();
  /// @throws DeviceError that names the first error since they were cleared, if there is one
  void require_no_error();

  /// Events that raise the interrupt: fields of register IRQ_STATUS.
  void enable_interrupts(std::uint32_t events);
  /// Raises them without their events: a test of the way to the handler.
  void test_interrupts(std::uint32_t events);
  /// Events since the last call, cleared.
  [[nodiscard]] std::uint32_t take_interrupts();
  /// Slots (a bit each) whose kernel ended since the last call, cleared.
  [[nodiscard]] std::uint32_t take_finished();

 private:
  [[nodiscard]] std::uint32_t read(std::uint32_t address);
  void write(std::uint32_t address, std::uint32_t value);
  void check_slot(unsigned slot) const;
  void require_free(unsigned slot);

  IRegisterBus& bus_;
  regs::Parameters parameters_;
};

}  // namespace sluice
