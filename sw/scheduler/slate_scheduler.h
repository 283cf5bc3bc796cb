// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sw/core/kernel.h"
#include "sw/core/machine.h"
#include "sw/partition/corun_split.h"
#include "sw/partition/slate_table.h"
#include "sw/scheduler/i_scheduler.h"
#include "sw/scheduler/solo_times.h"

namespace sluice {

/// May the candidate run beside the active job? SMs of the active one then, fewer than the machine has; nullopt: solo.
using CorunRule = std::function<std::optional<std::uint32_t>(const JobView& active, const JobView& candidate)>;

/// Slate: at most two jobs at a time, each on a contiguous range of SMs that it fills. When a job arrives or ends, the job that
/// runs (or else the oldest) is the active one. The first job of the queue that is complementary to it becomes its partner;
/// without a partner it has every SM. A pair keeps its ranges until one of the two ends. The other one then grows, or gets
/// another partner on the SMs that became free.
///
/// A job that was passed over kMostPassedOver times is the only one that may still become a partner, so it is next at the latest
/// when those that run have ended. The paper has no such bound; without it, pairs that follow each other could starve a job.
class SlateScheduler : public IScheduler {
 public:
  static constexpr unsigned kMostPassedOver = 8;
  SlateScheduler(std::uint32_t num_sms, CorunRule rule) : num_sms_(num_sms), rule_(std::move(rule)) {}
  /// @throws what the rule throws
  [[nodiscard]] Plan decide(std::span<const JobView> jobs, std::span<const Event> events, Time now) override;

 private:
  [[nodiscard]] const JobView* partner(const JobView& active, const std::vector<const JobView*>& queue);

  std::uint32_t num_sms_;
  CorunRule rule_;
  std::vector<JobId> known_;                     ///< who may hold SMs, at the last decision
  std::array<std::optional<JobId>, 2> seats_{};  ///< on the lower SMs, on the upper ones
  std::uint32_t lower_sms_ = 0;                  ///< of the lower seat while both are taken
  std::map<JobId, unsigned> passed_over_;        ///< by younger ones that became partners
};

/// How intense each kernel is, by its name.
using Intensities = std::map<std::string, Intensity>;
/// Table I, and half of the SMs for each of a pair: the paper prints no rule for the split. A kernel of unknown intensity runs
/// solo, as Slate's first run of a kernel profiles it.
/// @throws InputError naming the kernel when an intensity is negative or not finite
[[nodiscard]] CorunRule slate_table_rule(std::uint32_t num_sms, const Intensities& intensities,
                                         SlateTable table = SlateTable::Printed);

/// A measured pair.
struct CorunMeasurement {
  std::string first, second;
  CorunRate rate;
};
/// Measured speeds instead of the table: a pair that was never measured runs solo.
/// @param times  as of the adaptive scheduler; only the last one counts, with all CTAs that fit
/// @throws InputError as time_alone() does for the mix; naming the pair when a split or a speed is none
[[nodiscard]] CorunRule slate_measured_rule(const MachineConfig& machine, const std::vector<KernelDescriptor>& mix,
                                            const SoloTimes& times, const std::vector<CorunMeasurement>& pairs);

}  // namespace sluice
