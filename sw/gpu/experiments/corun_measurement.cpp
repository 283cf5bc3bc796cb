// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/experiments/corun_measurement.h"

#include <fmt/format.h>

#include "sw/core/errors.h"
#include "sw/gpu/apps/app_sizes.h"
#include "sw/policy/registry.h"

namespace sluice::gpu {

namespace {

constexpr std::uint32_t kSplitStep = 12;

const PreparedKernel& prepared(GpuSession& session, const PaperKernel& k) {
  return session.app(k.app, measured_size(k.app, kEqualLength));
}

/// Both kernels at every slice ratio, and on ranges of their own.
nlohmann::json pair_rates(const PreparedMix& mix, const MachineConfig& machine, double window, bool with_splits) {
  QuotaMix running(mix);
  std::uint64_t violations = 0;
  const auto rates = [&](const std::vector<QuotaTable>& tables) {
    const MixRates r = running.restart(tables, 1e-3, window);
    violations += r.violations;
    return r.blocks_per_second;
  };
  const unsigned sms = machine.num_sms;
  nlohmann::json runs = nlohmann::json::array(), splits = nlohmann::json::array();
  const auto at = [&](std::uint32_t first, std::uint32_t second) {
    return nlohmann::json{{"ctas", {first, second}},
                          {"blocks_per_second", rates({uniform_quota(sms, first), uniform_quota(sms, second)})}};
  };
  for (const auto& ctas : slice_ratios(descriptor(*mix[0]).demand(), descriptor(*mix[1]).demand(), machine.sm.capacity))
    runs.push_back(at(ctas[0].value(), ctas[1].value()));
  const PolicyPlan even = policy_plans("even", machine, {descriptor(*mix[0]), descriptor(*mix[1])}).front();
  const std::vector<std::uint32_t> halves = counts(even.partition);  // leave room, and so are no slice ratio
  for (std::uint32_t first = kSplitStep; with_splits && first < sms; first += kSplitStep)
    splits.push_back({{"first_sms", first},
                      {"blocks_per_second", rates({uniform_quota(sms, mix[0]->occupancy(), 0, first),
                                                   uniform_quota(sms, mix[1]->occupancy(), first, sms - first)})}});
  return {{"runs", runs}, {"even", at(halves[0], halves[1])}, {"splits", splits}, {"violations", violations}};
}

}  // namespace

void measure_corun_rates(GpuSession& session, const ExperimentOptions& options, const std::string& paper, const std::string& name,
                         bool splits) {
  const auto& kernels = paper_kernels(paper);
  const MachineConfig machine = session.machine();
  RawLines lines(options, name, kernels.size() * (kernels.size() + 1) / 2);
  for (const PaperKernel& k : kernels)
    lines.step(k.name, [&] {
      const PreparedKernel& kernel = prepared(session, k);
      QuotaMix alone({&kernel});
      std::vector<double> curve;
      for (std::uint32_t c = 1; c <= kernel.occupancy(); ++c)
        curve.push_back(alone.restart({uniform_quota(machine.num_sms, c)}, 1e-3, options.window).blocks_per_second[0]);
      alone.evict();
      return nlohmann::json{{"kernel", k.name}, {"app", k.app}, {"blocks_per_second", curve}};
    });
  for (std::size_t a = 0; a < kernels.size(); ++a)
    for (std::size_t b = a + 1; b < kernels.size(); ++b)
      lines.step(kernels[a].name + "_" + kernels[b].name, [&] {
        nlohmann::json line =
            pair_rates({&prepared(session, kernels[a]), &prepared(session, kernels[b])}, machine, options.window, splits);
        line.update({{"first", kernels[a].name}, {"second", kernels[b].name}});
        return line;
      });
}

namespace {

double sm_cycles(const GpuSession& session, const ExperimentOptions& options) {
  return session.machine().num_sms * options.on.at("core_mhz").get<double>() * 1e6;
}

}  // namespace

CorunRates known_rates(const GpuSession& session, const ExperimentOptions& options, const std::string& paper,
                       const std::string& name) {
  return read_corun_rates(options.out / (name + ".jsonl"), paper, sm_cycles(session, options));
}

CoRunTables kernelet_knows(GpuSession& session, const ExperimentOptions& options, const std::string& paper,
                           const CorunRates& rates, const char* experiment) {
  if (options.profiles.empty())
    throw InputError(fmt::format("{}: --profiles FILE.csv: a raw Nsight Compute page of the kernels is needed", experiment));
  std::vector<KernelDescriptor> kernels;
  for (const PaperKernel& k : paper_kernels(paper)) {
    kernels.push_back(descriptor(prepared(session, k)));
    kernels.back().name = k.name;
  }
  return kernelet_tables(read_markov(options.profiles), rates, paper, kernels, session.machine(), sm_cycles(session, options));
}

}  // namespace sluice::gpu
