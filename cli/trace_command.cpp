// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common.h"
#include "study/run_pool.h"
#include "study/trace_run.h"
#include "sw/policy/registry.h"
#include "sw/trace/kernel_list.h"
#include "sw/workload/machine_file.h"

namespace sluice::cli {

namespace {

struct TraceOptions : CommonOptions {
  std::vector<std::string> lists;
  std::string ctas;
  TraceRunOptions trace;
};

int run(TraceOptions& options) {
  const std::string names = fmt::format("{}", fmt::join(options.lists, ", "));
  const MachineConfig machine = read_machine(options.machine_file);
  options.trace.partitioner = options.kind();
  if (!options.ctas.empty()) options.trace.ctas = parse_counts(options.ctas, {options.trace.policy});
  const RunSpec spec = trace_spec({options.lists.begin(), options.lists.end()}, machine, options.trace);
  const MeasuredRun run = run_one(spec);
  for (const auto& [opcode, count] : run.result.unknown_opcodes)
    if (opcode.starts_with("BAR "))
      spdlog::warn("{}: {}, fewer than the CTA has: {} instructions taken for barriers of the whole CTA", names, opcode, count);
    else
      spdlog::warn("{}: opcode {} is not known: {} instructions taken for ALU ones", names, opcode, count);
  nlohmann::json json = trace_json(spec, run.result, run.cost);
  std::size_t index = 0;
  for (const std::string& list : options.lists)
    for (const ListedKernel& listed : read_kernel_list(list)) {
      const std::uint32_t whole = listed.header.launched_ctas();
      json["kernels"][index]["process"] = &list - options.lists.data();
      json["kernels"][index++]["grid_ctas"] = whole;
      if (listed.header.grid_ctas() < whole)
        spdlog::warn("{}: {} of the launch's {} CTAs were recorded: the cycles are not the launch's", listed.file.string(),
                     listed.header.ctas(), whole);
    }
  if (options.json) {
    fmt::print("{}\n", json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));  // names come from the file
    return 0;
  }
  const double seconds = run.cost.cpu_seconds;
  fmt::print("{}: {} cycles at {} MHz, {} warp instructions ({:.2f} a cycle)\n", names, run.result.cycles.value(),
             machine.core_mhz, run.result.total.warp_instructions,
             static_cast<double>(run.result.total.warp_instructions) / static_cast<double>(run.result.cycles.value()));
  fmt::print("  misses: L1 {:.1f} %, L2 {:.1f} %; DRAM {} bytes; {:.2f} CPU seconds, {:.0f} MiB\n",
             100 * json["l1_miss_rate"].get<double>(), 100 * json["l2_miss_rate"].get<double>(), run.result.total.dram_bytes,
             seconds, run.cost.peak_rss_mib);
  for (const auto& kernel : json["kernels"])
    fmt::print(
        "  {}: {} CTAs, {} warp instructions, {}\n", kernel["name"].get<std::string>(), kernel["ctas"].get<std::uint64_t>(),
        kernel["warp_instructions"].get<std::uint64_t>(),
        kernel["finish_cycle"] == 0 ? "not done" : fmt::format("done at cycle {}", kernel["finish_cycle"].get<std::uint64_t>()));
  print_sampled(run.result, [&](std::size_t k) { return spec.launches[k].kernel; });
  return 0;
}

}  // namespace

void add_trace_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<TraceOptions>();
  options->partitioner = "twin";
  CLI::App* command = app.add_subcommand(
      "trace", "Run Accel-Sim SASS traces on the GPU model: the kernels of a stream in order, streams side by side");
  command->add_option("lists", options->lists, "kernelslist.g; more than one: each is a process of its own")->required();
  command->add_option("--machine", options->machine_file, "machine description (TOML)")->required();
  command->add_option("--max-ctas", options->trace.max_ctas, "CTAs per SM at most")->check(CLI::Range(1, 32));
  command->add_option("--policy", options->trace.policy, policy_names())->capture_default_str();
  command->add_option("--ctas", options->ctas, "policy static: CTAs of each kernel per SM, e.g. 3,2");
  command->add_option("--partitioner", options->partitioner, "the partition unit: the Verilated RTL or its twin")
      ->capture_default_str()
      ->check(CLI::IsMember({"rtl", "twin", "both"}));
  TraceOptions::add_sample(*command, options->trace.sample);
  command->add_option("--window", options->trace.window, "ends after so many cycles; 0: when all kernels are done")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 40))
      ->excludes("--sample");
  command->add_flag("--until-one", options->trace.until_one, "ends when the last kernel of one of the lists is done")
      ->excludes("--sample");
  options->add_json(*command);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sluice::cli
