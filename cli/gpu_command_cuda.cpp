// SPDX-License-Identifier: Apache-2.0
// `sluice gpu probe`, `run` and `experiment` on a GPU.
#ifdef SLUICE_CUDA
#include <sluice_provenance.h>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <numeric>

#include "cli/common.h"
#include "cli/gpu_actions.h"
#include "cli/gpu_kernel_code.h"
#include "study/run_cache.h"
#include "sw/gpu/apps/kernel_file.h"
#include "sw/gpu/experiments/experiments.h"
#include "sw/gpu/experiments/scenario_runs.h"
#include "sw/gpu/jobs/online_profile.h"
#include "sw/gpu/source/nvcc.h"
#include "sw/io/atomic_file.h"
#include "sw/policy/names.h"
#include "sw/policy/registry.h"
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
          {"mps", mps != 0},
          {"green_contexts", gpu::driver().green_contexts}};
}

/// What the scheduler gives the mix; Warped-Slicer's after an online profile of the kernels themselves.
Partition decide(const gpu::GpuSession& session, const gpu::PreparedMix& mix, const GpuRunOptions& options) {
  const gpu::SiliconMix silicon = gpu::silicon_mix(session, mix, options.epsilon);
  const PolicyNeeds needs = policy_row(options.policy).needs;
  if (needs != PolicyNeeds::Counts && !options.quota.empty())
    throw InputError(fmt::format("--quota {}: only with --policy {}", options.quota, kStatic));
  gpu::SiliconScheduler scheduler(options.policy, silicon,
                                  options.quota.empty() ? std::vector<CtaCount>() : parse_counts(options.quota));
  if (needs != PolicyNeeds::Profiling) return gpu::decide(scheduler, silicon);
  gpu::QuotaMix running(mix);
  const auto decided = [&](const std::vector<Profile>& curves) { return gpu::decide(scheduler, silicon, curves); };
  const std::vector<Profile> curves = gpu::profile_online(running, mix, decided).refined;
  running.evict();
  return decided(curves);
}

struct Outcome {
  double seconds = 0;
  std::uint32_t violations = 0, watchdog_raises = 0;
  std::vector<std::uint32_t> max_ctas;
};

/// All kernels under one partition, until all are done.
std::vector<Outcome> run_partition(const gpu::PreparedMix& mix, const Partition& partition, const GpuRunOptions& options) {
  const std::ptrdiff_t sms = mix.front()->context().limits().sms;
  const auto tables = gpu::tables_of(partition, static_cast<unsigned>(sms));
  const std::vector<int> carveouts = gpu::carveouts(mix);
  std::vector<std::unique_ptr<gpu::QuotaJob>> jobs;
  for (std::size_t k = 0; k < mix.size(); ++k) {
    gpu::JobOptions o;
    o.launches = options.passes;
    o.log_lifetimes = true;
    o.carveout_percent = carveouts[k];
    jobs.push_back(std::make_unique<gpu::QuotaJob>(*mix[k], o));
  }
  std::vector<Outcome> outcomes(jobs.size());
  const gpu::Clock::time_point start = gpu::Clock::now();
  for (std::size_t k = 0; k < jobs.size(); ++k) jobs[k]->set(tables[k]);
  constexpr double kLimit = 600;  // seconds
  std::size_t open = 0;
  for (std::size_t k = 0; k < jobs.size(); ++k) open += std::ranges::count(tables[k], 0U) != sms ? 1 : 0;
  while (open > 0) {
    if (gpu::seconds(gpu::Clock::now() - start) > kLimit) throw gpu::GpuError(fmt::format("not done after {} s", kLimit));
    for (std::size_t k = 0; k < jobs.size(); ++k) {
      if (outcomes[k].seconds > 0 || std::ranges::count(tables[k], 0U) == sms || !jobs[k]->poll()) continue;
      outcomes[k].seconds = gpu::seconds(gpu::Clock::now() - start);
      --open;
    }
  }
  for (std::size_t k = 0; k < jobs.size(); ++k) {
    Outcome& o = outcomes[k];
    const gpu::JobState s = jobs[k]->state();
    o.violations = s.violations;
    o.watchdog_raises = jobs[k]->watchdog_raises();
    const std::vector<std::uint32_t> logged = jobs[k]->overlap_by_sm();
    for (std::size_t sm = 0; sm < tables[k].size(); ++sm) {
      const std::uint32_t seen = logged.empty() ? s.max_resident[sm] : std::max(logged[sm], s.max_resident[sm]);
      if (seen > jobs[k]->quota()[sm]) ++o.violations;  // what the watchdog raised is allowed
      o.max_ctas.push_back(seen);
    }
  }
  return outcomes;
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

}  // namespace

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

int gpu_probe(const GpuProbeOptions& options) {
  const gpu::GpuSession session;  // also proves that SM identifiers are usable and NVRTC compiles
  const nlohmann::json out = describe(session.context());
  if (options.json) {
    fmt::print("{}\n", out.dump());
    return 0;
  }
  for (const auto& [key, value] : out.items())
    fmt::print("{:<20}{}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
  return 0;
}

int gpu_run(const GpuRunOptions& options) {
  if (options.kernels.empty() && options.apps.empty())
    throw InputError("sluice gpu run: --kernel or --app must be given at least once");
  std::vector<gpu::LaunchSpec> specs;
  for (const std::string& k : options.kernels) specs.push_back(gpu::parse_launch(k));
  for (const std::string& a : options.apps)
    specs.push_back(gpu::make_app(a, options.small ? gpu::AppScale::Small : gpu::AppScale::Full).launch);
  for (std::size_t k = 0; k < options.kernels.size(); ++k)
    if (!std::filesystem::exists(specs[k].file)) throw InputError(specs[k].file + ": no such file");
  const gpu::GpuSession session;
  for (std::size_t k = 0; k < options.kernels.size(); ++k)
    read_code(specs[k], {options.includes, options.defines}, options.nvcc, session.context().limits());
  std::vector<std::unique_ptr<gpu::PreparedKernel>> kernels;
  gpu::PreparedMix mix;
  for (const gpu::LaunchSpec& spec : specs) {
    kernels.push_back(std::make_unique<gpu::PreparedKernel>(session.context(), session.compiler(), session.tools(), spec));
    mix.push_back(kernels.back().get());
  }
  nlohmann::json out = {
      {"gpu", session.context().limits().name}, {"policy", options.policy}, {"kernels", nlohmann::json::array()}};
  const gpu::StreamHandle stream = gpu::make_stream();
  std::vector<std::vector<std::uint64_t>> native_prints;
  bool quota = options.policy != "native", good = true;
  for (std::size_t k = 0; k < mix.size(); ++k) {
    for (unsigned pass = 0; pass < options.passes; ++pass) mix[k]->launch_native(stream.get());
    gpu::check(gpu::driver().cuStreamSynchronize(stream.get()), specs[k].label + " failed on the GPU");
    native_prints.push_back(mix[k]->fingerprints());
    nlohmann::json kernel = {{"name", specs[k].label},
                             {"blocks", specs[k].blocks()},
                             {"native_registers", mix[k]->native().registers()},
                             {"native_occupancy", mix[k]->native_occupancy()}};
    std::vector<std::string> prints;
    for (const std::uint64_t f : native_prints.back()) prints.push_back(fmt::format("{:016x}", f));
    kernel["native_fingerprints"] = prints;
    if (k >= options.kernels.size() && options.small) {
      kernel["cpu_check"] =
          gpu::make_app(options.apps[k - options.kernels.size()], gpu::AppScale::Small).check({specs[k], mix[k]->download()});
      good = good && kernel["cpu_check"] == "";
    }
    if (mix[k]->refusal()) {
      kernel["refusal"] = *mix[k]->refusal();
      quota = false;
    } else {
      kernel["registers"] = mix[k]->persistent().registers();
      kernel["occupancy"] = mix[k]->occupancy();
    }
    out["kernels"].push_back(kernel);
  }
  if (quota) {
    const Partition partition = decide(session, mix, options);
    for (const gpu::PreparedKernel* k : mix) k->reset_buffers();
    const std::vector<Outcome> outcomes = run_partition(mix, partition, options);
    out["mode"] = layout_name(partition.mode);
    for (std::size_t k = 0; k < mix.size(); ++k) {
      const bool same = mix[k]->fingerprints() == native_prints[k];
      out["kernels"][k].update({{"quota", partition.shares[k].ctas.value()},
                                {"max_ctas_seen", *std::ranges::max_element(outcomes[k].max_ctas)},
                                {"quota_violations", outcomes[k].violations},
                                {"watchdog_raises", outcomes[k].watchdog_raises},
                                {"seconds", outcomes[k].seconds},
                                {"bit_identical", same}});
      good = good && same && outcomes[k].violations == 0;
    }
  } else {
    out["mode"] = "native";
  }
  if (options.json) {
    fmt::print("{}\n", out.dump());
  } else {
    report::Table table({"kernel", "quota", "most seen", "violations", "ms", "bit-identical", "note"});
    for (const nlohmann::json& k : out["kernels"])
      table.row({k["name"].get<std::string>(), k.contains("quota") ? k["quota"].dump() : "-",
                 k.contains("max_ctas_seen") ? k["max_ctas_seen"].dump() : "-",
                 k.contains("quota_violations") ? k["quota_violations"].dump() : "-",
                 k.contains("seconds") ? fmt::format("{:.3f}", k["seconds"].get<double>() * 1e3) : "-",
                 k.contains("bit_identical") ? (k["bit_identical"].get<bool>() ? "yes" : "NO") : "-",
                 k.value("refusal", k.value("cpu_check", std::string()))});
    fmt::print("{}", table.text());
  }
  return good ? 0 : 1;
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
  std::array<char, 4096> path{};
  if (readlink("/proc/self/exe", path.data(), path.size() - 1) < 0) throw_errno("/proc/self/exe", errno);
  options.program = path.data();
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

int gpu_scenario_client(const GpuClientOptions& o) { return gpu::scenario_client(o.app, {o.blocks, o.passes}); }

}  // namespace sluice::cli
#endif
