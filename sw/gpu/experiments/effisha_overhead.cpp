// SPDX-License-Identifier: Apache-2.0
// EffiSha's figures 10, 11 and 13 on the GPU: what eviction costs, what slices of the same latency cost, how long an eviction
// takes.
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "sw/core/errors.h"
#include "sw/gpu/apps/app_sizes.h"
#include "sw/gpu/experiments/experiments.h"
#include "sw/gpu/experiments/slices.h"
#include "sw/io/progress.h"
#include "sw/io/raw_store.h"

namespace sluice::gpu {

namespace {

std::vector<std::string> chosen(const ExperimentOptions& options) {
  if (!options.apps.empty()) return options.apps;
  std::vector<std::string> apps;
  for (const char* paper : {"effisha", "sim"})
    for (const PaperKernel& k : paper_kernels(paper))
      if (std::ranges::count(apps, k.app) == 0) apps.push_back(k.app);
  return apps;
}

/// As long as in EffiSha's table 3, or in SiM's.
AppSize published(const std::string& app) {
  for (const char* paper : {"effisha", "sim", "kernelet", "slate"})
    for (const PaperKernel& k : paper_kernels(paper))
      if (k.app == app) return measured_size(app, k.milliseconds.value_or(kEqualLength));
  throw InputError(app + ": is of no paper");
}

}  // namespace

namespace {

/// Each kernel as it is and under quotas, in turns.
void compare_alone(GpuSession& session, const ExperimentOptions& options, const std::string& name,
                   const std::vector<std::string>& apps) {
  RawStore store(options.out / (name + ".jsonl"));
  Progress progress(name, apps.size());
  const unsigned sms = session.context().limits().sms;
  for (const std::string& app : apps) {
    if (!store.has(app)) {
      const PreparedKernel& kernel = session.app(app, published(app));
      const StreamHandle stream = make_stream();
      QuotaJob job(kernel, {});
      const std::uint64_t spread = (kernel.spec().blocks() + sms - 1) / sms;
      job.order(uniform_quota(sms, static_cast<std::uint32_t>(std::min<std::uint64_t>(kernel.occupancy(), spread))));
      nlohmann::json native = nlohmann::json::array(), push = nlohmann::json::array();
      for (unsigned r = 0; r <= 2 * options.repetitions; ++r) {  // in turns
        const double a = native_seconds(kernel, stream.get()) * 1e3, b = job.run_timed() * 1e3;
        if (r == 0) continue;
        native.push_back(a);
        push.push_back(b);
      }
      store.add(app, {{"app", app},
                      {"native_ms", native},
                      {"push_ms", push},
                      {"violations", job.state().violations},
                      {"blocks", kernel.spec().blocks()},
                      {"native_occupancy", kernel.native_occupancy()},
                      {"occupancy", kernel.occupancy()},
                      {"native_registers", kernel.native().registers()},
                      {"registers", kernel.persistent().registers()},
                      {"warps_apart", kernel.warps_apart()},
                      {"on", options.on}});
    }
    progress.done(app);
  }
}

}  // namespace

void effisha_overhead_experiment(GpuSession& session, const ExperimentOptions& options) {
  compare_alone(session, options, "effisha_overhead", chosen(options));
}

void slate_alone_experiment(GpuSession& session, const ExperimentOptions& options) {
  std::vector<std::string> apps;
  for (const PaperKernel& k : paper_kernels("slate")) apps.push_back(k.app);
  for (const PaperKernel& k : paper_kernels("kernelet"))
    if (std::ranges::count(apps, k.app) == 0) apps.push_back(k.app);
  compare_alone(session, options, "slate_alone", options.apps.empty() ? apps : options.apps);
}

void slate_tasks_experiment(GpuSession& session, const ExperimentOptions& options) {
  constexpr unsigned kSizes[] = {1, 2, 5, 10, 20, 50, 100};  // figure 5's; 0 beside them: what the runtime chooses
  RawStore store(options.out / "slate_tasks.jsonl");
  Progress progress("slate_tasks", paper_kernels("slate").size());
  const unsigned sms = session.context().limits().sms;
  for (const PaperKernel& k : paper_kernels("slate")) {
    if (!store.has(k.app)) {
      const PreparedKernel& kernel = session.app(k.app, published(k.app));
      const StreamHandle stream = make_stream();
      nlohmann::json native = nlohmann::json::array(), by_size = nlohmann::json::object();
      std::vector<std::unique_ptr<QuotaJob>> jobs;
      const std::uint64_t spread = (kernel.spec().blocks() + sms - 1) / sms;
      const auto most = static_cast<std::uint32_t>(std::min<std::uint64_t>(kernel.occupancy(), spread));
      std::vector<unsigned> sizes = {0};
      sizes.insert(sizes.end(), std::begin(kSizes), std::end(kSizes));
      for (const unsigned size : sizes) {
        jobs.push_back(std::make_unique<QuotaJob>(kernel, JobOptions{.group = size}));
        jobs.back()->order(uniform_quota(sms, most));
      }
      for (unsigned r = 0; r <= 2 * options.repetitions; ++r) {  // in turns; the first ones warm up
        const double a = native_seconds(kernel, stream.get()) * 1e3;
        if (r > 0) native.push_back(a);
        for (std::size_t i = 0; i < sizes.size(); ++i) {
          const double b = jobs[i]->run_timed() * 1e3;
          if (r > 0) by_size[std::to_string(sizes[i])].push_back(b);
        }
      }
      std::uint32_t violations = 0;
      for (const auto& job : jobs) violations += job->state().violations;
      store.add(k.app, {{"app", k.app},
                        {"native_ms", native},
                        {"ms", by_size},
                        {"blocks", kernel.spec().blocks()},
                        {"ctas", most * sms},
                        {"violations", violations},
                        {"on", options.on}});
    }
    progress.done(k.app);
  }
}

void effisha_pkm_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawStore store(options.out / "effisha_pkm.jsonl");
  const std::vector<std::string> apps = chosen(options);
  constexpr double kResponses[] = {1, 0.5, 0.25, 0.125, 0.0625, 0.05};  // ms; the last one: Sluice's own latency
  Progress progress("effisha_pkm", apps.size());
  for (const std::string& app : apps) {
    if (!store.has(app)) {
      const PreparedKernel& kernel = session.app(app, published(app));
      const StreamHandle stream = make_stream();
      kernel.reset_buffers();
      static_cast<void>(native_by_clock(kernel, stream.get()));
      const std::vector<std::uint64_t> wanted = kernel.fingerprints();
      kernel.poison_outputs();
      const Slices slices(session, kernel);
      const double whole = native_by_clock(kernel, stream.get());
      const auto all = static_cast<double>(kernel.spec().blocks());
      nlohmann::json points = nlohmann::json::array();
      bool same = true;
      for (const double response : kResponses) {
        // Half a slice is left in the middle of one: its length is twice the mean wait.
        const auto blocks = static_cast<std::uint32_t>(std::clamp(all * response / whole, 1.0, all));
        for (const std::size_t queued : {std::size_t{1}, std::size_t{2}}) {
          nlohmann::json native = nlohmann::json::array(), cut = nlohmann::json::array();
          for (unsigned r = 0; r <= options.repetitions; ++r) {
            const double a = native_by_clock(kernel, stream.get());
            if (r == 0 && queued == 1) kernel.poison_outputs();
            const double b = slices.run(stream.get(), blocks, queued);
            if (r == 0 && queued == 1) same = same && kernel.fingerprints() == wanted;
            if (r == 0) continue;
            native.push_back(a);
            cut.push_back(b);
          }
          points.push_back(
              {{"response_ms", response}, {"queued", queued}, {"blocks", blocks}, {"native_ms", native}, {"pkm_ms", cut}});
        }
      }
      store.add(app, {{"app", app}, {"points", points}, {"bit_identical", same}, {"on", options.on}});
    }
    progress.done(app);
  }
}

void effisha_latency_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawStore store(options.out / "effisha_latency.jsonl");
  constexpr unsigned kEvictions = 1000;
  const std::vector<std::string> apps = chosen(options);
  Progress progress("effisha_latency", apps.size());
  const unsigned sms = session.context().limits().sms;
  for (const std::string& app : apps) {
    if (!store.has(app)) {
      const PreparedKernel& kernel = session.app(app, published(app));
      QuotaJob job(kernel, {.passes = 1ULL << 20});
      std::mt19937_64 random(7);
      nlohmann::json last_cta = nlohmann::json::array(), grids = nlohmann::json::array(), back = nlohmann::json::array();
      for (unsigned i = 0; i < kEvictions; ++i) {
        const Clock::time_point start = Clock::now();
        job.set(uniform_quota(sms, kernel.occupancy()));
        while (job.glance().resident == 0) {
        }
        back.push_back(seconds(Clock::now() - start) * 1e6);
        static_cast<void>(job.settle());
        sleep_seconds(50e-6 + static_cast<double>(random() % 200) * 1e-6);  // anywhere in a block
        const QuotaJob::Eviction e = job.evict();
        last_cta.push_back(e.last_cta * 1e6);
        grids.push_back(e.grids * 1e6);
      }
      store.add(app, {{"app", app},
                      {"last_cta_us", last_cta},
                      {"grids_us", grids},
                      {"back_us", back},  // from the order until the host sees CTAs again
                      {"violations", job.state().violations},
                      {"on", options.on}});
    }
    progress.done(app);
  }
}

}  // namespace sluice::gpu
