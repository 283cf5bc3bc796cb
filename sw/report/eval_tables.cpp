// SPDX-License-Identifier: Apache-2.0
#include "sw/report/eval_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sw/core/errors.h"
#include "sw/io/csv_reader.h"
#include "sw/policy/names.h"
#include "sw/report/summary.h"

namespace sluice {

using report::Cell;
using report::Column;
using report::Notation;
using report::Row;
using report::Table;

namespace {

bool ran(const ResultGrid& grid, const char* policy) {
  return std::ranges::find(grid.policies(), policy) != grid.policies().end();
}

std::size_t mixes_in(const ResultGrid& grid, const std::string& category) {
  if (category == "all") return grid.mixes().size();
  return static_cast<std::size_t>(std::ranges::count(grid.mixes(), category, &ResultGrid::Mix::category));
}

/// A mean over fewer mixes than the category has says so, because it does not compare with its neighbours.
Row means(const ResultGrid& grid, const Summary& summary, const std::string& name, const std::string& category,
          double PolicySummary::*figure) {
  Row row{name};
  for (const std::string& policy : grid.policies()) {
    const PolicySummary* s = summary.find(policy, category);
    const std::size_t all = mixes_in(grid, category);
    if (s == nullptr || s->mixes == all)
      row.emplace_back(s == nullptr ? std::nan("") : s->*figure);
    else
      row.emplace_back(fmt::format("{} ({}/{})", report::written(s->*figure, Notation::Number, 3), s->mixes, all));
  }
  return row;
}

Cell partition_cell(const EvalRun* run) { return run == nullptr ? Cell(std::nan("")) : Cell(partition_label(run->partition)); }

/// Columns of results.csv that are a figure of a run, in their order.
struct Figure {
  const char* name;
  double (*get)(const EvalRun&);
  void (*set)(EvalRun&, double);
};
#define SLUICE_FIGURE(name, member)                                                             \
  Figure {                                                                                      \
    name, [](const EvalRun& r) { return r.member; }, [](EvalRun& r, double v) { r.member = v; } \
  }
constexpr Figure kFigures[] = {SLUICE_FIGURE("ipc", ipc),
                               SLUICE_FIGURE("normalized_ipc", normalized_ipc),
                               SLUICE_FIGURE("stp", stp),
                               SLUICE_FIGURE("antt", antt),
                               SLUICE_FIGURE("min_speedup", min_speedup),
                               SLUICE_FIGURE("alu", utilization.alu),
                               SLUICE_FIGURE("sfu", utilization.sfu),
                               SLUICE_FIGURE("ldst", utilization.ldst),
                               SLUICE_FIGURE("registers", utilization.registers),
                               SLUICE_FIGURE("threads", utilization.threads),
                               SLUICE_FIGURE("shared_memory", utilization.shared_memory),
                               SLUICE_FIGURE("stall_long_memory", stalls.long_memory),
                               SLUICE_FIGURE("stall_execution_resource", stalls.execution_resource),
                               SLUICE_FIGURE("stall_raw", stalls.raw),
                               SLUICE_FIGURE("stall_instruction_buffer", stalls.instruction_buffer),
                               SLUICE_FIGURE("stall_barrier", stalls.barrier),
                               SLUICE_FIGURE("stall_idle", stalls.idle),
                               SLUICE_FIGURE("l1_miss_rate", l1_miss_rate),
                               SLUICE_FIGURE("l2_miss_rate", l2_miss_rate),
                               SLUICE_FIGURE("dram_bytes_per_cycle", dram_bytes_per_cycle),
                               SLUICE_FIGURE("average_watts", average_watts),
                               SLUICE_FIGURE("total_joules", total_joules)};
#undef SLUICE_FIGURE

}  // namespace

Table mixes_table(const EvalResults& results) {
  const ResultGrid grid(results);
  const Summary summary = summarize(results);
  std::vector<Column> columns{"IPC / Left-Over"};
  for (const std::string& policy : grid.policies()) columns.emplace_back(policy_label(policy));
  if (ran(grid, kWarpedSlicer)) columns.emplace_back("CTAs per SM");
  Table table(columns);
  for (const std::string& category : grid.categories()) {
    table.heading(category);
    for (const ResultGrid::Mix& mix : grid.mixes()) {
      if (mix.category != category) continue;
      Row row{mix.name};
      for (const EvalRun* run : mix.runs) row.emplace_back(run == nullptr ? std::nan("") : run->normalized_ipc);
      if (ran(grid, kWarpedSlicer)) row.push_back(partition_cell(grid.run(mix, kWarpedSlicer)));
      table.row(std::move(row));
    }
    table.mean(means(grid, summary, "GMEAN " + category, category, &PolicySummary::normalized_ipc)).rule();
  }
  table.mean(means(grid, summary, "GMEAN of all mixes", "all", &PolicySummary::normalized_ipc));
  table.mean(means(grid, summary, "GMEAN of categories", "all", &PolicySummary::category_mean)).rule();
  table.mean(means(grid, summary, "over one kernel after the other (gmean)", "all", &PolicySummary::serial_gain));
  table.mean(means(grid, summary, "STP (mean)", "all", &PolicySummary::stp));
  table.mean(means(grid, summary, "ANTT (mean, lower is better)", "all", &PolicySummary::antt));
  table.mean(means(grid, summary, "min. speed-up (gmean)", "all", &PolicySummary::min_speedup));
  return table;
}

Table gains_table(const EvalResults& results) {
  const Summary summary = summarize(results);
  const ResultGrid grid(results);
  std::vector<Column> columns{"Warped-Slicer over", Column("this model", Notation::Gain, 1)};
  const bool many = grid.categories().size() > 1;
  if (many)
    for (const std::string& category : grid.categories()) columns.emplace_back(category, Notation::Gain, 1);
  columns.emplace_back("mixes");
  columns.emplace_back("published", Notation::Gain, 0, true);
  Table table(columns);
  for (const PublishedGain& gain : kPublishedGains) {
    const PolicyRatio* all = summary.find_ratio(gain.over, "all");
    if (all == nullptr) continue;
    Row row{policy_label(gain.over), all->ipc_ratio};
    if (many)
      for (const std::string& category : grid.categories()) {
        const PolicyRatio* ratio = summary.find_ratio(gain.over, category);
        row.emplace_back(ratio == nullptr ? std::nan("") : ratio->ipc_ratio);
      }
    row.emplace_back(std::uint64_t{all->mixes});
    row.emplace_back(summary.of_pairs ? gain.ipc_ratio : std::nan(""));
    table.row(std::move(row));
  }
  return table;
}

Table partitions_table(const EvalResults& results) {
  const ResultGrid grid(results);
  std::vector<const char*> shown;
  std::vector<Column> columns{"mix"};
  for (const char* policy : {kEven, kStatic, kWarpedSlicer, kSoloCurve, kOracle})
    if (ran(grid, policy)) {
      shown.push_back(policy);
      columns.emplace_back(policy_label(policy));
    }
  columns.emplace_back("decided at (cycle)");
  Table table(columns);
  for (const ResultGrid::Mix& mix : grid.mixes()) {
    if (shown.empty()) break;
    Row row{mix.name};
    for (const char* policy : shown) row.push_back(partition_cell(grid.run(mix, policy)));
    const EvalRun* ours = grid.run(mix, kWarpedSlicer);
    row.push_back(ours == nullptr || ours->decisions.empty() ? Cell(std::nan("")) : Cell(ours->decisions.front().decided_at));
    table.row(std::move(row));
  }
  return table;
}

Table memory_table(const EvalResults& results) {
  Table table({"policy", Column("L1 miss rate", Notation::Share, 1), Column("L2 miss rate", Notation::Share, 1),
               Column("DRAM, bytes a cycle", Notation::Number, 1), Column("IPC", Notation::Number, 1),
               Column("power, W", Notation::Number, 1), Column("energy, J", Notation::Number, 3)});
  const ResultGrid grid(results);
  for (const std::string& policy : grid.policies()) {
    const auto mean = [&](double EvalRun::*figure) {
      return policy_mean(results, policy, [&](const EvalRun& run) { return run.*figure; });
    };
    table.row({policy_label(policy), mean(&EvalRun::l1_miss_rate), mean(&EvalRun::l2_miss_rate),
               mean(&EvalRun::dram_bytes_per_cycle), mean(&EvalRun::ipc), mean(&EvalRun::average_watts),
               mean(&EvalRun::total_joules)});
  }
  return table;
}

Table sms_table(const EvalResults& results) {
  using Get = double (*)(const SmOutcome&);
  constexpr std::pair<const char*, Get> kColumns[] = {
      {"ALU", [](const SmOutcome& sm) { return sm.alu_utilization; }},
      {"SFU", [](const SmOutcome& sm) { return sm.sfu_utilization; }},
      {"LDST", [](const SmOutcome& sm) { return sm.ldst_utilization; }},
      {"L1 miss rate", [](const SmOutcome& sm) { return sm.l1_miss_rate; }},
      {"long memory stalls", [](const SmOutcome& sm) { return sm.stalls.long_memory; }}};
  const ResultGrid grid(results);
  const std::string policy = ran(grid, kWarpedSlicer) || grid.policies().empty() ? kWarpedSlicer : grid.policies().front();
  std::vector<Column> columns{"mix"};
  for (const auto& [name, get] : kColumns) columns.emplace_back(name);
  Table table(columns);
  for (const ResultGrid::Mix& mix : grid.mixes()) {
    const EvalRun* run = grid.run(mix, policy);
    if (run == nullptr || run->sms.empty()) continue;
    Row row{mix.name};
    for (const auto& [name, get] : kColumns) {
      std::vector<double> values;
      for (const SmOutcome& sm : run->sms) values.push_back(get(sm));
      const auto [least, most] = std::ranges::minmax(values);
      row.emplace_back(report::written(least, Notation::Share, 1) + " to " + report::written(most, Notation::Share, 1));
    }
    table.row(std::move(row));
  }
  return table;
}

Table kernels_table(const EvalResults& results) {
  const bool published = std::ranges::any_of(results.solo, [](const SoloRun& s) { return s.reference.has_value(); });
  std::vector<Column> columns{"kernel", "type"};
  for (const Column& column :
       {Column("IPC", Notation::Number, 1), Column("ALU", Notation::Share, 0), Column("SFU", Notation::Share, 0),
        Column("LDST", Notation::Share, 0), Column("L2 MPKI", Notation::Number, 2)}) {
    columns.push_back(column);
    if (published) columns.emplace_back("reference", column.notation, column.digits, true);
  }
  Table table(columns);
  const auto nan = std::nan("");
  for (const SoloRun& s : results.solo) {
    const SoloReference r = s.reference.value_or(SoloReference{nan, 0, nan, nan, nan, nan});
    const double ipc = r.cycles > 0 ? r.instructions / static_cast<double>(r.cycles) : nan;
    Row row{s.kernel, std::string(to_string(s.type))};
    for (const auto& [model, reference] : {std::pair{s.ipc, ipc},
                                           {s.alu_utilization, r.alu_utilization},
                                           {s.sfu_utilization, r.sfu_utilization},
                                           {s.ldst_utilization, r.ldst_utilization},
                                           {s.l2_mpki, r.l2_mpki}}) {
      row.emplace_back(model);
      if (published) row.emplace_back(reference);
    }
    table.row(std::move(row));
  }
  return table;
}

Table runs_table(const EvalResults& results) {
  std::size_t most = 0;
  for (const EvalRun& run : results.runs) most = std::max(most, run.per_kernel.size());
  std::vector<Column> columns{"kernels", "category", "policy", "partitioner", "mode", "ctas", "cycles"};
  for (const Figure& figure : kFigures) columns.emplace_back(figure.name);
  columns.emplace_back("decisions");
  columns.emplace_back("oracle_candidates");
  for (std::size_t k = 1; k <= most; ++k)
    for (const char* name : {"name", "finish_cycle", "speedup"}) columns.emplace_back(fmt::format("kernel{}_{}", k, name));
  Table table(columns);
  for (const EvalRun& run : results.runs) {
    // Counts are apart by a blank: a comma would split the cell, and "3-2" or "3/2" turn into a date in a spreadsheet.
    Row row{mix_name(run.kernels),
            run.category,
            run.policy,
            run.partitioner,
            std::string(layout_name(run.partition.mode)),
            fmt::format("{}", fmt::join(counts(run.partition), " ")),
            run.cycles};
    for (const Figure& figure : kFigures) row.emplace_back(figure.get(run));
    row.emplace_back(std::uint64_t{run.decisions.size()});
    row.emplace_back(std::uint64_t{run.oracle_candidates});
    for (const KernelOutcome& k : run.per_kernel) row.insert(row.end(), {k.name, k.finish_cycle, k.speedup});
    table.row(std::move(row));
  }
  return table;
}

EvalResults results_from_csv(const std::string& text, const std::string& source) {
  const std::vector<CsvRecord> records = parse_csv(text, source);
  if (records.empty()) throw InputError(source + ": no header");
  std::map<std::string, std::size_t> columns;
  for (std::size_t c = 0; c < records.front().fields.size(); ++c) columns[records.front().fields[c]] = c;
  EvalResults results;
  for (std::size_t r = 1; r < records.size(); ++r) {
    const auto fail = [&](const std::string& name, const char* what) {
      throw InputError(fmt::format("{}:{}: {}: {}", source, records[r].line, name, what));
    };
    const auto field = [&](const std::string& name) -> const std::string& {
      const auto found = columns.find(name);
      if (found == columns.end() || found->second >= records[r].fields.size()) fail(name, "missing");
      return records[r].fields[found->second];
    };
    const auto number = [&](const std::string& name) {
      const std::string& value = field(name);
      if (value.empty()) return std::nan("");
      char* end = nullptr;
      const double parsed = std::strtod(value.c_str(), &end);
      if (*end != '\0') fail(name, "must be a number");
      return parsed;
    };
    EvalRun& run = results.runs.emplace_back();
    run.category = field("category");
    run.policy = field("policy");
    run.partitioner = field("partitioner");
    for (const Mode mode : {Mode::LeftOver, Mode::Fcfs, Mode::Static, Mode::Spatial})
      if (layout_name(mode) == field("mode")) run.partition.mode = mode;
    const char* at = field("ctas").c_str();
    for (char* end = nullptr; *at != '\0'; at = end) {
      run.partition.shares.push_back({CtaCount(static_cast<std::uint32_t>(std::strtoul(at, &end, 10)))});
      if (end == at) fail("ctas", "must be counts");
      while (*end == ' ') ++end;
    }
    run.cycles = static_cast<std::uint64_t>(number("cycles"));
    for (const Figure& figure : kFigures) figure.set(run, number(figure.name));
    run.oracle_candidates = static_cast<std::size_t>(number("oracle_candidates"));
    for (std::size_t k = 1; columns.contains(fmt::format("kernel{}_name", k)); ++k) {
      const std::string of = fmt::format("kernel{}_", k);
      if (field(of + "name").empty()) break;
      KernelOutcome& kernel = run.per_kernel.emplace_back();
      kernel.name = field(of + "name");
      kernel.finish_cycle = static_cast<std::uint64_t>(number(of + "finish_cycle"));
      kernel.speedup = number(of + "speedup");
      run.kernels.push_back(kernel.name);
    }
    if (run.kernels.empty()) fail("kernel1_name", "missing");
  }
  return results;
}

std::string terminal_report(const EvalResults& results) {
  if (results.runs.empty()) return "no runs\n";
  std::string out = mixes_table(results).text();
  const Summary summary = summarize(results);
  if (!summary.ratios.empty()) {
    out += '\n' + gains_table(results).text();
    if (summary.of_pairs) out += "Published: Warped-Slicer (ISCA 2016), 30 pairs of its table II.\n";
  }
  for (const std::string& more : {decision_report(summarize_decisions(results)), seed_report(results)})
    if (!more.empty()) out += '\n' + more;
  return out;
}

}  // namespace sluice
