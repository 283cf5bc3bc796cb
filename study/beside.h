// SPDX-License-Identifier: Apache-2.0
#pragma once
// Model beside silicon: turnarounds, shares in force, and decisions of the same scenes.
#include <optional>
#include <string>
#include <vector>

#include "study/gpu_lines.h"
#include "study/scene_replay.h"

namespace sluice::gpu {

/// One event that a scheduler was told of, and the shares it then gave.
struct DecisionStep {
  double at = 0;  ///< milliseconds
  std::string event, shares;
};
/// @param shares  whether steps have them: those of a machine with other SMs cannot be compared
/// @param most    CTAs of each launch that fit an SM: what a share without a bound comes to
[[nodiscard]] std::vector<DecisionStep> steps_of(const SceneRun& run, bool shares, const std::vector<CtaCount>& most,
                                                 std::uint32_t num_sms);

/// Two ordered lists of decisions.
struct OrderComparison {
  enum class Cause { None, Order, Shares, Missing };
  std::size_t measured = 0, model = 0;  ///< steps
  std::size_t equal = 0;                ///< of the longest common subsequence
  Cause cause = Cause::None;            ///< of the first difference
  std::size_t at = 0;                   ///< its index
  std::string why{};                    ///< in words; empty where there is none
};
[[nodiscard]] std::string_view to_string(OrderComparison::Cause cause);
[[nodiscard]] OrderComparison compare(const std::vector<DecisionStep>& measured, const std::vector<DecisionStep>& model);

/// Share of the time, until both have ended, in which every launch has the same share in both.
[[nodiscard]] double equal_shares(const SceneRun& measured, const SceneRun& model, const std::vector<CtaCount>& most,
                                  std::uint32_t num_sms);

/// Milliseconds in which a launch had a share, by the decisions, until its end.
[[nodiscard]] double time_held(const SceneRun& run, std::uint32_t launch);

/// The bound that EffiSha's turnarounds must hold: within 10 % of the model, or 0.2 ms.
[[nodiscard]] bool is_near(double measured_ms, double model_ms);

/// A model that replayed scenes.
struct BesideModel {
  std::string name;
  bool same_machine = true;  ///< its SMs are the GPU's: shares are compared
};
struct BesideScene {
  std::string name, scheduler;
  std::vector<SceneRun> measured;             ///< the repetitions
  std::vector<std::optional<SceneRun>> runs;  ///< of each model
  std::vector<CtaCount> most;                 ///< of each launch
};
/// Tables of all scenes, and what must hold: turnarounds of the first model.
[[nodiscard]] figures::Figure beside_figure(const std::vector<BesideModel>& models, const std::vector<BesideScene>& scenes,
                                            std::uint32_t num_sms);

}  // namespace sluice::gpu
