// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/memory_scheduler.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "sw/scheduler/fake_executor.h"
#include "sw/scheduler/registry.h"
#include "tests/scheduler/jobs.h"
#include "tests/support.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;

MemoryDemand demand(std::uint64_t in, std::uint64_t out, KernelType type = KernelType::Compute,
                    std::optional<std::uint32_t> program = {}) {
  return {in, out, type, program};
}

/// The job that an idle engine takes.
std::optional<std::uint32_t> begun(MemoryScheduler& scheduler, CopyDirection direction = CopyDirection::ToDevice) {
  const auto copy = scheduler.begin(direction);
  return copy ? std::optional(copy->job.value()) : std::nullopt;
}

std::optional<std::uint32_t> load(MemoryScheduler& scheduler) {
  const auto copy = scheduler.begin(CopyDirection::ToDevice);
  if (!copy) return std::nullopt;
  (void)scheduler.ended(*copy);
  return copy->job.value();
}

TEST(MemoryScheduler, FewestBytesFirstOfTheKindOfWhichFewerAreReady) {
  MemoryScheduler s(1000);
  s.arrive(JobId(0), demand(90, 0, KernelType::Memory));
  s.arrive(JobId(1), demand(30, 0));
  s.arrive(JobId(2), demand(20, 0));
  s.arrive(JobId(3), demand(50, 0, KernelType::Cache));
  EXPECT_EQ(load(s), 2U) << "none is ready: the fewest bytes";
  EXPECT_EQ(load(s), 3U) << "a compute kernel is ready: of the others the smaller";
  EXPECT_EQ(load(s), 1U);
  EXPECT_EQ(load(s), 0U);
  EXPECT_EQ(load(s), std::nullopt);
  EXPECT_EQ(s.ready(), 4U);
}

TEST(MemoryScheduler, NothingGoesToAFullDeviceUntilOutputsAreOut) {
  MemoryScheduler s(100);
  s.arrive(JobId(0), demand(40, 20));
  s.arrive(JobId(1), demand(30, 20));
  s.arrive(JobId(2), demand(85, 15));
  EXPECT_EQ(load(s), 1U);
  EXPECT_EQ(load(s), 0U) << "50 bytes are free, its inputs take 40 of them";
  EXPECT_EQ(s.ready(), 1U) << "its outputs have no room";
  EXPECT_EQ(s.free_bytes(), 10U);
  EXPECT_EQ(s.kernel_done(JobId(1)), std::vector{JobId(0)}) << "they have that of the inputs of the other";
  EXPECT_EQ(load(s), std::nullopt) << "60 bytes are free, 85 are needed";
  EXPECT_EQ(s.kernel_done(JobId(0)), std::vector<JobId>{});
  for (const std::uint32_t job : {1U, 0U}) {
    EXPECT_EQ(load(s), std::nullopt) << "outputs are still there";
    const auto out = s.begin(CopyDirection::FromDevice);
    ASSERT_TRUE(out);
    EXPECT_EQ(out->job, JobId(job));
    EXPECT_EQ(out->bytes, 20U);
    (void)s.ended(*out);
  }
  EXPECT_EQ(s.free_bytes(), 100U);
  EXPECT_EQ(load(s), 2U);
}

/// Inputs that come meanwhile could take the room for good.
TEST(MemoryScheduler, NoInputsComeWhileAJobLacksRoomForItsOutputs) {
  MemoryScheduler s(100);
  s.arrive(JobId(0), demand(20, 40));
  EXPECT_EQ(load(s), 0U);
  s.arrive(JobId(1), demand(30, 50));
  EXPECT_EQ(load(s), 1U);
  EXPECT_EQ(s.ready(), 1U);
  s.arrive(JobId(2), demand(5, 0));
  EXPECT_EQ(load(s), std::nullopt) << "10 bytes are free";
  EXPECT_EQ(s.kernel_done(JobId(0)), std::vector<JobId>{}) << "30 bytes are free";
  EXPECT_EQ(load(s), std::nullopt);
  const auto out = s.begin(CopyDirection::FromDevice);
  ASSERT_TRUE(out);
  EXPECT_EQ(s.ended(*out), std::vector{JobId(1)});
  EXPECT_EQ(load(s), 2U);
}

TEST(MemoryScheduler, KernelsOfAProgramKeepTheirOrder) {
  MemoryScheduler s(1000);
  s.arrive(JobId(0), demand(90, 10, KernelType::Compute, 7));
  s.arrive(JobId(1), demand(10, 10, KernelType::Compute, 7));
  const auto first = s.begin(CopyDirection::ToDevice);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->job, JobId(0)) << "though the other one has fewer bytes";
  EXPECT_FALSE(s.can_begin(CopyDirection::ToDevice)) << "one engine in this direction";
  EXPECT_EQ(s.ended(*first), std::vector{JobId(0)});
  EXPECT_EQ(load(s), 1U);
  EXPECT_EQ(s.ready(), 1U) << "the other one waits for the first";
  EXPECT_EQ(s.kernel_done(JobId(0)), std::vector{JobId(1)});
}

TEST(MemoryScheduler, WhatEndedFirstLeavesFirst) {
  MemoryScheduler s(1000);
  for (std::uint32_t k = 0; k < 3; ++k) s.arrive(JobId(k), demand(10 + k, k));
  while (load(s)) {
  }
  for (const std::uint32_t k : {2U, 0U, 1U}) (void)s.kernel_done(JobId(k));
  EXPECT_EQ(begun(s, CopyDirection::FromDevice), 2U);
  EXPECT_EQ(begun(s, CopyDirection::FromDevice), 1U) << "job 0 has no outputs";
  EXPECT_EQ(begun(s, CopyDirection::FromDevice), std::nullopt);
}

TEST(MemoryScheduler, RefusesWhatTheDeviceCannotHold) {
  MemoryScheduler s(100 << 20);
  EXPECT_EQ(test::refusal([&] { s.arrive(JobId(3), demand(80 << 20, 21 << 20)); }),
            "101.0 MiB of inputs and outputs: the device has 100.0 MiB");
  EXPECT_THROW(s.arrive(JobId(4), demand(1, ~std::uint64_t{0})), InputError) << "sums do not wrap";
  s.arrive(JobId(5), demand(1, 1));
  EXPECT_THROW(s.arrive(JobId(5), demand(1, 1)), std::logic_error);
  EXPECT_THROW((void)s.kernel_done(JobId(5)), std::logic_error);
  EXPECT_THROW((void)s.ended({JobId(5), CopyDirection::ToDevice, 1}), std::logic_error);
}

/// Two SMs of four slots.
MachineConfig machine() { return small_machine(2, {1024, 32768, 49152, 4}); }

/// Sees the ports: begin and end of every task and copy.
class Ports : public ITaskObserver {
 public:
  using Interval = std::pair<Time, Time>;
  void task_begins(JobId job, SmId, Time begin, Time end) override {
    tasks.emplace_back(begin, end);
    auto& first = first_task.try_emplace(job, begin).first->second;
    first = std::min(first, begin);
    last_end[job] = std::max(last_end[job], end);
  }
  void copy_begins(const CopyCommand& copy, Time begin, Time end) override {
    copies[static_cast<std::size_t>(copy.direction)].emplace_back(begin, end);
    (copy.direction == CopyDirection::ToDevice ? in : out)[copy.job] = {begin, end};
  }
  /// Time of copies in which a task runs, of both directions.
  [[nodiscard]] Time overlapped() {
    std::ranges::sort(tasks);
    std::vector<Interval> busy;
    for (const Interval& t : tasks) {
      if (busy.empty() || t.first > busy.back().second)
        busy.push_back(t);
      else
        busy.back().second = std::max(busy.back().second, t.second);
    }
    Time sum{};
    for (const auto& direction : copies)
      for (const Interval& c : direction)
        for (const Interval& b : busy) sum += std::max(Time(0), std::min(c.second, b.second) - std::max(c.first, b.first));
    return sum;
  }
  [[nodiscard]] Time copying() const {
    Time sum{};
    for (const auto& direction : copies)
      for (const Interval& c : direction) sum += c.second - c.first;
    return sum;
  }

  std::vector<Interval> tasks;
  std::array<std::vector<Interval>, 2> copies;
  std::map<JobId, Time> first_task, last_end;
  std::map<JobId, Interval> in, out;
};

struct Scene {
  std::vector<FakeJob> jobs;
  FakeCosts costs;
  FakeResult run(Ports& ports, const char* scheduler = "arrival") {
    SchedulerInput input{machine(), {}};
    for (const FakeJob& j : jobs) input.mix.push_back(j.kernel);
    return run_fake(machine(), jobs, *make_scheduler(scheduler, input), costs, &ports);
  }
};

/// Kernels of 40 ms with copies of 4 and 2 ms each.
Scene scene(std::uint32_t kernels) {
  Scene s;
  for (std::uint32_t k = 0; k < kernels; ++k) {
    FakeJob& j = s.jobs.emplace_back();
    j.kernel.name = std::string(1, static_cast<char>('A' + k % 26));
    j.kernel.type = k % 2 == 0 ? KernelType::Compute : KernelType::Memory;
    j.kernel.grid_ctas = 320;
    j.kernel.block_threads = 64;
    j.task_time = 1ms;
    j.memory = {4000, 2000, j.kernel.type};
  }
  s.costs.memory = {30000, 1e6};
  return s;
}

TEST(CaseII, TransfersHideBehindKernels) {
  for (const char* scheduler : {"arrival", "base", "fcfs"}) {
    Scene s = scene(100);
    Ports ports;
    const FakeResult r = s.run(ports, scheduler);
    ASSERT_TRUE(r.finished);
    EXPECT_EQ(ports.copying(), Time(600ms));
    EXPECT_EQ(r.copies.total, ports.copying()) << "the executor's own account";
    EXPECT_EQ(r.copies.overlapped, ports.overlapped());
    EXPECT_GE(ports.overlapped() / Time(1us), ports.copying() / Time(1us) * 95 / 100) << scheduler;
    EXPECT_EQ(r.end, std::max(ports.last_end.rbegin()->second, ports.copies[1].back().second));
  }
}

/// Inputs of the next kernel and outputs of the last one share the device with a kernel that runs.
TEST(CaseII, TransfersHideWhereTwoKernelsDoNotFit) {
  Scene s = scene(100);
  s.costs.memory->bytes = 10000;
  Ports ports;
  ASSERT_TRUE(s.run(ports).finished);
  EXPECT_GE(ports.overlapped() / Time(1us), ports.copying() / Time(1us) * 95 / 100);
}

TEST(CaseII, WithoutOverlapNothingRunsBesideACopy) {
  Scene with = scene(20), without = scene(20);
  without.costs.memory->overlap = false;
  Ports seen, alone;
  const FakeResult fast = with.run(seen, "base"), slow = without.run(alone, "base");
  ASSERT_TRUE(fast.finished && slow.finished);
  EXPECT_EQ(alone.overlapped(), Time(0));
  EXPECT_EQ(slow.copies.overlapped, Time(0));
  EXPECT_EQ(slow.end, Time(20 * (40ms + 6ms)));
  EXPECT_LT(fast.end, Time(20 * 40ms + 10ms));
}

/// Pairs need two kernels that are ready: the GPU drains for the inputs of the second.
TEST(CaseII, WithoutOverlapTwoKernelsStillMeet) {
  Scene s = scene(2);
  s.costs.memory->overlap = false;
  Ports ports;
  ASSERT_TRUE(s.run(ports, "fcfs").finished);
  EXPECT_LT(ports.first_task.at(JobId(1)), ports.last_end.at(JobId(0)));
  EXPECT_EQ(ports.overlapped(), Time(0));
}

TEST(CaseII, EveryKernelHasItsInputsAndRoomWhateverComes) {
  const bool ok = rc::check([] {
    Scene s = scene(*rc::gen::inRange(1U, 20U));
    s.costs.memory->bytes = *rc::gen::inRange(6000U, 20000U);
    s.costs.memory->overlap = *rc::gen::arbitrary<bool>();
    for (FakeJob& j : s.jobs) {
      j.arrival = *rc::gen::inRange(0, 40) * 1ms;
      j.kernel.grid_ctas = *rc::gen::inRange(1U, 60U);
      j.memory = {*rc::gen::inRange(0U, 4000U), *rc::gen::inRange(0U, 2000U), j.kernel.type};
      if (*rc::gen::arbitrary<bool>()) j.memory.program = *rc::gen::inRange(0U, 2U);
    }
    Ports ports;
    const FakeResult r = s.run(ports, *rc::gen::element("arrival", "base", "fcfs", "piv"));
    RC_ASSERT(r.finished);
    RC_ASSERT(r.copies.total == ports.copying());
    RC_ASSERT(r.copies.overlapped == ports.overlapped());
    RC_ASSERT(s.costs.memory->overlap || ports.overlapped() == Time(0));
    std::vector<std::pair<Time, std::int64_t>> held;  // bytes that are taken, or freed
    for (std::uint32_t k = 0; k < s.jobs.size(); ++k) {
      const JobId id(k);
      const MemoryDemand& m = s.jobs[k].memory;
      RC_ASSERT(ports.in.at(id).first >= r.jobs[k].arrived);
      RC_ASSERT(ports.first_task.at(id) >= ports.in.at(id).second);
      const bool outputs = ports.out.contains(id);
      RC_ASSERT(outputs == (m.out_bytes > 0));
      if (outputs) RC_ASSERT(ports.out.at(id).first >= ports.last_end.at(id));
      const auto in = static_cast<std::int64_t>(m.in_bytes), out = static_cast<std::int64_t>(m.out_bytes);
      held.emplace_back(ports.in.at(id).first, in);
      held.emplace_back(ports.last_end.at(id), -in);
      held.emplace_back(ports.first_task.at(id), out);
      if (outputs) held.emplace_back(ports.out.at(id).second, -out);
      for (std::uint32_t before = 0; before < s.jobs.size(); ++before) {
        const bool older = std::pair(r.jobs[before].arrived, before) < std::pair(r.jobs[k].arrived, k);
        if (m.program && s.jobs[before].memory.program == m.program && older)
          RC_ASSERT(ports.first_task.at(id) >= ports.last_end.at(JobId(before)));
      }
    }
    std::ranges::sort(held);  // what is freed and taken at one time: freed first
    std::int64_t used = 0;
    for (const auto& [at, bytes] : held) {
      used += bytes;
      RC_ASSERT(used <= static_cast<std::int64_t>(s.costs.memory->bytes));
    }
    for (auto& direction : ports.copies) {
      std::ranges::sort(direction);
      for (std::size_t i = 1; i < direction.size(); ++i) RC_ASSERT(direction[i].first >= direction[i - 1].second);
    }
  });
  EXPECT_TRUE(ok);
}

TEST(CaseII, RefusesAProgramLargerThanTheDevice) {
  Scene s = scene(2);
  s.jobs[1].memory.in_bytes = 40000;
  Ports ports;
  EXPECT_THROW((void)s.run(ports), InputError);
  s = scene(1);
  s.costs.memory->bytes_a_second = 0;
  EXPECT_THROW((void)s.run(ports), InputError);
}

}  // namespace
}  // namespace sluice
