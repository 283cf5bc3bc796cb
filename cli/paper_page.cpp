// SPDX-License-Identifier: Apache-2.0
#include "cli/paper_page.h"

#include <fmt/format.h>
#include <sluice_provenance.h>

#include <filesystem>
#include <utility>

#include "study/run_cache.h"
#include "sw/io/atomic_file.h"
#include "sw/report/views.h"

namespace sluice::cli {

void PaperOptions::add_inputs(CLI::App& app, std::string machine, std::string workload) {
  machine_file = std::move(machine);
  workload_file = std::move(workload);
  app.add_option("--machine", machine_file, "machine description (TOML)")->capture_default_str();
  app.add_option("--workload", workload_file, "workload description (TOML)")->capture_default_str();
}

void PaperOptions::add_page(CLI::App& app, const std::string& holds) {
  add_jobs(app);
  add_json(app);
  app.add_option("--out", out, "folder of " + holds + "; finished runs in it are not repeated")->required();
}

std::string PaperOptions::workload_name() const { return std::filesystem::path(workload_file).stem().string(); }

nlohmann::ordered_json PaperOptions::meta(const nlohmann::ordered_json& what) const {
  nlohmann::ordered_json all = {{"version", SLUICE_VERSION}, {"commit", SLUICE_COMMIT}};
  all.update(what);
  all["seed"] = seed;
  all["partitioner"] = partitioner;
  return all;
}

void write_paper_page(const std::vector<figures::Figure>& drawn, nlohmann::ordered_json meta, const PaperOptions& options) {
  if (host_totals().reused == 0) meta["host_cpu_seconds"] = host_totals().cpu_seconds;
  const std::filesystem::path out = options.out;
  const nlohmann::ordered_json all = figures::page_json(drawn, meta);
  write_file_atomically(out / "figures.json", all.dump(1) + "\n");
  write_file_atomically(out / "index.html", report::html(figures::page_of(all)));
  if (options.json) {
    fmt::print("{}\n", all.dump());
    return;
  }
  for (const figures::Figure& figure : drawn)
    fmt::print("{:<10} published: {}\n{:<10} model:     {}\n", figure.id, figure.published, "", figure.measured);
  fmt::print("{} runs ({} kept from before), {:.0f} CPU s\npage: {}\n", host_totals().runs, host_totals().reused,
             host_totals().cpu_seconds, (out / "index.html").string());
}

}  // namespace sluice::cli
