// SPDX-License-Identifier: Apache-2.0
// Experiments on one kernel at a time: curves, overhead, preemption.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <random>

#include "sw/gpu/experiments/experiments.h"
#include "sw/io/progress.h"
#include "sw/io/raw_store.h"

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

}  // namespace

void curves_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawStore store(options.out / "curves.jsonl");
  Progress progress("curves", chosen(options).size());
  const unsigned sms = session.context().limits().sms;
  for (const std::string& name : chosen(options)) {
    if (!store.has(name)) {
      const PreparedKernel& kernel = session.app(name);
      StreamHandle stream = make_stream();
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
      store.add(name, {{"app", name},
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
                       {"sms", sms}});
    }
    progress.done(name);
  }
}

void overhead_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawStore store(options.out / "overhead.jsonl");
  Progress progress("overhead", chosen(options).size());
  const unsigned sms = session.context().limits().sms;
  for (const std::string& name : chosen(options)) {
    if (!store.has(name)) {
      const PreparedKernel& kernel = session.app(name);
      StreamHandle stream = make_stream();
      nlohmann::json native = nlohmann::json::array(), variants = nlohmann::json::object();
      std::uint32_t violations = 0;
      struct Variant {
        const char* name;
        const PreparedKernel& kernel;
        JobOptions options;
      };
      std::vector<Variant> tried = {{"default", kernel, {}},
                                    {"drivers_carveout", kernel, {.carveout_percent = -1}},
                                    {"one_task_claims", kernel, {.group = 1}},
                                    {"sixteen_task_claims", kernel, {.group = 16}}};
      std::optional<PreparedKernel> other;  // the other loop, where there is a choice
      if (!kernel.together()) {
        other.emplace(session.context(), session.compiler(), session.tools(), kernel.spec(),
                      KernelForm{.warps_apart = !kernel.warps_apart()});
        if (!other->refusal()) tried.push_back({other->warps_apart() ? "warps_apart" : "warps_together", *other, {}});
      }
      std::optional<PreparedKernel> usual;
      if (kernel.counterweight() != kCounterweight) {
        usual.emplace(session.context(), session.compiler(), session.tools(), kernel.spec(), KernelForm{.weighs = false});
        tried.push_back({"usual_counterweight", *usual, {}});
      }
      for (const Variant& variant : tried) {
        QuotaJob job(variant.kernel, variant.options);
        job.order(uniform_quota(sms, variant.kernel.occupancy()));
        nlohmann::json times = nlohmann::json::array(), empty = nlohmann::json::array();
        static_cast<void>(native_seconds(kernel, stream.get()));
        job.run_timed();
        for (unsigned r = 0; r < 3 * options.repetitions; ++r) {  // in turns: the clock's drift hits both
          native.push_back(native_seconds(kernel, stream.get()));
          times.push_back(job.run_timed());
          empty.push_back(job.run_timed(true));
        }
        const JobState s = job.state();
        variants[variant.name] = {{"seconds", times},
                                  {"empty_seconds", empty},
                                  {"most_ctas", *std::ranges::max_element(s.max_resident)},
                                  {"least_ctas", *std::ranges::min_element(s.max_resident)},
                                  {"registers", variant.kernel.persistent().registers()},
                                  {"occupancy", variant.kernel.occupancy()}};
        violations += s.violations;
      }
      const auto resources = [](const Kernel& k) {
        return nlohmann::json{
            {"registers", k.registers()}, {"static_shared_bytes", k.static_shared()}, {"local_bytes", k.local_bytes()}};
      };
      store.add(name, {{"app", name},
                       {"native_seconds", native},
                       {"variants", variants},
                       {"violations", violations},
                       {"warps_apart", kernel.warps_apart()},
                       {"counterweight", kernel.counterweight()},
                       {"warps_together_because", kernel.together().value_or("")},
                       {"native", resources(kernel.native())},
                       {"persistent", resources(kernel.persistent())},
                       {"native_occupancy", kernel.native_occupancy()},
                       {"occupancy", kernel.occupancy()},
                       {"blocks", kernel.spec().blocks()},
                       {"sms", sms}});
    }
    progress.done(name);
  }
}

void preemption_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawStore store(options.out / "preemption.jsonl");
  constexpr unsigned kEvictions = 1000;
  Progress progress("preemption", chosen(options).size());
  const unsigned sms = session.context().limits().sms;
  for (const std::string& name : chosen(options)) {
    if (!store.has(name)) {
      const PreparedKernel& kernel = session.app(name);
      JobOptions job_options;
      job_options.passes = 1ULL << 24;
      QuotaJob job(kernel, job_options);
      std::mt19937_64 random(7);
      nlohmann::json last_cta = nlohmann::json::array(), grids = nlohmann::json::array();
      double blocks = 0, time = 0;
      for (unsigned i = 0; i < kEvictions; ++i) {
        job.set(uniform_quota(sms, kernel.occupancy()));
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
      store.add(name, {{"app", name},
                       {"last_cta_us", last_cta},
                       {"grids_us", grids},
                       {"block_us", time / blocks * sms * kernel.occupancy() * 1e6},
                       {"occupancy", kernel.occupancy()},
                       {"violations", job.state().violations}});
    }
    progress.done(name);
  }
}

}  // namespace sluice::gpu
