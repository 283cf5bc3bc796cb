// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sw/partition/dispatch_model.h"
#include "systemc/unit/ports/i_cta_dispatcher.h"
#include "tb/common/coverage.h"

namespace sluice {

/// Declares the functional coverage bins that the scoreboard counts.
void declare_dispatch_bins(tb::Coverage& coverage);

/// Everything a cycle of the dispatcher's ports was given: inputs, and the quota of every kernel on every SM.
struct DispatchCycle {
  CtaDispatcherIn in;
  std::vector<std::array<std::uint8_t, kMaxKernelSlots>> quota;  ///< [sm][kernel]
};

/// Holds the dispatcher's ports against the golden model, cycle by cycle: every CTA admissible, the right slot, index and bases,
/// stable at the port; states, counts, age, pulses and errors as the model says; nothing left undispatched for long that fits.
class DispatchScoreboard {
 public:
  DispatchScoreboard(const CtaDispatcherParams& params, const CtaDispatcherIn& capacities, tb::Coverage& coverage);

  /// Another kind of SM, from this cycle's inputs on. @pre every kernel slot is FREE
  void set_capacities(const CtaDispatcherIn& in);
  /// @param out outputs of this cycle; @param before what the cycle before it was given
  /// @return what is wrong; empty when nothing is
  std::string observe(const CtaDispatcherOut& out, const DispatchCycle& before);

  [[nodiscard]] const DispatchModel& model() const { return model_; }
  [[nodiscard]] bool picked() const { return picked_; }        ///< a CTA was admitted in the cycle before
  [[nodiscard]] unsigned starved() const { return starved_; }  ///< cycles in a row without a pick though something fits

 private:
  /// Which SMs could be given a CTA in the cycle before: those enabled in it, and ready in the one before that, with no CTA at
  /// the port for them.
  void set_available(const DispatchCycle& before);
  [[nodiscard]] bool room_is_passed_over(const DispatchCycle& before) const;
  /// Something that must be given out within some cycles. Where a kernel has waited so long that an SM may be reserved for it,
  /// only what fits elsewhere, too.
  [[nodiscard]] bool something_fits(const DispatchCycle& before) const;
  [[nodiscard]] std::set<std::size_t> present_set() const;  ///< without their order, which a grid that starts again changes
  void follow_waits(const DispatchCycle& before);
  std::string outranks(const CtaDispatcherOut& out, const DispatchCycle& before);
  std::string admit(const CtaDispatcherOut& out, const DispatchCycle& before);
  std::string flush(const CtaDispatcherOut& out, const DispatchCycle& before);
  std::string place(const CtaDispatcherOut& out, const DispatchCycle& before);
  [[nodiscard]] bool has_all_regions(std::uint32_t sm, const DispatchCycle& before) const;  ///< @pre all that run have one
  void cover_quotas(const DispatchCycle& before);
  void command(const DispatchCycle& before);
  std::string compare(const CtaDispatcherOut& out) const;
  void hit(const char* bin) { coverage_.hit(bin); }

  CtaDispatcherParams params_;
  DispatchModel model_;
  tb::Coverage& coverage_;
  CtaDispatcherOut last_, expected_;
  /// Kernels that are flushed: asked for; told to the SMs. The tag that a report of each must have.
  std::uint32_t flushed_ = 0, told_ = 0;
  std::array<std::uint8_t, kMaxKernelSlots> tags_{};
  std::uint32_t fresh_ = ~0U;                         ///< no kernel was there since the reset
  bool wrong_report_ = false, wrong_before_ = false;  ///< what ended in this cycle was not sent with that kernel and tag
  unsigned waits_flushed_ = 0;                        ///< cycles for which a CTA of a flushed kernel has waited at the port
  unsigned flush_age_ = 0;                            ///< cycles in which a flush could have gone on
  SmBits ready_;                                      ///< in the last but one cycle
  /// The end of a CTA: its slot is left a cycle later, its kernel knows in the one behind.
  struct End {
    std::uint32_t sm = 0, slot = 0;
    std::size_t kernel = 0;
  };
  std::optional<End> ended_, left_;
  bool bad_done_ = false;                   ///< to be reported in the next cycle,
  std::uint8_t bad_sm_ = 0, bad_slot_ = 0;  ///< of this SM and CTA slot
  std::optional<std::uint32_t> fresh_kernel_,
      charged_kernel_;                                   ///< of the CTA in its first cycle at the port, and of the one before
  std::array<std::uint32_t, kMaxKernelSlots> waited_{};  ///< cycles for which a kernel has had CTAs left, and none there
  std::vector<std::array<unsigned, kMaxKernelSlots>> room_for_;  ///< [sm][kernel]: cycles for which one more has fitted
  std::vector<unsigned> since_end_, since_pick_;                 ///< [sm] cycles
  bool reserving_ = false;                                       ///< an SM may be reserved for one of them
  bool picked_ = false, unplaced_ = false;
  unsigned starved_ = 0, to_evaluate_ = 0, patience_ = 0;
};

}  // namespace sluice
