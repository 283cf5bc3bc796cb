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
/// docs/reference/blocks/sluice_top.md). An SM may hold less than its label only where the CTAs that ended wait for their
/// successors: the dispatch port had no free cycle in the window, or CTAs are so short that the SM starts one every 16 cycles
/// or more often, or the SM was not ready in most of the window.
class SampleScoreboard {
 public:
  explicit SampleScoreboard(const regs::Parameters& parameters) : parameters_(parameters), sms_(parameters.num_sm) {}

  /// One cycle: outputs and inputs of the same cycle.
  /// @param present  kernel slots that are RUNNING, oldest first
  /// @param share    lines an SM may exchange in a window; 0: 8,192
  /// @return what is wrong; empty when nothing is
  [[nodiscard]] std::string observe(const SluiceTopOut& out, const SluiceTopIn& in, const std::vector<std::size_t>& present,
                                    std::uint32_t share);

  [[nodiscard]] std::uint64_t clean() const { return clean_; }          ///< samples that count
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }      ///< entries of 0: dropped, or nothing issued
  [[nodiscard]] std::uint64_t short_of_port() const { return short_; }  ///< of those that count: the SM waited for the port
  [[nodiscard]] std::uint64_t unclean() const { return unclean_; }      ///< of them: the SM did not hold what the label says

 private:
  struct Sm {
    std::array<std::uint32_t, kMaxCtaSlots> kernel{};  ///< of each CTA slot, plus 1; 0: free
    std::array<std::uint32_t, kMaxKernelSlots> resident{};
    // Of the window that runs or has ended:
    std::array<std::uint32_t, kMaxKernelSlots> most{}, insts{};
    std::uint32_t requests = 0, starts = 0, ready = 0;
  };

  void begin_window(const std::vector<std::size_t>& present);
  void count(const SluiceTopIn& in, std::uint32_t share);
  void move_ctas(const SluiceTopOut& out, const SluiceTopIn& in);
  void give_up(std::size_t kernel);
  [[nodiscard]] std::string judge(const SluiceTopOut& out);

  regs::Parameters parameters_;
  std::vector<Sm> sms_;
  std::array<std::uint32_t, kMaxKernelSlots> tags_{};  ///< flushes of each kernel slot, modulo 16
  std::vector<std::size_t> present_;                   ///< when the window began
  bool window_ = false;                                ///< it ran in the cycle before
  std::uint64_t cycles_ = 0;                           ///< of it
  std::uint64_t free_port_ = 0;                        ///< cycles of it in which nothing was at the dispatch port
  std::uint64_t clean_ = 0, short_ = 0, dropped_ = 0, unclean_ = 0;
};

}  // namespace sluice::tb
