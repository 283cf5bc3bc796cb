// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/experiments/scenario_runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "sw/core/errors.h"
#include "sw/gpu/apps/app_sizes.h"

namespace sluice::gpu {

namespace {

double ms(Time t) { return static_cast<double>(t.count()) * 1e-9; }

}  // namespace

GpuScenario gpu_scenario(GpuSession& session, const Scenario& scenario, const std::string& paper) {
  GpuScenario s{scenario, launches(scenario, Time(0)), {}, {}, {}};
  for (const ScenarioJob& job : scenario.jobs) {
    const auto& known = paper_kernels(paper);
    const auto found = std::ranges::find(known, job.kernel, &PaperKernel::name);
    if (found == known.end())
      throw InputError(fmt::format("{}: job {}: kernel {} is none of {}", scenario.file, job.name, job.kernel, paper));
    s.apps.push_back(found->app);
    s.sizes.push_back(measured_size(found->app, job.alone ? ms(*job.alone) : found->milliseconds.value_or(kEqualLength)));
    s.kernels.push_back(&session.app(s.apps.back(), s.sizes.back()));
  }
  return s;
}

Scenario scene_of(const std::string& name, const std::vector<std::pair<std::string, std::string>>& jobs) {
  Scenario scene;
  scene.file = scene.name = name;
  for (const auto& [job, kernel] : jobs) {
    ScenarioJob& added = scene.jobs.emplace_back();
    added.name = job;
    added.kernel = kernel;
  }
  return scene;
}
Scenario scene_of(const std::string& name, const std::vector<std::string>& kernels) {
  std::vector<std::pair<std::string, std::string>> jobs;
  for (const std::string& k : kernels) jobs.emplace_back(k, k);
  return scene_of(name, jobs);
}

std::vector<std::vector<std::uint64_t>> native_fingerprints(const GpuScenario& scenario) {
  std::vector<std::vector<std::uint64_t>> prints;
  const StreamHandle stream = make_stream();
  for (const PreparedKernel* kernel : scenario.kernels) {
    kernel->reset_buffers();
    static_cast<void>(launch_seconds(*kernel, stream.get()));
    prints.push_back(kernel->fingerprints());
  }
  return prints;
}

void SceneLines::once(const std::string& scene, const std::string& system, unsigned repetition, const Run& run) {
  const std::string key = fmt::format("{}/{}/{}", scene, system, repetition);
  if (has(key)) return;
  GpuRun done = run();
  nlohmann::json line = std::move(done.more);
  line.update({{field_, scene}, {"system", system}, {"repetition", repetition}, {"jobs", done.jobs}});
  add(key, std::move(line));
}

void SceneLines::repeat(const std::string& scene, const std::string& system, const Run& run) {
  for (unsigned r = 0; r < options().repetitions; ++r) once(scene, system, r, run);
  done(scene + " " + system);
}

}  // namespace sluice::gpu
