// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <random>
#include <utility>
#include <vector>

#include "tb/cta_dispatcher/scoreboard.h"

namespace sluice {

/// Random traffic for the dispatcher's ports: kernels of all sizes come, are stopped and evicted, CTAs end at random times,
/// quotas and modes change, errors are made on purpose. Its character changes every few hundred cycles. Units of many CTA slots
/// are crowded from time to time: small CTAs, of which an SM holds as many as it has slots.
class DispatchTraffic {
 public:
  DispatchTraffic(std::uint64_t seed, const CtaDispatcherParams& params);

  [[nodiscard]] const DispatchCycle& reset();                             ///< a new machine, nothing started
  [[nodiscard]] const DispatchCycle& next(const CtaDispatcherOut& out);   ///< inputs for the cycle whose outputs are `out`
  [[nodiscard]] const DispatchCycle& drain(const CtaDispatcherOut& out);  ///< stops every kernel and ends every CTA
  [[nodiscard]] bool idle(const CtaDispatcherOut& out) const;             ///< nothing resident, every slot free

 private:
  std::uint32_t in(std::uint32_t low, std::uint32_t high) {
    return std::uniform_int_distribution<std::uint32_t>(low, high)(random_);
  }
  bool chance(double p) { return std::bernoulli_distribution(p)(random_); }
  void new_character();
  void crowd();
  void new_quotas();
  void new_availability();
  void new_descriptor(std::uint32_t k);
  void end_one(const CtaDispatcherOut& out);
  void give_up(const CtaDispatcherOut& out);
  void started(const CtaDispatcherOut& out);

  std::mt19937_64 random_;
  CtaDispatcherParams params_;
  DispatchCycle cycle_;
  struct Cta {
    std::uint8_t sm = 0, slot = 0, kernel = 0, tag = 0;
  };
  std::vector<Cta> started_;  ///< CTAs that run
  std::vector<Cta> late_;     ///< CTAs that were given up, and may still report
  double sm_ready_ = 1;       ///< how often an SM is ready
  double ends_ = 0, ready_ = 1, commands_ = 0, quota_changes_ = 0, errors_ = 0;
  std::uint8_t described_ = 0;  ///< kernels with a new descriptor, launched in the next cycle
  std::uint32_t quota_style_ = 0, size_style_ = 0, left_ = 0;
  bool crowd_ = false;  ///< kernels stay until every CTA slot is taken
};

}  // namespace sluice
