// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/apps/phi.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "sw/core/errors.h"
#include "sw/gpu/apps/apps.h"
#include "sw/io/atomic_file.h"
#include "sw/io/csv_reader.h"

namespace sluice::gpu {

std::string app_of_kernel(const std::string& kernel_name) {
  const std::string head = kernel_name.substr(0, kernel_name.find_first_of("<("));
  const std::size_t blank = head.find_last_of(' ');  // a template's name comes with its return type
  const std::string name = blank == std::string::npos ? head : head.substr(blank + 1);
  for (const std::string& app : app_names()) {
    const std::string kernel = make_app(app, AppScale::Small).launch.kernel;
    if (kernel.substr(0, kernel.find('<')) == name) return app;
  }
  return "";
}

std::map<std::string, double> read_phi(const std::filesystem::path& page) {
  const std::string text = read_file(page);
  const std::size_t begin = text.find("\"ID\",");
  if (begin == std::string::npos) throw InputError(fmt::format("{}: no header row that begins with \"ID\"", page.string()));
  const std::vector<CsvRecord> rows =
      parse_csv(text.substr(begin), page.string(),
                1 + static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n')));
  const auto column = [&](const char* name) {
    const auto at = std::ranges::find(rows[0].fields, name);
    if (at == rows[0].fields.end()) throw InputError(fmt::format("{}: column {} is missing", page.string(), name));
    return static_cast<std::size_t>(at - rows[0].fields.begin());
  };
  const std::size_t kernel = column("Kernel Name"), issue = column("smsp__issue_active.avg.pct_of_peak_sustained_active"),
                    stalled = column("smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"),
                    all = column("smsp__average_warp_latency_per_inst_issued.ratio");
  std::map<std::string, double> phi;
  for (std::size_t r = 2; r < rows.size(); ++r) {  // row 1 has the units
    const std::vector<std::string>& f = rows[r].fields;
    if (f.size() != rows[0].fields.size())
      throw InputError(fmt::format("{}:{}: is the file cut off?", page.string(), rows[r].line));
    const std::string app = app_of_kernel(f[kernel]);
    const double waiting = std::strtod(f[all].c_str(), nullptr) - 1;  // the warp that issued waited for nothing
    if (!app.empty() && waiting > 0)
      phi[app] = std::clamp(
          (1 - std::strtod(f[issue].c_str(), nullptr) / 100) * std::strtod(f[stalled].c_str(), nullptr) / waiting, 0.0, 1.0);
  }
  return phi;
}

}  // namespace sluice::gpu
