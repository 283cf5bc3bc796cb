// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "sw/core/errors.h"
#include "sw/core/machine.h"
#include "sw/driver/i_device.h"
#include "sw/policy/registry.h"

namespace sluice::cli {

/// Options that several commands share.
struct CommonOptions {
  std::string machine_file, workload_file, partitioner = "rtl", balance;
  std::uint64_t window = 2000000, oracle_window = 0, seed = 1;
  unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
  bool json = false;

  void add_files(CLI::App& app) {
    app.add_option("--machine", machine_file, "machine description (TOML), e.g. configs/machines/fermi_table1.toml")->required();
    app.add_option("--workload", workload_file, "workload description (TOML), e.g. configs/workloads/table2.toml")->required();
  }
  void add_balance(CLI::App& app) {
    app.add_option("--balance", balance,
                   "settings of balance, e.g. keep=1.1,candidates=4,weight.DXT=2,floor.DXT=0.5; unit=true: the RTL's form");
  }
  void add_json(CLI::App& app) { app.add_flag("--json", json, "result as JSON on standard output"); }
  void add_run(CLI::App& app) {
    app.add_option("--window", window, "cycles each kernel runs alone to set its instruction target")
        ->capture_default_str()
        ->check(CLI::Range(1000, 1000000000));
    add_unit(app);
  }
  /// Of runs of whole grids.
  static CLI::Option* add_sample(CLI::App& app, std::uint32_t& sample) {
    return app
        .add_option("--sample", sample,
                    "of long grids one CTA of so many is simulated; cycles, counts and rates are estimates of all of it")
        ->check(CLI::Range(1, 10000));
  }
  void add_unit(CLI::App& app) {
    app.add_option("--seed", seed, "seed of the synthetic instruction streams")->capture_default_str();
    app.add_option("--partitioner", partitioner,
                   "the partition unit: the Verilated RTL, its twin, or both compared at every port in every cycle")
        ->capture_default_str()
        ->check(CLI::IsMember({"rtl", "twin", "both"}));
  }
  CLI::Option* add_oracle(CLI::App& app) {
    return app
        .add_option(
            "--oracle-window", oracle_window,
            "the Oracle tries every partition of a mix with this window, and its best three with --window; default a quarter "
            "of --window; as long as --window: the search is exhaustive")
        ->check(CLI::Range(1000, 1000000000));
  }
  void add_jobs(CLI::App& app) {
    app.add_option("--jobs", jobs, "simulations at a time")->capture_default_str()->check(CLI::Range(1, 1024));
  }
  [[nodiscard]] PartitionerKind kind() const {
    return partitioner == "rtl" ? PartitionerKind::Rtl : partitioner == "twin" ? PartitionerKind::Twin : PartitionerKind::Both;
  }
};

/// What the figures of sampled launches rest on. @param kernel_of  by launch
template <class KernelOf>
void print_sampled(const RunResult& result, const KernelOf& kernel_of) {
  for (std::size_t k = 0; k < result.sampled.size(); ++k) {
    const KernelDescriptor& kernel = kernel_of(k);
    if (result.sampled[k].ctas == 0)
      fmt::print("  {}: all {} CTAs simulated: too few to be sampled\n", kernel.name, kernel.grid_ctas);
    else
      fmt::print("  {}: {} of {} CTAs simulated; its end is an estimate, +- {:.1f} %\n", kernel.name, result.sampled[k].ctas,
                 kernel.grid_ctas, 100 * result.sampled[k].interval / static_cast<double>(result.kernels[k].finish_cycle));
  }
}

inline std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> items;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ',');) items.push_back(item);
  return items;
}

/// "3,2" -> counts. @throws InputError
inline std::vector<CtaCount> parse_counts(const std::string& text) {
  std::vector<CtaCount> counts;
  for (const std::string& item : split_list(text)) {
    if (item.empty() || item.size() > 3 || item.find_first_not_of("0123456789") != std::string::npos) {
      throw InputError("--ctas " + text + ": must be whole numbers, one a kernel, e.g. 3,2");
    }
    counts.emplace_back(static_cast<std::uint32_t>(std::stoul(item)));
  }
  return counts;
}

/// The same for `policies`. @throws InputError also when none of them takes counts
inline std::vector<CtaCount> parse_counts(const std::string& text, const std::vector<std::string>& policies) {
  if (!text.empty() && std::ranges::none_of(policies, [](const auto& p) { return policy_row(p).needs == PolicyNeeds::Counts; }))
    throw InputError(fmt::format("--ctas {}: none of the policies takes counts: static does", text));
  return parse_counts(text);
}

}  // namespace sluice::cli
