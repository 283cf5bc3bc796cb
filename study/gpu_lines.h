// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sw/core/kernel.h"
#include "sw/gpu/report/output.h"
#include "sw/report/paper_page.h"

namespace sluice::gpu {

// What the pages of the papers' evaluations on a GPU share.

/// Launches of one scenario under one system; medians over the repetitions, milliseconds.
struct ScenarioOutcome {
  struct Launch {
    std::string name;
    std::int32_t priority = 0;
    double arrived = 0, ended = 0, turnaround = 0, evictions = 0;
  };
  std::vector<Launch> launches;
  Values makespans;  ///< first arrival to last end, of each repetition
  std::uint64_t violations = 0;
  bool identical = true;  ///< outputs, where they were compared
};
/// Scenario, system.
using ScenarioOutcomes = std::map<std::string, std::map<std::string, ScenarioOutcome>>;
/// @param scenario  the lines' field that names it
[[nodiscard]] ScenarioOutcomes read_outcomes(const std::filesystem::path& file, const char* scenario);

[[nodiscard]] double antt(const ScenarioOutcome& outcome, const std::map<std::string, double>& alone);
[[nodiscard]] double stp(const ScenarioOutcome& outcome, const std::map<std::string, double>& alone);

/// What must be right of measured runs, whatever they show: outputs as without sharing, no quota exceeded, no launch lost.
class RunChecks {
 public:
  void that(const std::string& what, bool right) {
    if (!right) wrong_.push_back(what);
  }
  [[nodiscard]] bool right() const { return wrong_.empty(); }
  [[nodiscard]] const std::vector<std::string>& wrong() const { return wrong_; }
  void print() const;  ///< what is wrong, to standard output, a line each

 private:
  std::vector<std::string> wrong_;
};

/// A chart of ratios as their distance from 1, the largest on top.
/// @param series  may be empty where there is one
[[nodiscard]] report::RowChart gains(std::string title, std::vector<report::Series> series = {});
/// A chart of times, logarithmic.
[[nodiscard]] report::RowChart times(std::string title, std::string x_label, std::vector<report::Series> series = {});
/// A strong row at the end: the mean of each series, with what the paper says of it (or not a number).
void add_mean(report::RowChart& chart, const std::string& label, double (*mean)(const Values&), const Values& published = {});
[[nodiscard]] double arithmetic_mean(const Values& values);
[[nodiscard]] double geometric(const Values& ratios);
/// Who had the GPU when, by the decisions of one run: a row a launch, as high as its share of the CTAs or SMs.
[[nodiscard]] report::Timeline schedule(const nlohmann::json& line, std::string title);
/// By the paper's name of a kernel where it has one.
[[nodiscard]] std::string name_in(const char* paper, const std::string& app);

/// What replays of the folder's scenes in the model found, from its figures.json. How they were made is in the history
/// (docs/reference/changelog.md). Empty where there is none.
[[nodiscard]] figures::Figure model_beside_silicon(const std::filesystem::path& folder);

/// Writes index.html and figures.json of a paper's evaluation; figures without blocks are left out.
/// @param finding  the title, without the GPU's name
/// @return nothing is wrong with the runs
[[nodiscard]] bool write_page(const std::filesystem::path& folder, const std::string& finding, std::vector<report::Block> opening,
                              std::vector<figures::Figure> figures, const nlohmann::json& machine, const RunChecks& checks);

/// Writes the page of a folder that holds the measurements of a paper's evaluation, and prints what is wrong with the runs.
/// @return nothing is wrong; no value when the folder holds no paper's
/// @throws InputError when a measurement lacks a field
[[nodiscard]] std::optional<bool> write_paper_page(const std::filesystem::path& folder);
[[nodiscard]] bool write_effisha_page(const std::filesystem::path& folder, const nlohmann::json& machine);
[[nodiscard]] bool write_sim_page(const std::filesystem::path& folder, const nlohmann::json& machine);
[[nodiscard]] bool write_kernelet_page(const std::filesystem::path& folder, const nlohmann::json& machine);
[[nodiscard]] bool write_five_page(const std::filesystem::path& folder, const nlohmann::json& machine);
[[nodiscard]] bool write_slate_page(const std::filesystem::path& folder, const nlohmann::json& machine);

// Figures that are also looked at alone. Each is empty where its measurement is not there.
[[nodiscard]] figures::Figure effisha_latency(const std::filesystem::path& folder);
[[nodiscard]] figures::Figure effisha_flags(const std::filesystem::path& folder, RunChecks& checks);
[[nodiscard]] figures::Figure effisha_service_latency(const std::filesystem::path& folder, RunChecks& checks);
[[nodiscard]] figures::Figure five_service(const std::filesystem::path& folder, RunChecks& checks);

/// Kernels under quotas as the overhead experiments found them: a CTA's threads, registers and shared memory.
/// @param results  folder with overhead.jsonl and papers/overhead.jsonl
/// @return by application, without grids
[[nodiscard]] std::map<std::string, KernelDescriptor> measured_kernels(const std::filesystem::path& results);

/// Kernelet's model, which knows each kernel by its counters alone, on the pairs that the folder holds: figure 5.
/// @return empty where rates of pairs or the counters are missing
/// @throws InputError when the overhead experiments lack a kernel
[[nodiscard]] figures::Figure kernelet_prediction(const std::filesystem::path& folder, const nlohmann::json& machine);

}  // namespace sluice::gpu
