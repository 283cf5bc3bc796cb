// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "systemc/unit/ports/i_cta_dispatcher.h"
#include "systemc/unit/ports/i_sluice_top.h"

namespace sluice::tb {

/// Holds every sample against what its SM held, from the events at the ports of the unit alone: which CTA of which kernel slot
/// starts and ends where, who issues, what leaves for the memory system (docs/reference/blocks/profile_counters.md,
/// docs/reference/blocks/sluice_top.md).
///
/// A sample that counts is of an SM that held its label of CTAs of one kernel before the window, and whose kernel has CTAs to
/// give in all of it. So it holds less only until a CTA that ended is replaced. How long that takes
/// (docs/reference/blocks/cta_dispatcher.md, Pipeline):
///
///     the end is at the done port in cycle t; its SM waits for its evaluation from t + 3 on, its room is known in t + 6;
///     a pick in cycle p is at the port in p + 1; the SM is busy until p + 3, its room is known in p + 4, or it waits then
///     for an evaluation, known three cycles later: 6 cycles from the port on;
///     one SM is evaluated a cycle. The arbiter's position follows a cycle later, so grants of even and of odd cycles go round
///     each on their own: the others come before at most twice each, 2 (NUM_SM - 1) cycles.
///
/// So the room of an SM is known 6 + 2 (NUM_SM - 1) cycles after its last end or start. From then on each cycle with the port
/// free and the SM ready makes a pick: for this SM, for another of its kernel, or for an older kernel (one of higher priority;
/// with PATIENCE, or for one without a CTA). A slot that is free is empty for that many cycles, and for the cycles of these three
/// and of an SM that is not ready. So e ends take e (6 + 2 (NUM_SM - 1)) CTA-cycles from a window at most, and each cycle that is
/// not the SM's as many as it waits for.
class SampleScoreboard {
 public:
  explicit SampleScoreboard(const regs::Parameters& parameters) : parameters_(parameters), sms_(parameters.num_sm) {}

  /// One cycle: outputs and inputs of the same cycle.
  /// @param present  kernel slots that are RUNNING, oldest first
  /// @param share    lines an SM may exchange in a window; 0: 8,192
  /// @param priority of each kernel slot; 0 without the option
  /// @return what is wrong; empty when nothing is
  [[nodiscard]] std::string observe(const SluiceTopOut& out, const SluiceTopIn& in, const std::vector<std::size_t>& present,
                                    std::uint32_t share, const std::array<std::uint8_t, kMaxKernelSlots>& priority = {});

  [[nodiscard]] std::uint64_t clean() const { return clean_; }            ///< samples that count
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }        ///< entries of 0: dropped, or nothing issued
  [[nodiscard]] std::uint64_t unclean() const { return unclean_; }        ///< of them: the SM did not hold what the label says
  [[nodiscard]] std::uint64_t never_full() const { return never_full_; }  ///< of those that count: refilled in all of the window
  /// Cycles from an end or a start on the SM of a sample that counts to the last pick that it could have had, and nobody did.
  [[nodiscard]] std::uint32_t longest_refill() const { return longest_refill_; }

 private:
  struct Sm {
    std::array<std::uint32_t, kMaxCtaSlots> kernel{};  ///< of each CTA slot, plus 1; 0: free
    std::array<std::uint32_t, kMaxKernelSlots> resident{};
    // Of the window that runs or has ended:
    std::array<std::uint32_t, kMaxKernelSlots> most{}, insts{};
    std::uint32_t requests = 0;
    /// By CTAs that it held: cycles from the last end or start there to the last pick that went to nobody; and to a kernel
    /// that goes behind its own.
    std::array<std::uint32_t, kMaxCtaSlots + 1> nobody{}, younger{};
    // In this cycle:
    std::uint32_t since = 0;  ///< its last end, or its last start
    std::uint32_t holds = 0;  ///< CTAs, with the one at the port
    bool available = false;   ///< a CTA can be picked for it
    bool pickable = false;    ///< and the port is free
  };

  void begin_window(const std::vector<std::size_t>& present);
  void count(const SluiceTopIn& in, std::uint32_t share);
  void follow_picks(const SluiceTopOut& out);
  [[nodiscard]] bool goes_behind(std::size_t kernel, std::size_t rank) const;
  void note_pickable(const SluiceTopOut& out, const SluiceTopIn& in);
  [[nodiscard]] std::size_t rank_of(std::size_t sm) const;
  [[nodiscard]] std::uint32_t refill() const { return 6 + 2 * (parameters_.num_sm - 1); }
  void move_ctas(const SluiceTopOut& out, const SluiceTopIn& in);
  void give_up(std::size_t kernel);
  [[nodiscard]] std::string judge(const SluiceTopOut& out);

  regs::Parameters parameters_;
  std::vector<Sm> sms_;
  std::array<std::uint32_t, kMaxKernelSlots> tags_{};     ///< flushes of each kernel slot, modulo 16
  std::array<std::uint8_t, kMaxKernelSlots> priority_{};  ///< in the cycle before
  std::vector<std::size_t> present_;                      ///< when the window began
  bool window_ = false;                                   ///< it ran in the cycle before
  bool waited_ = false;                                   ///< the CTA at the port was there in the cycle before
  std::uint64_t clean_ = 0, never_full_ = 0, dropped_ = 0, unclean_ = 0;
  std::uint32_t longest_refill_ = 0;
};

}  // namespace sluice::tb
