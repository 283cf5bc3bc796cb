// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "systemc/unit/ports/i_sluice_top.h"
#include "systemc/unit/twin/sluice_csr.h"

namespace sluice::tb {

/// Books every CTA by the events at the ports alone: none is lost or started twice, no SM holds more than its capacity, and a
/// kernel ends when all of its CTAs have run, unless the host stopped or flushed it.
class CtaLedger {
 public:
  /// A kernel between its launch and its end.
  struct Kernel {
    std::uint32_t warps = 0, registers = 0, shared_bytes = 0, grid = 0;
    bool repeat = false, of_the_port = false;
    std::uint32_t next = 0;  ///< CTA to come
    std::uint32_t running = 0;
    bool stopped = false, flushed = false;
    /// CTAs to come; without end when the grid starts again
    [[nodiscard]] std::uint32_t left() const { return stopped ? 0 : repeat ? ~0U : grid - next; }
  };
  /// Since the beginning, resets included.
  struct Counts {
    std::uint64_t launched = 0, by_the_port = 0, refused = 0, completed = 0, stopped = 0, flushed = 0, reset = 0;  // kernels
    std::uint64_t started = 0, ended = 0, given_up = 0, lost_in_reset = 0;                                         // CTAs
  };

  explicit CtaLedger(const regs::Parameters& parameters) : parameters_(parameters), sms_(parameters.num_sm) {}

  /// One cycle: outputs and inputs of the same cycle.
  /// @param config  of that cycle: commands, descriptors and capacities
  /// @param state   of each kernel slot
  /// @return what is wrong; empty when nothing is
  [[nodiscard]] std::string observe(const SluiceTopOut& out, const SluiceTopIn& in, const SluiceConfig& config,
                                    const PerKernel<regs::SlotState>& state);

  [[nodiscard]] const PerKernel<std::optional<Kernel>>& kernels() const { return kernels_; }
  [[nodiscard]] const Counts& counts() const { return counts_; }
  /// Kernels of the port and of the registers have CTAs at the same time.
  [[nodiscard]] bool both_sides() const;

 private:
  struct Cta {
    std::uint8_t kernel = 0, tag = 0;
  };
  struct Sm {
    std::map<std::uint32_t, Cta> ctas;  ///< by CTA slot
    std::uint32_t warps = 0, registers = 0, shared_bytes = 0;
  };

  void reset();
  [[nodiscard]] std::string launch(const SluiceConfig& config, const PerKernel<regs::SlotState>& state);
  [[nodiscard]] std::string start(const SluiceTopOut& out, const SluiceConfig& config);
  void end(Sm& sm, std::map<std::uint32_t, Cta>::iterator cta);
  void report(const SluiceTopIn& in);
  void give_up(const SluiceTopOut& out);
  [[nodiscard]] std::string finish(std::size_t slot);

  regs::Parameters parameters_;
  std::vector<Sm> sms_;
  PerKernel<std::optional<Kernel>> kernels_;
  PerKernel<bool> new_{};  ///< launched in the cycle before: not judged yet
  Counts counts_;
};

}  // namespace sluice::tb
