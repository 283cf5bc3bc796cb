// SPDX-License-Identifier: Apache-2.0
// Lists of traces side by side: which share each stream has.
#include "study/trace_run.h"

#include <gtest/gtest.h>

#include "sw/workload/machine_file.h"
#include "tests/support.h"
#include "tests/trace/sample_traces.h"

namespace sluice {
namespace {

class TraceRun : public test::Scratch {
 protected:
  /// Two processes of two kernels each, one of one warp and one of four.
  RunSpec spec(const std::string& policy) {
    write("kernel-1.traceg", sample::compute(1, 1, 4));
    write("kernel-2.traceg", sample::compute(1, 4, 4));
    TraceRunOptions options;
    options.policy = policy;
    const auto a = write("a.g", "kernel-1.traceg\nkernel-2.traceg\n"), b = write("b.g", "kernel-2.traceg\nkernel-1.traceg\n");
    return trace_spec({a, b}, read_machine(std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/machines/fermi_table1.toml"),
                      options);
  }
};

TEST_F(TraceRun, ListsAreProcessesThatRunSideBySide) {
  const RunSpec run = spec("left_over");
  ASSERT_EQ(run.launches.size(), 4U);
  EXPECT_EQ(run.launches[1].after, 0U);
  EXPECT_FALSE(run.launches[2].after);
  EXPECT_EQ(run.launches[3].after, 2U);
}

TEST_F(TraceRun, AStreamKeepsItsShareBetweenTwoKernels) {
  const RunSpec run = spec("spatial");
  const auto scheduler = run.make_scheduler();
  const auto running = [&](std::uint32_t launch) {
    return JobView{JobId(launch), run.launches[launch].kernel, JobState::Running};
  };
  const std::uint32_t half = run.machine.num_sms / 2;
  const std::vector<JobView> both{running(0), running(2)}, second{running(2)}, turned{running(2), running(1)}, last{running(3)};
  Plan plan = scheduler->decide(both, {}, {});
  ASSERT_EQ(plan.jobs.size(), 2U);
  EXPECT_EQ(plan.jobs[0].share.sms.count, half);
  EXPECT_EQ(plan.jobs[1].share.sms.first.value(), half);
  plan = scheduler->decide(second, std::vector<Event>{{EventKind::Done, JobId(0)}}, {});
  EXPECT_EQ(plan.jobs[0].share.sms.first.value(), half) << "the first process has another kernel to come";
  EXPECT_EQ(plan.jobs[0].share.sms.count, run.machine.num_sms - half);
  plan = scheduler->decide(turned, {}, {});
  EXPECT_EQ(plan.jobs[0].share.sms.first.value(), half) << "older, but of the second process";
  EXPECT_EQ(plan.jobs[1].share.sms.first.value(), 0U);
  plan = scheduler->decide(last, std::vector<Event>{{EventKind::Done, JobId(2)}, {EventKind::Done, JobId(1)}}, {});
  EXPECT_EQ(plan.jobs[0].share, kWholeMachine) << "the first process is over";
}

TEST_F(TraceRun, EvenIsWorkedOutForTheKernelsThatRunTogether) {
  const RunSpec run = spec("even");
  const std::vector<JobView> both{{JobId(0), run.launches[0].kernel, JobState::Running},
                                  {JobId(2), run.launches[2].kernel, JobState::Running}};
  const Plan plan = run.make_scheduler()->decide(both, {}, {});
  const SmResources all = run.machine.sm.capacity;
  const SmResources half{all.threads / 2, all.registers / 2, all.shared_memory_bytes / 2, all.cta_slots / 2};
  EXPECT_EQ(plan.jobs[0].share.ctas, occupancy(run.launches[0].kernel.demand(), half));
  EXPECT_EQ(plan.jobs[1].share.ctas, occupancy(run.launches[2].kernel.demand(), half));
}

}  // namespace
}  // namespace sluice
