// SPDX-License-Identifier: Apache-2.0
// Scenes that were measured on a GPU beside their replays.
#include "study/beside.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "study/beside_scenes.h"
#include "study/scene_model.h"
#include "sw/core/errors.h"
#include "sw/gpu/apps/apps.h"
#include "sw/gpu/apps/corun_rates.h"
#include "sw/io/atomic_file.h"
#include "sw/policy/corun_table.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"
#include "tests/study/page_folder.h"

namespace sluice::gpu {
namespace {

using nlohmann::json;
using Cause = OrderComparison::Cause;

const std::filesystem::path kRoot = SLUICE_SOURCE_DIR;
constexpr std::uint32_t kAll = UINT32_MAX;

std::vector<DecisionStep> steps(const std::vector<std::string>& events) {
  std::vector<DecisionStep> all;
  for (const std::string& e : events) all.push_back({static_cast<double>(all.size()), e, "0"});
  return all;
}

TEST(Beside, SaysWhereTwoListsPartAndWhy) {
  const auto gpu = steps({"arrived 0", "arrived 1", "done 0", "done 1"});
  EXPECT_EQ(compare(gpu, gpu).cause, Cause::None);
  EXPECT_EQ(compare(gpu, gpu).equal, 4U);
  const OrderComparison order = compare(gpu, steps({"arrived 0", "done 0", "arrived 1", "done 1"}));
  EXPECT_EQ(order.cause, Cause::Order);
  EXPECT_EQ(order.at, 1U);
  EXPECT_EQ(order.equal, 3U);
  EXPECT_EQ(order.why, "arrived 1 is 1.000 ms before done 0, in the model 1.000 ms after it");
  auto others = gpu;
  others[2].shares = "1";
  EXPECT_EQ(compare(gpu, others).cause, Cause::Shares);
  EXPECT_EQ(compare(gpu, others).why, "after done 0: 0 at 2.000 ms, in the model 1 at 2.000 ms");
  EXPECT_EQ(compare(gpu, steps({"arrived 0", "arrived 1", "evicted 0", "done 0", "done 1"})).why,
            "evicted 0 at 2.000 ms does not happen on the GPU");
  EXPECT_EQ(compare(gpu, steps({"arrived 0", "arrived 1"})).why, "done 0 at 2.000 ms is the GPU's alone");
}

TEST(Beside, WithoutAnEventAListHasAllTheOthersInOrder) {
  EXPECT_TRUE(rc::check([] {
    std::vector<std::string> events;
    for (auto n = *rc::gen::inRange(1, 40); n > 0; --n) events.push_back("e" + std::to_string(*rc::gen::inRange(0, 6)));
    const auto whole = steps(events);
    auto less = whole;
    const auto gone = *rc::gen::inRange<std::size_t>(0, events.size());
    less.erase(less.begin() + static_cast<std::ptrdiff_t>(gone));
    const OrderComparison c = compare(whole, less), turned = compare(less, whole);
    RC_ASSERT(c.equal == less.size() && turned.equal == c.equal);
    RC_ASSERT(c.cause != Cause::None && c.at >= gone);
    RC_ASSERT(compare(whole, whole).cause == Cause::None);
  }));
}

SceneRun run_of(const std::vector<std::pair<double, std::map<std::uint32_t, Share>>>& decisions, double end) {
  SceneRun run;
  run.launches = {{"A", 0, end}, {"B", 0, end}};
  for (const auto& [at, shares] : decisions) run.decisions.push_back({at, {}, shares});
  run.end = end;
  return run;
}

TEST(Beside, SharesAreComparedOverTime) {
  const std::vector<CtaCount> most = {CtaCount(4), CtaCount(4)};
  const SceneRun gpu = run_of({{0, {{0, {CtaCount(kAll)}}}}, {6, {{1, {CtaCount(2)}}}}}, 10),
                 model = run_of({{0, {{0, {CtaCount(4)}}}}, {5, {{1, {CtaCount(2)}}}}}, 10);
  EXPECT_DOUBLE_EQ(equal_shares(gpu, model, most, 8), 0.9) << "no bound is as many as fit";
  EXPECT_DOUBLE_EQ(equal_shares(gpu, run_of({{0, {{0, {CtaCount(4), {SmId(0), 4}}}}}}, 10), most, 8), 0) << "half of the SMs";
  EXPECT_DOUBLE_EQ(time_held(gpu, 0), 6);
  EXPECT_DOUBLE_EQ(time_held(gpu, 1), 4);
  SceneRun early = gpu;
  early.launches[0].turnaround = 5;
  EXPECT_DOUBLE_EQ(time_held(early, 0), 5) << "it ended while it still had the share";
}

SceneKernel kernel(const std::string& name, std::uint32_t blocks, std::vector<double> ms, std::uint32_t threads = 512) {
  SceneKernel k{{}, CtaCount(static_cast<std::uint32_t>(ms.size())), std::move(ms)};
  k.kernel.name = name;
  k.kernel.grid_ctas = blocks;
  k.kernel.block_threads = threads;
  return k;
}
MachineConfig machine() {
  MachineConfig m;
  m.num_sms = 4;
  m.core_mhz = 1000;
  m.sm.capacity = {2048, 65536, 65536, 32};
  return m;
}

/// With times alone a replay is what the fake executor makes of the scenario.
TEST(SceneReplay, IsTheFakeExecutorOnTheSameScenario) {
  EXPECT_TRUE(rc::check([] {
    Scene scene{*rc::gen::elementOf(std::vector<std::string>{"rr", "prio_np", "piv", "dprr"}), {}, {}, {}};
    scene.machine.num_sms = 1;
    scene.machine.sm.capacity = {kWarpSize, 0, 0, 1};
    ScenarioOutcome outcome;
    std::map<std::string, double> alone;
    for (auto n = *rc::gen::inRange(1, 6); n > 0; --n) {
      const std::string name = "K" + std::to_string(n);
      alone[name] = 0.01 * *rc::gen::inRange(1, 900);
      SceneKernel k = kernel(name, static_cast<std::uint32_t>(std::lround(alone[name] / 0.01)), {alone[name]}, 32);
      scene.jobs.push_back({name, scene.kernels.size(), *rc::gen::inRange(0, 9), 0.1 * *rc::gen::inRange(0, 200)});
      scene.kernels.push_back(k);
      outcome.launches.push_back({name, scene.jobs.back().priority, scene.jobs.back().arrival});
    }
    const SceneRun run = replay(scene);
    const ScheduleRun other = on_fake_executor(outcome, alone, scene.scheduler);
    for (std::size_t k = 0; k < run.launches.size(); ++k)
      RC_ASSERT(std::abs(run.launches[k].turnaround - static_cast<double>(other.jobs[k].turnaround.count()) * 1e-9) < 1e-6);
    std::size_t events = 0;
    for (const SceneRun::Decision& d : run.decisions) events += d.events.size();
    RC_ASSERT(run.decisions.size() == other.decisions && events >= 4 * run.launches.size());
  }));
}

TEST(SceneReplay, TasksTakeTheRatesOfTheirPair) {
  Scene scene{"even", machine(), {kernel("A", 160, {16, 8, 6, 4}), kernel("B", 160, {16, 8, 6, 4})}, {{"A", 0}, {"B", 1}}};
  EXPECT_NEAR(replay(scene).launches[0].turnaround, 8, 1e-6) << "two CTAs each, as fast as alone";
  scene.rates.kernels["A"].ipc = scene.rates.kernels["B"].ipc = 1;
  scene.rates.pairs[{"A", "B"}] = {{{CtaCount(2), CtaCount(2)}, {0.25, 0.5}}};
  const SceneRun run = replay(scene);
  EXPECT_NEAR(run.launches[1].turnaround, 8, 1e-6) << "half the speed of all four alone";
  EXPECT_GT(run.launches[0].turnaround, 9) << "a quarter, until it has the SMs";
  EXPECT_LT(run.launches[0].turnaround, 12);
}

TEST(SceneReplay, TasksOnARangeTakeItsSpeed) {
  Scene scene{"slate_measured", machine(), {kernel("A", 1600, {4}), kernel("B", 1600, {4})}, {{"A", 0}, {"B", 1}}};
  for (SceneKernel& k : scene.kernels) k.most = CtaCount(4);
  EXPECT_NEAR(replay(scene).end, 8, 0.1) << "one after the other";
  scene.coruns = {{"A", "B", {1, 0.9, 0.6}}};
  const SceneRun run = replay(scene);
  ASSERT_EQ(run.decisions.front().shares.size(), 2U);
  EXPECT_EQ(run.decisions.front().shares.at(0).sms.count, 1U);
  EXPECT_NEAR(run.launches[0].turnaround, 4 / 0.9, 0.1);
  EXPECT_NEAR(run.launches[1].turnaround, 4 / 0.9 + 4 * (1 - 0.6 / 0.9), 0.15);
  EXPECT_EQ(range_speed(scene.coruns, "B", "A", 3, 4), 0.6);
  EXPECT_EQ(range_speed(scene.coruns, "A", "B", 3, 4), 0) << "was not measured";
}

/// What a CTA takes decides which ratios fit an SM: those that the GPU was measured at.
TEST(SceneReplay, KernelsTakeWhatTheyTookOnTheGpu) {
  const std::filesystem::path results = kRoot / "results/h200";
  const auto known = measured_kernels(results);
  const SmResources sm{2048, 65536, 233472, 32};
  std::size_t pairs = 0;
  for (const auto& [file, paper] :
       {std::pair("five/five_rates.jsonl", "table2"), std::pair("kernelet/kernelet_pairs.jsonl", "kernelet")})
    for (const json& line : lines(results / file)) {
      if (!line.contains("runs")) continue;
      const auto demand = [&](const std::string& name) {
        return known.at(std::ranges::find(paper_kernels(paper), name, &PaperKernel::name)->app).demand();
      };
      std::vector<std::array<std::uint32_t, 2>> fit, measured;
      for (const auto& ctas : slice_ratios(demand(line["first"]), demand(line["second"]), sm))
        fit.push_back({ctas[0].value(), ctas[1].value()});
      for (const json& run : line["runs"]) measured.push_back(run["ctas"]);
      EXPECT_EQ(fit, measured) << line["key"];
      ++pairs;
    }
  EXPECT_EQ(pairs, 45U + 28U);
}

class BesidePages : public PageFolder {};

json decision(double ms, const std::vector<std::string>& events, const json& shares) {
  return {{"at_us", ms * 1e3}, {"decide_us", 0}, {"send_us", 0}, {"events", events}, {"shares", shares}};
}
json whole(unsigned launch) { return {launch, kAll, 0, kAll}; }

/// Two launches: the second is more important, and comes while the first runs.
json effisha_line(int repetition, double first_end, double second_end) {
  const auto job = [](const char* name, int priority, double arrived, double ended) {
    return json{{"name", name}, {"priority", priority}, {"arrived_ms", arrived}, {"ended_ms", ended}, {"evictions", 0}};
  };
  return {
      {"key", std::to_string(repetition)},
      {"setting", "sjf"},
      {"system", "piv"},
      {"repetition", repetition},
      {"jobs", {job("MD", 1, 0, first_end), job("Sort", 4, 3, second_end)}},
      {"decisions",
       {decision(0, {"arrived 0", "ready 0"}, json::array({whole(0)})),
        decision(3, {"arrived 1", "ready 1"}, json::array({whole(1)})), decision(3.01, {"evicted 0"}, json::array({whole(1)})),
        decision(second_end - 0.02, {"last_task_begun 1"}, json::array({whole(1)})),
        decision(second_end, {"done 1"}, json::array({whole(0)})),
        decision(first_end - 0.02, {"last_task_begun 0"}, json::array({whole(0)})),
        decision(first_end, {"done 0"}, json::array())}}};
}

TEST_F(BesidePages, EveryTurnaroundStandsBesideTheReplays) {
  const json alone = {{"key", "alone"}, {"alone", {{"MD", {{"quota_ms", {14}}}}, {"Sort", {{"quota_ms", {5}}}}}}};
  write("effisha_schedules.jsonl", {alone, effisha_line(0, 19, 8), effisha_line(1, 25, 8)});
  json model = effisha_line(0, 19, 8);
  model.update({{"scene", "sjf"}, {"key", "model"}});
  model["decisions"].erase(2);
  write("model.jsonl", {model});
  const figures::Figure f = effisha_beside(folder_);
  const auto& own = f.data["models"]["times alone"];
  EXPECT_EQ(own["launches"], 2);
  EXPECT_EQ(own["near"], 1) << "22 ms, in the middle of 19 and 25, are not 19";
  EXPECT_EQ(own["same_order"], 2) << own.dump();
  EXPECT_EQ(own["equal_steps"], own["steps"]);
  EXPECT_EQ(f.data["held"]["near_alone"], 3) << "MD held the GPU for 14 and 20 ms";
  const auto& systemc = f.data["models"]["SystemC model"];
  EXPECT_EQ(systemc["same_order"], 0);
  EXPECT_EQ(systemc["first_difference"]["an event of one side"], 2);
  EXPECT_FALSE(systemc.contains("equal_shares")) << "another machine's";
}

/// Even's counts leave room, and so are no ratio of Kernelet's: they are read beside them, in the order of the names.
TEST_F(BesidePages, EvensRatesAreReadBesideTheSliceRatios) {
  std::vector<json> all;
  for (const PaperKernel& k : paper_kernels("slate"))
    all.push_back({{"key", k.name}, {"kernel", k.name}, {"blocks_per_second", {50, 100}}});
  all.push_back({{"key", "TR_BS"},
                 {"first", "TR"},
                 {"second", "BS"},
                 {"runs", {{{"ctas", {3, 1}}, {"blocks_per_second", {60, 20}}}}},
                 {"even", {{"ctas", {2, 4}}, {"blocks_per_second", {30, 40}}}},
                 {"splits", json::array()}});
  write("rates.jsonl", all);
  const CorunRates rates = read_corun_rates(folder_ / "rates.jsonl", "slate", 10);
  ASSERT_EQ(rates.even.at({"BS", "TR"}).size(), 1U);
  EXPECT_EQ(rates.even.at({"BS", "TR"})[0].ctas, (std::array{CtaCount(4), CtaCount(2)}));
  EXPECT_EQ(rates.even.at({"BS", "TR"})[0].ipc, (std::array{4.0, 3.0}));
  EXPECT_EQ(rates.table.pairs.at({"BS", "TR"}).size(), 1U) << "the schedulers' table has slice ratios only";
}

TEST_F(BesidePages, AFolderWithoutScenesHasNoFigure) {
  EXPECT_TRUE(effisha_beside(folder_).blocks.empty());
  for (const json& machine : {json::object(), json{{"sm", json::object()}}}) {
    EXPECT_TRUE(sim_beside(folder_, machine).blocks.empty());
    EXPECT_TRUE(slate_beside(folder_, machine).blocks.empty());
    EXPECT_TRUE(five_beside(folder_, machine).blocks.empty());
    EXPECT_FALSE(kernelet_scenes(folder_, machine).has_value());
  }
}

/// A queue is compared launch by launch and by its end; repetitions that kept their end alone are not read.
TEST_F(BesidePages, AQueueIsComparedAsAWholeToo) {
  KerneletScenes known;
  known.machine.num_sms = 2;
  known.machine.sm.capacity = {2048, 65536, 233472, 32};
  SceneKernel& pc = known.kernels["PC"];
  pc.kernel.name = "PC";
  pc.kernel.grid_ctas = 1000;
  pc.kernel.block_threads = 256;
  pc.most = CtaCount(8);
  pc.ms = std::vector<double>(8, 10);  // with 1 to 8 CTAs on every SM
  const auto line = [](const char* key, const json& more) {
    json l = {{"key", key}, {"queue", "ci"}, {"system", "kernelet"}, {"end_ms", 21}};
    l.update(more);
    return l;
  };
  const auto job = [](double arrived, double ended) {
    return json{{"name", "PC"}, {"priority", 0}, {"arrived_ms", arrived}, {"ended_ms", ended}};
  };
  write("kernelet_queues.jsonl", {line("second", json::object()), line("first", {{"jobs", {job(0, 10.1), job(0, 26)}}})});
  const figures::Figure f = kernelet_beside(known, folder_);
  const json& all = f.data["models"]["rates of the pair"];
  EXPECT_EQ(all["launches"], 3) << f.data.dump(1);
  EXPECT_EQ(all["near"], 1) << "the first; the second and the whole queue end 6 ms late";
  write("kernelet_queues.jsonl", {line("second", json::object())});
  EXPECT_TRUE(kernelet_beside(known, folder_).blocks.empty());
}

/// On the model the urgent launch evicts the long one as on the GPU, and lengths are the GPU's.
TEST_F(BesidePages, TheModelReplaysTheLinesOfAFolder) {
  const json alone = {{"key", "alone"}, {"alone", {{"MD", {{"quota_ms", {14}}}}, {"Sort", {{"quota_ms", {5}}}}}}};
  write("effisha_schedules.jsonl", {alone, effisha_line(0, 19, 8)});
  replay_on_model({folder_, read_machine(kRoot / "configs/machines/k40.toml"),
                   read_workload(kRoot / "configs/workloads/effisha.toml"), 0.01, 1, 1, 2});
  const std::vector<json> model = lines(folder_ / "model.jsonl");
  ASSERT_EQ(model.size(), 1U);
  const SceneRun run = measured_run(model.front());
  EXPECT_NEAR(model.front()["jobs"][0]["alone_ms"].get<double>(), 14, 1);
  EXPECT_NEAR(run.launches[0].turnaround, 19, 1.5);
  EXPECT_NEAR(run.launches[1].turnaround, 5, 0.6);
  EXPECT_THROW(replay_on_model({folder_, {}, {}, 1, 1, 1, 1, {"Sort"}}), InputError) << "no scene is of Sort alone";
  const figures::Figure f = effisha_beside(folder_);
  EXPECT_EQ(f.data["models"]["SystemC model"]["same_order"], 1) << f.data.dump(1);
}

/// A shell completes a folder's name with a slash. The page reads files beside the folder.
TEST(Beside, AFolderMayEndInASlash) {
  const std::filesystem::path folder = kRoot / "results/h200/slate";
  const json machine = json::parse(read_file(folder / "machine.json"));
  EXPECT_EQ(slate_beside(folder / "", machine).data, slate_beside(folder, machine).data);
}

}  // namespace
}  // namespace sluice::gpu
