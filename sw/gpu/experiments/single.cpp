// SPDX-License-Identifier: Apache-2.0
// Experiments on one kernel at a time: curves, overhead, evictions.
#include <algorithm>
#include <random>

#include "sw/core/errors.h"
#include "sw/gpu/apps/app_sizes.h"
#include "sw/gpu/experiments/experiments.h"

namespace sluice::gpu {

namespace {

nlohmann::json vector_of(const SmResources& r) {
  return {{"threads", r.threads},
          {"registers", r.registers},
          {"shared_memory_bytes", r.shared_memory_bytes},
          {"cta_slots", r.cta_slots}};
}

const std::vector<std::string>& chosen(const ExperimentOptions& options) {
  return options.apps.empty() ? app_names() : options.apps;
}

/// Those of the papers, each once, unless others are asked for.
std::vector<std::string> chosen(const ExperimentOptions& options, std::initializer_list<const char*> papers) {
  if (!options.apps.empty()) return options.apps;
  std::vector<std::string> apps;
  for (const char* paper : papers)
    for (const PaperKernel& k : paper_kernels(paper))
      if (std::ranges::count(apps, k.app) == 0) apps.push_back(k.app);
  return apps;
}

/// As long as in EffiSha's table 3, or in another paper's.
const PreparedKernel& published(GpuSession& session, const std::string& app) {
  for (const char* paper : {"effisha", "sim", "kernelet", "slate"})
    for (const PaperKernel& k : paper_kernels(paper))
      if (k.app == app) return session.app(app, measured_size(app, k.milliseconds.value_or(kEqualLength)));
  throw InputError(app + ": is of no paper");
}

/// A kernel as it is and under quotas, in turns.
nlohmann::json alone(const std::string& app, const PreparedKernel& kernel, unsigned repetitions) {
  const StreamHandle stream = make_stream();
  QuotaJob job(kernel, {});
  job.order(uniform_quota(kernel.context().limits().sms, full_quota(kernel)));
  const auto ms = in_turns(2 * repetitions,
                           {[&] { return native_seconds(kernel, stream.get()) * 1e3; }, [&] { return job.run_timed() * 1e3; }});
  return {{"app", app},
          {"native_ms", ms[0]},
          {"push_ms", ms[1]},
          {"violations", job.state().violations},
          {"blocks", kernel.spec().blocks()},
          {"native_occupancy", kernel.native_occupancy()},
          {"occupancy", kernel.occupancy()},
          {"native_registers", kernel.native().registers()},
          {"registers", kernel.persistent().registers()}};
}

/// A kernel evicted a thousand times: from the order until no CTA is left, and until its grids have ended.
nlohmann::json evictions(const std::string& app, const PreparedKernel& kernel) {
  constexpr unsigned kEvictions = 1000;
  const unsigned sms = kernel.context().limits().sms;
  QuotaJob job(kernel, {.passes = 1ULL << 20});
  std::mt19937_64 random(7);
  nlohmann::json last_cta = nlohmann::json::array(), grids = nlohmann::json::array(), back = nlohmann::json::array();
  double blocks = 0, time = 0;
  for (unsigned i = 0; i < kEvictions; ++i) {
    const Clock::time_point start = Clock::now();
    job.set(uniform_quota(sms, kernel.occupancy()));
    while (job.resident() == 0) {
    }
    back.push_back(seconds(Clock::now() - start) * 1e6);
    static_cast<void>(job.settle());
    const JobState before = job.state();
    sleep_seconds(50e-6 + static_cast<double>(random() % 200) * 1e-6);  // anywhere in a block
    const JobState after = job.state();
    for (std::size_t sm = 0; sm < sms; ++sm) blocks += after.done[sm] - before.done[sm];
    time += seconds(after.at - before.at);
    const QuotaJob::Eviction e = job.evict();
    last_cta.push_back(e.last_cta * 1e6);
    grids.push_back(e.grids * 1e6);
  }
  return {{"app", app},
          {"last_cta_us", last_cta},
          {"grids_us", grids},
          {"back_us", back},  // from the order until the host sees CTAs again
          {"block_us", time / blocks * sms * kernel.occupancy() * 1e6},
          {"occupancy", kernel.occupancy()},
          {"violations", job.state().violations}};
}

}  // namespace

void curves_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawLines lines(options, "curves", chosen(options).size());
  const unsigned sms = session.context().limits().sms;
  for (const std::string& name : chosen(options))
    lines.step(name, [&] {
      const PreparedKernel& kernel = session.app(name);
      const StreamHandle stream = make_stream();
      QuotaMix mix({&kernel});
      nlohmann::json native = nlohmann::json::array(), curve = nlohmann::json::array();
      std::uint32_t violations = 0, misplaced = 0;
      for (unsigned r = 0; r < options.repetitions; ++r) {
        native.push_back(native_rates({&kernel}, {stream.get()}, options.window).blocks_per_second[0]);
        nlohmann::json points = nlohmann::json::array();
        for (unsigned ctas = 1; ctas <= kernel.occupancy(); ++ctas) {
          const MixRates rates = mix.restart({uniform_quota(sms, ctas)}, 0.5e-3, options.window / 2);
          points.push_back(rates.blocks_per_second[0]);
          violations += rates.violations;
          misplaced += rates.misplaced;
        }
        mix.evict();
        curve.push_back(points);
      }
      return nlohmann::json{{"app", name},
                            {"native_blocks_per_second", native},
                            {"blocks_per_second", curve},
                            {"violations", violations},
                            {"misplaced", misplaced},
                            {"demand", vector_of(kernel.demand())},
                            {"capacity", vector_of(sm_capacity(session.context().limits()))},
                            {"occupancy", kernel.occupancy()},
                            {"native_occupancy", kernel.native_occupancy()},
                            {"blocks", kernel.spec().blocks()},
                            {"block_threads", kernel.spec().block_threads()},
                            {"sms", sms}};
    });
}

void overhead_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawLines lines(options, "overhead", chosen(options).size());
  const unsigned sms = session.context().limits().sms;
  for (const std::string& name : chosen(options))
    lines.step(name, [&] {
      const PreparedKernel& kernel = session.app(name);
      const StreamHandle stream = make_stream();
      QuotaJob job(kernel, {});
      job.order(uniform_quota(sms, kernel.occupancy()));
      const auto times =
          in_turns(3 * options.repetitions, {[&] { return native_seconds(kernel, stream.get()); },
                                             [&] { return job.run_timed(); }, [&] { return job.run_timed(true); }});
      const JobState s = job.state();
      const auto resources = [](const Kernel& k) {
        return nlohmann::json{
            {"registers", k.registers()}, {"static_shared_bytes", k.static_shared()}, {"local_bytes", k.local_bytes()}};
      };
      return nlohmann::json{{"app", name},
                            {"native_seconds", times[0]},
                            {"variants",
                             {{"default",
                               {{"seconds", times[1]},
                                {"empty_seconds", times[2]},
                                {"most_ctas", *std::ranges::max_element(s.max_resident)},
                                {"least_ctas", *std::ranges::min_element(s.max_resident)},
                                {"registers", kernel.persistent().registers()},
                                {"occupancy", kernel.occupancy()}}}}},
                            {"violations", s.violations},
                            {"counterweight", kernel.counterweight()},
                            {"native", resources(kernel.native())},
                            {"persistent", resources(kernel.persistent())},
                            {"native_occupancy", kernel.native_occupancy()},
                            {"occupancy", kernel.occupancy()},
                            {"blocks", kernel.spec().blocks()},
                            {"sms", sms}};
    });
}

void preemption_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawLines lines(options, "preemption", chosen(options).size());
  for (const std::string& name : chosen(options)) lines.step(name, [&] { return evictions(name, session.app(name)); });
}

void effisha_latency_experiment(GpuSession& session, const ExperimentOptions& options) {
  const std::vector<std::string> apps = chosen(options, {"effisha", "sim"});
  RawLines lines(options, "effisha_latency", apps.size());
  for (const std::string& app : apps) lines.step(app, [&] { return evictions(app, published(session, app)); });
}

void effisha_overhead_experiment(GpuSession& session, const ExperimentOptions& options) {
  const std::vector<std::string> apps = chosen(options, {"effisha", "sim"});
  RawLines lines(options, "effisha_overhead", apps.size());
  for (const std::string& app : apps) lines.step(app, [&] { return alone(app, published(session, app), options.repetitions); });
}

void slate_alone_experiment(GpuSession& session, const ExperimentOptions& options) {
  const std::vector<std::string> apps = chosen(options, {"slate", "kernelet"});
  RawLines lines(options, "slate_alone", apps.size());
  for (const std::string& app : apps) lines.step(app, [&] { return alone(app, published(session, app), options.repetitions); });
}

}  // namespace sluice::gpu
