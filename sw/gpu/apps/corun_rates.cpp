// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/apps/corun_rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sw/core/errors.h"
#include "sw/gpu/apps/app_sizes.h"
#include "sw/io/raw_store.h"

namespace sluice::gpu {

namespace {

constexpr double kStandsStill = 1e-6;  // blocks a second, where the SMs took no CTA

}  // namespace

CorunRates read_corun_rates(const std::filesystem::path& file, const std::string& paper, double sm_cycles) {
  CorunRates all;
  const std::vector<nlohmann::json> lines = RawStore::read(file);
  for (const nlohmann::json& line : lines) {
    if (!line.contains("kernel")) continue;
    const std::vector<double>& own = all.alone[line["kernel"]] = line["blocks_per_second"].get<std::vector<double>>();
    all.table.kernels[line["kernel"]] = {own.back() / sm_cycles, 1, 0, 0};
  }
  for (const PaperKernel& k : paper_kernels(paper))
    if (!all.alone.contains(k.name))
      throw InputError(fmt::format("{}: no rates of {}: measure them first", file.string(), k.name));
  for (const nlohmann::json& line : lines) {
    if (!line.contains("runs")) continue;
    const bool in_order = line["first"] < line["second"];  // the table has the lesser name first
    const std::array<std::size_t, 2> at = {in_order ? 0U : 1U, in_order ? 1U : 0U};
    const std::string first = line["first"], second = line["second"];
    std::vector<CoRun>& runs = all.table.pairs[in_order ? std::pair(first, second) : std::pair(second, first)];
    for (const nlohmann::json& r : line["runs"]) {
      CoRun& run = runs.emplace_back();
      for (std::size_t i = 0; i < 2; ++i) {
        run.ctas[i] = CtaCount(r["ctas"][at[i]].get<std::uint32_t>());
        run.ipc[i] = std::max(kStandsStill, r["blocks_per_second"][at[i]].get<double>()) / sm_cycles;
      }
    }
  }
  return all;
}

CoRunTables kernelet_tables(const MarkovPage& page, const CorunRates& rates, const std::string& paper,
                            const std::vector<KernelDescriptor>& kernels, MachineConfig machine, double sm_cycles) {
  machine.sm.schedulers = page.machine.schedulers;
  std::vector<MarkovKernel> models;
  CoRunTables t{{}, rates.table};
  const std::vector<PaperKernel>& known = paper_kernels(paper);
  for (std::size_t i = 0; i < known.size(); ++i) {
    const auto found = page.apps.find(known[i].app);
    if (found == page.apps.end()) throw InputError(fmt::format("no launch of {} on the Nsight Compute page", known[i].app));
    const auto& [counters, instructions] = found->second;
    std::vector<double> ipc;
    for (const double rate : rates.alone.at(known[i].name)) ipc.push_back(rate * instructions / sm_cycles);
    models.push_back(calibrated_kernel(
        counters, {kernels.at(i).warps_per_cta(), static_cast<unsigned>(ipc.size()), ipc.front(), ipc.back()}, page.machine));
    t.executed.kernels[known[i].name] = {ipc.back(), instructions, std::min(1.0, ipc.back() / page.machine.schedulers),
                                         counters.dram_utilisation};
  }
  for (auto& [names, runs] : t.executed.pairs)
    for (CoRun& run : runs) {
      run.ipc[0] *= t.executed.kernels.at(names.first).instructions_per_block;
      run.ipc[1] *= t.executed.kernels.at(names.second).instructions_per_block;
    }
  t.predicted = predicted_co_runs(kernels, models, t.executed.kernels, machine);
  return t;
}

}  // namespace sluice::gpu
