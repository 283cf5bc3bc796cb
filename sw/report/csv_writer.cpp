// SPDX-License-Identifier: Apache-2.0
#include "sw/report/csv_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace sluice {

namespace {

std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

/// "3 2": a blank, because a comma would split the cell and "3-2" or "3/2" would turn into a date in a spreadsheet.
std::string joined_counts(const Partition& partition) { return fmt::format("{}", fmt::join(counts(partition), " ")); }

class Line {
 public:
  void add(std::string_view text) {
    if (!first_) text_ += ',';
    first_ = false;
    text_ += csv_field(text);
  }
  void add(double value) { add(number(value)); }
  void add(std::uint64_t value) { add(fmt::format("{}", value)); }
  [[nodiscard]] std::string str() const { return text_ + "\n"; }

 private:
  std::string text_;
  bool first_ = true;
};

Line header(std::size_t max_kernels) {
  Line line;
  for (const char* name : {"kernels",
                           "category",
                           "policy",
                           "partitioner",
                           "mode",
                           "ctas",
                           "cycles",
                           "ipc",
                           "normalized_ipc",
                           "stp",
                           "antt",
                           "min_speedup",
                           "alu",
                           "sfu",
                           "ldst",
                           "registers",
                           "threads",
                           "shared_memory",
                           "stall_long_memory",
                           "stall_execution_resource",
                           "stall_raw",
                           "stall_instruction_buffer",
                           "stall_barrier",
                           "stall_idle",
                           "l1_miss_rate",
                           "l2_miss_rate",
                           "dram_bytes_per_cycle",
                           "average_watts",
                           "total_joules",
                           "decisions",
                           "oracle_candidates"})
    line.add(std::string_view(name));
  for (std::size_t k = 1; k <= max_kernels; ++k)
    for (const char* name : {"name", "finish_cycle", "speedup"}) line.add(fmt::format("kernel{}_{}", k, name));
  return line;
}

Line row(const EvalRun& run, std::size_t max_kernels) {
  Line line;
  line.add(mix_name(run.kernels));
  line.add(run.category);
  line.add(run.policy);
  line.add(run.partitioner);
  line.add(layout_name(run.partition.mode));
  line.add(joined_counts(run.partition));
  line.add(run.cycles);
  const UtilizationFractions& u = run.utilization;
  const StallFractions& s = run.stalls;
  for (const double value : {run.ipc,
                             run.normalized_ipc,
                             run.stp,
                             run.antt,
                             run.min_speedup,
                             u.alu,
                             u.sfu,
                             u.ldst,
                             u.registers,
                             u.threads,
                             u.shared_memory,
                             s.long_memory,
                             s.execution_resource,
                             s.raw,
                             s.instruction_buffer,
                             s.barrier,
                             s.idle,
                             run.l1_miss_rate,
                             run.l2_miss_rate,
                             run.dram_bytes_per_cycle,
                             run.average_watts,
                             run.total_joules})
    line.add(value);
  line.add(std::uint64_t{run.decisions.size()});
  line.add(std::uint64_t{run.oracle_candidates});
  for (std::size_t k = 0; k < max_kernels; ++k) {
    const bool present = k < run.per_kernel.size();
    line.add(present ? std::string_view(run.per_kernel[k].name) : std::string_view());
    line.add(present ? fmt::format("{}", run.per_kernel[k].finish_cycle) : std::string());
    line.add(present ? number(run.per_kernel[k].speedup) : std::string());
  }
  return line;
}

}  // namespace

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string csv_text(const EvalResults& results) {
  std::size_t max_kernels = 0;
  for (const EvalRun& run : results.runs) max_kernels = std::max(max_kernels, run.per_kernel.size());
  std::string out = header(max_kernels).str();
  for (const EvalRun& run : results.runs) out += row(run, max_kernels).str();
  return out;
}

}  // namespace sluice
