// SPDX-License-Identifier: Apache-2.0
#include "sw/policy/curves_file.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "sw/core/errors.h"
#include "sw/io/csv_reader.h"

namespace sluice {

SoloCurves read_curves(const std::filesystem::path& path) {
  const std::string file = path.string();
  std::vector<CsvRecord> rows = parse_csv(read_csv_text(path), file);
  for (CsvRecord& row : rows) {
    for (std::string& field : row.fields) {
      field.erase(0, std::min(field.find_first_not_of(" \t"), field.size()));
      field.erase(field.find_last_not_of(" \t") + 1);
    }
  }
  if (rows.size() < 2 || rows[0].fields.size() < 2)
    throw InputError(
        fmt::format("{}:1: needs a heading CTAs,A,B with the kernels' names and a line for each count, commas between", file));
  const std::vector<std::string>& names = rows[0].fields;
  SoloCurves curves;
  for (std::size_t k = 1; k < names.size(); ++k) {
    const char* fault = names[k].empty() ? "has no name" : !curves.emplace(names[k], Profile()).second ? "comes twice" : nullptr;
    if (fault != nullptr)
      throw InputError(fmt::format("{}:{}: column {}: {} {}", file, rows[0].line, k + 1, shown(names[k]), fault));
  }
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const std::vector<std::string>& fields = rows[i].fields;
    const auto fail = [&](const std::string& why) { throw InputError(fmt::format("{}:{}: {}", file, rows[i].line, why)); };
    if (fields.size() != names.size()) fail(fmt::format("{} fields: the heading has {}", fields.size(), names.size()));
    if (fields[0] != std::to_string(i)) fail(fmt::format("{}: the CTA count here must be {}", shown(fields[0]), i));
    for (std::size_t k = 1; k < fields.size(); ++k) {
      if (fields[k].empty()) continue;
      Profile& curve = curves[names[k]];
      double ipc = 0;
      const char* end = fields[k].data() + fields[k].size();
      const auto [stop, error] = std::from_chars(fields[k].data(), end, ipc);
      if (error != std::errc{} || stop != end || !std::isfinite(ipc) || ipc < 0)
        fail(fmt::format("{}: must be an IPC, 0 or more", shown(fields[k])));
      if (curve.size() + 1 != i) fail(fmt::format("{}: no IPC with fewer CTAs", shown(names[k])));
      curve.push_back(ipc);
    }
  }
  return curves;
}

}  // namespace sluice
