// SPDX-License-Identifier: Apache-2.0
// `sluice gpu probe`, `run`, `client` and `experiment` on a GPU.
#ifdef SLUICE_CUDA
#include <sluice_provenance.h>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <optional>

#include "cli/common.h"
#include "cli/gpu_actions.h"
#include "cli/interposed.h"
#include "study/run_cache.h"
#include "sw/gpu/apps/kernel_file.h"
#include "sw/gpu/experiments/clients.h"
#include "sw/gpu/experiments/experiments.h"
#include "sw/gpu/source/nvcc.h"
#include "sw/io/atomic_file.h"
#include "sw/policy/names.h"
#include "sw/report/table.h"

namespace sluice::cli {

namespace {

nlohmann::json describe(const gpu::Context& context) {
  const gpu::DeviceLimits& l = context.limits();
  int mps = 0, major = 0, minor = 0;
  gpu::driver().cuDeviceGetAttribute(&mps, CU_DEVICE_ATTRIBUTE_MPS_ENABLED, context.device());
  gpu::nvrtc().nvrtcVersion(&major, &minor);
  return {{"name", l.name},
          {"compute_capability", fmt::format("{}.{}", l.compute_major, l.compute_minor)},
          {"sms", l.sms},
          {"core_mhz", l.core_mhz},
          {"memory_mib", l.memory_bytes >> 20},
          {"l2_bytes", l.l2_bytes},
          {"sm",
           {{"threads", l.threads_per_sm},
            {"registers", l.registers_per_sm},
            {"shared_memory_bytes", l.shared_per_sm},
            {"cta_slots", l.ctas_per_sm},
            {"reserved_shared_bytes_per_cta", l.reserved_shared_per_cta}}},
          {"driver_cuda", fmt::format("{}.{}", l.driver_version / 1000, l.driver_version % 1000 / 10)},
          {"nvrtc", fmt::format("{}.{}", major, minor)},
          {"mps", mps != 0}};
}

/// Where a line was measured, and by what.
nlohmann::json measured_on(const gpu::Context& context) {
  const std::filesystem::path version = "/proc/driver/nvidia/version";
  const std::string text = std::filesystem::exists(version) ? read_file(version) : "";
  return {{"gpu", context.limits().name},
          {"driver", text.substr(0, text.find('\n'))},
          {"core_mhz", context.limits().core_mhz},
          {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
          {"commit", SLUICE_COMMIT}};
}

/// Adds to the folder's machine.json, or begins it: the GPU, and when and with which commit an experiment was done.
void record_measured(const std::filesystem::path& folder, const std::string& experiment, const nlohmann::json& machine) {
  const std::filesystem::path file = folder / "machine.json";
  nlohmann::json all = std::filesystem::exists(file) ? nlohmann::json::parse(read_file(file), nullptr, false) : nlohmann::json();
  if (!all.is_object()) all = nlohmann::json::object();
  all.update(machine);
  all["measured"][experiment] = {{"commit", SLUICE_COMMIT},
                                 {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))}};
  write_file_atomically(file, all.dump(1) + "\n");
}

/// The kernel's file as it is: PTX of it where it has some or nvcc compiles it, CUDA text for NVRTC otherwise.
void read_code(gpu::LaunchSpec& spec, const gpu::CompileOptions& options, const std::string& nvcc,
               const gpu::DeviceLimits& device) {
  const auto sm = static_cast<unsigned>(device.compute_major * 10 + device.compute_minor);
  gpu::KernelFile file = gpu::read_kernel_file(spec.file, spec.kernel, sm);
  spec.options = options;
  if (!file.is_ptx && !nvcc.empty())
    file = gpu::kernel_in_ptx(gpu::ptx_by_nvcc(nvcc, spec.file, sm, spec.options), spec.kernel, spec.file);
  spec.text = std::move(file.text);
  spec.symbol = std::move(file.symbol);
}

}  // namespace

int gpu_probe(const GpuProbeOptions& options) {
  const gpu::GpuSession session;  // also proves that NVRTC compiles
  const nlohmann::json out = describe(session.context());
  if (options.json) {
    fmt::print("{}\n", out.dump());
    return 0;
  }
  for (const auto& [key, value] : out.items())
    fmt::print("{:<20}{}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
  return 0;
}

namespace {

/// One kernel under a fixed quota, or all under a service of our own. It ends with this.
struct Enforcer {
  Enforcer(const GpuRunOptions& options, const nlohmann::json& kernels) {
    const std::vector<CtaCount> ctas = options.quota.empty() ? std::vector<CtaCount>() : parse_counts(options.quota);
    if ((options.policy == kStatic) != !ctas.empty())
      throw InputError(fmt::format("--quota {}: with --policy {}, and only there", options.quota, kStatic));
    if (!ctas.empty() && ctas.size() != kernels.size())
      throw InputError(fmt::format("--quota {}: must be {} counts, one of each kernel", options.quota, kernels.size()));
    for (std::size_t k = 0; k < ctas.size(); ++k)
      if (ctas[k].value() > kernels[k]["occupancy"])
        throw InputError(fmt::format("--quota {}: {} CTAs of {}: must be 1..{}, what fits an SM", options.quota, ctas[k].value(),
                                     kernels[k]["name"].get<std::string>(), kernels[k]["occupancy"].get<unsigned>()));
    if (kernels.size() == 1 && !ctas.empty()) {
      run = {"--quota", options.quota};
      return;
    }
    const std::vector<std::string> more = ctas.empty() ? std::vector<std::string>() : std::vector{"--ctas=" + options.quota};
    service.emplace(own_path(), options.policy, more);
    run = {"--require-service", "--socket=" + service->socket()};
  }
  std::optional<gpu::SharingService> service;
  std::vector<std::string> run;  ///< options of `sluice run`
};

void check_given(const GpuKernels& of, const char* command) {
  if (of.kernels.empty() && of.apps.empty())
    throw InputError(fmt::format("sluice gpu {}: --kernel or --app must be given at least once", command));
}

}  // namespace

std::vector<std::string> client_options(const GpuKernels& of) {
  std::vector<std::string> words;
  const auto add = [&](const char* option, const std::vector<std::string>& values) {
    for (const std::string& value : values) words.push_back(option + value);
  };
  add("--kernel=", of.kernels);
  add("--app=", of.apps);
  add("-I", of.includes);
  add("-D", of.defines);
  if (!of.nvcc.empty()) words.push_back("--nvcc=" + of.nvcc);
  if (of.small) words.emplace_back("--small");
  return words;
}

/// The kernels in a program of their own, as they are and under `sluice run`: what is found is what users have.
int gpu_run(const GpuRunOptions& options) {
  check_given(options, "run");
  const std::vector<std::string> kernels = client_options(options);
  const std::string run = fmt::format("run {}", options.passes);
  const auto native = gpu::start_kernels(own_path(), "the kernels as they are", kernels);
  const nlohmann::json ready = native->receive();
  nlohmann::json out = {{"gpu", ready["gpu"]}, {"policy", options.policy}, {"kernels", nlohmann::json::array()}};
  const auto run_from_start = [&](gpu::Client& client, auto&& began, auto&& ended) {
    static_cast<void>(client.ask("reset 0"));
    began();
    nlohmann::json answer = client.ask(run);
    ended();
    answer.update(client.ask("fingerprints 0"));
    return answer;
  };
  const nlohmann::json as_it_is = run_from_start(
                           *native, [] {}, [] {}),
                       checks = native->ask("check 0")["check"];
  bool good = true;
  for (std::size_t k = 0; k < ready["kernels"].size(); ++k) {
    nlohmann::json& kernel = out["kernels"].emplace_back(ready["kernels"][k]);
    kernel["native_seconds"] = as_it_is["ms"][k].get<double>() / 1e3;
    for (const std::uint64_t f : as_it_is["fingerprints"][k]) kernel["native_fingerprints"].push_back(fmt::format("{:016x}", f));
    if (!checks[k].is_null()) kernel["cpu_check"] = checks[k];
    good = good && kernel.value("cpu_check", "").empty();
  }
  native->end();
  if (options.policy != "native") {
    const gpu::Scratch scratch;
    Enforcer enforcer(options, ready["kernels"]);
    const auto ours = gpu::start_kernels(own_path(), "the kernels under a policy", kernels, enforcer.run,
                                         scratch.path() / "report", {"SLUICE_SHORT_US=0", "SLUICE_CHECK=1"});
    static_cast<void>(ours->receive());
    // Buffers are filled and compared by kernels, too: their shares are nobody's business.
    const nlohmann::json answer = run_from_start(
        *ours,
        [&] {
          if (enforcer.service) static_cast<void>(enforcer.service->log());
        },
        [&] {
          if (enforcer.service) out["shares"] = enforcer.service->log(out["kernels"].size()).shares;
        });
    nlohmann::json report = ours->end();
    out["quota_violations"] = report["quota_violations"];
    out["watchdog_raises"] = report["watchdog_raises"];
    good = good && out["quota_violations"] == 0;
    for (std::size_t k = 0; k < out["kernels"].size(); ++k) {
      nlohmann::json& kernel = out["kernels"][k];
      const std::string symbol = kernel["symbol"];
      kernel["seconds"] = answer["ms"][k].get<double>() / 1e3;
      kernel["bit_identical"] = answer["fingerprints"][k] == as_it_is["fingerprints"][k];
      good = good && kernel["bit_identical"].get<bool>();
      if (report["placed"].contains(symbol)) kernel["sms_by_most_ctas"] = report["placed"][symbol];
      if (report["checked"].contains(symbol)) {
        kernel["wrong_blocks"] = report["checked"][symbol]["wrong_blocks"];
        good = good && kernel["wrong_blocks"] == 0;
      }
      if (report["reasons"].contains(symbol)) kernel["native_because"] = report["reasons"][symbol];
    }
  }
  if (options.json) {
    fmt::print("{}\n", out.dump());
    return good ? 0 : 1;
  }
  report::Table table({"kernel", "SMs by the most CTAs seen", "ms", "bit-identical", "blocks not run once a launch", "note"});
  for (const nlohmann::json& k : out["kernels"]) {
    std::string seen;
    const nlohmann::json most = k.value("sms_by_most_ctas", nlohmann::json::object());
    for (const auto& [ctas, sms] : most.items())
      seen += fmt::format("{}{} of {}", seen.empty() ? "" : ", ", sms.get<unsigned>(), ctas);
    table.row({k["name"].get<std::string>(), seen.empty() ? "-" : seen,
               fmt::format("{:.3f}", k[k.contains("seconds") ? "seconds" : "native_seconds"].get<double>() * 1e3),
               k.contains("bit_identical") ? (k["bit_identical"].get<bool>() ? "yes" : "NO") : "-",
               k.contains("wrong_blocks") ? k["wrong_blocks"].dump() : "-",
               k.value("native_because", k.value("cpu_check", std::string()))});
  }
  fmt::print("{}", table.text());
  if (out.contains("quota_violations")) fmt::print("{} quota violations\n", out["quota_violations"].dump());
  return good ? 0 : 1;
}

/// Errors go to whoever started this, as an answer.
int gpu_client(const GpuClientOptions& o) try {
  check_given(o, "client");
  const gpu::GpuSession session;
  std::vector<gpu::App> apps;
  for (const std::string& k : o.kernels) {
    gpu::App& app = apps.emplace_back();
    app.launch = gpu::parse_launch(k);
    if (!std::filesystem::exists(app.launch.file)) throw InputError(app.launch.file + ": no such file");
    read_code(app.launch, {o.includes, o.defines}, o.nvcc, session.context().limits());
  }
  for (const std::string& a : o.apps)
    apps.push_back(o.small ? gpu::make_app(a, gpu::AppScale::Small) : gpu::make_app(a, {o.blocks, o.passes}));
  if (!o.small)
    for (gpu::App& app : apps) app.check = nullptr;  // as long as the GPU takes, it takes a CPU days
  gpu::kernel_program(session, std::move(apps));
  return 0;
} catch (const std::exception& e) {
  const ErrorKind kind = kind_of(e);
  fmt::print("{}\n", nlohmann::json{{"error", e.what()}, {"kind", kind}}.dump());
  return exit_code(kind);
}

int gpu_experiment(const GpuExperimentOptions& o) {
  gpu::ExperimentOptions options;
  options.out = o.out;
  options.repetitions = o.repetitions;
  options.apps = split_list(o.apps);
  options.window = o.window_ms * 1e-3;
  for (const std::string& app : options.apps) static_cast<void>(gpu::make_app(app, gpu::AppScale::Small));
  refuse_unpublishable(options.out, SLUICE_COMMIT);
  make_folder(options.out);
  options.scenarios = o.scenarios;
  options.program = own_path();
  const auto row = std::ranges::find(gpu::experiments(), o.name, &gpu::ExperimentRow::name);
  gpu::GpuSession session;
  options.on = measured_on(session.context());
  row->run(session, options);
  record_measured(options.out, o.name, describe(session.context()));
  return 0;
}

std::vector<std::string> gpu_experiments(bool words) {
  std::vector<std::string> all;
  for (const gpu::ExperimentRow& row : gpu::experiments())
    all.push_back(words ? fmt::format("{}: {}", row.name, row.measures) : row.name);
  return all;
}

}  // namespace sluice::cli
#endif
