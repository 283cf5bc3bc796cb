// RTL and TLM twin side by side: every port of every cycle of a run is compared.
#include <fmt/format.h>

#include <stdexcept>

#include "systemc/partition/i_sluice_top.h"

namespace sluice {

namespace {

class LockstepSluiceTop : public ISluiceTop {
 public:
  LockstepSluiceTop(std::unique_ptr<ISluiceTop> rtl, std::unique_ptr<ISluiceTop> tlm)
      : rtl_(std::move(rtl)), tlm_(std::move(tlm)) {}

  [[nodiscard]] const SluiceTopOut& outputs() const override { return rtl_->outputs(); }
  void clock(const SluiceTopIn& in) override {
    rtl_->clock(in);
    tlm_->clock(in);
    ++clocked_;
    const std::string port = port_difference(rtl_->outputs(), tlm_->outputs());
    if (!port.empty()) throw std::logic_error(fmt::format("RTL and TLM differ at {} after {} clocks", port, clocked_));
  }
  void skip(std::uint64_t cycles) override {
    rtl_->skip(cycles);
    tlm_->skip(cycles);
  }
  [[nodiscard]] bool counts_activity() const override { return rtl_->counts_activity(); }

 private:
  std::unique_ptr<ISluiceTop> rtl_, tlm_;
  std::uint64_t clocked_ = 0;
};

}  // namespace

std::string port_difference(const SluiceTopOut& a, const SluiceTopOut& b) {
  if (a.axi != b.axi) return "s_axi_*";
  if (a.irq != b.irq) return "irq_o";
  if (a.dispatch_valid != b.dispatch_valid) return "dispatch_valid_o";
  if (a.dispatch_valid) {
    if (a.dispatch_sm != b.dispatch_sm) return "dispatch_sm_o";
    if (a.dispatch_kernel != b.dispatch_kernel) return "dispatch_kernel_o";
    if (a.dispatch_slot != b.dispatch_slot) return "dispatch_slot_o";
    if (a.dispatch_cta != b.dispatch_cta) return "dispatch_cta_o";
    if (a.dispatch_register_base != b.dispatch_register_base) return "dispatch_register_base_o";
    if (a.dispatch_shared_base != b.dispatch_shared_base) return "dispatch_shared_base_o";
  }
  if (a.profile_valid != b.profile_valid) return "profile_valid_o";
  if (a.profile_valid) {
    if (a.profile_kernel != b.profile_kernel || a.profile_ctas != b.profile_ctas) return "profile_kernel_o, profile_ctas_o";
    if (a.profile_scaled != b.profile_scaled) return "profile_scaled_o";
  }
  if (a.idle != b.idle) return "idle_o";
  return "";
}

std::unique_ptr<ISluiceTop> make_lockstep_sluice_top(const regs::Parameters& parameters, const std::string& fst_file,
                                                     std::uint64_t clock_period_ps) {
  return std::make_unique<LockstepSluiceTop>(make_rtl_sluice_top(parameters, fst_file, clock_period_ps),
                                             make_tlm_sluice_top(parameters));
}

}  // namespace sluice
