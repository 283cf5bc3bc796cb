// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/scenario.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "sw/io/toml_reader.h"
#include "sw/scheduler/priority.h"

namespace sluice {

namespace {

constexpr double kMostMs = 1e6, kLeastMs = 1e-6, kMostUs = 1e6;
constexpr double kPicosPerMs = 1e9, kPicosPerUs = 1e6;
constexpr std::uint32_t kMostLaunches = 100000;
constexpr double kLeastPerSecond = 1e-3, kMostPerSecond = 1e6, kMostMiB = 1e9, kMostGb = 1e4;
constexpr double kBytesPerMiB = 1024 * 1024, kBytesPerGb = 1e9, kPicosPerSecond = 1e12;

Time time_of(double value, double picos) { return Time(std::llround(value * picos)); }

void read_priority(TomlTable& table, ScenarioJob& job) {
  std::int32_t fixed = -1;
  table.read("priority", fixed, 0, kMaxPriority);
  if (fixed >= 0) job.asked = {fixed, fixed};
  if (auto range = table.optional_table("random_priority")) {
    if (job.asked) table.fail("random_priority", "priority is given, too");
    job.asked.emplace();
    range->read("lowest", job.asked->lowest, 0, kMaxPriority);
    range->read("highest", job.asked->highest, 0, kMaxPriority);
    range->finish();
    if (job.asked->highest < job.asked->lowest) range->fail("highest", "must not be below lowest");
  }
  table.read("nice", job.nice, -20, 19);
  table.read("root", job.root);
}

ScenarioJob read_job(TomlTable& table, std::string& after) {
  ScenarioJob job;
  table.read("name", job.name);
  table.optional();
  job.kernel = job.name;
  table.read("kernel", job.kernel);
  double alone = 0, arrival = 0;
  table.read("alone_ms", alone, kLeastMs, kMostMs);
  if (alone > 0) job.alone = time_of(alone, kPicosPerMs);
  table.read("arrival_ms", arrival, 0, kMostMs);
  job.arrival = time_of(arrival, kPicosPerMs);
  table.read("after", after);
  read_priority(table, job);
  table.read("launches", job.launches, 1, kMostLaunches);
  double per_second = 0;
  table.read("per_second", per_second, kLeastPerSecond, kMostPerSecond);
  if (per_second > 0) {
    job.per_second = per_second;
    if (!after.empty()) table.fail("per_second", "launches that come by themselves follow no other job");
  }
  table.read("in_mib", job.in_mib, 0, kMostMiB);
  table.read("out_mib", job.out_mib, 0, kMostMiB);
  table.finish();
  return job;
}

DeviceMemory read_memory(TomlTable& table) {
  DeviceMemory memory;
  double mib = 0, gb = 0;
  table.read("device_mib", mib, 1, kMostMiB);
  table.read("gb_per_second", gb, 1e-3, kMostGb);
  memory.bytes = static_cast<std::uint64_t>(mib * kBytesPerMiB);
  memory.bytes_a_second = gb * kBytesPerGb;
  table.optional();
  table.read("overlap", memory.overlap);
  table.finish();
  return memory;
}

/// Names to indices; nobody may wait for himself, over however many others.
void resolve(Scenario& scenario, const std::vector<TomlTable>& tables, const std::vector<std::string>& after) {
  std::vector<ScenarioJob>& jobs = scenario.jobs;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (after[j].empty()) continue;
    const auto found = std::ranges::find(jobs, after[j], &ScenarioJob::name);
    if (found == jobs.end()) tables[j].fail("after", "no job has this name");
    jobs[j].after = static_cast<std::size_t>(found - jobs.begin());
  }
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    std::size_t steps = 0;
    for (std::optional<std::size_t> at = jobs[j].after; at && steps <= jobs.size(); at = jobs[*at].after) ++steps;
    if (steps > jobs.size()) tables[j].fail("after", "the jobs wait for each other in a cycle");
  }
}

}  // namespace

Scenario read_scenario(const std::filesystem::path& path) {
  const toml::table file = parse_toml(path);
  TomlTable root(path, "", file);
  Scenario scenario;
  scenario.file = path.string();
  root.read("name", scenario.name);
  std::vector<std::string> after;
  std::vector<TomlTable> tables = root.array("job");
  for (TomlTable& table : tables) {
    after.emplace_back();
    ScenarioJob job = read_job(table, after.back());
    if (std::ranges::find(scenario.jobs, job.name, &ScenarioJob::name) != scenario.jobs.end())
      table.fail("name", "another job has this name");
    scenario.jobs.push_back(std::move(job));
  }
  root.optional();
  double task = 0;
  root.read("task_us", task, kLeastMs, kMostUs);
  if (task > 0) scenario.task = time_of(task, kPicosPerUs);
  root.read("seed", scenario.seed, 0, std::numeric_limits<std::int64_t>::max());
  std::vector<double> waits;
  root.read("wait_ms", waits, 0, kMostMs);
  for (const double wait : waits) scenario.waits.push_back(time_of(wait, kPicosPerMs));
  double gap = -1;
  root.read("pair_gap_ms", gap, 0, kMostMs);
  if (gap >= 0) scenario.pair_gap = time_of(gap, kPicosPerMs);
  if (auto costs = root.optional_table("costs")) {
    costs->optional();
    for (const auto& [key, cost] : {std::pair("copy_us", &FakeCosts::copy), std::pair("launch_us", &FakeCosts::launch),
                                    std::pair("evict_us", &FakeCosts::evict), std::pair("profile_us", &FakeCosts::profile)}) {
      double value = 0;
      costs->read(key, value, 0, kMostUs);
      scenario.costs.*cost = time_of(value, kPicosPerUs);
    }
    costs->finish();
  }
  if (auto memory = root.optional_table("memory")) {
    scenario.costs.memory = read_memory(*memory);
    if (scenario.costs.copy > Time(0)) memory->fail("device_mib", "costs.copy_us is given, too");
  }
  root.finish();
  if (scenario.jobs.empty()) root.fail("job", "must have at least one");
  const bool again =
      std::ranges::any_of(scenario.jobs, [](const ScenarioJob& job) { return job.launches > 1 && !job.per_second; });
  if (again == waits.empty())
    root.fail("wait_ms", again ? "is missing: a job has several launches" : "no job has several launches");
  resolve(scenario, tables, after);
  if (scenario.pair_gap) {
    if (scenario.jobs.size() < 2) root.fail("pair_gap_ms", "needs two jobs at least");
    for (std::size_t j = 0; j < tables.size(); ++j)
      if (scenario.jobs[j].arrival > Time(0) || scenario.jobs[j].after || again)
        tables[j].fail("name", "with pair_gap_ms a job has no arrival_ms, no after and one launch");
  }
  return scenario;
}

std::vector<Scenario> runs_of(const Scenario& scenario) {
  if (!scenario.pair_gap) return {scenario};
  std::vector<Scenario> out;
  const auto pair = [&](const ScenarioJob& first, const ScenarioJob& second, Time gap, const char* suffix) {
    Scenario& made = out.emplace_back(scenario);
    made.pair_gap.reset();
    made.name = first.name + "_" + second.name + suffix;
    made.jobs = {first, second};
    made.jobs.back().arrival = gap;
  };
  for (std::size_t a = 0; a < scenario.jobs.size(); ++a) {
    for (std::size_t b = a + 1; b < scenario.jobs.size(); ++b) {
      pair(scenario.jobs[a], scenario.jobs[b], *scenario.pair_gap, "");
      pair(scenario.jobs[b], scenario.jobs[a], *scenario.pair_gap, "");
      pair(scenario.jobs[a], scenario.jobs[b], Time(0), "_together");
    }
  }
  return out;
}

MemoryDemand memory_demand(const ScenarioJob& job, KernelType type) {
  return {static_cast<std::uint64_t>(job.in_mib * kBytesPerMiB), static_cast<std::uint64_t>(job.out_mib * kBytesPerMiB), type};
}

std::vector<ScenarioLaunch> launches(const Scenario& scenario, Time wait) {
  std::mt19937_64 random(scenario.seed);
  std::vector<ScenarioLaunch> all;
  std::vector<std::uint32_t> last(scenario.jobs.size());
  std::vector<std::mt19937_64> gaps;  // streams of their own: who else comes changes nobody's
  for (std::size_t j = 0; j < scenario.jobs.size(); ++j) gaps.emplace_back(scenario.seed * 1000003 + j);
  std::uint32_t rounds = 0;
  for (const ScenarioJob& job : scenario.jobs) rounds = std::max(rounds, job.launches);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (std::size_t j = 0; j < scenario.jobs.size(); ++j) {
      const ScenarioJob& job = scenario.jobs[j];
      if (round >= job.launches) continue;
      std::optional<std::int32_t> asked;
      if (job.asked) {  // no std:: distribution: theirs differ from library to library
        const auto values = static_cast<std::uint64_t>(job.asked->highest - job.asked->lowest) + 1;
        asked = job.asked->lowest + static_cast<std::int32_t>(values == 1 ? 0 : random() % values);
      }
      const std::int32_t priority = granted_priority(asked, thread_priority(job.nice), job.root);
      if (round == 0) {
        all.push_back({j, priority, job.arrival, std::nullopt});
      } else if (job.per_second) {
        const double drawn = (static_cast<double>(gaps[j]() >> 11) + 0.5) * 0x1p-53;  // 0..1, neither
        const Time gap(std::llround(-std::log(drawn) / *job.per_second * kPicosPerSecond));
        all.push_back({j, priority, all[last[j]].arrival + gap, std::nullopt});
      } else {
        all.push_back({j, priority, wait, last[j]});
      }
      last[j] = static_cast<std::uint32_t>(all.size() - 1);
    }
  }
  for (ScenarioLaunch& launch : all) {
    const std::optional<std::size_t>& after = scenario.jobs[launch.job].after;
    if (after && !launch.after) launch.after = last[*after];
  }
  return all;
}

}  // namespace sluice
