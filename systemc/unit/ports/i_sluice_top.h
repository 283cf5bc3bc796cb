// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sw/core/balance.h"
#include "sw/core/machine.h"
#include "sw/driver/axi_lite.h"
#include "sw/driver/sluice_regs.h"

namespace sluice {

/// What one SM did in one cycle.
struct SmActivity {
  std::uint8_t issue_valid = 0;                             ///< bit s: scheduler s issued a warp instruction
  std::array<std::uint8_t, kMaxSchedulers> issue_kernel{};  ///< for this kernel slot
  bool request = false;                                     ///< exchanged a line with the memory system
};

/// A kernel through the launch port (docs/reference/blocks/launch_port.md).
struct LaunchRequest {
  std::uint32_t warps = 0, registers = 0, shared_bytes = 0;  ///< of one CTA
  std::uint32_t ctas = 0;                                    ///< to run, from the starting block on
  std::uint32_t size_x = 1, start_x = 0;
  std::uint16_t size_y = 1, start_y = 0, start_z = 0;
  std::uint8_t context = 0, priority = 0;
};
struct LaunchIn {
  bool valid = false;
  LaunchRequest launch;
};

/// Place of a CTA in its grid, and what its kernel was launched with.
struct GridPlace {
  std::uint32_t x = 0;
  std::uint16_t y = 0, z = 0;
  std::uint8_t context = 0, priority = 0;
  bool operator==(const GridPlace&) const = default;
};

/// Input ports of sluice_top (docs/reference/blocks/sluice_top.md), one clock cycle's worth.
struct SluiceTopIn {
  bool rst_n = true, keep_tags = false;  ///< keep_tags: with a reset, tag_rst_ni stays high
  AxiLiteIn axi;
  std::vector<SmActivity> sms;  ///< NUM_SM of them, or none for "nothing anywhere"
  bool dispatch_ready = true;
  std::bitset<256> sm_ready =
      std::bitset<256>().set();  ///< SMs that take the next CTA without delay; with the option of this name
  bool done_valid = false;
  std::uint8_t done_sm = 0, done_slot = 0;
  std::uint8_t done_kernel = 0, done_tag = 0;  ///< with the option `flush`
  LaunchIn launch;                             ///< with the option of this name
};

/// Output ports. They come from registers: known before the inputs of their cycle.
struct SluiceTopOut {
  AxiLiteOut axi;
  bool irq = false;
  bool dispatch_valid = false;  ///< the dispatch_ fields mean something only then
  std::uint8_t dispatch_sm = 0, dispatch_kernel = 0, dispatch_slot = 0;
  std::uint32_t dispatch_cta = 0, dispatch_register_base = 0, dispatch_shared_base = 0;
  bool dispatch_region_valid = false;  ///< these are bases of its regions; else the SM places it
  std::uint8_t dispatch_tag = 0;
  bool flush_valid = false;  ///< pulse: SMs give up the CTAs of this kernel with this tag
  std::uint8_t flush_kernel = 0, flush_tag = 0;
  GridPlace dispatch_place;  ///< 0 without a launch port
  bool launch_ready = false;
  bool launched_valid = false;  ///< the other launched_ fields mean something only then
  std::uint8_t launched_kernel = 0;
  bool launched_refused = false;
  bool launched_flushed = false;  ///< it was handed back by a flush, without a slot
  std::uint8_t kernel_done = 0;   ///< mask, pulses
  bool profile_window = false;    ///< a profile window runs: issues and requests are counted
  bool profile_valid = false;     ///< one entry of the performance table; the other profile_ fields mean something only then
  std::uint8_t profile_kernel = 0, profile_ctas = 0;
  std::uint32_t profile_scaled = 0;
  bool idle = false;  ///< the clock may stop until an input other than the SMs' activity changes
  bool operator==(const SluiceTopOut&) const = default;
};

/// The partition unit at its ports. A clock cycle is: look at outputs(), then clock().
/// twin and Verilated RTL implement it cycle for cycle alike.
class ISluiceTop {
 public:
  virtual ~ISluiceTop() = default;
  [[nodiscard]] virtual const SluiceTopOut& outputs() const = 0;
  virtual void clock(const SluiceTopIn& in) = 0;
  /// Lets cycles pass at once: the clock is stopped. @pre outputs().idle
  virtual void skip(std::uint64_t cycles) = 0;
  /// Whether the SMs' activity of this cycle can make a difference.
  [[nodiscard]] virtual bool counts_activity() const = 0;
  /// What mode Balance is to reach for what is launched into a kernel slot next. Not a register yet.
  virtual void wish(unsigned /*slot*/, const BalanceWish& /*wish*/) {}
  /// What mode Balance has measured so far, and what it kept; null where the unit has not that mode.
  [[nodiscard]] virtual const BalanceReport* balance() const { return nullptr; }
};

/// @param balance settings of mode Balance; without them the unit has not that mode
[[nodiscard]] std::unique_ptr<ISluiceTop> make_twin_sluice_top(const regs::Parameters& parameters,
                                                               const std::optional<BalanceConfig>& balance = std::nullopt);

/// Builds the Verilated unit where the program does not link it. @throws InputError when it can't be built
void check_rtl_sluice_top(const regs::Parameters& parameters);

/// @param fst_file waveform to write, empty for none
/// @param clock_period_ps for the time axis of the waveform
/// @throws InputError when the unit is not linked and can't be built; InputError or SystemError when the waveform can't be
/// written
[[nodiscard]] std::unique_ptr<ISluiceTop> make_rtl_sluice_top(const regs::Parameters& parameters, const std::string& fst_file,
                                                              std::uint64_t clock_period_ps);

/// The RTL, with its twin beside it. @throws CheckFailed in clock() when a port differs
[[nodiscard]] std::unique_ptr<ISluiceTop> make_lockstep_sluice_top(const regs::Parameters& parameters,
                                                                   const std::string& fst_file, std::uint64_t clock_period_ps);

/// The same of any two units.
[[nodiscard]] std::unique_ptr<ISluiceTop> make_lockstep_of(std::unique_ptr<ISluiceTop> rtl, std::unique_ptr<ISluiceTop> twin);

/// The first port at which two units differ, empty when none does. Fields that mean nothing without their valid are not compared.
[[nodiscard]] std::string port_difference(const SluiceTopOut& a, const SluiceTopOut& b);

}  // namespace sluice
