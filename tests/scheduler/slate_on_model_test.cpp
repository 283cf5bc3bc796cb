// SPDX-License-Identifier: Apache-2.0
// Slate on the GPU model: SM ranges that shrink and grow while kernels run, held against the CTAs' begins and ends at the ports.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "sw/scheduler/slate_scheduler.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"
#include "systemc/sim/sim_clock.h"
#include "tests/scheduler/logged_run.h"
#include "tests/support.h"

namespace sluice {
namespace {

using nlohmann::json;
const std::filesystem::path kRoot = SLUICE_SOURCE_DIR;

/// One CTA where it ran.
struct Cta {
  std::uint64_t index = 0, begin = 0, end = 0;
  std::uint32_t sm = 0, job = 0;
};

/// A plan in force from then on, in core cycles.
struct InForce {
  std::uint64_t at = 0;
  std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> ranges;  ///< job: first SM, SMs
};

struct Ran {
  RunResult result;
  std::vector<Cta> ctas;
  std::vector<InForce> plans;
};

/// Four kernels, two of which share at a time, on `sms` SMs. Jobs are named "job0" and so on, so that the timeline tells them
/// apart.
class SlateOnModel : public test::Scratch {
 protected:
  Ran run(const char* machine_file, const std::vector<std::uint32_t>& grids, PartitionerKind unit) {
    MachineConfig machine = read_machine(kRoot / "configs/machines" / machine_file);
    const Workload workload = read_workload(kRoot / "configs/workloads/table2.toml");
    const char* kernels[] = {"KNN", "DXT", "KNN", "DXT", "KNN"};
    RunSpec spec;
    spec.machine = machine;
    spec.partitioner = unit;
    spec.kernel_slots = 4;
    spec.window = Cycles(3000000);
    spec.timeline_file = folder_ / "timeline.json";
    Intensities intensities;
    for (std::uint32_t k = 0; k < grids.size(); ++k) {
      KernelLaunch launch;
      launch.kernel = *std::ranges::find(workload.kernels, kernels[k], &KernelDescriptor::name);
      launch.kernel.name = "job" + std::to_string(k);
      launch.kernel.grid_ctas = grids[k];
      launch.kernel.behaviour.warp_instructions = 200;
      launch.arrival = Cycles(k * 4000);
      launch.once = true;
      intensities[launch.kernel.name] = {0, k % 2 == 0 ? 0.0 : 1.0};  // L_C and H_M, which share in either order
      spec.launches.push_back(launch);
    }
    const test::LoggedRun ran = test::logged_run(spec, [sms = machine.num_sms, intensities] {
      return std::make_unique<SlateScheduler>(sms, slate_table_rule(sms, intensities));
    });
    return {ran.result, read_ctas(spec.timeline_file), plans_of(ran.decisions, machine)};
  }

  /// Every CTA of every grid ran once, and each began on an SM of the range that its job had, in nobody else's.
  static void check(const Ran& ran, const std::vector<std::uint32_t>& grids) {
    std::map<std::uint32_t, std::vector<int>> times;
    for (std::uint32_t k = 0; k < grids.size(); ++k) {
      times[k].resize(grids[k]);
      EXPECT_EQ(ran.result.kernels[k].ctas_completed, grids[k]);
    }
    std::size_t beside = 0;
    for (const Cta& cta : ran.ctas) {
      ++times.at(cta.job).at(cta.index);
      const auto after = std::ranges::upper_bound(ran.plans, cta.begin, {}, &InForce::at);
      ASSERT_NE(after, ran.plans.begin());
      bool allowed = false;
      // The registers are written one after the other once the plan is there: for so long the plan before may still show.
      for (auto plan = after; plan != ran.plans.begin() && (plan == after || cta.begin < plan->at + kWrites);) {
        --plan;
        const auto own = plan->ranges.find(cta.job);
        allowed = allowed ||
                  (own != plan->ranges.end() && cta.sm >= own->second.first && cta.sm < own->second.first + own->second.second);
      }
      EXPECT_TRUE(allowed) << "job " << cta.job << ", SM " << cta.sm << ", cycle " << cta.begin;
      beside += std::prev(after)->ranges.size() == 2 ? 1 : 0;
    }
    EXPECT_GT(beside, 100U) << "CTAs that began while two jobs shared are what this is about";
    for (const auto& [job, counts] : times)
      EXPECT_TRUE(std::ranges::all_of(counts, [](int n) { return n == 1; })) << "job " << job << ": a CTA lost, or run twice";
    // From the CTAs alone: on one SM two jobs are together only where one drains. Once the younger came, the older begins none.
    std::map<std::uint32_t, std::vector<const Cta*>> by_sm;
    for (const Cta& cta : ran.ctas) by_sm[cta.sm].push_back(&cta);
    for (auto& entry : by_sm) {
      std::vector<const Cta*>& here = entry.second;
      std::ranges::sort(here, {}, [](const Cta* c) { return c->begin; });
      for (std::size_t i = 0; i + 1 < here.size(); ++i) {
        if (here[i]->job == here[i + 1]->job) continue;
        const bool changed = std::ranges::any_of(
            ran.plans, [&](const InForce& plan) { return plan.at + kWrites > here[i]->begin && plan.at <= here[i + 1]->begin; });
        EXPECT_TRUE(changed) << "SM " << entry.first << " changed hands without a decision, cycle " << here[i + 1]->begin;
      }
    }
  }

  /// The ranges in the log: two of one plan never meet, and some plan has one that another one has larger or smaller.
  static void ranges_move_and_never_meet(const Ran& ran) {
    std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> before;
    std::size_t shrunk = 0, grown = 0;
    for (const InForce& plan : ran.plans) {
      std::vector<int> owners(256, 0);
      for (const auto& [job, range] : plan.ranges) {
        for (std::uint32_t sm = range.first; sm < range.first + range.second; ++sm) EXPECT_EQ(++owners.at(sm), 1) << "SM " << sm;
        if (before.contains(job)) {
          shrunk += range.second < before[job].second ? 1 : 0;
          grown += range.second > before[job].second ? 1 : 0;
        }
      }
      before = plan.ranges;
    }
    EXPECT_GE(shrunk, 1U);
    EXPECT_GE(grown, 1U);
  }

 private:
  static constexpr std::uint64_t kWrites = 400;  ///< cycles in which the host has written all masks of a plan

  static std::vector<Cta> read_ctas(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::vector<Cta> ctas;
    for (const json& e : json::parse(in)) {
      if (e.value("ph", "") != "X" || !e["name"].get<std::string>().starts_with("job")) continue;
      const auto begin = e["ts"].get<std::uint64_t>();
      ctas.push_back({e["args"]["cta"].get<std::uint64_t>(), begin, begin + e["dur"].get<std::uint64_t>(),
                      e["pid"].get<std::uint32_t>(),
                      static_cast<std::uint32_t>(std::stoul(e["name"].get<std::string>().substr(3)))});
    }
    return ctas;
  }

  static std::vector<InForce> plans_of(const std::vector<json>& decisions, const MachineConfig& machine) {
    std::vector<InForce> plans;
    for (const json& d : decisions) {
      InForce& plan = plans.emplace_back();
      plan.at = d["now_ps"].get<std::uint64_t>() / SimClock(machine.core_mhz).period_ps();
      for (const json& s : d["shares"]) {
        const bool all = s["sms"].is_null();
        plan.ranges[s["job"].get<std::uint32_t>()] = {all ? 0 : s["first_sm"].get<std::uint32_t>(),
                                                      all ? machine.num_sms : s["sms"].get<std::uint32_t>()};
      }
    }
    return plans;
  }
};

/// RTL and twin compared at every port in every cycle.
TEST_F(SlateOnModel, RangesMoveUnderRunningKernelsAndNoCtaIsLost) {
  const std::vector<std::uint32_t> grids{450, 250, 350, 200, 150};
  const Ran ran = run("fermi_table1.toml", grids, PartitionerKind::Both);
  check(ran, grids);
  ranges_move_and_never_meet(ran);
}

TEST_F(SlateOnModel, AlsoOnThePapersThirtySms) {
  if (std::getenv("SLUICE_FULL") == nullptr) GTEST_SKIP() << "long: runs with SLUICE_FULL=1";
  const std::vector<std::uint32_t> grids{6000, 4000, 3000, 2000, 1000};
  const Ran ran = run("titan_xp.toml", grids, PartitionerKind::Both);
  check(ran, grids);
  ranges_move_and_never_meet(ran);
}

}  // namespace
}  // namespace sluice
