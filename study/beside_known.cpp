// SPDX-License-Identifier: Apache-2.0
#include "study/beside_known.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "sw/core/errors.h"
#include "sw/gpu/apps/app_sizes.h"
#include "sw/gpu/report/sections.h"
#include "sw/io/packed_file.h"

namespace sluice::gpu {

using nlohmann::json;

namespace {

bool is_kernel_of(const std::string& paper, const std::string& kernel) {
  const auto& known = paper_kernels(paper);
  return std::ranges::find(known, kernel, &PaperKernel::name) != known.end();
}

}  // namespace

std::vector<MeasuredScene> measured_scenes(const std::filesystem::path& file, const char* scene,
                                           const std::vector<std::string>& schedulers) {
  std::vector<MeasuredScene> all;
  for (const json& line : lines(file)) {
    if (!line.contains("system") || std::ranges::find(schedulers, line["system"].get<std::string>()) == schedulers.end())
      continue;
    const auto found = std::ranges::find_if(
        all, [&](const MeasuredScene& m) { return m.scene == line.at(scene) && m.scheduler == line["system"]; });
    (found == all.end() ? all.emplace_back(MeasuredScene{line.at(scene), line["system"], {}}) : *found).lines.push_back(line);
  }
  return all;
}

MachineConfig machine_of(const json& machine) {
  MachineConfig m;
  m.name = machine.at("name");
  m.num_sms = machine.at("sms");
  m.core_mhz = machine.at("core_mhz");
  const json& sm = machine.at("sm");
  m.sm.capacity = {sm.at("threads"), sm.at("registers"), sm.at("shared_memory_bytes"), sm.at("cta_slots")};
  return m;
}

void add_jobs(Scene& scene, const json& line, const std::function<SceneKernel(const std::string& job)>& kernel) {
  for (const json& job : line.at("jobs")) {
    scene.jobs.push_back({job.at("name"), scene.kernels.size(), job.at("priority"), job.at("arrived_ms")});
    scene.kernels.push_back(kernel(job.at("name")));
  }
}

ModelRuns model_runs(const std::filesystem::path& folder) {
  ModelRuns all;
  for (const json& line : lines(folder / "model.jsonl")) all[{line.at("scene"), line.at("system")}] = measured_run(line);
  return all;
}
std::optional<SceneRun> of_model(const ModelRuns& runs, const MeasuredScene& m) {
  const auto found = runs.find({m.scene, m.scheduler});
  return found == runs.end() ? std::nullopt : std::optional(found->second);
}

CoRunTable task_rates(const CorunRates& rates, const std::filesystem::path& results, const MachineConfig& machine) {
  CoRunTable all = rates.table;
  for (const auto& [names, runs] : rates.even) std::ranges::copy(runs, std::back_inserter(all.pairs[names]));
  for (const auto& [mix, search] : read_search(results, machine.num_sms)) {
    if (search.kernels.size() != 2 ||
        !std::ranges::all_of(search.kernels, [&](const auto& k) { return all.kernels.contains(k); }))
      continue;
    const std::size_t first = search.kernels[0] < search.kernels[1] ? 0 : 1, second = 1 - first;
    std::vector<CoRun>& runs = all.pairs[{search.kernels[first], search.kernels[second]}];
    for (const SearchPoint& p : search.points) {
      const std::array ctas = {CtaCount(p.ctas[first]), CtaCount(p.ctas[second])};
      if (std::ranges::find(runs, ctas, &CoRun::ctas) != runs.end() || !(p.rate[first] > 0 && p.rate[second] > 0)) continue;
      runs.push_back({ctas, {p.rate[first] / sm_cycles(machine), p.rate[second] / sm_cycles(machine)}});
    }
  }
  return all;
}

Values medians(const std::vector<Values>& runs) {
  Values all;
  for (std::size_t c = 0; c < runs.front().size(); ++c) {
    Values one;
    for (const Values& run : runs) one.push_back(run.at(c));
    all.push_back(median(one));
  }
  return all;
}

CtaCount most_of(std::size_t occupancy, std::uint32_t blocks, std::uint32_t sms) {
  return CtaCount(std::min<std::uint32_t>(static_cast<std::uint32_t>(occupancy), (blocks + sms - 1) / sms));
}

const KernelDescriptor& kernel_named(const std::map<std::string, KernelDescriptor>& known, const std::string& app) {
  const auto found = known.find(app);
  if (found == known.end()) throw InputError(fmt::format("overhead.jsonl, papers/overhead.jsonl: nothing of {}", app));
  return found->second;
}

bool has_files(const std::filesystem::path& folder, const json& machine, std::initializer_list<const char*> files) {
  return machine.contains("sm") && std::ranges::all_of(files, [&](const char* f) { return has_packed(folder / f); });
}

std::map<std::string, SceneKernel> kernels_by_rates(const std::string& paper, const CorunRates& rates,
                                                    const std::map<std::string, KernelDescriptor>& known, std::uint32_t sms) {
  std::map<std::string, SceneKernel> all;
  for (const PaperKernel& k : paper_kernels(paper)) {
    SceneKernel& own = all[k.name];
    own.kernel = kernel_named(known, k.app);
    own.kernel.name = k.name;
    own.kernel.grid_ctas = static_cast<std::uint32_t>(make_app(k.app, measured_size(k.app, kEqualLength)).launch.blocks());
    for (const double rate : rates.alone.at(k.name)) own.ms.push_back(1e3 * own.kernel.grid_ctas / rate);
    own.most = most_of(own.ms.size(), own.kernel.grid_ctas, sms);
  }
  return all;
}

std::vector<CtaCount> most_of(const Scene& scene) {
  std::vector<CtaCount> most;
  for (const Scene::Job& job : scene.jobs) most.push_back(scene.kernels[job.kernel].most);
  return most;
}

MeasuredFolder measured_folder(const std::filesystem::path& folder) {
  MeasuredFolder all;
  all.scenes = measured_scenes(folder / "effisha_schedules.jsonl", "setting", {"rr", "prio_np", "piv", "dprr"});
  for (const json& line : lines(folder / "effisha_schedules.jsonl"))
    if (line.contains("alone"))
      for (const auto& [name, times] : line["alone"].items()) all.alone[name] = median(times.at("quota_ms").get<Values>());
  if (!all.scenes.empty()) return all;
  all.scenes = measured_scenes(folder / "sim_pairs.jsonl", "scenario", {"arrival", "even", "adaptive"});
  for (const json& line : lines(folder / "sim_curves.jsonl"))
    if (is_kernel_of("sim", line.at("name"))) all.alone[line["name"]] = medians(line.at("ms").get<std::vector<Values>>()).back();
  if (!all.scenes.empty()) return all;
  all.scenes = measured_scenes(folder / "slate_pairs.jsonl", "pair", {"slate_measured"});
  for (const json& line : lines(folder / "slate_alone.jsonl"))
    for (const PaperKernel& k : paper_kernels("slate"))
      if (line.at("app") == k.app) all.alone[k.name] = kTimes * median(line.at("push_ms").get<Values>());
  return all;
}

std::map<std::string, KernelDescriptor> measured_kernels(const std::filesystem::path& results) {
  constexpr std::uint32_t kRegisterUnit = 256, kSharedUnit = 128, kReserved = 1024;  // of a warp; of a CTA; the driver's
  const auto round_up = [](std::uint32_t value, std::uint32_t unit) { return (value + unit - 1) / unit * unit; };
  std::map<std::string, KernelDescriptor> all;
  // The latest last: later runtimes let threads have other numbers of registers.
  for (const char* file : {"papers/overhead.jsonl", "runtime/overhead.jsonl", "effisha/effisha_overhead.jsonl",
                           "slate/slate_alone.jsonl", "overhead.jsonl"})
    for (const json& line : lines(results / file)) {
      KernelDescriptor& k = all[line.at("app")];
      k.name = line.at("app");
      k.block_threads = make_app(k.name, full_size(k.name)).launch.block_threads();
      const std::uint32_t warps = k.warps_per_cta();
      const std::uint32_t registers = line.contains("persistent") ? line["persistent"].at("registers") : line.at("registers");
      k.registers_per_cta = warps * round_up(registers * kWarpSize, kRegisterUnit);
      if (!line.contains("persistent")) continue;
      // Less the 256 bytes that the runtime keeps behind a kernel's own: an SM of 228 KB has room for them everywhere.
      const std::uint32_t shared = line["persistent"].at("static_shared_bytes");
      k.shared_bytes_per_cta = round_up(shared, kSharedUnit) + kReserved;
    }
  return all;
}

}  // namespace sluice::gpu
