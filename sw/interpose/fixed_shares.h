// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sw/interpose/shares.h"

namespace sluice::interpose {

/// One share for all launches of the process.
class FixedShares : public IShares {
 public:
  /// @param file  where another share may come from at any time; empty: none
  FixedShares(ILanes& lanes, Share share, std::string file, bool part_of_gpu);
  [[nodiscard]] Share launched(LaneId lane, const KernelDemand& in_front) override;
  [[nodiscard]] bool admit(const std::string& kernel) override;
  /// A range of SMs needs the thread, too: where others fill it, a launch's first CTAs may find no room.
  [[nodiscard]] bool changes() const override { return !file_.empty() || share_at_start_.sms != kEverySm; }
  void evicted(LaneId lane) override;
  [[nodiscard]] std::string times_json() const override;
  [[nodiscard]] std::string native() const override { return ""; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kMost = 4096;
  void follow();  // the file, for ever
  void read();
  ILanes& lanes_;
  const Share share_at_start_;
  const std::string file_;
  const bool part_of_gpu_;
  mutable std::mutex lock_;
  Share share_;
  std::set<LaneId> known_;
  std::set<LaneId> leaving_;
  Clock::time_point ordered_;    ///< to leave
  std::vector<double> left_us_;  ///< from there until a lane's last CTA had left, of the first kMost
};

/// Nothing is transformed.
class NoShares : public IShares {
 public:
  explicit NoShares(std::string why) : why_(std::move(why)) {}
  [[nodiscard]] Share launched(LaneId, const KernelDemand&) override { return kWholeMachine; }
  [[nodiscard]] bool admit(const std::string&) override { return true; }
  [[nodiscard]] bool changes() const override { return false; }
  [[nodiscard]] std::string native() const override { return why_; }

 private:
  const std::string why_;
};

/// "N" CTAs on each SM, "N A-B" on the SMs A to B alone, "all", or "0": nothing runs until there is another share.
/// @return nothing for other text
[[nodiscard]] std::optional<Share> share_of(std::string_view text);

}  // namespace sluice::interpose
