// SPDX-License-Identifier: Apache-2.0
#include "study/gpu_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sw/core/errors.h"
#include "sw/io/atomic_file.h"
#include "sw/io/packed_file.h"

namespace sluice::gpu {

using nlohmann::json;

Measured measured(const Values& values) {
  return {median(values), bootstrap(values, [](std::span<const double> v) { return median(v); })};
}

double mean(const Values& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::string with_interval(const Measured& m, const char* unit, int digits) {
  return fmt::format("{:.{}f}{} [{:.{}f}, {:.{}f}]", m.value, digits, unit, m.interval.low, digits, m.interval.high, digits);
}

ScenarioOutcomes read_outcomes(const std::filesystem::path& file, const char* scenario) {
  std::map<std::string, std::map<std::string, std::vector<json>>> runs;
  for (const json& line : lines(file))
    if (line.contains("system")) runs[line.at(scenario)][line.at("system")].push_back(line);
  ScenarioOutcomes all;
  for (const auto& [name, systems] : runs)
    for (const auto& [system, repetitions] : systems) {
      ScenarioOutcome& outcome = all[name][system];
      outcome.repetitions = static_cast<unsigned>(repetitions.size());
      for (std::size_t k = 0; k < repetitions.front().at("jobs").size(); ++k) {
        const json& job = repetitions.front().at("jobs")[k];
        Values ended, evictions;
        for (const json& r : repetitions) {
          ended.push_back(r.at("jobs")[k]["ended_ms"]);
          evictions.push_back(r.at("jobs")[k].value("evictions", 0.0));
        }
        const double arrived = job.at("arrived_ms");
        outcome.launches.push_back(
            {job.at("name"), job.at("priority"), arrived, median(ended), median(ended) - arrived, median(evictions)});
      }
      for (const json& r : repetitions) {
        double first = INFINITY, last = 0;
        for (const json& job : r.at("jobs")) {
          first = std::min(first, job.at("arrived_ms").get<double>());
          last = std::max(last, job.at("ended_ms").get<double>());
        }
        outcome.makespans.push_back(last - first);
        for (const json& d : r.value("decisions", json::array())) {
          outcome.decide_us.push_back(d.at("decide_us"));
          outcome.send_us.push_back(d.at("send_us"));
        }
        outcome.violations += r.value("violations", std::uint64_t{0});
        outcome.identical = outcome.identical && r.value("bit_identical", true);
      }
    }
  return all;
}

ScheduleRun on_fake_executor(const ScenarioOutcome& outcome, const std::map<std::string, double>& alone,
                             const std::string& scheduler, const HandoverCosts& costs) {
  constexpr double kPicos = 1e9;  // a millisecond
  const auto time = [](double ms) { return Time(std::llround(ms * kPicos)); };
  Scenario scenario;
  scenario.file = scenario.name = scheduler;
  scenario.task = time(0.01);  // as in configs/scenarios: an eviction is immediate
  scenario.costs.launch = time(costs.launch);
  scenario.costs.evict = time(costs.evict);
  for (const ScenarioOutcome::Launch& launch : outcome.launches) {
    ScenarioJob& job = scenario.jobs.emplace_back();
    job.name = job.kernel = launch.name;
    job.alone = time(alone.at(launch.name));
    job.arrival = time(launch.arrived);
    job.asked = {launch.priority, launch.priority};
  }
  return schedule_on_fake(scenario, abstract_target(scenario), scheduler);
}

double antt(const ScenarioOutcome& outcome, const std::map<std::string, double>& alone) {
  double sum = 0;
  for (const ScenarioOutcome::Launch& l : outcome.launches) sum += l.turnaround / alone.at(l.name);
  return sum / static_cast<double>(outcome.launches.size());
}
double stp(const ScenarioOutcome& outcome, const std::map<std::string, double>& alone) {
  double sum = 0;
  for (const ScenarioOutcome::Launch& l : outcome.launches) sum += alone.at(l.name) / l.turnaround;
  return sum;
}

void RunChecks::print() const {
  for (const std::string& what : wrong_) fmt::print("wrong: {}\n", what);
}

void write_page(const std::filesystem::path& folder, const std::string& title, const std::vector<figures::Figure>& figures,
                const json& machine) {
  nlohmann::ordered_json meta;
  for (const char* key : {"name", "driver_cuda", "core_mhz", "sms"})
    if (machine.contains(key)) meta[key] = machine[key];
  const json experiments = machine.value("measured", json::object());  // items() of a temporary would dangle
  for (const auto& [name, when] : experiments.items()) meta[name] = when;
  write_file_atomically(folder / "index.html", figures::page(title, figures, meta, "This GPU"));
  write_file_atomically(folder / "figures.json", figures::page_json(figures, meta).dump(1) + "\n");
}

std::optional<bool> write_paper_page(const std::filesystem::path& folder) {
  constexpr std::pair<const char*, bool (*)(const std::filesystem::path&, const json&)> kPages[] = {
      {"effisha_schedules.jsonl", write_effisha_page},
      {"sim_pairs.jsonl", write_sim_page},
      {"slate_pairs.jsonl", write_slate_page},
      {"kernelet_slices.jsonl", write_kernelet_page},
      {"five_pairs.jsonl", write_five_page},
      {"slate_tasks.jsonl", write_slate_page},
      {"kernelet_copies.jsonl", write_kernelet_page},
      {"five_service.jsonl", write_five_page},
      {"five_own.jsonl", write_five_page}};
  for (const auto& [file, write] : kPages) {
    if (!has_packed(folder / file)) continue;
    const std::filesystem::path machine = folder / "machine.json";
    try {
      return write(folder, std::filesystem::exists(machine) ? json::parse(read_file(machine)) : json::object());
    } catch (const json::exception& e) {
      throw InputError(fmt::format("{}: a measurement lacks a field or has one of another type: {}", folder.string(), e.what()));
    }
  }
  return std::nullopt;
}

}  // namespace sluice::gpu
