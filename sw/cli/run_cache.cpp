#include "sw/cli/run_cache.h"

#include <fmt/format.h>
#include <sluice_provenance.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "sw/core/errors.h"
#include "sw/device/run_pool.h"
#include "sw/device/run_result_json.h"
#include "sw/report/atomic_file.h"
#include "sw/report/progress.h"
#include "systemc/model_device.h"

namespace sluice::cli {

namespace {

HostTotals totals;

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
  const auto key = [&](std::size_t i) {
    const std::string rtl = runs[i].spec.partitioner == PartitionerKind::Tlm ? "" : SLUICE_RTL_HASH;
    return fnv1a(runs[i].fingerprint) + SLUICE_MODEL_HASH + rtl;
  };
  const auto file = [&](std::size_t i) { return folder / (runs[i].name + ".json"); };
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (load(file(i), key(i), results[i])) {
      ++totals.reused;
      continue;
    }
    missing.push_back(i);
    specs.push_back(runs[i].spec);
  }
  if (missing.empty()) return results;
  Progress progress(what, missing.size());
  const RunPool pool([] { return std::make_unique<ModelDevice>(); }, jobs);
  const bool finished = pool.run(specs, [&](std::size_t m, const RunResult& result, const HostCost& cost) {
    const std::size_t i = missing[m];
    totals.cpu_seconds += cost.cpu_seconds;
    totals.peak_rss_mib = std::max(totals.peak_rss_mib, cost.peak_rss_mib);
    ++totals.runs;
    results[i] = result;
    write_file_atomically(file(i), nlohmann::json{{"key", key(i)}, {"result", result}}.dump());
    progress.done(runs[i].name);
  });
  if (!finished) {
    throw Interrupted(fmt::format("interrupted: {} of {} runs are kept in {}; the same command goes on from there",
                                  totals.runs + totals.reused, runs.size(), folder.string()));
  }
  return results;
}

}  // namespace sluice::cli
