// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/balance_scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "sw/core/errors.h"
#include "sw/scheduler/fake_executor.h"
#include "sw/scheduler/registry.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/mix.h"
#include "sw/workload/workload_file.h"
#include "tests/scheduler/jobs.h"
#include "tests/scheduler/logged_run.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;

MachineConfig machine() { return small_machine(8, {256, 32768, 49152, 8}); }  // four CTAs of 64 threads on an SM

/// The scheduler, the jobs it is asked about, and what measuring finds.
struct Scene {
  std::vector<JobView> jobs;
  BalanceScheduler balance{machine()};
  std::vector<BalanceCandidate> found;

  explicit Scene(const std::vector<std::string>& names) {
    for (const std::string& name : names) arrive(name);
  }
  JobView& arrive(const std::string& name, std::int32_t priority = 0) {
    JobView& view = jobs.emplace_back();
    view.id = JobId(static_cast<std::uint32_t>(jobs.size() - 1));
    view.kernel = job(name, 100, 1us).kernel;
    view.state = JobState::Ready;
    view.tasks = 100;
    view.priority = priority;
    return view;
  }
  Plan decide() { return balance.decide(jobs, {}, Time(0)); }
  /// Each candidate's rates are `rates` of its counts. @return the plan that follows
  Plan measure(const Plan& plan, const std::function<double(std::size_t, std::uint32_t)>& rate) {
    std::vector<JobId> ids;
    for (const JobShare& share : plan.jobs) ids.push_back(share.job);
    std::vector<BalanceCandidate> candidates;
    for (const auto& ctas : plan.measure) {
      BalanceCandidate& c = candidates.emplace_back(BalanceCandidate{ctas, {}});
      for (std::size_t k = 0; k < ctas.size(); ++k) c.rates.push_back(rate(k, ctas[k].value()));
    }
    balance.measured(ids, candidates);
    return decide();
  }
};

std::string text(const Plan& plan) {
  std::string out;
  for (const JobShare& s : plan.jobs) {
    out += (out.empty() ? "" : " ") + std::to_string(s.job.value()) + ":";
    out += s.share == kWholeMachine ? "all" : std::to_string(s.share.ctas.value());
  }
  return out;
}

double linear(std::size_t, std::uint32_t ctas) { return ctas * 0.35; }

TEST(BalanceScheduler, MeasuresAMixOnceAndRemembersItInAnyOrder) {
  Scene s({"A", "B"});
  const Plan first = s.decide();
  EXPECT_EQ(first.measure.size(), 3U) << "1 + 3, 2 + 2, 3 + 1";
  EXPECT_EQ(text(first), "0:2 1:2");
  EXPECT_EQ(s.decide(), first) << "until it is measured";
  const Plan kept = s.measure(first, [](std::size_t k, std::uint32_t ctas) { return k == 0 ? ctas * 0.3 : 0.8; });
  EXPECT_EQ(text(kept), "0:3 1:1") << "1.64 times as fast as in order";
  EXPECT_TRUE(kept.measure.empty());
  EXPECT_NE(kept.reason.find("A 3, B 1"), std::string::npos) << kept.reason;
  s.jobs[0].state = JobState::Done;
  EXPECT_EQ(text(s.decide()), "1:all");
  s.jobs[1].state = JobState::Done;
  s.arrive("B");
  s.arrive("A");
  EXPECT_EQ(text(s.decide()), "2:1 3:3");
  EXPECT_TRUE(s.decide().measure.empty());
}

TEST(BalanceScheduler, AMixIsMeasuredAgainNowAndThen) {
  Scene s({"A", "B"});
  s.measure(s.decide(), linear);
  std::uint32_t decisions = 1;
  for (; decisions < 100 && s.decide().measure.empty(); ++decisions) {
    for (JobView& job : s.jobs) job.state = JobState::Done;
    s.arrive("A");
    s.arrive("B");
  }
  EXPECT_EQ(decisions, BalanceScheduler::kMeasureAgain + 1);
}

TEST(BalanceScheduler, RunsInOrderWhatIsNotWorthSharing) {
  Scene s({"A", "B"});
  s.arrive("C", 1);
  const Plan plan = s.measure(s.decide(), [](std::size_t, std::uint32_t ctas) { return ctas * 0.2; });
  EXPECT_EQ(text(plan), "2:all") << "the most important";
  EXPECT_NE(plan.reason.find("C first: "), std::string::npos) << plan.reason;
}

TEST(BalanceScheduler, AThirdKernelSharesOnlyIfAsImportantAsTheSecond) {
  for (const auto& [priorities, shares] : {std::pair{std::array{0, 0, 0}, "0 1 2"}, {{1, 0, 0}, "0 1 2"}, {{0, 2, 1}, "1 2"}}) {
    Scene s({});
    for (std::size_t k = 0; k < 3; ++k) s.arrive({static_cast<char>('A' + k)}, priorities.at(k));
    std::string held;
    for (const JobShare& share : s.decide().jobs) held += (held.empty() ? "" : " ") + std::to_string(share.job.value());
    EXPECT_EQ(held, shares);
  }
}

TEST(BalanceScheduler, KernelsOfWhichOneEachFitsShareAlsoWhereEqualPartsDoNot) {
  Scene s({"A", "B", "C"});
  s.jobs[0].kernel.block_threads = 160;
  s.jobs[1].kernel.block_threads = s.jobs[2].kernel.block_threads = 32;  // a third of what fits of each alone: two
  EXPECT_EQ(text(s.decide()), "0:1 1:1 2:2");
}

TEST(BalanceScheduler, KeepsAFloorOrComesNearest) {
  for (const auto& [floor, shares, missed] :
       {std::tuple{0.0, "0:2 1:2", false}, {0.9, "0:3 1:1", false}, {1.0, "0:3 1:1", false}}) {
    Scene s({"A", "B"});
    s.jobs[0].kernel.wish.floor = floor;
    const Plan plan = s.measure(s.decide(), linear);
    EXPECT_EQ(text(plan), shares) << floor;
  }
  Scene s({"A", "B"});
  s.jobs[0].kernel.wish.floor = s.jobs[1].kernel.wish.floor = 0.8;
  const Plan plan = s.measure(s.decide(), linear);
  EXPECT_EQ(text(plan), "0:2 1:2");
  EXPECT_NE(plan.reason.find("misses one by 0.10"), std::string::npos) << plan.reason;
}

TEST(BalanceScheduler, WhatIsLeftWeighs) {
  Scene s({"A", "B"});
  s.jobs[1].tasks_begun = s.jobs[1].tasks_done = 70;
  EXPECT_EQ(text(s.measure(s.decide(), linear)), "0:3 1:1");
}

TEST(BalanceScheduler, RatesOfAMixThatHasChangedAreNotTaken) {
  Scene s({"A", "B"});
  const Plan old = s.decide();
  s.arrive("C");
  const Plan now = s.decide();
  EXPECT_EQ(now.jobs.size(), 3U);
  EXPECT_EQ(s.measure(old, linear), now);
}

/// Short kernels of `table2` on the model.
struct OnTheModel {
  explicit OnTheModel(const char* names) {
    const std::filesystem::path root = SLUICE_SOURCE_DIR;
    spec.machine = read_machine(root / "configs/machines/fermi_table1.toml");
    spec.kernel_slots = 4;
    spec.machine.partitioner.balance.window_cycles = 2048;
    kernels = parse_mixes(read_workload(root / "configs/workloads/table2.toml"), spec.machine, names).front().kernels;
  }
  KernelLaunch& launch(const KernelDescriptor& kernel, std::uint32_t ctas) {
    KernelLaunch& l = spec.launches.emplace_back(KernelLaunch{kernel, 0, Cycles(0)});
    l.kernel.grid_ctas = ctas;
    l.kernel.behaviour.warp_instructions = 1000;
    l.once = true;
    return l;
  }
  test::LoggedRun run() {
    const auto machine = spec.machine;
    return test::logged_run(spec, [machine] { return make_scheduler("balance", {machine, {}}); });
  }
  RunSpec spec;
  std::vector<KernelDescriptor> kernels;
};

/// On the model, the same pair twice, one after the other: measured side by side, and the second time known.
TEST(BalanceScheduler, OnTheModelAKnownMixNeedsNoWindow) {
  OnTheModel m("DXT_KNN");
  RunSpec& spec = m.spec;
  for (const KernelDescriptor& kernel : m.kernels)
    for (const std::uint32_t ctas : {1500U, 600U}) m.launch(kernel, ctas);
  std::swap(spec.launches[1], spec.launches[2]);  // DXT, KNN, and again
  spec.launches[2].after = spec.launches[3].after = 1;
  spec.launches[2].delay = spec.launches[3].delay = Cycles(1000000);
  const test::LoggedRun ran = m.run();
  std::size_t measures = 0, shared = 0;
  for (const auto& d : ran.decisions) {
    const std::string reason = d["reason"];
    measures += reason.find("side by side") != std::string::npos ? 1 : 0;
    shared += reason.find("times as fast as in order, rates") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(ran.result.decisions.size(), 1U) << "of the unit";
  EXPECT_GE(measures, 1U);
  EXPECT_GE(shared, 2U);
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(ran.result.kernels[k].ctas_completed, spec.launches[k].kernel.grid_ctas);
    EXPECT_EQ(ran.result.host.evictions[k], 0U);
  }
}

/// While DXT's partitions beside BLK are being measured KNN comes again, whose beside DXT are known: no decision is waited for.
TEST(BalanceScheduler, OnTheModelAKnownMixEndsTheMeasuringOfAnother) {
  OnTheModel m("DXT_BLK_KNN");
  RunSpec& spec = m.spec;
  const KernelDescriptor &dxt = m.kernels[0], &blk = m.kernels[1], &knn = m.kernels[2];
  m.launch(dxt, 8000).priority = 1;
  m.launch(knn, 250).priority = 1;
  m.launch(blk, 1500).after = 1;
  m.launch(knn, 200).after = 1;
  spec.launches.back().priority = 1;
  spec.launches.back().delay = Cycles(30000);
  const test::LoggedRun ran = m.run();
  for (std::size_t k = 0; k < spec.launches.size(); ++k)
    EXPECT_EQ(ran.result.kernels[k].ctas_completed, spec.launches[k].kernel.grid_ctas);
  EXPECT_EQ(ran.result.host.evictions[2], 1U);
}

}  // namespace
}  // namespace sluice
