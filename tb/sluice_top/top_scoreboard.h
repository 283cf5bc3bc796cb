// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "systemc/unit/twin/sluice_top.h"
#include "tb/cta_dispatcher/scoreboard.h"
#include "tb/sluice_top/cta_ledger.h"
#include "tb/sluice_top/launch_scoreboard.h"
#include "tb/sluice_top/sample_scoreboard.h"

namespace sluice::tb {

/// Declares the bins of the whole unit.
void declare_top_bins(Coverage& coverage);

/// Holds the unit against the golden algorithms, by what its twin (which the ports prove equal) lets see inside: every CTA
/// against the dispatch model under the quotas of its SM; every decision against water-filling and loss guard of the profile at
/// the RTL's port.
class TopScoreboard {
 public:
  TopScoreboard(const regs::Parameters& parameters, Coverage& coverage, Coverage& dispatch_coverage);

  /// Before the rising edge.
  void look(const SluiceTopOut& rtl, const SluiceTopTwin& twin);
  /// After it. @return what is wrong; empty when nothing is
  [[nodiscard]] std::string check(const SluiceTopIn& in, const SluiceTopTwin& twin);

  /// Samples that count; of them, of SMs that held less than the label in all of the window; the longest refill of all.
  [[nodiscard]] std::uint64_t clean_samples() const { return clean_samples_ + samples_->clean(); }
  [[nodiscard]] std::uint64_t never_full() const { return never_full_ + samples_->never_full(); }
  [[nodiscard]] std::uint32_t longest_refill() const { return std::max(longest_refill_, samples_->longest_refill()); }
  [[nodiscard]] const CtaLedger& ledger() const { return ledger_; }
  [[nodiscard]] std::uint64_t decisions() const { return decisions_; }
  /// Decisions that were not judged: settings or kernels changed meanwhile, or two steps of a curve fall together in 11 bits.
  [[nodiscard]] std::uint64_t not_judged() const { return not_judged_; }

 private:
  void reset();
  void profile(const SluiceTopOut& rtl);
  [[nodiscard]] std::string judge(const SequencerOut& out, bool leaving);
  void cover(const SluiceTopIn& in, const SluiceTopTwin& twin, const SequencerOut& out);

  regs::Parameters parameters_;
  Coverage& coverage_;
  Coverage& dispatch_coverage_;
  std::optional<DispatchScoreboard> dispatch_;
  std::optional<SampleScoreboard> samples_;
  std::optional<LaunchScoreboard> launches_;
  CtaLedger ledger_;
  DispatchCycle cycle_;
  SluiceTopOut ports_;  ///< before the rising edge
  SequencerOut before_;
  SluiceConfig config_;  ///< of this cycle, as the next
  PerKernel<regs::SlotState> states_{};
  bool host_asked_ = false;            ///< for a new profile, in this stay in MONITOR
  std::optional<SluiceConfig> asked_;  ///< when the decision under way began; nothing when something of it changed since
  std::vector<std::vector<std::uint32_t>> curves_;  ///< by age among the present: entries of the table
  PerKernel<std::vector<std::uint32_t>> kept_{};    ///< the same, of each kernel slot's last decision
  bool fresh_ = true;
  std::uint64_t clean_samples_ = 0, never_full_ = 0;  ///< before the last reset, as the next
  std::uint32_t longest_refill_ = 0;
  std::uint64_t starts_ = 0;             ///< CTAs that have left the port
  std::vector<std::uint64_t> ready_at_;  ///< of each SM: how many had, when it was ready last
  std::uint64_t decisions_ = 0, not_judged_ = 0;
};

}  // namespace sluice::tb
