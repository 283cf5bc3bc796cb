// SPDX-License-Identifier: Apache-2.0
// The GPU model as an executor of schedulers that evict: jobs leave their kernel slots and come back with the CTAs that are left.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "sw/workload/machine_file.h"
#include "sw/workload/mix.h"
#include "sw/workload/workload_file.h"
#include "systemc/sim/sim_clock.h"
#include "tests/scheduler/logged_run.h"
#include "tests/scheduler/turns.h"
#include "tests/support.h"

namespace sluice {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;
const std::filesystem::path kRoot = SLUICE_SOURCE_DIR;
constexpr std::uint32_t kGrid = 300;

/// The machine belongs to the youngest job that has something left.
class YoungestFirst : public IScheduler {
 public:
  [[nodiscard]] Plan decide(std::span<const JobView> jobs, std::span<const Event>, Time) override {
    Plan plan;
    for (const JobView& job : jobs)
      if (may_hold_sms(job.state)) plan.jobs = {{job.id, kWholeMachine}};
    return plan;
  }
};

using Ran = test::LoggedRun;

class ModelExecutor : public test::Scratch {
 protected:
  MachineConfig machine = read_machine(kRoot / "configs/machines/fermi_table1.toml");

  std::filesystem::path timeline;
  std::vector<std::uint32_t> grids;  ///< of the first jobs, where they are not kGrid

  /// So many jobs of kGrid short CTAs each, `apart` cycles one after the other, on four kernel slots.
  Ran run(std::size_t jobs, std::uint64_t apart, const MakeScheduler& make, PartitionerKind unit = PartitionerKind::Twin) {
    const std::vector<KernelDescriptor> mix =
        parse_mixes(read_workload(kRoot / "configs/workloads/table2.toml"), machine, "DXT_KNN").front().kernels;
    RunSpec spec;
    spec.machine = machine;
    spec.partitioner = unit;
    spec.kernel_slots = 4;
    spec.window = Cycles(3000000);
    spec.timeline_file = timeline;
    for (std::size_t k = 0; k < jobs; ++k) {
      KernelLaunch launch{mix[k % 2], 0, Cycles(k * apart)};
      launch.kernel.grid_ctas = k < grids.size() ? grids[k] : kGrid;
      launch.kernel.behaviour.warp_instructions = 200;
      launch.once = true;
      spec.launches.push_back(launch);
    }
    return test::logged_run(spec, make);
  }

  /// Times of an event of each job.
  static std::map<unsigned, std::vector<std::int64_t>> times(const Ran& ran, const std::string& kind) {
    std::map<unsigned, std::vector<std::int64_t>> out;
    for (const json& d : ran.decisions)
      for (const json& e : d["events"])
        if (e["kind"] == kind) out[e["job"].get<unsigned>()].push_back(d["now_ps"].get<std::int64_t>());
    return out;
  }

  static void every_cta_ran_once(const Ran& ran) {
    for (const KernelCounters& k : ran.result.kernels) {
      EXPECT_EQ(k.ctas_dispatched, kGrid);
      EXPECT_EQ(k.ctas_completed, kGrid);
      EXPECT_NE(k.finish_cycle, 0U);
    }
  }
};

TEST_F(ModelExecutor, SixJobsTakeTurnsOnFourSlots) {
  const Ran ran = run(
      6, 0, [] { return std::make_unique<test::Turns>(5us); }, PartitionerKind::Both);
  every_cta_ran_once(ran);
  const auto evicted = times(ran, "evicted"), issued = times(ran, "last_task_begun"), done = times(ran, "done");
  ASSERT_EQ(evicted.size(), 6U) << "each had to leave for another";
  ASSERT_EQ(issued.size(), 6U);
  ASSERT_EQ(done.size(), 6U);
  for (unsigned k = 0; k < 6; ++k) {
    EXPECT_EQ(issued.at(k).size(), 1U);
    EXPECT_EQ(done.at(k).size(), 1U);
    EXPECT_LE(issued.at(k).front(), done.at(k).front());
    EXPECT_LT(evicted.at(k).back(), issued.at(k).front()) << "an eviction leaves something to do";
  }
}

TEST_F(ModelExecutor, LastComeFirstServed) {
  const Ran ran = run(7, 3000, [] { return std::make_unique<YoungestFirst>(); });
  every_cta_ran_once(ran);
  for (std::size_t k = 0; k + 1 < 7; ++k)
    EXPECT_GT(ran.result.kernels[k].finish_cycle, ran.result.kernels[k + 1].finish_cycle) << "the younger ends first";
  const auto evicted = times(ran, "evicted");
  for (unsigned k = 0; k < 6; ++k) EXPECT_EQ(evicted.at(k).size(), 1U) << "job " << k;
  EXPECT_FALSE(evicted.contains(6));
}

/// One CTA of each job on every SM.
class Everybody : public IScheduler {
 public:
  [[nodiscard]] Plan decide(std::span<const JobView> jobs, std::span<const Event>, Time) override {
    Plan plan;
    for (const JobView& job : jobs)
      if (may_hold_sms(job.state)) plan.jobs.push_back({job.id, Share{CtaCount(1)}});
    return plan;
  }
};

TEST_F(ModelExecutor, WhoFindsNoSlotTakesTheNextThatIsFree) {
  grids = {20, kGrid, kGrid, kGrid, 20};
  const Ran ran = run(5, 0, [] { return std::make_unique<Everybody>(); });
  EXPECT_TRUE(times(ran, "evicted").empty());
  for (std::size_t k = 1; k < 4; ++k)
    EXPECT_LT(ran.result.kernels[4].finish_cycle, ran.result.kernels[k].finish_cycle) << "it had the first one's slot";
}

/// Two CTAs of each job on every SM. Job 0 may begin so many in all: at first limits[0], after each timer the next one.
class InSlices : public IScheduler {
 public:
  InSlices(Time slice, std::vector<std::uint64_t> limits) : slice_(slice), limits_(std::move(limits)) {}
  [[nodiscard]] Plan decide(std::span<const JobView> jobs, std::span<const Event> events, Time now) override {
    for (const Event& e : events) at_ += e.kind == EventKind::Timer && at_ + 1 < limits_.size() ? 1 : 0;
    Plan plan;
    for (const JobView& job : jobs)
      if (may_hold_sms(job.state))
        plan.jobs.push_back({job.id, Share{CtaCount(2)}, job.id.value() == 0 ? limits_[at_] : kNoTaskLimit});
    plan.wake_at = (now / slice_ + 1) * slice_;
    return plan;
  }

 private:
  Time slice_;
  std::vector<std::uint64_t> limits_;
  std::size_t at_ = 0;
};

/// A slice ends with its CTAs, and the next is launched when the limit grows. One that shrinks stops the slice. RTL and twin side
/// by side.
TEST_F(ModelExecutor, NoCtaBeginsBeyondTheTaskLimit) {
  const std::vector<std::uint64_t> limits{40, 40, 70, 70, kGrid, 80, 80, kGrid};
  const Time slice = 8us;
  timeline = folder_ / "timeline.json";
  const Ran ran = run(
      2, 0, [&] { return std::make_unique<InSlices>(slice, limits); }, PartitionerKind::Both);
  every_cta_ran_once(ran);
  EXPECT_TRUE(times(ran, "evicted").empty()) << "a job between two slices stays";
  std::ifstream in(timeline);
  std::vector<std::uint64_t> begun(limits.size());  // CTAs of job 0 in each slice of time
  const auto cycles = static_cast<std::uint64_t>(slice / Time(SimClock(machine.core_mhz).period_ps()));
  for (const json& e : json::parse(in))
    if (e.value("ph", "") == "X" && e["name"] == "DXT")
      ++begun.at(std::min<std::uint64_t>(e["ts"].get<std::uint64_t>() / cycles, limits.size() - 1));
  EXPECT_EQ(begun[0] + begun[1], 40U);
  EXPECT_EQ(begun[2] + begun[3], 30U);
  EXPECT_GT(begun[4], 30U);
  EXPECT_LT(begun[4] + begun[5], 230U) << "stopped before its end";
  EXPECT_EQ(begun[6], 0U) << "more than 80 had begun";
  EXPECT_GT(begun[7], 0U) << "launched again with what is left";
}

/// The youngest of two has to wait for a decision, an eviction and its launch; 700 cycles a microsecond.
TEST_F(ModelExecutor, EachStepOfTheHostTakesItsTime) {
  const MakeScheduler make = [] { return std::make_unique<YoungestFirst>(); };
  const std::uint64_t quick = run(2, 3000, make).result.kernels[1].finish_cycle;
  for (const HostConfig& host : {HostConfig{.decide_us = 10}, HostConfig{.launch_us = 10}, HostConfig{.evict_us = 10}}) {
    machine.host = host;
    const Ran slow = run(2, 3000, make);
    every_cta_ran_once(slow);
    EXPECT_GE(slow.result.kernels[1].finish_cycle, quick + 6000);
  }
}

TEST_F(ModelExecutor, AJobWithoutAShareHoldsNoSlot) {
  class Nobody : public IScheduler {
    [[nodiscard]] Plan decide(std::span<const JobView>, std::span<const Event>, Time) override { return {}; }
  };
  const Ran ran = run(2, 0, [] { return std::make_unique<Nobody>(); });
  for (const KernelCounters& k : ran.result.kernels) EXPECT_EQ(k.ctas_dispatched, 0U);
}

}  // namespace
}  // namespace sluice
