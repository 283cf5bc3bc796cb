// SPDX-License-Identifier: Apache-2.0
// What the partition unit's samples are of, as the model sees it from the unit's ports: the scenes in which older kernels' CTAs
// sat on the SMs of younger ones, and kernels that come and go.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "sw/scheduler/registry.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/mix.h"
#include "sw/workload/workload_file.h"
#include "tests/systemc/scripted_kernel.h"

namespace sluice {
namespace {

using scripted::run;

const std::filesystem::path kRoot = SLUICE_SOURCE_DIR;

class ProfileSamples : public ::testing::Test {
 protected:
  MachineConfig machine = read_machine(kRoot / "configs/machines/fermi_table1.toml");
  Workload workload = read_workload(kRoot / "configs/workloads/table2.toml");

  RunSpec dynamic(const std::string& names, std::uint64_t window) {
    const Mix mix = parse_mixes(workload, machine, names).front();
    RunSpec spec;
    spec.machine = machine;
    for (const KernelDescriptor& k : mix.kernels) spec.launches.push_back({k, 0, Cycles(0)});
    spec.make_scheduler = [m = machine, mix] { return make_scheduler("warped_slicer", {m, mix.kernels}); };
    spec.window = Cycles(window);
    return spec;
  }
  /// Samples that counted, of SMs that held something else. What was dropped is an entry of 0 in the profile.
  static std::vector<std::string> wrong(const RunResult& result) {
    std::vector<std::string> found;
    for (const Decision& decision : result.decisions) {
      for (const ProfileSample& s : decision.samples) {
        const auto rank = std::ranges::find(decision.kernels, s.kernel) - decision.kernels.begin();
        const Profile& profile = decision.profiles[static_cast<std::size_t>(rank)];
        const bool dropped = s.ctas.value() > profile.size() || profile[s.ctas.value() - 1] == 0;
        if (!dropped && !s.clean())
          found.push_back(fmt::format("decision at {}: kernel {} with {} CTAs on SM {}: held {}, and {} of others",
                                      decision.decided_at.value(), s.kernel.value(), s.ctas.value(), s.sm.value(),
                                      s.resident_max.value(), s.foreign.value()));
      }
    }
    return found;
  }
};

/// The 22 pairs whose older kernel has CTAs that outlive the warm-up, or fills SMs before the younger one is there.
TEST_F(ProfileSamples, OfPairsLaunchedTogetherAreAllClean) {
  std::vector<RunSpec> specs;
  std::vector<std::string> names;
  for (const char* older : {"DXT", "IMG", "MM"}) {
    for (const char* younger : {"BLK", "BFS", "KNN", "LBM", "MVP", "NN", "IMG", "MM", "HOT"}) {
      const std::string pair = std::string(older) + "_" + younger;
      const bool of_the_paper = pair != "IMG_IMG" && pair != "MM_MM" && pair != "MM_IMG" && pair != "IMG_HOT" && pair != "MM_HOT";
      if (!of_the_paper) continue;
      specs.push_back(dynamic(pair, 28700));
      names.push_back(pair);
    }
  }
  ASSERT_EQ(specs.size(), 22U);
  const auto results = run(specs);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    ASSERT_EQ(results[i].decisions.size(), 1U) << names[i];
    const Decision& decision = results[i].decisions.front();
    std::size_t levels = 0;
    for (const Profile& profile : decision.profiles) {
      levels += profile.size();
      EXPECT_TRUE(std::ranges::all_of(profile, [](double ipc) { return ipc > 0; })) << names[i] << ": a sample was dropped";
    }
    EXPECT_EQ(decision.samples.size(), levels) << names[i];
    EXPECT_EQ(wrong(results[i]), std::vector<std::string>{}) << names[i];
  }
}

/// A kernel that is launched later finds the SMs full: the profile waits until they hold what it says, or drops what they do not.
TEST_F(ProfileSamples, AreCleanOrDroppedWhileKernelsComeAndGo) {
  const bool full = std::getenv("SLUICE_FULL") != nullptr;
  std::mt19937_64 random(1);
  std::vector<RunSpec> specs;
  const std::uint64_t window = full ? 2000000 : 250000;
  for (const std::uint32_t drain : {0U, 20480U, 1044480U}) {
    const std::vector<std::vector<std::string>> scenes{{"DXT", "NN", "LBM"},
                                                       {"HOT", "BFS", "DXT", "NN"},
                                                       {"IMG", "MVP", "BFS", "KNN"},
                                                       {"MM", "NN", "DXT", "BFS", "HOT", "LBM"}};
    for (const std::vector<std::string>& parts : scenes) {
      RunSpec spec = dynamic("DXT_NN", window);
      spec.launches.clear();
      spec.machine.partitioner.drain_cycles = drain;
      spec.machine.partitioner.warm_up_cycles = 4000;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        KernelDescriptor kernel = *std::ranges::find(workload.kernels, parts[i], &KernelDescriptor::name);
        const bool brief = i % 2 == 1;  // shorter than a window, again and again
        if (brief) kernel.grid_ctas = 40;
        const std::size_t again = brief ? 6 : 1;
        for (std::size_t n = 0; n < again; ++n) {  // one after the other
          KernelLaunch launch{kernel, 0, Cycles(i == 0 ? 0 : n * (window / again) + random() % (window / again))};
          launch.once = brief;
          if (n > 0) launch.after = spec.launches.size() - 1;
          spec.launches.push_back(launch);
        }
      }
      specs.push_back(spec);
    }
  }
  const auto results = run(specs);
  std::size_t decisions = 0, samples = 0, without_profile = 0;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    EXPECT_EQ(wrong(results[i]), std::vector<std::string>{}) << "run " << i;
    decisions += results[i].decisions.size();
    for (const Decision& d : results[i].decisions) {
      samples += d.samples.size();
      const bool all_dropped = std::ranges::any_of(
          d.profiles, [](const Profile& p) { return std::ranges::all_of(p, [](double ipc) { return ipc == 0; }); });
      EXPECT_EQ(d.reason == DecisionReason::NoProfile, all_dropped && d.reason != DecisionReason::NoFit)
          << "run " << i << ", decision at " << d.decided_at.value();
      EXPECT_EQ(d.reason == DecisionReason::WaterFilling, d.partition.mode == Mode::Static);
      without_profile += all_dropped ? 1 : 0;
    }
  }
  EXPECT_GT(without_profile, 0U) << "no scene without a profile";
  std::printf("%zu decisions, %zu samples in %zu cycles\n", decisions, samples, specs.size() * static_cast<std::size_t>(window));
  EXPECT_GT(decisions, specs.size());
}

}  // namespace
}  // namespace sluice
