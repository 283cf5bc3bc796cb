// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <queue>
#include <random>
#include <vector>

#include "sw/driver/axi_lite_manager.h"
#include "sw/driver/sluice_driver.h"
#include "systemc/unit/ports/i_sluice_top.h"

namespace sluice {

/// SMs whose CTAs end at random times, around a unit that is programmed through its pins.
class UnitWorld {
 public:
  UnitWorld(std::unique_ptr<ISluiceTop> top, std::uint64_t seed)
      : top_(std::move(top)),
        random_(seed),
        bus_([this](const AxiLiteIn& pins) { return cycle(pins); }),
        driver_(std::make_unique<SluiceDriver>(bus_)) {}

  [[nodiscard]] SluiceDriver& driver() { return *driver_; }
  [[nodiscard]] AxiLiteBus& bus() { return bus_; }
  void run(std::uint64_t cycles) {
    for (std::uint64_t c = 0; c < cycles; ++c) cycle(AxiLiteIn());
  }
  /// @param sms_too  else what runs on the SMs goes on, and is reported
  void reset(bool sms_too = true) {
    in_.rst_n = false;
    in_.keep_tags = !sms_too;
    run(1);
    in_.rst_n = true;
    if (sms_too) running_ = {};
  }
  /// CTAs that start from now on end 1 to `most` cycles later, or `least` to `most`. A CTA that is flushed reports nevertheless.
  void let_ctas_last(std::uint64_t most, std::uint64_t least = 1) {
    life_ = std::uniform_int_distribution<std::uint64_t>(least, most);
  }
  /// What each SM does in a cycle, from now on; called in every cycle, in those of register accesses too.
  using Activity = std::function<void(std::uint64_t now, std::vector<SmActivity>& sms)>;
  void let_sms_act(std::uint32_t num_sms, Activity activity) {
    in_.sms.resize(num_sms);
    activity_ = std::move(activity);
  }
  /// Offers a launch at the port until it is taken. @return the cycle of the handshake
  std::uint64_t launch(const LaunchRequest& launch) {
    in_.launch = {true, launch};
    while (!top_->outputs().launch_ready) run(1);
    run(1);
    in_.launch.valid = false;
    return now_ - 1;
  }
  /// A launch that comes to the port in this cycle, during whatever goes on then, and stays until it is taken.
  void launch_at(std::uint64_t cycle, const LaunchRequest& launch) { coming_ = std::pair(cycle, launch); }
  /// Called with the outputs of every cycle, from now on.
  void watch(std::function<void(const SluiceTopOut&)> watcher) { watcher_ = std::move(watcher); }
  /// From now on the network does not take the CTA at the dispatch port, or takes each at once.
  void let_the_port_wait(bool waits) { in_.dispatch_ready = !waits; }
  /// In the next cycle something says that this CTA ended.
  void claim_end(std::uint8_t sm, std::uint8_t slot) { claimed_ = std::pair(sm, slot); }

  [[nodiscard]] std::uint64_t now() const { return now_; }
  [[nodiscard]] std::uint64_t dispatched() const { return dispatched_; }
  [[nodiscard]] std::size_t running() const { return running_.size(); }
  /// The cycle in which the last write acted: its response appeared.
  [[nodiscard]] std::uint64_t last_write() const { return last_write_; }
  [[nodiscard]] std::optional<std::uint64_t> first_dispatch() const { return first_dispatch_; }
  void forget_first_dispatch() { first_dispatch_.reset(); }

 private:
  struct Cta {
    std::uint64_t ends;
    std::uint8_t sm, slot, kernel, tag;
    bool operator<(const Cta& other) const { return ends > other.ends; }
  };

  AxiLiteOut cycle(const AxiLiteIn& pins) {
    const SluiceTopOut out = top_->outputs();
    in_.axi = pins;
    if (coming_ && now_ >= coming_->first) in_.launch = {true, coming_->second};
    if (activity_) activity_(now_, in_.sms);
    if (watcher_) watcher_(out);
    in_.done_valid = claimed_.has_value() || (!running_.empty() && running_.top().ends <= now_);
    if (claimed_) {
      std::tie(in_.done_sm, in_.done_slot) = *claimed_;
      claimed_.reset();
    } else if (in_.done_valid) {
      in_.done_sm = running_.top().sm;
      in_.done_slot = running_.top().slot;
      in_.done_kernel = running_.top().kernel;
      in_.done_tag = running_.top().tag;
      running_.pop();
    }
    if (out.axi.bvalid && !answered_) last_write_ = now_;
    answered_ = out.axi.bvalid;
    if (out.dispatch_valid && in_.dispatch_ready) {
      ++dispatched_;
      if (!first_dispatch_) first_dispatch_ = now_;
      running_.push({now_ + life_(random_), out.dispatch_sm, out.dispatch_slot, out.dispatch_kernel, out.dispatch_tag});
    }
    top_->clock(in_);
    if (coming_ && in_.launch.valid && out.launch_ready) {
      coming_.reset();
      in_.launch.valid = false;
    }
    ++now_;
    return out.axi;
  }

  std::unique_ptr<ISluiceTop> top_;
  std::mt19937_64 random_;
  std::uniform_int_distribution<std::uint64_t> life_{1, 100};
  std::priority_queue<Cta> running_;
  std::optional<std::pair<std::uint8_t, std::uint8_t>> claimed_;
  std::optional<std::pair<std::uint64_t, LaunchRequest>> coming_;
  SluiceTopIn in_;
  Activity activity_;
  std::function<void(const SluiceTopOut&)> watcher_;
  std::uint64_t now_ = 0, dispatched_ = 0, last_write_ = 0;
  std::optional<std::uint64_t> first_dispatch_;
  bool answered_ = false;
  AxiLiteBus bus_;
  std::unique_ptr<SluiceDriver> driver_;
};

}  // namespace sluice
