// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <bitset>
#include <cstdint>

#include "sw/driver/sluice_regs.h"

namespace sluice {

inline constexpr std::uint32_t kMaxKernelSlots = 8;  ///< largest MAX_KERNELS of the hardware
inline constexpr std::uint32_t kMaxSms = 256;        ///< largest NUM_SM
inline constexpr std::uint32_t kMaxCtaSlots = 32;    ///< largest MAX_CTAS

/// Elaboration parameters of rtl/dispatch/cta_dispatcher.sv.
struct CtaDispatcherParams {
  std::uint32_t num_sms = 16;                ///< 1..256
  std::uint32_t kernels = 4;                 ///< 2..8
  std::uint32_t ctas = 8;                    ///< 4..32
  std::uint32_t region_units = 64;           ///< 0: no regions; else 16..128
  bool sm_enable = false, sm_ready = false;  ///< options: the ports of these names are looked at
  std::uint32_t flush = 0;                   ///< 0: kernels can't be flushed; above 1 a flush waits 2^flush cycles for the port
  std::uint32_t patience = 0;                ///< 0: no wait_guard; else 1..20
  bool priority = false;                     ///< option: kernels of higher priority go first
  bool tail = false;                         ///< option: a kernel is DRAINING from the last CTA of its grid on
};

using regs::SlotState;

/// A bit an SM.
using SmBits = std::bitset<kMaxSms>;
inline SmBits all_sms() { return SmBits().set(); }

/// Input ports (docs/reference/blocks/cta_dispatcher.md), one clock cycle's worth. Masks have kernel slot 0 in bit 0.
struct CtaDispatcherIn {
  bool rst_n = true, keep_tags = false;  ///< keep_tags: with a reset, tag_rst_ni stays high
  std::uint32_t capacity_warps = 0, capacity_registers = 0, capacity_shared_bytes = 0, capacity_slots = 0;
  std::array<std::uint32_t, kMaxKernelSlots> demand_warps{}, demand_registers{}, demand_shared_bytes{}, grid{};
  std::array<std::uint8_t, kMaxKernelSlots> priority{};         ///< 0..7, the highest first; looked at with the option
  std::uint8_t repeat = 0;                                      ///< mask, level
  std::uint8_t launch = 0, stop = 0;                            ///< masks, pulses
  std::uint8_t flush = 0;                                       ///< mask, pulses
  std::uint8_t evict = 0, resume = 0;                           ///< masks, pulses
  std::uint16_t evict_count = 0;                                ///< goes with `evict`
  bool round_robin = false, in_order = false, regions = false;  ///< from the mode
  std::array<std::uint8_t, kMaxKernelSlots> quota{};       ///< of each kernel on SM CtaDispatcherOut::query_sm of the same cycle
  std::array<std::uint8_t, kMaxKernelSlots> port_quota{};  ///< and on SM CtaDispatcherOut::dispatch_sm
  SmBits sm_enable = all_sms();                            ///< SMs that may be given CTAs
  SmBits sm_ready = all_sms();                             ///< SMs that take the next CTA without delay
  bool quota_changed = false;                              ///< first cycle of new quotas
  bool profiling = false;                                  ///< `settled` stays as it is
  std::array<SmBits, kMaxKernelSlots> waits{};             ///< SMs that take none of a kernel's CTAs yet: of the twin only
  bool dispatch_ready = false;
  bool done_valid = false;
  std::uint8_t done_sm = 0, done_slot = 0;
  std::uint8_t done_kernel = 0, done_tag = 0;  ///< looked at with the option `flush`
};

/// Output ports. They all come from registers: known before the inputs of their cycle.
struct CtaDispatcherOut {
  std::uint8_t query_sm = 0;
  std::array<SlotState, kMaxKernelSlots> state{};
  std::uint8_t num_present = 0;
  std::array<std::uint8_t, kMaxKernelSlots> age{};  ///< RUNNING slots, oldest first; 0 beyond num_present
  bool change = false;
  std::array<std::uint16_t, kMaxKernelSlots> resident{};
  std::array<std::uint32_t, kMaxKernelSlots> dispatched{};
  std::uint8_t spent = 0;                        ///< mask: RUNNING kernels that dispatch nothing, by their grid or an eviction
  SmBits sm_busy;                                ///< SMs that hold a CTA, or one waits for them; none without the option
  SmBits settled;                                ///< SMs that have held exactly their quotas since these came into force
  std::uint8_t evict_done = 0, kernel_done = 0;  ///< masks, pulses
  bool bad_done = false, cannot_fit = false, slot_busy = false, bad_kernel = false, port_stuck = false;
  std::uint8_t error_kernel = 0, error_sm = 0, error_slot = 0;
  bool dispatch_valid = false;  ///< the dispatch_ fields mean something only then
  std::uint8_t dispatch_sm = 0, dispatch_kernel = 0, dispatch_slot = 0;
  std::uint32_t dispatch_cta = 0, dispatch_register_base = 0, dispatch_shared_base = 0;
  bool dispatch_region_valid = false;  ///< these are bases of its regions; else the SM places it
  std::uint8_t dispatch_tag = 0;
  bool flush_valid = false;  ///< pulse: SMs give up the CTAs of this kernel with this tag
  std::uint8_t flush_kernel = 0, flush_tag = 0;
  bool giving_up = false;  ///< without a report, this CTA is given up in this cycle
  std::uint8_t giving_sm = 0, giving_slot = 0;

  bool operator==(const CtaDispatcherOut&) const = default;
};

/// The CTA dispatcher at its ports. A clock cycle is: look at outputs(), answer the quota query, clock().
/// twin and Verilated RTL implement it cycle for cycle alike.
class ICtaDispatcher {
 public:
  virtual ~ICtaDispatcher() = default;
  [[nodiscard]] virtual const CtaDispatcherOut& outputs() const = 0;
  virtual void clock(const CtaDispatcherIn& in) = 0;
};

}  // namespace sluice
