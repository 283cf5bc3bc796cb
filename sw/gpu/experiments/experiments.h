// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "sw/gpu/jobs/gpu_session.h"
#include "sw/io/progress.h"
#include "sw/io/raw_store.h"

namespace sluice::gpu {

struct ExperimentOptions {
  std::filesystem::path out;  ///< folder of the raw results, NAME.jsonl in it
  unsigned repetitions = 5;
  std::vector<std::string> apps;                          ///< empty: the experiment's own choice
  double window = 10e-3;                                  ///< seconds of a measurement
  std::filesystem::path scenarios = "configs/scenarios";  ///< folder of the papers' scenarios
  std::string program;                                    ///< path of this program, for clients
  nlohmann::json on;                                      ///< GPU, driver, clocks, date, commit: goes into every line
};

/// Appends to OUT/NAME.jsonl what is not there yet, and prints progress.
using Experiment = void(GpuSession& session, const ExperimentOptions& options);
struct ExperimentRow {
  const char* name;
  Experiment* run;
  const char* measures;
};
[[nodiscard]] std::span<const ExperimentRow> experiments();

Experiment verify_experiment, curves_experiment, overhead_experiment, preemption_experiment, equal_work_experiment;
Experiment effisha_overhead_experiment, effisha_service_experiment, effisha_service_latency_experiment, slate_alone_experiment,
    five_service_experiment, balance_service_experiment, arrivals_service_experiment;

/// A program that launches these kernels, with each call told by a line on standard input what to do (`sluice gpu client`).
void kernel_program(const GpuSession& session, std::vector<App> apps);
/// Its options for an application.
[[nodiscard]] std::vector<std::string> of_app(const std::string& app, const AppSize& size);

/// OUT/NAME.jsonl, a line a key with where it was measured. What is there is not measured again.
class RawLines {
 public:
  RawLines(const ExperimentOptions& options, const std::string& name, std::size_t steps)
      : options_(options), store_(options.out / (name + ".jsonl")), progress_(name, steps) {}
  [[nodiscard]] bool has(const std::string& key) const { return store_.has(key); }
  void add(const std::string& key, nlohmann::json line) {
    line["on"] = options_.on;
    store_.add(key, std::move(line));
  }
  void done(const std::string& step) { progress_.done(step); }
  /// Adds what `measure` returns, unless it is known, and counts a step.
  void step(const std::string& key, const std::function<nlohmann::json()>& measure) {
    if (!has(key)) add(key, measure());
    done(key);
  }
  [[nodiscard]] const ExperimentOptions& options() const { return options_; }

 private:
  const ExperimentOptions& options_;
  RawStore store_;
  Progress progress_;
};

/// Unordered choices of `size` names, in order.
[[nodiscard]] std::vector<std::vector<std::string>> choose(const std::vector<std::string>& names, std::size_t size);
[[nodiscard]] std::string mix_name(const std::vector<std::string>& names);

}  // namespace sluice::gpu
