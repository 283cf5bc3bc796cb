// SPDX-License-Identifier: Apache-2.0
// Every scheduler of the registry in two executors, the fake one and the GPU model: the same object hears the same and gives the
// same.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "sw/scheduler/fake_executor.h"
#include "sw/scheduler/kernelet_scheduler.h"
#include "sw/scheduler/registry.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/mix.h"
#include "sw/workload/workload_file.h"
#include "tests/scheduler/logged_run.h"
#include "tests/scheduler/turns.h"

namespace sluice {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;
const std::filesystem::path kRoot = SLUICE_SOURCE_DIR;

class SchedulerConformance : public ::testing::Test {
 protected:
  MachineConfig machine = read_machine(kRoot / "configs/machines/fermi_table1.toml");

  /// HOT and DXT from the beginning, MVP later; HOT ends first, MVP last.
  std::vector<KernelDescriptor> kernels() {
    std::vector<KernelDescriptor> mix =
        parse_mixes(read_workload(kRoot / "configs/workloads/table2.toml"), machine, "HOT_DXT_MVP").front().kernels;
    const std::uint32_t grids[] = {20, 1200, 1600};
    for (std::size_t k = 0; k < mix.size(); ++k) {
      mix[k].grid_ctas = grids[k];
      mix[k].behaviour.warp_instructions = 200;
    }
    return mix;
  }

  std::vector<LoggedDecision> on_fake(std::unique_ptr<IScheduler> scheduler, Time profile = {}) {
    const Time task_times[] = {5us, 10us, 20us}, arrivals[] = {0us, 0us, 2us};
    std::vector<FakeJob> jobs;
    for (const KernelDescriptor& k : kernels()) {
      const std::size_t i = jobs.size();
      jobs.push_back({k, task_times[i], arrivals[i]});
    }
    LoggedScheduler logged(std::move(scheduler));
    EXPECT_TRUE(run_fake(machine, jobs, logged, {profile}).finished);
    return logged.decisions();
  }

  std::vector<json> on_model(const MakeScheduler& make, PartitionerKind unit = PartitionerKind::Twin) {
    RunSpec spec;
    spec.machine = machine;
    spec.partitioner = unit;
    if (unit == PartitionerKind::Both) spec.kernel_slots = 4;
    for (const KernelDescriptor& k : kernels()) {
      spec.launches.push_back({k, 0, Cycles(spec.launches.size() < 2 ? 0 : 1400)});
      spec.launches.back().once = true;
    }
    const test::LoggedRun ran = test::logged_run(spec, make);
    for (const KernelCounters& k : ran.result.kernels) EXPECT_NE(k.finish_cycle, 0U);
    return ran.decisions;
  }

  /// What both executors report: arrivals and ends, and the shares that follow. Profiles are measured, and differ; so does the
  /// progress that task limits count from.
  static json common(const std::vector<json>& decisions) {
    json out = json::array();
    for (const json& d : decisions) {
      json events = json::array();
      for (const json& e : d["events"])
        if (e["kind"] == "arrived" || e["kind"] == "done") events.push_back(e);
      json shares = d["shares"];
      for (json& share : shares) share.erase("task_limit");
      if (!events.empty()) out.push_back({{"events", events}, {"shares", shares}, {"profile", d["profile"]}});
    }
    return out;
  }
  static std::vector<json> lines(const std::vector<LoggedDecision>& decisions) {
    std::vector<json> out;
    for (const LoggedDecision& d : decisions) out.push_back(json::parse(json_line(d)));
    return out;
  }
};

TEST_F(SchedulerConformance, EveryRowDecidesAlikeInFakeExecutorAndModel) {
  SchedulerInput input{machine, kernels(), {CtaCount(1), CtaCount(2), CtaCount(2)}};
  // Far apart: who takes longest does not depend on progress, which differs.
  const Time task_times[] = {1ms, 1s, 10ms};
  for (const KernelDescriptor& k : input.mix) {
    input.times[k.name] = fake_solo_times(machine, k, task_times[input.times.size()]);
    input.curves[k.name] = {1, 1.5, 1.8, 1.9};
  }
  input.intensities = {{"HOT", {0.1, 0.1}}, {"DXT", {0.5, 0.1}}, {"MVP", {0.1, 0.9}}};  // each may run beside the next
  for (const KernelDescriptor& a : input.mix) {
    input.predicted.kernels[a.name] = {1, 1000, 0.5, 0.5};
    for (const KernelDescriptor& b : input.mix)
      if (a.name < b.name)
        for (const auto& ctas : slice_ratios(a.demand(), b.demand(), machine.sm.capacity))
          input.predicted.pairs[{a.name, b.name}].push_back({ctas, {0.8, 0.7}});
  }
  input.executed = input.predicted;
  for (const std::string_view name : scheduler_names()) {
    const MakeScheduler make = [name, input] { return make_scheduler(name, input); };
    const Time profile = scheduler_row(name).measures ? Time(1s) : Time(0);  // no mix lasts as long as a look on the model
    const json fake = common(lines(on_fake(make(), profile))), model = common(on_model(make));
    EXPECT_EQ(fake, model) << name;
    EXPECT_EQ(fake.size(), 5U) << name << ": two arrive together, one later; three end";
  }
}

/// Kernelet's slices, so short that a job has several: who is given SMs, beside whom and with how many CTAs, and in which order.
/// RTL and twin side by side.
TEST_F(SchedulerConformance, SlicesComeInTheSameOrderInBoth) {
  CoRunTable table;
  for (const KernelDescriptor& a : kernels()) {
    table.kernels[a.name] = {1, 200.0 * a.warps_per_cta(), a.name == "DXT" ? 0.9 : 0.1, 0.5};
    for (const KernelDescriptor& b : kernels())
      if (a.name < b.name)
        for (const auto& ctas : slice_ratios(a.demand(), b.demand(), machine.sm.capacity))
          table.pairs[{a.name, b.name}].push_back({ctas, {a.name == "DXT" ? 0.9 : 0.7, 0.8}});
  }
  const MakeScheduler make = [this, table] { return std::make_unique<KerneletScheduler>(machine, table, kernels(), 5us); };
  std::vector<std::vector<json>> orders;
  for (const std::vector<json>& log : {lines(on_fake(make())), on_model(make, PartitionerKind::Both)}) {
    std::vector<json>& order = orders.emplace_back();
    std::size_t slices = 0;
    std::map<unsigned, std::uint64_t> limits;
    for (const json& d : log) {
      json shares = d["shares"];
      for (json& share : shares) {
        slices += limits[share["job"]] != share["task_limit"] ? 1 : 0;
        limits[share["job"]] = share["task_limit"];
        share.erase("task_limit");
      }
      if (!shares.empty() && (order.empty() || order.back() != shares)) order.push_back(shares);
    }
    EXPECT_GT(slices, 8U);
  }
  EXPECT_EQ(orders[0], orders[1]);
  EXPECT_GE(orders[0].size(), 3U);
}

TEST_F(SchedulerConformance, TimersComeInBoth) {
  const MakeScheduler make = [] { return std::make_unique<test::Turns>(3us); };
  const std::vector<json> fake = lines(on_fake(make())), model = on_model(make);
  for (const auto* log : {&fake, &model}) {
    std::vector<unsigned> turns;
    for (const json& d : *log)
      for (const json& e : d["events"])
        if (e["kind"] == "timer" && !d["shares"].empty()) turns.push_back(d["shares"][0]["job"]);
    ASSERT_GE(turns.size(), 4U);
    EXPECT_EQ(std::vector(turns.begin(), turns.begin() + 2), (std::vector<unsigned>{1, 2})) << "job 0 had the first slice";
  }
}

}  // namespace
}  // namespace sluice
