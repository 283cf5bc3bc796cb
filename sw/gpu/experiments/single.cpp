// SPDX-License-Identifier: Apache-2.0
// Experiments on one kernel at a time, in a program of its own as it is and under `sluice run`: curves, overhead, evictions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <thread>

#include "sw/core/errors.h"
#include "sw/gpu/apps/app_sizes.h"
#include "sw/gpu/experiments/clients.h"
#include "sw/gpu/experiments/experiments.h"

namespace sluice::gpu {

namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

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
AppSize published(const std::string& app) {
  for (const char* paper : {"effisha", "sim", "kernelet", "slate"})
    for (const PaperKernel& k : paper_kernels(paper))
      if (k.app == app) return measured_size(app, k.milliseconds.value_or(kEqualLength));
  throw InputError(app + ": is of no paper");
}

/// A kernel as it is and under a quota of all that fits, in turns after one that warms up: a drift of the clock hits both.
json both_ways(const ExperimentOptions& options, const std::string& app, const AppSize& size, unsigned times) {
  const Scratch scratch;
  const auto native = start_kernels(options.program, app, of_app(app, size));
  const auto quota = start_kernels(options.program, app, of_app(app, size), Words{"--quota", "32"}, scratch.path() / "report");
  json line = {{"app", app}, {"kernel", native->receive()["kernels"][0]}, {"native", json::array()}, {"quota", json::array()}};
  static_cast<void>(quota->receive());
  for (unsigned r = 0; r <= times; ++r)
    for (const auto& [way, client] : {std::pair("native", &native), {"quota", &quota}})
      if (const json answer = (*client)->ask("timed 1"); r > 0) line[way].push_back(answer["seconds"][0]);
  line["report"] = quota->end();
  return line;
}

json alone(const ExperimentOptions& options, const std::string& app) {
  json line = both_ways(options, app, published(app), 2 * options.repetitions);
  const auto ms = [&](const char* way) {
    std::vector<double> all = line[way];
    for (double& t : all) t *= 1e3;
    return all;
  };
  return {{"app", app},
          {"native_ms", ms("native")},
          {"push_ms", ms("quota")},
          {"violations", line["report"]["quota_violations"]},
          {"blocks", line["kernel"]["blocks"]},
          {"native_occupancy", line["kernel"]["occupancy"]},
          {"native_registers", line["kernel"]["registers"]}};
}

/// Launches that last so long together.
unsigned launches_for(Client& client, double window) {
  const double once = client.ask("timed 2")["seconds"][1];
  return static_cast<unsigned>(std::max(2.0, std::ceil(window / once)));
}

void say(const std::filesystem::path& file, const std::string& quota) { std::ofstream(file) << quota << "\n"; }

/// A kernel evicted a thousand times while it runs, from the order until its last CTA has left, as the program's runtime sees it.
json evictions(const ExperimentOptions& options, const std::string& app) {
  constexpr unsigned kEvictions = 1000;
  constexpr std::chrono::microseconds kRuns(500), kAway(1000);
  const Scratch scratch;
  say(scratch.path() / "quota", "all");
  const auto client = start_kernels(options.program, app, of_app(app, full_size(app)),
                                    Words{"--quota-file", scratch.path() / "quota"}, scratch.path() / "report");
  const json ready = client->receive(), kernel = ready["kernels"][0];
  const double once = client->ask("timed 2")["seconds"][1];
  client->send(fmt::format("run {}", launches_for(*client, 2 * kEvictions * std::chrono::duration<double>(kRuns).count())));
  for (unsigned i = 0; i < kEvictions; ++i) {
    std::this_thread::sleep_for(kRuns);  // anywhere in a block: it ends when the system likes
    say(scratch.path() / "quota", "0");
    std::this_thread::sleep_for(kAway);
    say(scratch.path() / "quota", "all");
  }
  static_cast<void>(client->receive());
  json report = client->end();
  const double blocks = kernel["blocks"], places = kernel["occupancy"].get<double>() * ready["sms"].get<double>();
  return {{"app", app},
          {"last_cta_us", report["evictions"]["left_us"]},
          {"block_us", once / blocks * places * 1e6},
          {"violations", report["quota_violations"]}};
}

}  // namespace

void curves_experiment(GpuSession&, const ExperimentOptions& options) {
  RawLines lines(options, "curves", chosen(options).size());
  constexpr std::chrono::milliseconds kHeard(20);  // of a quota in a file
  for (const std::string& app : chosen(options))
    lines.step(app, [&] {
      const Scratch scratch;
      say(scratch.path() / "quota", "all");
      const auto native = start_kernels(options.program, app, of_app(app, full_size(app)));
      const auto quota = start_kernels(options.program, app, of_app(app, full_size(app)),
                                       Words{"--quota-file", scratch.path() / "quota"}, scratch.path() / "report");
      const json ready = native->receive(), kernel = ready["kernels"][0];
      static_cast<void>(quota->receive());
      const unsigned launches = launches_for(*native, options.window);
      const auto rate = [&](Client& client) {
        return launches * kernel["blocks"].get<double>() / client.ask(fmt::format("run {}", launches))["ms"][0].get<double>() *
               1e3;
      };
      json alone = json::array(), curve = json::array();
      for (unsigned r = 0; r < options.repetitions; ++r) {
        alone.push_back(rate(*native));
        json& points = curve.emplace_back(json::array());
        for (unsigned ctas = 1; ctas <= kernel["occupancy"]; ++ctas) {
          say(scratch.path() / "quota", std::to_string(ctas));
          std::this_thread::sleep_for(kHeard);
          points.push_back(rate(*quota));
        }
      }
      return json{{"app", app},
                  {"native_blocks_per_second", alone},
                  {"blocks_per_second", curve},
                  {"violations", quota->end()["quota_violations"]},
                  {"demand", kernel["demand"]},
                  {"capacity", ready["capacity"]},
                  {"native_occupancy", kernel["occupancy"]},
                  {"blocks", kernel["blocks"]},
                  {"block_threads", kernel["block_threads"]},
                  {"sms", ready["sms"]}};
    });
}

void overhead_experiment(GpuSession&, const ExperimentOptions& options) {
  RawLines lines(options, "overhead", chosen(options).size());
  for (const std::string& app : chosen(options))
    lines.step(app, [&] {
      const json both = both_ways(options, app, full_size(app), 3 * options.repetitions);
      return json{{"app", app},
                  {"native_seconds", both["native"]},
                  {"variants", {{"default", {{"seconds", both["quota"]}}}}},
                  {"violations", both["report"]["quota_violations"]},
                  {"native_occupancy", both["kernel"]["occupancy"]},
                  {"native", {{"registers", both["kernel"]["registers"]}}},
                  {"blocks", both["kernel"]["blocks"]}};
    });
}

void preemption_experiment(GpuSession&, const ExperimentOptions& options) {
  RawLines lines(options, "preemption", chosen(options).size());
  for (const std::string& app : chosen(options)) lines.step(app, [&] { return evictions(options, app); });
}

void effisha_overhead_experiment(GpuSession&, const ExperimentOptions& options) {
  const std::vector<std::string> apps = chosen(options, {"effisha", "sim"});
  RawLines lines(options, "effisha_overhead", apps.size());
  for (const std::string& app : apps) lines.step(app, [&] { return alone(options, app); });
}

void slate_alone_experiment(GpuSession&, const ExperimentOptions& options) {
  const std::vector<std::string> apps = chosen(options, {"slate", "kernelet"});
  RawLines lines(options, "slate_alone", apps.size());
  for (const std::string& app : apps) lines.step(app, [&] { return alone(options, app); });
}

}  // namespace sluice::gpu
