// SPDX-License-Identifier: Apache-2.0
// RTL and twin side by side: every port of every cycle of a run is compared.
#include <fmt/format.h>

#include "sw/core/errors.h"
#include "systemc/sim/main_stack.h"
#include "systemc/unit/ports/i_sluice_top.h"

namespace sluice {

namespace {

class LockstepSluiceTop : public ISluiceTop {
 public:
  LockstepSluiceTop(std::unique_ptr<ISluiceTop> rtl, std::unique_ptr<ISluiceTop> twin)
      : rtl_(std::move(rtl)), twin_(std::move(twin)) {}

  [[nodiscard]] const SluiceTopOut& outputs() const override { return rtl_->outputs(); }
  void clock(const SluiceTopIn& in) override {
    rtl_->clock(in);
    twin_->clock(in);
    ++clocked_;
    const std::string port = port_difference(rtl_->outputs(), twin_->outputs());
    if (port.empty()) return;
    restore_main_stack_bounds();
    throw CheckFailed(fmt::format("RTL and twin differ at {} after {} clocks", port, clocked_));
  }
  void skip(std::uint64_t cycles) override {
    rtl_->skip(cycles);
    twin_->skip(cycles);
  }
  [[nodiscard]] bool counts_activity() const override { return rtl_->counts_activity(); }

 private:
  std::unique_ptr<ISluiceTop> rtl_, twin_;
  std::uint64_t clocked_ = 0;
};

}  // namespace

std::unique_ptr<ISluiceTop> make_lockstep_sluice_top(const regs::Parameters& parameters, const std::string& fst_file,
                                                     std::uint64_t clock_period_ps) {
  return make_lockstep_of(make_rtl_sluice_top(parameters, fst_file, clock_period_ps), make_twin_sluice_top(parameters));
}

std::unique_ptr<ISluiceTop> make_lockstep_of(std::unique_ptr<ISluiceTop> rtl, std::unique_ptr<ISluiceTop> twin) {
  return std::make_unique<LockstepSluiceTop>(std::move(rtl), std::move(twin));
}

}  // namespace sluice
