// SPDX-License-Identifier: Apache-2.0
#include "study/run_cache.h"

#include <fmt/format.h>
#include <sluice_provenance.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <set>

#include "study/run_pool.h"
#include "sw/core/errors.h"
#include "sw/core/hash.h"
#include "sw/io/atomic_file.h"
#include "sw/io/progress.h"
#include "systemc/model_device.h"

namespace sluice {

namespace {

HostTotals totals;
std::set<std::filesystem::path> made;  // by this process: taken up again, they are not "from before"

bool load(const std::filesystem::path& file, const std::string& key, RunResult& result) {
  std::ifstream in(file);
  if (!in) return false;
  const nlohmann::json kept = nlohmann::json::parse(in, nullptr, false);
  if (kept.is_discarded() || !kept.is_object() || kept.value("key", "") != key) return false;
  try {
    kept.at("result").get_to(result);
  } catch (const nlohmann::json::exception&) {
    return false;  // damaged: run it again
  }
  return true;
}

bool met_its_targets(const RunSpec& spec, const RunResult& result) {
  for (std::size_t k = 0; k < spec.launches.size(); ++k)
    if (spec.launches[k].target_warp_instructions != 0 && result.kernels.at(k).finish_cycle == 0) return false;
  return true;
}

/// Lengths of the finished runs of every race.
class Races {
 public:
  void ended(const NamedRun& run, const RunResult& result) {
    if (!run.race.empty() && met_its_targets(run.spec, result)) cycles_[run.race].push_back(result.cycles.value());
  }
  void shorten(const NamedRun& run, RunSpec& spec) const {
    const std::uint64_t bound = bound_of(run);
    if (bound != kNone) spec.window = Cycles(bound);
  }
  /// A kept run that was stopped: its race may have been another one. Would it be stopped by then in this one?
  [[nodiscard]] bool holds(const NamedRun& run, const RunResult& result) const {
    return run.race.empty() || met_its_targets(run.spec, result) || bound_of(run) <= result.cycles.value();
  }

 private:
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  [[nodiscard]] std::uint64_t bound_of(const NamedRun& run) const {
    const auto found = cycles_.find(run.race);
    return found == cycles_.end() ? kNone : race_bound(found->second, run.wanted);
  }

  std::map<std::string, std::vector<std::uint64_t>> cycles_;
};

}  // namespace

std::string key_of(const std::string& text, PartitionerKind partitioner) {
  return fmt::format("{:016x}", fnv1a(text)) + SLUICE_MODEL_HASH + (partitioner == PartitionerKind::Twin ? "" : SLUICE_RTL_HASH);
}

std::uint64_t race_bound(std::vector<std::uint64_t> cycles, std::size_t wanted) {
  if (cycles.size() < wanted) return std::numeric_limits<std::uint64_t>::max();
  std::ranges::nth_element(cycles, cycles.begin() + static_cast<std::ptrdiff_t>(wanted - 1));
  return static_cast<std::uint64_t>(static_cast<double>(cycles[wanted - 1]) * kRaceMargin);
}

const HostTotals& host_totals() { return totals; }

void check_writable(const std::filesystem::path& folder) {
  make_folder(folder);
  write_file_atomically(folder / ".writable", "");
  std::filesystem::remove(folder / ".writable");
}

std::vector<RunResult> run_all(const std::vector<NamedRun>& runs, const std::filesystem::path& folder, unsigned jobs,
                               const std::string& what) {
  check_writable(folder);
  std::vector<RunResult> results(runs.size());
  std::vector<std::size_t> missing;
  std::vector<RunSpec> specs;
  Races races;
  const auto key = [&](std::size_t i) { return key_of(runs[i].fingerprint, runs[i].spec.partitioner); };
  const auto file = [&](std::size_t i) { return folder / (runs[i].name + ".json"); };
  std::vector<bool> kept(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    kept[i] = load(file(i), key(i), results[i]);
    if (kept[i]) races.ended(runs[i], results[i]);
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (kept[i] && races.holds(runs[i], results[i])) {
      if (!made.contains(file(i))) ++totals.reused;
      continue;
    }
    missing.push_back(i);
    specs.push_back(runs[i].spec);
  }
  if (missing.empty()) return results;
  Progress progress(what, missing.size());
  const RunPool pool([] { return std::make_unique<ModelDevice>(); }, jobs);
  std::size_t finished = runs.size() - missing.size();
  const auto on_done = [&](std::size_t m, const RunResult& result, const HostCost& cost) {
    const std::size_t i = missing[m];
    totals.cpu_seconds += cost.cpu_seconds;
    totals.peak_rss_mib = std::max(totals.peak_rss_mib, cost.peak_rss_mib);
    ++totals.runs;
    ++finished;
    results[i] = result;
    races.ended(runs[i], result);
    write_file_atomically(file(i), nlohmann::json{{"key", key(i)}, {"result", result}}.dump());
    made.insert(file(i));
    progress.done(runs[i].name);
  };
  const auto before_start = [&](std::size_t m, RunSpec& spec) { races.shorten(runs[missing[m]], spec); };
  if (!pool.run(std::move(specs), on_done, before_start)) {
    throw Interrupted(fmt::format("interrupted: {} of {} runs are kept in {}; the same command goes on from there", finished,
                                  runs.size(), folder.string()));
  }
  return results;
}

void refuse_unpublishable(const std::filesystem::path& folder, std::string_view commit) {
  if (!commit.ends_with("+changes")) return;
  for (std::filesystem::path at = std::filesystem::weakly_canonical(std::filesystem::absolute(folder)); at.has_relative_path();
       at = at.parent_path())
    if (at.filename() == "results" && std::filesystem::exists(at.parent_path() / ".git"))
      throw InputError(fmt::format("{}: this program was built at {}: commit, build again, and then write published results",
                                   folder.string(), commit));
}

void check_output(const std::filesystem::path& folder) {
  refuse_unpublishable(folder, SLUICE_COMMIT);
  check_writable(folder);
}

}  // namespace sluice
