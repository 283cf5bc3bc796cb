// SPDX-License-Identifier: Apache-2.0
// sluice gpu: the same policies on a real GPU. `report` needs none; the others need a build with SLUICE_CUDA.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/gpu_actions.h"
#include "study/gpu_lines.h"
#include "sw/core/errors.h"
#include "sw/gpu/report/gpu_report.h"
#include "sw/policy/names.h"

namespace sluice::cli {

#ifndef SLUICE_CUDA
namespace {

[[noreturn]] int no_cuda() {
  throw InputError(
      "this build has no CUDA back end: configure with `cmake --preset cuda` (needs a CUDA toolkit); `sluice gpu report` works "
      "without");
}

}  // namespace

int gpu_probe(const GpuProbeOptions&) { no_cuda(); }
int gpu_run(const GpuRunOptions&) { no_cuda(); }
int gpu_record(const GpuRecordOptions&, const RecordRequest&) { no_cuda(); }
int gpu_experiment(const GpuExperimentOptions&) { no_cuda(); }
std::vector<std::string> gpu_experiments(bool) { return {}; }
int gpu_client(const GpuClientOptions&) { no_cuda(); }
#endif

namespace {

void add_kernel_options(CLI::App& command, GpuKernels& of) {
  command.add_option(
      "--kernel", of.kernels,
      "FILE:NAME[,grid=XxYxZ][,block=XxYxZ][,smem=BYTES][,args=SPEC;SPEC...]; repeat for more (docs/user/share_a_gpu.md)");
  command.add_option("--app", of.apps, "one of Sluice's own kernels (BLK .. LAT); repeat for more");
  command.add_option("-I", of.includes, "folder of headers, for CUDA text; repeat for more");
  command.add_option("-D", of.defines, "NAME or NAME=VALUE, for CUDA text; repeat for more");
  command.add_flag("--nvcc{nvcc}", of.nvcc,
                   "compile CUDA text with nvcc, which takes files with host code; --nvcc=PATH names another than the installed");
  command.add_flag("--small", of.small, "--app: a small launch");
}

}  // namespace

void add_gpu_command(CLI::App& app, Action& action) {
  CLI::App* gpu = app.add_subcommand("gpu", "The same policies on a real NVIDIA GPU: per-SM CTA quotas, profiling, experiments");
  gpu->require_subcommand(1);

  auto probe = std::make_shared<GpuProbeOptions>();
  CLI::App* command = gpu->add_subcommand("probe", "What GPU, driver, NVRTC and MPS there are");
  command->add_flag("--json", probe->json, "result as JSON on standard output");
  command->callback([probe, &action] { action = [probe] { return gpu_probe(*probe); }; });

  auto run = std::make_shared<GpuRunOptions>();
  command =
      gpu->add_subcommand("run", "Kernels in a program of their own under a policy; outputs compared with those as they are");
  add_kernel_options(*command, *run);
  command->add_option("--policy", run->policy, "native, static (with --quota), or a scheduler of `sluice serve`")
      ->capture_default_str()
      ->check(CLI::IsMember({"native", kStatic, kEven, kSpatial, kBalance, "adaptive"}));
  command->add_option("--quota", run->quota, "CTAs of each kernel per SM, e.g. 3,2");
  command->add_option("--passes", run->passes, "times each grid runs, each time when the time before is done")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  command->add_flag("--json", run->json, "result as JSON on standard output");
  command->callback([run, &action] { action = [run] { return gpu_run(*run); }; });

  auto record = std::make_shared<GpuRecordOptions>();
  command = gpu->add_subcommand("record", "SASS traces of user kernels, for `sluice trace`; their outputs stay bit-identical");
  add_kernel_options(*command, *record);
  command->add_option("--out", record->out, "folder of the traces and their kernelslist.g")->required();
  command->add_option("--ctas", record->ctas, "CTAs of each launch to record, from the first: a number, or all")
      ->capture_default_str();
  command->add_option("--limit", record->limit, "bytes of a kernel's log at most, with K, M or G")->capture_default_str();
  command->add_option("--total", record->total, "a program behind --: bytes of all logs at most")->capture_default_str();
  command->add_option("--launches", record->launches, "a program behind --: launches of each kernel to record, from the first")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command->add_option("--only", record->only, "a program behind --: record this kernel alone (mangled name); repeat for more");
  command->add_flag("--keep", record->keep, "a program behind --: what the GPU logged stays in DIR/raw");
  command->add_flag("--check", record->check,
                    "a program behind --: Nsight Compute counts the warp instructions in a second run; 1 % off is an error");
  command->add_option("command", record->command, "a program whose kernels are recorded, and its arguments, behind --");
  command->add_flag("--json", record->json, "result as JSON on standard output");
  command->callback([record, &action] { action = [record] { return gpu_record(*record, record_request(*record)); }; });

  auto experiment = std::make_shared<GpuExperimentOptions>();
  command = gpu->add_subcommand("experiment", "One experiment of docs/user/share_a_gpu.md; goes on where an interrupted one was");
  CLI::Option* name =
      command->add_option("name", experiment->name, fmt::format("one of\n{}", fmt::join(gpu_experiments(true), "\n")))
          ->required();
  if (const std::vector<std::string> names = gpu_experiments(false); !names.empty()) name->check(CLI::IsMember(names));
  command->add_option("--out", experiment->out, "folder of the results")->required();
  command->add_option("--repetitions", experiment->repetitions, "measurements of each figure")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command->add_option("--apps", experiment->apps, "applications, comma separated; default: all that the experiment has");
  command->add_option("--window-ms", experiment->window_ms, "length of one measurement")
      ->capture_default_str()
      ->check(CLI::Range(1.0, 1000.0));
  command->add_option("--scenarios", experiment->scenarios, "folder of the papers' scenarios")->capture_default_str();
  command->callback([experiment, &action] { action = [experiment] { return gpu_experiment(*experiment); }; });

  auto client = std::make_shared<GpuClientOptions>();
  command = gpu->add_subcommand("client", "")->group("");  // the program that `run` and the experiments start
  add_kernel_options(*command, *client);
  command->add_option("--blocks", client->blocks);
  command->add_option("--passes", client->passes);
  command->callback([client, &action] { action = [client] { return gpu_client(*client); }; });

  struct ReportOptions {
    std::string folder = "results/h200";
    bool json = false;
  };
  auto report = std::make_shared<ReportOptions>();
  command =
      gpu->add_subcommand("report", "Rebuild every table, JSON file and plot from the measurements in a folder; needs no GPU");
  command->add_option("folder", report->folder, "folder of the measurements")->capture_default_str();
  command->add_flag("--json", report->json, "print the summary as JSON instead of tables");
  command->callback([report, &action] {
    action = [report] {
      if (const std::optional<bool> good = gpu::write_paper_page(report->folder)) return *good ? 0 : 1;
      return gpu::write_report(report->folder, report->json);
    };
  });
}

}  // namespace sluice::cli
