// SPDX-License-Identifier: Apache-2.0
#include "sw/policy/corun_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sw/core/errors.h"

namespace sluice {

namespace {

void check(const std::string& what, double value, double low, bool open, double high) {
  if (!std::isfinite(value) || value < low || (open && value == low) || value > high)
    throw InputError(fmt::format("{} = {}: must be {} {}{}", what, value, open ? "above" : "at least", low,
                                 std::isfinite(high) ? fmt::format(", at most {}", high) : ""));
}

}  // namespace

std::vector<CoRun> CoRunTable::of(const std::string& first, const std::string& second) const {
  const bool in_order = first < second;
  const auto found = pairs.find(in_order ? std::pair(first, second) : std::pair(second, first));
  if (found == pairs.end()) return {};
  std::vector<CoRun> runs = found->second;
  if (!in_order) {
    for (CoRun& run : runs) {
      std::swap(run.ctas[0], run.ctas[1]);
      std::swap(run.ipc[0], run.ipc[1]);
    }
    std::ranges::sort(runs, {}, [](const CoRun& run) { return run.ctas; });
  }
  return runs;
}

std::vector<std::array<CtaCount, 2>> slice_ratios(const SmResources& first, const SmResources& second,
                                                  const SmResources& capacity) {
  std::vector<std::array<CtaCount, 2>> ratios;
  for (CtaCount n(1); fits(first, capacity, n); n += CtaCount(1)) {
    const CtaCount m = occupancy(second, take(capacity, first, n));
    if (m == CtaCount(0)) break;
    if (!ratios.empty() && ratios.back()[1] == m) ratios.pop_back();  // one more of the first fits beside as many of the second
    ratios.push_back({n, m});
  }
  return ratios;
}

CoRunTable predicted_co_runs(std::span<const KernelDescriptor> kernels, std::span<const MarkovKernel> models,
                             const std::map<std::string, CoRunKernel>& alone, const MachineConfig& machine) {
  CoRunTable table;
  const auto ipc = [&](const std::vector<MarkovKernel>& together, const std::vector<unsigned>& warps) {
    return markov_sm_ipc(together, warps, machine.sm.schedulers);
  };
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const KernelDescriptor& kernel = kernels[k];
    CoRunKernel& figures = table.kernels[kernel.name] = alone.at(kernel.name);
    const unsigned full = occupancy(kernel.demand(), machine.sm.capacity).value() * kernel.warps_per_cta();
    figures.ipc = ipc({models[k]}, {full})[0];
  }
  for (std::size_t a = 0; a < kernels.size(); ++a)
    for (std::size_t b = 0; b < kernels.size(); ++b) {
      if (kernels[a].name >= kernels[b].name) continue;
      std::vector<CoRun>& runs = table.pairs[{kernels[a].name, kernels[b].name}];
      for (const auto& ctas : slice_ratios(kernels[a].demand(), kernels[b].demand(), machine.sm.capacity)) {
        const std::vector<double> together = ipc(
            {models[a], models[b]}, {ctas[0].value() * kernels[a].warps_per_cta(), ctas[1].value() * kernels[b].warps_per_cta()});
        runs.push_back({ctas, {together[0], together[1]}});
      }
    }
  return table;
}

void check_complete(const CoRunTable& table, std::span<const KernelDescriptor> mix, const MachineConfig& machine) {
  constexpr double kNoBound = INFINITY;
  for (const auto& [name, kernel] : table.kernels) {
    check(fmt::format("kernel {}: ipc", name), kernel.ipc, 0, true, kNoBound);
    check(fmt::format("kernel {}: instructions_per_block", name), kernel.instructions_per_block, 0, true, kNoBound);
    check(fmt::format("kernel {}: issue_utilisation", name), kernel.issue_utilisation, 0, false, 1);
    check(fmt::format("kernel {}: memory_utilisation", name), kernel.memory_utilisation, 0, false, 1);
  }
  for (const auto& [names, runs] : table.pairs) {
    for (const std::string& name : {names.first, names.second})
      if (!table.kernels.contains(name))
        throw InputError(fmt::format("pair {} and {}: kernel {}: no figures alone", names.first, names.second, name));
    for (const CoRun& run : runs)
      for (std::size_t i = 0; i < 2; ++i) {
        const std::string pair = fmt::format("pair {} and {} with {} and {} CTAs: ", names.first, names.second,
                                             run.ctas[0].value(), run.ctas[1].value());
        check(pair + "ctas", run.ctas[i].value(), 1, false, kNoBound);
        check(pair + "ipc", run.ipc[i], 0, true, kNoBound);
      }
  }
  for (const KernelDescriptor& a : mix)
    for (const KernelDescriptor& b : mix) {
      if (a.name >= b.name || !table.kernels.contains(a.name) || !table.kernels.contains(b.name)) continue;
      const std::vector<CoRun> runs = table.of(a.name, b.name);
      for (const auto& ctas : slice_ratios(a.demand(), b.demand(), machine.sm.capacity))
        if (std::ranges::find(runs, ctas, &CoRun::ctas) == runs.end())
          throw InputError(
              fmt::format("pair {} and {}: no figures with {} and {} CTAs", a.name, b.name, ctas[0].value(), ctas[1].value()));
    }
}

}  // namespace sluice
