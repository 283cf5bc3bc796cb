// SPDX-License-Identifier: Apache-2.0
// The GPU's event loop without a GPU: the same scheduler objects as in the fake executor, the same order of decisions.
#include "sw/gpu/jobs/event_loop.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "sw/core/errors.h"
#include "sw/scheduler/registry.h"
#include "sw/scheduler/scenario.h"
#include "sw/scheduler/schedule_run.h"
#include "tests/gpu/model_quota_jobs.h"

namespace sluice::gpu {
namespace {

constexpr Time kMillisecond{1'000'000'000}, kLimit{1'000'000'000'000'000};

/// Keeps what the scheduler was asked and said.
class Kept : public IScheduler {
 public:
  explicit Kept(std::unique_ptr<IScheduler> inner) : inner_(std::move(inner)) {}
  Plan decide(std::span<const JobView> jobs, std::span<const Event> events, Time now) override {
    Plan plan = inner_->decide(jobs, events, now);
    std::string line;
    for (const JobShare& share : plan.jobs) line += std::to_string(share.job.value()) + " ";
    if (said.empty() || said.back() != line) said.push_back(line);
    return plan;
  }
  std::vector<std::string> said;

 private:
  std::unique_ptr<IScheduler> inner_;
};

struct Setting {
  MachineConfig machine;
  std::vector<FakeJob> fake;
  std::vector<LoopJob> loop;
  SchedulerInput input;
};

Setting setting(const std::string& scenario_file) {
  const Scenario scenario = read_scenario(std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/scenarios" / scenario_file);
  const ScheduleTarget target = abstract_target(scenario);
  Setting s{target.machine, {}, {}, {target.machine, {}}};
  for (const ScenarioLaunch& launch : launches(scenario, Time(0))) {
    FakeJob job;
    job.kernel = target.kernels[launch.job];
    job.task_time = *scenario.task;
    job.arrival = launch.arrival;
    job.priority = launch.priority;
    s.fake.push_back(job);
    s.loop.push_back({static_cast<std::uint32_t>(launch.job), job.kernel, CtaCount(1), launch.priority, launch.arrival, {}, {}});
    s.input.mix.push_back(job.kernel);
  }
  return s;
}

class EventLoopConformance : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(EventLoopConformance, DecidesAsOnTheFakeExecutor) {
  const auto [file, name] = GetParam();
  const Setting s = setting(file);
  Kept on_fake(make_scheduler(name, s.input)), on_loop(make_scheduler(name, s.input));
  const FakeResult fake = run_fake(s.machine, s.fake, on_fake);
  ModelQuotaJobs gpu(s.machine, s.fake);
  const LoopResult loop = run_event_loop(s.machine, s.loop, on_loop, gpu, kLimit);
  EXPECT_EQ(on_loop.said, on_fake.said);
  ASSERT_EQ(loop.jobs.size(), fake.jobs.size());
  // A CTA that stays may have begun its next task when an order comes in the same moment: a task for each eviction, at most.
  std::uint32_t evictions = 0;
  for (const FakeOutcome& o : fake.jobs) evictions += o.evictions;
  // dprr counts whole milliseconds of waiting, each half a millisecond of slice: a task more can tip one.
  const Time close = (evictions + 1) * (s.fake[0].task_time + (std::string_view(name) == "dprr" ? kMillisecond / 2 : Time(0)));
  for (std::size_t k = 0; k < loop.jobs.size(); ++k) {
    EXPECT_EQ(loop.jobs[k].evictions, fake.jobs[k].evictions) << s.fake[k].kernel.name;
    EXPECT_LE(std::chrono::abs(loop.jobs[k].ended - fake.jobs[k].ended), close) << s.fake[k].kernel.name;
    EXPECT_LE(std::chrono::abs(loop.jobs[k].began - fake.jobs[k].began), close) << s.fake[k].kernel.name;
  }
}
INSTANTIATE_TEST_SUITE_P(Scenarios, EventLoopConformance,
                         ::testing::Combine(::testing::Values("effisha_group.toml", "effisha_sjf.toml", "effisha_random.toml"),
                                            ::testing::Values("arrival", "rr", "prio_np", "piv", "dprr")));

/// Two kernels of 8 and 4 CTAs an SM on four SMs, the second after 1 ms.
Setting pair() {
  Setting s;
  s.machine.num_sms = 4;
  s.machine.sm.capacity = {2048, 65536, 65536, 32};
  for (std::uint32_t k = 0; k < 2; ++k) {
    FakeJob job;
    job.kernel.name = k == 0 ? "first" : "second";
    job.kernel.grid_ctas = k == 0 ? 2000 : 900;
    job.kernel.block_threads = 256;
    job.kernel.registers_per_cta = k == 0 ? 8192 : 16384;
    job.task_time = Time(50'000'000 + 7'000'000 * k);
    job.arrival = static_cast<std::int64_t>(k) * kMillisecond;
    s.fake.push_back(job);
    s.loop.push_back({k, job.kernel, CtaCount(8 / (k + 1)), 0, job.arrival, {}, {}});
    s.input.mix.push_back(job.kernel);
    s.input.times[job.kernel.name] = fake_solo_times(s.machine, job.kernel, job.task_time);
  }
  s.input.machine = s.machine;
  return s;
}

TEST(EventLoop, SharesAsOnTheFakeExecutorAndHearsOfTheLastTask) {
  const Setting s = pair();
  Kept on_fake(make_scheduler("adaptive", s.input)), on_loop(make_scheduler("adaptive", s.input));
  const FakeResult fake = run_fake(s.machine, s.fake, on_fake);
  ModelQuotaJobs gpu(s.machine, s.fake);
  const LoopResult loop = run_event_loop(s.machine, s.loop, on_loop, gpu, kLimit);
  EXPECT_EQ(on_loop.said, on_fake.said);
  for (std::size_t k = 0; k < 2; ++k) EXPECT_LE(std::chrono::abs(loop.jobs[k].ended - fake.jobs[k].ended), s.fake[k].task_time);
  std::size_t last_begun = 0;
  for (const LoopDecision& d : loop.decisions) last_begun += std::ranges::count(d.events, EventKind::LastTaskBegun, &Event::kind);
  EXPECT_EQ(last_begun, 2U) << "once a job";
}

TEST(EventLoop, ALaunchAfterAnotherArrivesAWaitAfterItsEnd) {
  Setting s = pair();
  s.loop[1].after = 0;
  s.loop[1].arrival = 3 * kMillisecond;
  ModelQuotaJobs gpu(s.machine, s.fake);
  const auto scheduler = make_scheduler("piv", s.input);
  const LoopResult loop = run_event_loop(s.machine, s.loop, *scheduler, gpu, kLimit);
  EXPECT_EQ(loop.jobs[1].arrived, loop.jobs[0].ended + 3 * kMillisecond);
}

/// The inputs of the first job come after 2 ms.
class Copying : public ModelQuotaJobs {
 public:
  using ModelQuotaJobs::ModelQuotaJobs;
  bool ready(JobId job) override { return job.value() != 0 || now() >= kThere; }
  void rest(std::optional<Time> next) override {
    ModelQuotaJobs::rest(now() < kThere ? std::min(kThere, next.value_or(kThere)) : next);
  }
  static constexpr Time kThere = 2 * kMillisecond;
};
TEST(EventLoop, AJobWhoseInputsAreNotThereHoldsNothing) {
  const Setting s = pair();
  Copying gpu(s.machine, s.fake);
  const auto scheduler = make_scheduler("arrival", s.input);
  const LoopResult loop = run_event_loop(s.machine, s.loop, *scheduler, gpu, kLimit);
  EXPECT_EQ(loop.jobs[0].arrived, Time(0));
  EXPECT_GE(loop.jobs[0].began, Copying::kThere);
  EXPECT_LT(loop.jobs[1].began, Copying::kThere) << "the second is there after 1 ms, and goes first";
  std::size_t ready = 0;
  for (const LoopDecision& d : loop.decisions)
    if (std::ranges::count(d.events, Event{EventKind::Ready, JobId(0)}) > 0) {
      ++ready;
      EXPECT_GE(d.at, Copying::kThere);
    }
  EXPECT_EQ(ready, 1U);
}

/// Gives nobody anything.
class Stingy : public IScheduler {
 public:
  Plan decide(std::span<const JobView> /*jobs*/, std::span<const Event> /*events*/, Time /*now*/) override { return {}; }
};
TEST(EventLoop, AJobThatNobodyServesIsAnErrorAndNoEndlessLoop) {
  const Setting s = pair();
  ModelQuotaJobs gpu(s.machine, s.fake);
  Stingy stingy;
  EXPECT_THROW((void)run_event_loop(s.machine, s.loop, stingy, gpu, kLimit), CheckFailed);
}

/// 10 tasks of job 0 on the whole machine, at 2 ms two more, at 3 ms all that are left.
class Slicing : public IScheduler {
 public:
  Plan decide(std::span<const JobView> jobs, std::span<const Event> /*events*/, Time now) override {
    begun.push_back(jobs.empty() ? 0 : jobs[0].tasks_begun);
    if (now >= 3 * kMillisecond) return {{{JobId(0), kWholeMachine}, {JobId(1), kWholeMachine}}};
    return {{{JobId(0), kWholeMachine, now < 2 * kMillisecond ? 10U : 12U}},
            now < 2 * kMillisecond ? 2 * kMillisecond : 3 * kMillisecond};
  }
  std::vector<std::uint64_t> begun;
};
TEST(EventLoop, NoMoreTasksBeginThanThePlanAllows) {
  const Setting s = pair();
  ModelQuotaJobs gpu(s.machine, s.fake);
  Slicing slicing;
  const LoopResult loop = run_event_loop(s.machine, s.loop, slicing, gpu, kLimit);
  ASSERT_GE(slicing.begun.size(), 4U);
  EXPECT_EQ(slicing.begun[1], 10U) << "the second job arrives after 1 ms";
  EXPECT_EQ(slicing.begun[2], 10U);
  EXPECT_EQ(slicing.begun[3], 12U);
  EXPECT_GT(loop.jobs[0].ended, 3 * kMillisecond);
}

TEST(EventLoop, SlicesOfTwoKernelsAsOnTheFakeExecutor) {
  Setting s = pair();
  s.loop[1].arrival = s.fake[1].arrival = Time(0);
  CoRunTable& table = s.input.executed;
  for (const KernelDescriptor& k : s.input.mix) table.kernels[k.name] = {1, 1e5, 0.5, 0.5};
  for (const auto& ctas : slice_ratios(s.input.mix[0].demand(), s.input.mix[1].demand(), s.machine.sm.capacity))
    table.pairs[{"first", "second"}].push_back({ctas, {0.7, 0.6}});
  s.input.min_slice = kMillisecond / 2;
  Kept on_fake(make_scheduler("kernelet_opt", s.input)), on_loop(make_scheduler("kernelet_opt", s.input));
  const FakeResult fake = run_fake(s.machine, s.fake, on_fake);
  ModelQuotaJobs gpu(s.machine, s.fake);
  const LoopResult loop = run_event_loop(s.machine, s.loop, on_loop, gpu, kLimit);
  EXPECT_EQ(on_loop.said, on_fake.said);
  // A slice may end with a task under way: it is there before or after the look that ends the slice.
  for (std::size_t k = 0; k < 2; ++k)
    EXPECT_LE(std::chrono::abs(loop.jobs[k].ended - fake.jobs[k].ended), s.fake[k].task_time) << s.fake[k].kernel.name;
}

}  // namespace
}  // namespace sluice::gpu
