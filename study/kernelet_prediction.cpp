// SPDX-License-Identifier: Apache-2.0
#include "study/kernelet_prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "study/kernelet_study.h"
#include "sw/core/errors.h"
#include "sw/core/metrics.h"
#include "sw/gpu/apps/app_sizes.h"
#include "sw/gpu/apps/ncu_page.h"
#include "sw/gpu/report/sections.h"
#include "sw/io/packed_file.h"
#include "sw/io/raw_store.h"

namespace sluice::gpu {

using figures::Figure;
using nlohmann::json;

namespace {

/// Of machine.json.
MachineConfig machine_of(const json& machine) {
  MachineConfig m;
  m.name = machine.at("name");
  m.num_sms = machine.at("sms");
  m.core_mhz = machine.at("core_mhz");
  const json& sm = machine.at("sm");
  m.sm.capacity = {sm.at("threads"), sm.at("registers"), sm.at("shared_memory_bytes"), sm.at("cta_slots")};
  return m;
}

/// What Kernelet decides by, and what OPT does: of the model, and as it was measured of kernels with grids of equal length.
/// @param kernels    of paper_kernels("kernelet"), in its order and under its names
/// @param sm_cycles  of all SMs together, a second
CoRunTables tables_of(const std::filesystem::path& folder, const MarkovPage& page, const std::vector<KernelDescriptor>& kernels,
                      const MachineConfig& machine, double sm_cycles) {
  constexpr double kStandsStill = 1e-6;  // blocks a second, where the SMs took no CTA
  CoRunTables t;
  const std::filesystem::path file = folder / "kernelet_pairs.jsonl";
  const std::vector<json> measured = RawStore::read(file);
  std::map<std::string, std::vector<double>> alone;  // blocks a second with 1, 2, ... CTAs on every SM
  for (const json& line : measured)
    if (line.contains("kernel")) alone[line["kernel"]] = line["blocks_per_second"].get<std::vector<double>>();
  std::vector<MarkovKernel> models;
  const std::vector<PaperKernel>& known = paper_kernels("kernelet");
  for (std::size_t i = 0; i < known.size(); ++i) {
    const auto found = page.apps.find(known[i].app);
    if (found == page.apps.end()) throw InputError(fmt::format("no launch of {} on the Nsight Compute page", known[i].app));
    if (!alone.contains(known[i].name)) throw InputError(fmt::format("{}: no rates of {}", file.string(), known[i].name));
    const auto& [counters, instructions] = found->second;
    std::vector<double> ipc;
    for (const double rate : alone[known[i].name]) ipc.push_back(rate * instructions / sm_cycles);
    models.push_back(calibrated_kernel(
        counters, {kernels[i].warps_per_cta(), static_cast<unsigned>(ipc.size()), ipc.front(), ipc.back()}, page.machine));
    t.executed.kernels[known[i].name] = {ipc.back(), instructions, std::min(1.0, ipc.back() / page.machine.schedulers),
                                         counters.dram_utilisation};
  }
  for (const json& line : measured) {
    if (!line.contains("runs")) continue;
    const bool in_order = line["first"] < line["second"];  // the table has the lesser name first
    const std::array<std::size_t, 2> at = {in_order ? 0U : 1U, in_order ? 1U : 0U};
    const std::array<std::string, 2> names = {line[in_order ? "first" : "second"], line[in_order ? "second" : "first"]};
    std::vector<CoRun>& runs = t.executed.pairs[{names[0], names[1]}];
    for (const json& r : line["runs"]) {
      CoRun& run = runs.emplace_back();
      for (std::size_t i = 0; i < 2; ++i) {
        run.ctas[i] = CtaCount(r["ctas"][at[i]].get<std::uint32_t>());
        run.ipc[i] = std::max(kStandsStill, r["blocks_per_second"][at[i]].get<double>()) / sm_cycles *
                     t.executed.kernels.at(names[i]).instructions_per_block;
      }
    }
  }
  t.predicted = predicted_co_runs(kernels, models, t.executed.kernels, machine);
  return t;
}

/// Predicted and measured rates of every ratio of every pair.
std::vector<figures::PairPoint> points_of(const std::filesystem::path& folder, MachineConfig machine) {
  const double sm_cycles = machine.num_sms * machine.core_mhz * 1e6;  // a second, of all SMs together
  const auto known = measured_kernels((folder / "..").lexically_normal());
  std::vector<KernelDescriptor> kernels;
  for (const PaperKernel& k : paper_kernels("kernelet")) {
    const auto found = known.find(k.app);
    if (found == known.end()) throw InputError(fmt::format("overhead.jsonl, papers/overhead.jsonl: nothing of {}", k.app));
    kernels.push_back(found->second);
    kernels.back().name = k.name;
  }
  const MarkovPage page = read_markov(folder / "ncu.csv");
  machine.sm.schedulers = page.machine.schedulers;
  return pair_points(tables_of(folder, page, kernels, machine, sm_cycles), machine);
}

}  // namespace

std::map<std::string, KernelDescriptor> measured_kernels(const std::filesystem::path& results) {
  constexpr std::uint32_t kRegisterUnit = 256, kSharedUnit = 128, kReserved = 1024;  // of a warp; of a CTA; the driver's
  const auto round_up = [](std::uint32_t value, std::uint32_t unit) { return (value + unit - 1) / unit * unit; };
  std::map<std::string, KernelDescriptor> all;
  // The latest last: later runtimes let threads have other numbers of registers.
  for (const char* file : {"papers/overhead.jsonl", "runtime/overhead.jsonl", "effisha/effisha_overhead.jsonl",
                           "slate/slate_alone.jsonl", "overhead.jsonl"})
    for (const json& line : lines(results / file)) {
      KernelDescriptor& k = all[line.at("app")];
      k.name = line.at("app");
      k.block_threads = make_app(k.name, full_size(k.name)).launch.block_threads();
      const std::uint32_t warps = k.warps_per_cta();
      const std::uint32_t registers = line.contains("persistent") ? line["persistent"].at("registers") : line.at("registers");
      k.registers_per_cta = warps * round_up(registers * kWarpSize, kRegisterUnit);
      if (!line.contains("persistent")) continue;
      // Less the 256 bytes that the runtime keeps behind a kernel's own: an SM of 228 KB has room for them everywhere.
      const std::uint32_t shared = line["persistent"].at("static_shared_bytes");
      k.shared_bytes_per_cta = round_up(shared, kSharedUnit) + kReserved;
    }
  return all;
}

Figure kernelet_prediction(const std::filesystem::path& folder, const json& machine) {
  if (!machine.contains("sm") || !has_packed(folder / "kernelet_pairs.jsonl") || !has_packed(folder / "ncu.csv")) return {};
  Figure figure{"5", "Kernelet's model on pairs that were measured afterwards", "Most predictions within 20 % of the peak IPC."};
  const std::vector<figures::PairPoint> points = points_of(folder, machine_of(machine));
  Values off, profit, choice, best;
  std::map<std::string, std::pair<Values, Values>> by_pair;  // errors; measured STP, the choice's first
  for (const figures::PairPoint& p : points) {
    off.push_back(std::abs(p.predicted - p.measured));
    profit.push_back(std::abs(p.predicted_profit - p.measured_profit));
    auto& [errors, stp] = by_pair[p.first + "_" + p.second];
    errors.push_back(off.back());
    stp.push_back(1 / (1 - p.measured_profit));
    if (p.chosen) std::swap(stp.front(), stp.back());
  }
  const auto mean = [](const Values& v) { return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size()); };
  report::Table table({"pair",
                       "ratios",
                       {"mean error, of peak", report::Notation::Share, 1},
                       {"largest", report::Notation::Share, 1},
                       {"STP of the choice", report::Notation::Number, 3},
                       {"of the best", report::Notation::Number, 3}});
  for (const auto& [pair, of] : by_pair) {
    choice.push_back(of.second.front());
    best.push_back(std::ranges::max(of.second));
    table.row({pair, static_cast<std::uint64_t>(of.first.size()), mean(of.first), std::ranges::max(of.first), choice.back(),
               best.back()});
  }
  const double error = mean(off),
               inside = static_cast<double>(std::ranges::count_if(off, [](double e) { return e <= 0.2; })) /
                        static_cast<double>(off.size()),
               chosen = geometric_mean(choice) / geometric_mean(best);
  figure.data = {{"points", off.size()},
                 {"mean_error", error},
                 {"within_20", inside},
                 {"profit_error", mean(profit)},
                 {"choice_over_best", chosen}};
  figure.measured = fmt::format(
      "{} ratios of {} pairs: mean error {:.1f} % of peak, {:.1f} % within 20 %, profit off by {:.3f}; "
      "the chosen ratio has {:.3f} of the best one's STP.",
      off.size(), by_pair.size(), 100 * error, 100 * inside, mean(profit), chosen);
  report::LineChart chart{"IPC of an SM, as a part of its peak: every ratio of every pair", "measured", "predicted"};
  chart.diagonal = true;
  chart.x_notation = chart.y_notation = report::Notation::Share;
  report::LineChart::Line& line = chart.lines.emplace_back();
  line.series = {"ratio of CTAs", 4};
  line.joined = false;
  for (const figures::PairPoint& p : points) {
    line.points.emplace_back(p.measured, p.predicted);
    line.notes.push_back(fmt::format("{} and {}: {:.2f}, predicted {:.2f}", p.first, p.second, p.measured, p.predicted));
  }
  figure.blocks = {report::Large{chart}, report::Folded{"Pair by pair", table}};
  return figure;
}

}  // namespace sluice::gpu
