#include "sw/cli/run_cache.h"

#include <fmt/format.h>
#include <sluice_provenance.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <set>

#include "sw/core/errors.h"
#include "sw/device/run_pool.h"
#include "sw/device/run_result_json.h"
#include "sw/report/atomic_file.h"
#include "sw/report/progress.h"
#include "systemc/model_device.h"

namespace sluice::cli {

namespace {

HostTotals totals;
std::set<std::filesystem::path> made;  // by this process: taken up again, they are not "from before"

std::string fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return fmt::format("{:016x}", hash);
}

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

/// The shortest run of every race so far.
class Races {
 public:
  void ended(const NamedRun& run, const RunResult& result) {
    if (run.race.empty() || !met_its_targets(run.spec, result)) return;
    const auto [best, first] = best_.emplace(run.race, result.cycles.value());
    if (!first) best->second = std::min(best->second, result.cycles.value());
  }
  void shorten(const NamedRun& run, RunSpec& spec) const {
    const auto best = best_.find(run.race);
    if (best != best_.end()) spec.window = Cycles(static_cast<std::uint64_t>(static_cast<double>(best->second) * kRaceMargin));
  }

 private:
  std::map<std::string, std::uint64_t> best_;
};

}  // namespace

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
  const auto key = [&](std::size_t i) {
    const std::string rtl = runs[i].spec.partitioner == PartitionerKind::Tlm ? "" : SLUICE_RTL_HASH;
    return fnv1a(runs[i].fingerprint) + SLUICE_MODEL_HASH + rtl;
  };
  const auto file = [&](std::size_t i) { return folder / (runs[i].name + ".json"); };
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (load(file(i), key(i), results[i])) {
      if (!made.contains(file(i))) ++totals.reused;
      races.ended(runs[i], results[i]);
      continue;
    }
    missing.push_back(i);
    specs.push_back(runs[i].spec);
  }
  if (missing.empty()) return results;
  Progress progress(what, missing.size());
  const RunPool pool([] { return std::make_unique<ModelDevice>(); }, jobs);
  const auto on_done = [&](std::size_t m, const RunResult& result, const HostCost& cost) {
    const std::size_t i = missing[m];
    totals.cpu_seconds += cost.cpu_seconds;
    totals.peak_rss_mib = std::max(totals.peak_rss_mib, cost.peak_rss_mib);
    ++totals.runs;
    results[i] = result;
    races.ended(runs[i], result);
    write_file_atomically(file(i), nlohmann::json{{"key", key(i)}, {"result", result}}.dump());
    made.insert(file(i));
    progress.done(runs[i].name);
  };
  const auto before_start = [&](std::size_t m, RunSpec& spec) { races.shorten(runs[missing[m]], spec); };
  if (!pool.run(std::move(specs), on_done, before_start)) {
    throw Interrupted(fmt::format("interrupted: {} of {} runs are kept in {}; the same command goes on from there",
                                  totals.runs + totals.reused, runs.size(), folder.string()));
  }
  return results;
}

}  // namespace sluice::cli
