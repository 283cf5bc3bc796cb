// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/apps/ncu_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>

#include "sw/core/errors.h"
#include "sw/core/machine.h"
#include "sw/gpu/apps/apps.h"
#include "sw/io/csv_reader.h"
#include "sw/partition/ceiling.h"

namespace sluice::gpu {

std::string app_of_kernel(const std::string& kernel_name) {
  const std::string head = kernel_name.substr(0, kernel_name.find_first_of("<("));
  const std::size_t blank = head.find_last_of(' ');  // a template's name comes with its return type
  const std::string name = blank == std::string::npos ? head : head.substr(blank + 1);
  std::vector<std::string> apps = app_names();
  for (const char* paper : {"effisha", "sim", "kernelet", "slate"})
    for (const PaperKernel& k : paper_kernels(paper)) apps.push_back(k.app);
  for (const std::string& app : apps) {
    const std::string kernel = make_app(app, AppScale::Small).launch.kernel;
    if (kernel.substr(0, kernel.find('<')) == name) return app;
  }
  return "";
}

namespace {

/// Value of a column in the row of one application; columns are thousands-separated numbers.
using ColumnOf = std::function<double(const char* column)>;

/// Calls `each` with every launch of an application.
void for_each_app(const std::filesystem::path& page, const std::function<void(const std::string& app, const ColumnOf&)>& each) {
  const std::string text = read_csv_text(page);
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
  const std::size_t kernel = column("Kernel Name");
  for (std::size_t r = 2; r < rows.size(); ++r) {  // row 1 has the units
    const std::vector<std::string>& f = rows[r].fields;
    if (f.size() != rows[0].fields.size())
      throw InputError(fmt::format("{}:{}: is the file cut off?", page.string(), rows[r].line));
    const std::string app = app_of_kernel(f[kernel]);
    if (app.empty()) continue;
    each(app, [&](const char* name) {
      std::string number = f[column(name)];
      std::erase(number, ',');
      double value = 0;
      const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
      if (error != std::errc() || end != number.data() + number.size() || value < 0)
        throw InputError(fmt::format("{}:{}: column {}: \"{}\": must be a number, at least 0", page.string(), rows[r].line, name,
                                     f[column(name)]));
      return value;
    });
  }
}

constexpr double kSectorBytes = 32, kNanoseconds = 1e9;

}  // namespace

std::map<std::string, double> read_ceilings(const std::filesystem::path& page) {
  constexpr double kLineBytes = 128;
  std::map<std::string, double> blocks_per_second;
  for_each_app(page, [&](const std::string& app, const ColumnOf& row) {
    const double blocks = row("launch__grid_size");
    if (blocks == 0) throw InputError(fmt::format("{}: {}: a launch without blocks", page.string(), app));
    MachineConfig crossbar;
    crossbar.num_sms = static_cast<std::uint32_t>(row("launch__sm_count"));
    crossbar.l2_slices = static_cast<std::uint32_t>(row("device__attribute_l2s_count"));
    crossbar.l2.line_bytes = static_cast<std::uint32_t>(kLineBytes);
    crossbar.interconnect = {.latency = 0, .bytes_per_cycle = 64, .header_bytes = 8};  // configs/machines/h200.toml
    const double lines_per_second = crossbar_lines_per_cycle(crossbar) * row("device__attribute_clock_rate") * 1e3;
    const double dram_bytes_per_second = row("device__attribute_global_memory_bus_width") / 8 * 2 *  // two transfers a cycle
                                         row("device__attribute_memory_clock_rate") * 1e3;
    const double sectors = row("lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum") +
                           row("lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum") +
                           row("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum");
    const double lines = sectors * kSectorBytes / kLineBytes;
    const double dram_bytes = row("dram__bytes_read.sum") + row("dram__bytes_write.sum");
    const auto most = [&](double rate, double traffic) {
      return traffic > 0 ? rate * blocks / traffic : std::numeric_limits<double>::infinity();
    };
    blocks_per_second[app] = std::min(most(lines_per_second, lines), most(dram_bytes_per_second, dram_bytes));
  });
  return blocks_per_second;
}

MarkovPage read_markov(const std::filesystem::path& page) {
  MarkovPage out;
  double most = 0;  // bytes a second
  for_each_app(page, [&](const std::string& app, const ColumnOf& row) {
    const auto positive = [&](const char* column) {
      const double value = row(column);
      if (value <= 0) throw InputError(fmt::format("{}: {}: column {}: must be above 0", page.string(), app, column));
      return value;
    };
    const double instructions = positive("smsp__inst_executed.sum");
    const auto each = [&](const char* column) { return row(column) / instructions; };
    MarkovPage::App& a = out.apps[app];
    a.instructions_per_block = instructions / positive("launch__grid_size");
    a.counters.loads = each("smsp__sass_inst_executed_op_global_ld.sum");
    a.counters.dram_sectors = each("lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum");
    a.counters.l2_sectors = a.counters.dram_sectors + each("lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum");
    a.counters.store_sectors = each("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum");
    a.counters.memory_stalls = row("smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio");
    const double bandwidth =
        (row("dram__bytes_read.sum") + row("dram__bytes_write.sum")) / positive("gpu__time_duration.sum") * kNanoseconds;
    a.counters.dram_utilisation = bandwidth;  // of the highest, below
    most = std::max(most, bandwidth);
    const double schedulers = positive("device__attribute_num_schedulers_per_multiprocessor");
    out.machine.schedulers = static_cast<unsigned>(schedulers);
    out.machine.cycles_per_sector =
        positive("launch__sm_count") * schedulers * kSectorBytes * positive("device__attribute_clock_rate") * 1e3;
  });
  if (most == 0) return out;
  out.machine.cycles_per_sector /= most;
  for (auto& [app, a] : out.apps) a.counters.dram_utilisation /= most;
  return out;
}

}  // namespace sluice::gpu
