// SPDX-License-Identifier: Apache-2.0
// sluice kernelet model: Kernelet's performance model against what was measured on a GPU.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "sw/gpu/report/kernelet_model.h"
#include "sw/report/table.h"

namespace sluice::cli {

namespace {

using nlohmann::ordered_json;

struct Options {
  std::string folder, profiles, version = "all";
  bool json = false;
};

ordered_json to_json(const gpu::IpcError& e) {
  return {{"points", e.points}, {"mean", e.mean}, {"max", e.max}, {"within_20", e.within_20}};
}

ordered_json to_json(const gpu::PairError& e) {
  return {{"pairs", e.pairs},   {"ipc", to_json(e.ipc)}, {"profit_error", e.profit},
          {"choice", e.choice}, {"best", e.best},        {"choice_over_best", e.choice / e.best}};
}

void print_json(const gpu::KerneletModel& model) {
  ordered_json versions = ordered_json::array();
  for (const gpu::KerneletErrors& v : model.versions) {
    ordered_json by_pair = ordered_json::object();
    for (const auto& [name, error] : v.by_pair) by_pair[name] = to_json(error);
    versions.push_back({{"version", v.version},
                        {"solo", to_json(v.solo)},
                        {"pairs", to_json(v.all)},
                        {"check_half", to_json(v.check_half)},
                        {"other_half", to_json(v.other_half)},
                        {"by_pair", by_pair}});
  }
  fmt::print("{}\n",
             ordered_json({{"unit", "% of peak IPC"},
                           {"versions", versions},
                           {"three_states", {{"solo", to_json(model.three_states)}, {"apart", model.three_states_apart}}}})
                 .dump());
}

void print_table(const gpu::KerneletModel& model) {
  report::Table table({"error, % of peak IPC", "points", "mean", "largest", "within 20 %", "profit", "choice / best"});
  const auto row = [&](const std::string& what, const gpu::IpcError& e, const gpu::PairError* pairs) {
    table.row({what, std::to_string(e.points), fmt::format("{:.1f}", e.mean), fmt::format("{:.1f}", e.max),
               fmt::format("{:.1f} %", e.within_20), pairs != nullptr ? fmt::format("{:.3f}", pairs->profit) : "-",
               pairs != nullptr ? fmt::format("{:.3f}", pairs->choice / pairs->best) : "-"});
  };
  for (const gpu::KerneletErrors& v : model.versions) {
    row(v.version + ": alone", v.solo, nullptr);
    row(fmt::format("  {} pairs", v.all.pairs), v.all.ipc, &v.all);
    row(fmt::format("  {} pairs of the check half", v.check_half.pairs), v.check_half.ipc, &v.check_half);
    row(fmt::format("  {} pairs of the other half", v.other_half.pairs), v.other_half.ipc, &v.other_half);
  }
  row("printed, three states a warp: alone", model.three_states, nullptr);
  fmt::print("{}\n", table.text());
  fmt::print(
      "Check half: every second pair in alphabetical order. profit: mean error of the co-scheduling profit. choice / best: STP "
      "of the partition\nof highest predicted profit over the best measured one, geometric means. Three states against waits "
      "merged into one: {:.1f} % of peak apart, mean.\n",
      model.three_states_apart);
}

int kernelet_model(const Options& options) {
  const std::filesystem::path folder = options.folder;
  gpu::KerneletModel model = gpu::kernelet_model(
      folder, options.profiles.empty() ? folder / "kernels_ncu.csv" : std::filesystem::path(options.profiles));
  if (options.version != "all")
    std::erase_if(model.versions, [&](const gpu::KerneletErrors& v) { return v.version != options.version; });
  options.json ? print_json(model) : print_table(model);
  return 0;
}

}  // namespace

void add_kernelet_command(CLI::App& app, Action& action) {
  CLI::App* kernelet = app.add_subcommand("kernelet", "Kernelet: its performance model");
  kernelet->require_subcommand(1);
  CLI::App* model = kernelet->add_subcommand("model", "the Markov model's errors against measurements of a GPU; needs no GPU");
  auto options = std::make_shared<Options>();
  model->add_option("--measurements", options->folder, "folder of `sluice gpu experiment`, e.g. results/h200")->required();
  model->add_option("--profiles", options->profiles,
                    "raw Nsight Compute page of the kernels; default kernels_ncu.csv in the folder");
  model->add_option("--model", options->version, "which version of the model (docs/user/schedulers.md)")
      ->capture_default_str()
      ->check(CLI::IsMember({"all", "printed", "unweighted", "calibrated"}));
  model->add_flag("--json", options->json, "result as JSON on standard output");
  model->callback([options, &action] { action = [options] { return kernelet_model(*options); }; });
}

}  // namespace sluice::cli
