// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <deque>
#include <vector>

#include "sw/driver/sluice_regs.h"
#include "systemc/unit/ports/i_sluice_top.h"
#include "tb/common/random.h"
#include "tb/sluice_csr/axi_lite_traffic.h"

namespace sluice::tb {

/// The world around sluice_top, at random: a host that launches, stops, evicts and reconfigures (and errs), SMs whose CTAs last a
/// random time, issue and requests at random.
class TopTraffic {
 public:
  TopTraffic(Random& random, const regs::Parameters& parameters);

  /// The ports' inputs of this cycle.
  const SluiceTopIn& next();
  /// @param out the unit's outputs of the same cycle
  void observe(const SluiceTopOut& out);

  /// The host launches nothing more, enables and resumes everything, and lets what runs come to its end.
  void let_all_end();
  void stop(unsigned slot);
  /// It goes on as before.
  void go_on();

  /// Cycles before a first profile, and of a decision, with CHURN.
  [[nodiscard]] std::uint32_t life() const { return parameters_.churn == 0 ? 0 : 1U << parameters_.churn; }
  [[nodiscard]] std::uint64_t dispatched() const { return dispatched_; }
  [[nodiscard]] std::uint64_t ended() const { return ended_; }
  [[nodiscard]] std::uint64_t given_up() const { return given_up_; }

 private:
  [[nodiscard]] bool few_decisions() const { return life() > 4000; }

  struct Cta {
    std::uint64_t ends = 0;
    std::uint8_t sm = 0, slot = 0, kernel = 0, tag = 0;
  };

  /// How an SM is used for a while: how often, of 256 times, a scheduler issues and an SM without issue requestss; how often, of
  /// 64, an issue is of the favoured kernel.
  struct Pace {
    std::uint32_t busy = 128, favoured = 0, requests = 60;
    std::uint8_t kernel = 0;
  };

  AxiWrite next_write();
  std::uint32_t next_read();
  void plan_launch(unsigned slot);
  /// @param all_slots  no kernel is there then, and none comes by the port: a decision takes so long that both are needed
  void plan_machine(bool all_slots = false);
  void plan_decision();
  void plan_change();
  void plan_long_wait();
  void plan_action();
  void plan_any_write();
  void plan_sms();
  void plan_flush(unsigned slot);
  void plan_end();
  void give_up(const SluiceTopOut& out);
  void report(const Cta& cta);
  void launch_at_the_port();
  void run_sms();

  Random& random_;
  regs::Parameters parameters_;
  AxiLiteTraffic axi_;
  std::deque<AxiWrite> script_;  ///< writes that belong together
  std::vector<Cta> running_;
  std::deque<Cta> late_;     ///< given up by the unit: they report nevertheless
  std::vector<Pace> paces_;  ///< of each SM
  SluiceTopIn in_;
  std::uint64_t quiet_until_ = 0;    ///< the host waits for what it asked for
  std::uint64_t change_at_ = ~0ULL;  ///< in a decision: see plan_change()
  std::uint64_t leave_at_ = ~0ULL;   ///< after it: a kernel is stopped, and the others' curves are there
  unsigned changes_ = 0;
  std::uint64_t no_reset_until_ = 0, long_wait_at_ = 1200000;  ///< the latter is for the long campaigns alone
  bool ask_again_ = false;                                     ///< for a new profile, then
  std::uint64_t now_ = 0, dispatched_ = 0, ended_ = 0, given_up_ = 0;
  std::uint32_t life_ = 200;   ///< mean cycles of a CTA
  bool window_ = false;        ///< a profile window runs
  bool launch_taken_ = true;   ///< nothing waits at the launch port
  double launches_ = 0;        ///< how often a launch comes at the port
  double sm_ready_ = 1;        ///< how often an SM is ready,
  std::uint32_t stalled_ = 0;  ///< but this one, if there is one with this number
  unsigned patience_ = 0;      ///< writes until the host does something again
  bool ending_ = false;        ///< all is to come to its end
  std::uint32_t shared_ = 49152, registers_ = 32768, warps_ = 48, slots_ = 8;
};

}  // namespace sluice::tb
