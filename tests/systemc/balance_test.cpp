// SPDX-License-Identifier: Apache-2.0
// Mode Balance in whole runs: what SMs hold, seen from the CTAs, and when these enter.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "study/run_specs.h"
#include "sw/core/errors.h"
#include "sw/partition/balance.h"
#include "sw/policy/registry.h"
#include "sw/scheduler/registry.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/mix.h"
#include "sw/workload/workload_file.h"
#include "systemc/unit/twin/cta_spacing.h"
#include "tests/systemc/scripted_kernel.h"

namespace sluice {
namespace {

RunSpec mix_of(const std::string& names, std::uint64_t window, MachineConfig machine, const std::string& file = "table2") {
  const std::filesystem::path root = SLUICE_SOURCE_DIR;
  const Workload workload = read_workload(root / "configs/workloads" / (file + ".toml"));
  const Mix mix = parse_mixes(workload, machine, names).front();
  RunSpec spec = mix_spec(machine, mix.kernels, policy_plans("balance", machine, mix.kernels).front(),
                          std::vector<std::uint64_t>(mix.kernels.size(), 0), PartitionerKind::Twin, 1);
  spec.window = Cycles(window);
  return spec;
}
MachineConfig fermi() { return read_machine(std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/machines/fermi_table1.toml"); }

/// CTAs of each kernel on each SM at a time, from the timeline of CTAs.
std::vector<std::vector<std::uint32_t>> resident(const nlohmann::json& timeline, const RunSpec& spec, std::uint64_t at) {
  std::vector<std::vector<std::uint32_t>> found(spec.machine.num_sms, std::vector<std::uint32_t>(spec.launches.size()));
  for (const nlohmann::json& event : timeline) {
    if (event["ph"] != "X" || event["ts"] > at || event["ts"].get<std::uint64_t>() + event["dur"].get<std::uint64_t>() <= at)
      continue;
    for (std::size_t k = 0; k < spec.launches.size(); ++k)
      found[event["pid"].get<std::size_t>()][k] += event["name"] == spec.launches[k].kernel.name ? 1 : 0;
  }
  return found;
}

/// What is on the SMs, seen from the CTAs: the first round's partitions, and then what was kept.
TEST(Balance, SmsHoldTheCandidatesAndThenWhatIsKept) {
  RunSpec spec = mix_of("DXT_HOT", 500000, fermi());
  spec.timeline_file = std::filesystem::temp_directory_path() / ("balance_timeline_" + std::to_string(::getpid()) + ".json");
  const RunResult result = scripted::run({spec}).front();
  const nlohmann::json timeline = nlohmann::json::parse(std::ifstream(spec.timeline_file));
  std::filesystem::remove(spec.timeline_file);
  ASSERT_EQ(result.decisions.size(), 1U);
  const Decision& decision = result.decisions.front();
  ASSERT_EQ(decision.reason, DecisionReason::Measured);
  const auto& candidates = decision.balance.candidates;
  std::vector<JointCounts> first;
  for (const BalanceCandidate& c : candidates) {
    if (!c.again) first.push_back(c.ctas);
  }
  ASSERT_GT(first.size(), 2U);
  const JointCounts& kept = candidates.at(static_cast<std::size_t>(decision.balance.kept)).ctas;
  const auto seen_at = [&](std::uint64_t at) {
    std::map<JointCounts, std::uint32_t> sms;
    for (const auto& held : resident(timeline, spec, at)) ++sms[{CtaCount(held[0]), CtaCount(held[1])}];
    return sms;
  };
  const auto in_round = seen_at(90000), in_the_end = seen_at(decision.decided_at.value() + 150000);
  for (const JointCounts& c : first)
    EXPECT_GE(in_round.contains(c) ? in_round.at(c) : 0, 1U) << c[0].value() << " " << c[1].value();
  EXPECT_GE(in_the_end.contains(kept) ? in_the_end.at(kept) : 0, 13U) << "of 16: some are being replaced";
}

/// Nothing is measured side by side: SMs hold what water-filling gave, and the decision says so.
TEST(Balance, WithoutCandidatesTheDecisionIsWaterFillings) {
  MachineConfig machine = fermi();
  machine.partitioner.balance.candidates = 0;
  RunSpec spec = mix_of("DXT_HOT", 200000, machine);
  spec.timeline_file = std::filesystem::temp_directory_path() / ("balance_no_candidates_" + std::to_string(::getpid()) + ".json");
  const RunResult result = scripted::run({spec}).front();
  const nlohmann::json timeline = nlohmann::json::parse(std::ifstream(spec.timeline_file));
  std::filesystem::remove(spec.timeline_file);
  const Decision& decision = result.decisions.at(0);
  EXPECT_EQ(decision.reason, DecisionReason::WaterFilling);
  EXPECT_EQ(decision.partition.mode, Mode::Static);
  const std::vector<std::uint32_t> ctas = counts(decision.partition);
  std::uint32_t as_told = 0;
  for (const auto& sm : resident(timeline, spec, decision.decided_at.value() + 120000)) as_told += sm == ctas ? 1 : 0;
  EXPECT_GE(as_told, 13U) << "of 16: some are being replaced";
}

/// A kernel that changes in mid-run is measured anew, beside the same other one, if the phase monitor watches.
TEST(Balance, APhaseIsMeasuredAnew) {
  RunSpec steady = mix_of("DXT_HOT", 900000, fermi());
  steady.machine.partitioner.monitor_threshold = 0.4;
  RunSpec changing = steady;
  KernelDescriptor& kernel = changing.launches[0].kernel;
  kernel.phase = KernelPhase{1300, kernel.behaviour};  // after the first decision it lives on the special function units
  kernel.phase->behaviour.sfu_fraction = 0.8;
  RunSpec unwatched = changing;
  unwatched.machine.partitioner.monitor_threshold = 0;
  EXPECT_EQ(scripted::run({unwatched}).front().decisions.size(), 1U);
  EXPECT_EQ(scripted::run({steady}).front().decisions.size(), 1U);
  const std::vector<Decision> decisions = scripted::run({changing}).front().decisions;
  ASSERT_EQ(decisions.size(), 2U);
  for (const Decision& d : decisions) EXPECT_EQ(d.reason, DecisionReason::Measured);
  EXPECT_NE(decisions.back().partition, decisions.front().partition);
  EXPECT_NE(decisions.back().balance.candidates, decisions.front().balance.candidates);
}

/// A third kernel that fits no SM beside the two: nothing is measured, and the decision tells nothing that was measured of the
/// two.
TEST(Balance, ADecisionThatMeasuresNothingTellsNothing) {
  RunSpec spec = mix_of("DXT_HOT", 900000, fermi());
  KernelLaunch large = spec.launches.front();
  large.kernel.name = "LARGE";
  large.kernel.shared_bytes_per_cta = spec.machine.sm.capacity.shared_memory_bytes;
  large.arrival = Cycles(600000);
  spec.launches.push_back(large);
  const std::vector<Decision> decisions = scripted::run({spec}).front().decisions;
  ASSERT_EQ(decisions.size(), 2U);
  EXPECT_FALSE(decisions.front().balance.candidates.empty());
  EXPECT_EQ(decisions.back().reason, DecisionReason::NoFit);
  EXPECT_TRUE(decisions.back().balance.candidates.empty());
}

/// One of each fills an SM: there is no partition to measure beside it, and without quotas SMs come to hold other counts.
TEST(Balance, CtasInTurnAreTriedBesideABaseWithoutNeighbours) {
  RunSpec spec = mix_of("HOT_BFS", 350000, fermi(), "table2_recorded");
  spec.timeline_file = std::filesystem::temp_directory_path() / ("balance_in_turn_" + std::to_string(::getpid()) + ".json");
  const RunResult result = scripted::run({spec}).front();
  const nlohmann::json timeline = nlohmann::json::parse(std::ifstream(spec.timeline_file));
  std::filesystem::remove(spec.timeline_file);
  const Decision& decision = result.decisions.at(0);
  const auto& candidates = decision.balance.candidates;
  EXPECT_EQ(decision.reason, DecisionReason::Measured);
  EXPECT_EQ(decision.partition.mode, Mode::Fcfs);
  EXPECT_EQ(candidates.at(0).ctas, (JointCounts{CtaCount(1), CtaCount(1)}));
  EXPECT_TRUE(candidates.at(static_cast<std::size_t>(decision.balance.kept)).ctas.empty());
  std::set<std::vector<std::uint32_t>> held;
  for (const auto& sm : resident(timeline, spec, decision.decided_at.value() + 100000)) held.insert(sm);
  EXPECT_GT(held.size(), 1U);
}

/// CTAs that follow one of their kernel into an SM within 100 cycles, once a partition is kept.
std::uint32_t close_entries(std::uint32_t spacing) {
  MachineConfig machine = fermi();
  machine.partitioner.balance.spacing = spacing;
  RunSpec spec = mix_of("DXT_HOT", 800000, machine);
  spec.timeline_file = std::filesystem::temp_directory_path() / ("balance_spacing_" + std::to_string(::getpid()) + ".json");
  const RunResult result = scripted::run({spec}).front();
  const nlohmann::json timeline = nlohmann::json::parse(std::ifstream(spec.timeline_file));
  std::filesystem::remove(spec.timeline_file);
  std::map<std::pair<std::uint64_t, std::string>, std::set<std::uint64_t>> entries;  // by SM and kernel
  for (const nlohmann::json& event : timeline)
    if (event["ph"] == "X" && event["ts"] > result.decisions.at(0).decided_at.value())
      entries[{event["pid"], event["name"]}].insert(event["ts"].get<std::uint64_t>());
  std::uint32_t close = 0;
  for (const auto& [where, at] : entries)
    for (auto next = at.begin(); next != at.end(); ++next) close += next != at.begin() && *next - *std::prev(next) < 100;
  return close;
}

TEST(Balance, CtasOfWhatIsKeptEnterOneByOne) {
  const std::uint32_t without = close_entries(0), with = close_entries(2048);
  EXPECT_GT(without, 20U);
  EXPECT_LT(with * 4, without);
}

/// As far apart as a 64th of the time until the next end; a kernel that is new does not know the one before, and without spacing
/// none waits.
TEST(Balance, CtasOfAKernelEnterAnSmApart) {
  const CtaDispatcherParams params;
  constexpr std::uint32_t kMost = 2048;
  for (const std::uint32_t life : {400U, 8000U, 400000U}) {
    CtaSpacing spacing(params, kMost);
    CtaDispatcherOut out;
    CtaDispatcherIn in;
    out.state[1] = SlotState::kRunning;
    const auto after_a_cta = [&](bool on) {
      out.dispatch_valid = true;
      out.dispatch_kernel = 1;
      out.dispatch_sm = 3;
      spacing.clock(on, out, in);
      out.dispatch_valid = false;
      std::uint64_t waited = 0;
      for (; spacing.waits(1)[3]; ++waited) {
        EXPECT_EQ(spacing.waits(1).count(), 1U);
        EXPECT_FALSE(spacing.waits(0).any());
        spacing.clock(on, out, in);
      }
      EXPECT_FALSE(spacing.any());
      return waited;
    };
    EXPECT_EQ(after_a_cta(false), 0U);
    EXPECT_EQ(after_a_cta(true), kMost);
    if (life > kMost) spacing.skip(life - kMost);
    in.done_valid = true;
    in.done_sm = 3;
    in.done_slot = out.dispatch_slot;
    spacing.clock(true, out, in);
    in.done_valid = false;
    EXPECT_EQ(after_a_cta(true), std::min<std::uint64_t>(kMost, (std::max(life, kMost) + 1) / (8 * params.ctas)));
    out.state[1] = SlotState::kFree;
    spacing.clock(true, out, in);
    out.state[1] = SlotState::kRunning;
    EXPECT_EQ(after_a_cta(true), kMost);
  }
}

TEST(Balance, IsRefusedWhereNothingCarriesItOut) {
  MachineConfig machine;
  for (const PartitionerKind kind : {PartitionerKind::Rtl, PartitionerKind::Both})
    EXPECT_THROW(check_unit_has(Mode::Balance, kind, machine), InputError);
  EXPECT_NO_THROW(check_unit_has(Mode::Balance, PartitionerKind::Twin, machine));
  machine.partitioner.balance.unit = true;
  EXPECT_NO_THROW(check_unit_has(Mode::Balance, PartitionerKind::Both, machine));
}

}  // namespace
}  // namespace sluice
