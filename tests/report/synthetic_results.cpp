// SPDX-License-Identifier: Apache-2.0
#include "synthetic_results.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

namespace sluice::test {

namespace {

struct Kernel {
  const char* name;
  KernelType type;
  unsigned max_ctas;
  double ipc;
};
constexpr Kernel kKernels[] = {{"BLK", KernelType::Memory, 8, 450},  {"BFS", KernelType::Memory, 3, 300},
                               {"DXT", KernelType::Compute, 8, 600}, {"HOT", KernelType::Compute, 3, 350},
                               {"IMG", KernelType::Compute, 8, 850}, {"KNN", KernelType::Memory, 6, 200},
                               {"LBM", KernelType::Memory, 7, 100},  {"MM", KernelType::Compute, 5, 310},
                               {"MVP", KernelType::Cache, 8, 110},   {"NN", KernelType::Cache, 8, 455}};

/// Performance at a share of the largest occupancy, by type: rising, saturating, peaking.
double shape(KernelType type, double share) {
  switch (type) {
    case KernelType::Compute: return std::pow(share, 0.6);
    case KernelType::Memory: return 1 - std::exp(-4 * share);
    case KernelType::Cache: return share * std::exp(1 - 1.8 * share);
  }
  return 0;
}

SoloRun solo(const Kernel& k) {
  SoloRun s;
  s.kernel = k.name;
  s.type = k.type;
  s.cycles = 2'000'000;
  s.thread_instructions = static_cast<std::uint64_t>(2e6 * k.ipc);
  s.warp_instructions = s.thread_instructions / 32;
  s.ipc = k.ipc;
  s.alu_utilization = k.ipc / 1024;
  s.sfu_utilization = 0.12;
  s.ldst_utilization = 0.45;
  s.l2_mpki = k.type == KernelType::Memory ? 71.5 : 0.25;
  s.l1_miss_rate = 0.4;
  s.l2_miss_rate = 0.3;
  s.reference = SoloReference{2e6 * k.ipc * 1.03, 2'000'000, k.ipc / 1000, 0.11, 0.47, s.l2_mpki * 0.95};
  for (unsigned n = 1; n <= k.max_ctas; ++n) s.curve.push_back(k.ipc * shape(k.type, double(n) / k.max_ctas));
  return s;
}

constexpr std::array<std::string_view, 6> kPolicies = {"left_over", "fcfs", "even", "spatial", "warped_slicer", "oracle"};

EvalRun run(const Kernel& a, const Kernel& b, std::size_t policy, unsigned pair) {
  EvalRun r;
  r.kernels = {a.name, b.name};
  r.category = fmt::format("{}+{}", to_string(a.type), to_string(b.type));
  r.policy = kPolicies[policy];
  r.partitioner = "rtl";
  const Mode modes[] = {Mode::LeftOver, Mode::Fcfs, Mode::Static, Mode::Spatial, Mode::Static, Mode::Static};
  r.partition.mode = policy == 4 && pair % 9 == 4 ? Mode::Spatial : modes[policy];
  if (policy > 1)
    r.partition.shares = {{CtaCount((a.max_ctas + pair % 3) / 2 + (policy == 4 ? 1U : 0U))}, {CtaCount(b.max_ctas / 2)}};
  const double gains[] = {1.0, 1.01, 1.09, 1.05, 1.22, 1.26};
  const double gain = policy == 0 ? 1 : gains[policy] + 0.12 * std::sin(pair * 1.7 + static_cast<double>(policy));
  r.cycles = static_cast<std::uint64_t>(3.7e6 / gain);
  r.ipc = (a.ipc + b.ipc) * 2e6 / static_cast<double>(r.cycles);
  const auto finish = [&](double share) { return static_cast<std::uint64_t>(share * static_cast<double>(r.cycles)); };
  for (const auto& [kernel, share] : {std::pair{&a, 0.8}, std::pair{&b, 1.0}}) {
    KernelOutcome& o = r.per_kernel.emplace_back();
    o.name = kernel->name;
    o.finish_cycle = o.counters.finish_cycle = finish(share);
    o.speedup = 2e6 / static_cast<double>(o.finish_cycle);
    o.counters.warp_instructions = 1000 + pair;
    r.stp += o.speedup;
    r.antt += 0.5 / o.speedup;
  }
  r.min_speedup = r.per_kernel.back().speedup;
  r.stalls = {0.25 / gain, 0.12 / gain, 0.08, 0.03, 0.01, 0.05};
  r.utilization = {0.42 * gain, 0.15 * gain, 0.5 * gain, 0.7 * gain, 0.6 * gain, 0.08 * gain};
  r.l1_miss_rate = 0.5 / gain;
  r.l2_miss_rate = 0.35;
  r.dram_bytes_per_cycle = 92.5 * gain;
  if (policy == 4) r.decisions.push_back({25120, 25207, r.kernels, {{0.5, 0.9, 1.0}, {0.25, 0.125}}, r.partition});
  if (policy == 5) r.oracle_candidates = 37;
  return r;
}

}  // namespace

EvalResults synthetic_results() {
  EvalResults results;
  results.meta = {{"version", "0.0.0"},
                  {"commit", "0123456789ab"},
                  {"machine", "synthetic"},
                  {"workload", "invented"},
                  {"window_cycles", 2'000'000U},
                  {"seed", 1U},
                  {"partitioner", "rtl"},
                  {"policies", {"left_over", "fcfs", "even", "spatial", "warped_slicer", "oracle"}},
                  {"command", "sluice eval --machine synthetic.toml --workload invented.toml --pairs all --jobs 2 --out out"},
                  {"date", "2000-01-01T00:00:00Z"},
                  {"schema_version", 1}};
  for (const Kernel& k : kKernels) results.solo.push_back(solo(k));
  unsigned pair = 0;
  for (std::size_t i = 0; i < std::size(kKernels); ++i)
    for (std::size_t j = 0; j < std::size(kKernels); ++j) {
      const Kernel &a = kKernels[i], &b = kKernels[j];
      const bool wanted = a.type == KernelType::Compute && (b.type != KernelType::Compute || i < j);
      if (!wanted) continue;
      for (std::size_t policy = 0; policy < kPolicies.size(); ++policy)
        if (policy < 5 || pair % 16 == 0) results.runs.push_back(run(a, b, policy, pair));
      ++pair;
    }
  normalize_to_left_over(results);
  return results;
}

}  // namespace sluice::test
