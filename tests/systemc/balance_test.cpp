// SPDX-License-Identifier: Apache-2.0
// Mode Balance: the twin's search against the golden candidates and choice over random scenes, and what it promises on any.
#include "sw/partition/balance.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <tuple>

#include "study/run_specs.h"
#include "sw/core/errors.h"
#include "sw/policy/registry.h"
#include "sw/scheduler/live_scheduler.h"
#include "sw/scheduler/registry.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/mix.h"
#include "sw/workload/workload_file.h"
#include "systemc/unit/twin/balance_search.h"
#include "systemc/unit/twin/partition_sequencer.h"
#include "tests/systemc/scripted_kernel.h"

namespace sluice {
namespace {

class Scene {
 public:
  explicit Scene(std::uint64_t seed) : random_(seed) {
    config_.capacity_warps = 48;
    config_.capacity_registers = 32768;
    config_.capacity_shared = 49152;
    config_.capacity_slots = 8;
    const std::uint32_t kernels = between(2, 8);
    sms_ = between(kernels + 1, 40);
    settings_.candidates = between(1, 9);
    settings_.keep = between(0, 400) / 100.0;
    for (std::uint32_t k = 0; k < kernels; ++k) {
      config_.demand_warps[k] = between(1, 24);
      config_.demand_registers[k] = between(1, 20000);
      config_.demand_shared[k] = between(0, 3) == 0 ? between(1, 30000) : 0;
      demand_.push_back({config_.demand_warps[k] * kWarpSize, config_.demand_registers[k], config_.demand_shared[k], 1});
      kernels_.push_back({k, occupancy(demand_.back(), capacity()).value()});
    }
  }

  [[nodiscard]] std::uint32_t between(std::uint32_t low, std::uint32_t high) {
    return std::uniform_int_distribution<std::uint32_t>(low, high)(random_);
  }
  [[nodiscard]] SmResources capacity() const {
    return {config_.capacity_warps * kWarpSize, config_.capacity_registers, config_.capacity_shared, config_.capacity_slots};
  }
  [[nodiscard]] std::vector<JointCounts> golden_candidates() const {
    return balance_candidates(demand_, capacity(), settings_.candidates, sms_ - kernels_.size());
  }
  [[nodiscard]] bool fits_sm(const BalanceSearchTwin& search, std::uint32_t sm) const {
    SmResources free = capacity();
    for (std::size_t k = 0; k < demand_.size(); ++k) {
      const CtaCount count(search.quota(sm, k));
      if (!fits(demand_[k], free, count)) return false;
      free = take(free, demand_[k], count);
    }
    return true;
  }

  SluiceConfig config_;
  BalanceConfig settings_;
  std::uint32_t sms_ = 0;
  std::vector<SmResources> demand_;
  std::vector<BalanceSearchTwin::Kernel> kernels_;

 private:
  std::mt19937_64 random_;
};

/// A search to its end, with counters of a fixed speed of each kernel in each partition.
TEST(Balance, TwinIsGoldenInRandomScenes) {
  std::uint32_t decided = 0, refused = 0, in_order = 0;
  for (std::uint64_t seed = 1; seed <= 100000; ++seed) {
    Scene scene(seed);
    const std::vector<JointCounts> candidates = scene.golden_candidates();
    BalanceSearchTwin search(scene.settings_, scene.sms_);
    ASSERT_EQ(search.begin(scene.config_, scene.kernels_), !candidates.empty()) << seed;
    if (candidates.empty()) {
      ++refused;
      continue;
    }
    const std::size_t kernels = scene.kernels_.size();
    const std::uint64_t speeds = scene.between(1, ~0U);
    const auto speed = [&](std::uint32_t sm, std::size_t k) {  // of its CTAs there, by what else is there
      std::uint64_t hash = speeds;
      for (std::size_t other = 0; other < kernels; ++other) hash = hash * 6364136223846793005ULL + search.quota(sm, other) + k;
      return static_cast<std::uint32_t>(1000 + (hash >> 40U) % 19000);
    };
    std::uint32_t windows = 0;
    do {
      ASSERT_LE(++windows, kernels) << seed << ": the search does not end";
      for (std::uint32_t sm = 0; sm < scene.sms_; ++sm) {
        ASSERT_TRUE(scene.fits_sm(search, sm)) << seed << ": SM " << sm << " is given what does not fit";
        ASSERT_LT(search.owner(sm), kernels) << seed;
        ASSERT_GT(search.quota(sm, search.owner(sm)), 0U) << seed;
        search.take(sm, speed(sm, search.owner(sm)));
      }
    } while (!search.end_of_window());
    const BalanceReport& report = search.report();
    ASSERT_EQ(report.candidates.size(), candidates.size()) << seed;
    std::vector<std::vector<double>> rates;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      const BalanceCandidate& seen = report.candidates[c];
      ASSERT_EQ(seen.ctas, candidates[c]) << seed;
      ASSERT_NEAR(seen.score, std::reduce(seen.rates.begin(), seen.rates.end()), 1e-9) << seed;
      for (const double rate : seen.rates) ASSERT_GT(rate, 0) << seed << ": a kernel was never counted";
      rates.push_back(seen.rates);
    }
    const auto golden = balance_choice(rates, scene.settings_.keep);
    ASSERT_EQ(golden.has_value(), search.kept() != nullptr) << seed;
    ASSERT_EQ(golden ? static_cast<std::int32_t>(*golden) : -1, report.kept) << seed;
    ++(golden ? decided : in_order);
    // From outside: nothing that was measured is better than what is kept, or than running in order.
    const double kept = golden ? report.candidates[*golden].score : scene.settings_.keep;
    for (const BalanceCandidate& c : report.candidates) ASSERT_LE(c.score, kept) << seed;
  }
  EXPECT_GT(decided, 10000U);
  EXPECT_GT(in_order, 1000U);
  EXPECT_GT(refused, 1000U);
}

/// No clean sample of a kernel, of all or of one: its partition is not kept.
TEST(Balance, APartitionThatNobodyMeasuredIsNotKept) {
  Scene scene(7);
  for (std::uint64_t seed = 8; scene.golden_candidates().empty() || scene.kernels_.size() != 2; ++seed) scene = Scene(seed);
  scene.settings_.keep = 0;
  for (const std::size_t counted : {std::size_t{0}, std::size_t{1}, scene.kernels_.size()}) {
    BalanceSearchTwin search(scene.settings_, scene.sms_);
    ASSERT_TRUE(search.begin(scene.config_, scene.kernels_));
    do {
      for (std::uint32_t sm = 0; sm < scene.sms_; ++sm)
        if (search.owner(sm) == counted) search.take(sm, 1000);
    } while (!search.end_of_window());
    EXPECT_EQ(search.kept(), nullptr) << counted;
    EXPECT_LT(search.report().kept, 0) << counted;
  }
}

/// The unit tells that one CTA of each does not fit an SM, and not that where only an SM is missing for a candidate.
TEST(Balance, NoFitIsOfKernelsThatDoNotFit) {
  for (const auto& [sms, warps, no_fit] : {std::tuple{2U, 8U, false}, {4U, 8U, false}, {2U, 40U, false}, {4U, 40U, true}}) {
    PartitionSequencerTwin sequencer(regs::Parameters{.num_sm = sms}, BalanceConfig());
    SluiceConfig config;
    config.mode = static_cast<std::uint8_t>(Mode::Balance);
    config.capacity_warps = 48;
    config.capacity_registers = 1024;
    config.capacity_slots = 8;
    config.demand_warps = {warps, warps};
    SequencerIn in;
    in.age = {0, 1};
    in.num_present = 2;
    in.change = true;
    for (int cycle = 0; cycle < 1000; ++cycle) {
      sequencer.clock(config, in);
      in.change = false;
    }
    EXPECT_EQ(sequencer.out(config).no_fit, no_fit) << sms << " SMs, CTAs of " << warps << " warps";
  }
}

RunSpec mix_of(const std::string& names, std::uint64_t window, MachineConfig machine) {
  const std::filesystem::path root = SLUICE_SOURCE_DIR;
  const Workload workload = read_workload(root / "configs/workloads/table2.toml");
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

/// What is on the SMs, seen from the CTAs: in the window each kernel alone and every candidate, later what was kept.
TEST(Balance, SmsHoldTheCandidatesAndThenWhatIsKept) {
  RunSpec spec = mix_of("DXT_HOT", 400000, fermi());
  spec.timeline_file = std::filesystem::temp_directory_path() / ("balance_timeline_" + std::to_string(::getpid()) + ".json");
  const RunResult result = scripted::run({spec}).front();
  const nlohmann::json timeline = nlohmann::json::parse(std::ifstream(spec.timeline_file));
  std::filesystem::remove(spec.timeline_file);
  ASSERT_EQ(result.decisions.size(), 1U);
  const Decision& decision = result.decisions.front();
  ASSERT_EQ(decision.reason, DecisionReason::Measured);
  std::vector<SmResources> demand;
  for (const KernelLaunch& launch : spec.launches) demand.push_back(launch.kernel.demand());
  const SmResources& sm = spec.machine.sm.capacity;
  std::vector<JointCounts> entries{{occupancy(demand[0], sm), CtaCount(0)}, {CtaCount(0), occupancy(demand[1], sm)}};
  for (const BalanceCandidate& c : decision.balance.candidates) entries.push_back(c.ctas);
  ASSERT_GT(entries.size(), 3U);
  const BalanceCandidate& kept = decision.balance.candidates.at(static_cast<std::size_t>(decision.balance.kept));
  for (const BalanceCandidate& c : decision.balance.candidates) EXPECT_LE(c.score, kept.score);

  const auto compare = [&](std::uint64_t at, const auto& wanted_on) {
    std::uint32_t held = 0, wanted = 0;
    const auto seen = resident(timeline, spec, at);
    for (std::uint32_t i = 0; i < spec.machine.num_sms; ++i)
      for (std::size_t k = 0; k < 2; ++k) {
        EXPECT_LE(seen[i][k], wanted_on(i)[k].value()) << "SM " << i << " at " << at;
        held += seen[i][k];
        wanted += wanted_on(i)[k].value();
      }
    EXPECT_GE(held * 10, wanted * 9) << at;  // some are being replaced
  };
  compare(decision.sampled_at.value() - 100, [&](std::uint32_t i) { return entries[i % entries.size()]; });
  compare(200000, [&](std::uint32_t) { return kept.ctas; });
}

/// One SM a kernel leaves none for a candidate: SM ranges.
TEST(Balance, WithoutAnSmForACandidateKernelsHaveRanges) {
  MachineConfig machine = fermi();
  machine.num_sms = 2;
  const RunResult result = scripted::run({mix_of("DXT_HOT", 100000, machine)}).front();
  EXPECT_TRUE(result.decisions.empty());
  for (const SmCounters& sm : result.sms) EXPECT_GT(sm.work.warp_instructions, 0U);
}

TEST(Balance, IsRefusedWhereNothingCarriesItOut) {
  RunSpec spec = mix_of("DXT_HOT", 1000, fermi());
  for (const PartitionerKind kind : {PartitionerKind::Rtl, PartitionerKind::Both})
    EXPECT_THROW(check_unit_has(Mode::Balance, kind), InputError);
  EXPECT_NO_THROW(check_unit_has(Mode::Balance, PartitionerKind::Twin));
  EXPECT_THROW((void)make_scheduler("balance", SchedulerInput{spec.machine, {}}), InputError);
  EXPECT_THROW((void)make_live_scheduler("balance", spec.machine, {}), InputError);
}

}  // namespace
}  // namespace sluice
