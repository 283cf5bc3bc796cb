// SPDX-License-Identifier: Apache-2.0
#include "sw/trace/trace_reference.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "sw/core/errors.h"
#include "sw/io/csv_reader.h"

namespace sluice {

std::vector<TraceReference> read_trace_reference(const std::filesystem::path& path) {
  const std::vector<CsvRecord> records = parse_csv(read_csv_text(path), path.string());
  const std::vector<std::string> columns = {"trace", "max_ctas", "cycles", "core_mhz", "cpu_seconds_low", "cpu_seconds_high"};
  if (records.empty() || records[0].fields != columns)
    throw InputError(fmt::format("{}:1: must be trace,max_ctas,cycles,core_mhz,cpu_seconds_low,cpu_seconds_high", path.string()));
  std::vector<TraceReference> references;
  for (std::size_t i = 1; i < records.size(); ++i) {
    const std::vector<std::string>& fields = records[i].fields;
    const std::size_t line = records[i].line;
    if (fields.size() != columns.size()) throw InputError(fmt::format("{}:{}: must have 6 fields", path.string(), line));
    double numbers[6] = {};
    for (std::size_t c = 1; c < fields.size(); ++c) {
      if (fields[c].empty() && c >= 4) continue;
      const char* end = fields[c].data() + fields[c].size();
      const auto [stop, error] = std::from_chars(fields[c].data(), end, numbers[c]);
      if (error != std::errc{} || stop != end || !(numbers[c] >= 0 && numbers[c] < 1e15))
        throw InputError(fmt::format("{}:{}: {} = {}: must be a number, 0..1e15", path.string(), line, columns[c], fields[c]));
    }
    const auto refuse = [&](std::size_t c, const char* allowed) {
      throw InputError(fmt::format("{}:{}: {} = {}: must be {}", path.string(), line, columns[c], fields[c], allowed));
    };
    if (numbers[1] > 32 || numbers[1] != std::floor(numbers[1])) refuse(1, "a whole number, 0..32 (0: no limit)");
    for (const std::size_t c : {2U, 3U})
      if (numbers[c] <= 0) refuse(c, "more than 0");
    if (fields[4].empty() != fields[5].empty()) refuse(5, "given with cpu_seconds_low, or both left out");
    for (const std::size_t c : {4U, 5U})
      if (!fields[c].empty() && numbers[c] <= 0) refuse(c, "more than 0");
    references.push_back({fields[0], static_cast<std::uint32_t>(numbers[1]), numbers[2], numbers[3], numbers[4], numbers[5]});
  }
  return references;
}

}  // namespace sluice
