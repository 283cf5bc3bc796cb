// SPDX-License-Identifier: Apache-2.0
#include "study/run_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sluice_provenance.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <memory>
#include <utility>

#include "study/run_pool.h"
#include "sw/core/errors.h"
#include "sw/core/hash.h"
#include "sw/io/atomic_file.h"
#include "sw/io/progress.h"
#include "systemc/model_device.h"

namespace sluice {

namespace {

HostTotals totals;
std::set<std::string> counted;  // keys of the runs in `totals`

bool met_its_targets(const RunSpec& spec, const RunResult& result) {
  for (std::size_t k = 0; k < spec.launches.size(); ++k)
    if (spec.launches[k].target_warp_instructions != 0 && result.kernels.at(k).finish_cycle == 0) return false;
  return true;
}

constexpr std::uint64_t kNoBound = std::numeric_limits<std::uint64_t>::max();
constexpr const char* kInsert = "INSERT OR REPLACE INTO runs VALUES(?, ?, ?, ?, ?, ?)";

/// Of a process, not of the file as opened: a simulation process, which outlives a killed parent by a moment, does not hold it.
int lock_beside(const std::filesystem::path& file) {
  const std::string name = file.string() + ".lock";
  const int lock = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock < 0) throw_errno(name, errno);
  struct flock whole {};
  whole.l_type = F_WRLCK;
  if (::fcntl(lock, F_SETLK, &whole) == 0) return lock;
  struct flock other = whole;
  ::fcntl(lock, F_GETLK, &other);
  std::fprintf(stderr, "%s: process %d writes it; waiting\n", file.c_str(), static_cast<int>(other.l_pid));
  if (::fcntl(lock, F_SETLKW, &whole) == 0) return lock;
  const int error = errno;
  ::close(lock);
  throw_errno(name, error);
}

}  // namespace

std::string NamedRun::key() const {
  return fmt::format("{:016x}", fnv1a(name + "\n" + fingerprint)) + SLUICE_MODEL_HASH +
         (spec.partitioner == PartitionerKind::Twin ? "" : SLUICE_RTL_HASH);
}

std::uint64_t race_bound(std::vector<std::uint64_t> cycles, std::size_t wanted) {
  if (cycles.size() < wanted) return kNoBound;
  std::ranges::nth_element(cycles, cycles.begin() + static_cast<std::ptrdiff_t>(wanted - 1));
  return static_cast<std::uint64_t>(static_cast<double>(cycles[wanted - 1]) * kRaceMargin);
}

const HostTotals& host_totals() { return totals; }

void check_writable(const std::filesystem::path& folder) {
  make_folder(folder);
  write_file_atomically(folder / ".writable", "");
  std::filesystem::remove(folder / ".writable");
}

RunStore::RunStore(const std::filesystem::path& file, Role role)
    : inbox_(std::filesystem::absolute(file).parent_path() / "inbox"), role_(role) {
  if (role == Role::Helper) {
    make_folder(inbox_);
    if (std::filesystem::exists(file)) database_.emplace(file, Database::Access::Read);
    return;
  }
  check_writable(inbox_.parent_path());
  lock_ = lock_beside(file);
  database_.emplace(file, Database::Access::Write);
  if (database_->query("PRAGMA user_version").rows[0][0] != 1) {
    if (database_->query("SELECT count(*) FROM sqlite_master").rows[0][0] != 0)
      throw InputError(fmt::format("{}: is a database, but no store of runs", file.string()));
    (void)database_->query("BEGIN");
    (void)database_->query(
        "CREATE TABLE runs(key TEXT PRIMARY KEY, name TEXT, state TEXT, error TEXT, cpu_seconds REAL, result TEXT)");
    (void)database_->query(
        "CREATE TABLE points(sweep TEXT, task INTEGER, machine TEXT, parameters TEXT, seed INTEGER, mix TEXT, policy TEXT, "
        "state TEXT, error TEXT, cycles INTEGER, ipc REAL, normalized_ipc REAL, stp REAL, antt REAL, min_speedup REAL, "
        "watts REAL, partition TEXT, PRIMARY KEY(sweep, task, policy))");
    (void)database_->query("PRAGMA user_version = 1");
    (void)database_->query("COMMIT");
  }
  take_in();
}

RunStore::~RunStore() {
  if (lock_ >= 0) ::close(lock_);
}

std::optional<RunStore::Kept> RunStore::find(const std::string& key) try {
  std::vector<nlohmann::json> rows;
  if (database_) rows = database_->query("SELECT * FROM runs WHERE key = ?", {key}).rows;
  const std::filesystem::path file = inbox_ / (key + ".json");
  if (rows.empty() && role_ == Role::Helper && std::filesystem::exists(file))
    rows.push_back(nlohmann::json::parse(read_file(file)));
  if (rows.empty()) return {};
  Kept kept{rows[0].at(3), {}};
  if (kept.error.empty()) nlohmann::json::parse(rows[0].at(5).get<std::string>()).get_to(kept.result);
  return kept;
} catch (const nlohmann::json::exception&) {
  return {};  // damaged: run it again
}

void RunStore::keep(const NamedRun& run, const std::string& error, double cpu_seconds, const RunResult* result) {
  const std::string key = run.key();
  const nlohmann::json row = {
      key,   run.name,    result == nullptr ? "failed" : "done",
      error, cpu_seconds, result == nullptr ? nlohmann::json() : nlohmann::json(nlohmann::json(*result).dump())};
  if (role_ == Role::Owner)
    (void)database_->query(kInsert, row);
  else
    write_file_atomically(inbox_ / (key + ".json"), row.dump());
}

void RunStore::take_in() {
  if (!std::filesystem::is_directory(inbox_)) return;
  std::vector<std::filesystem::path> taken;
  (void)database_->query("BEGIN");
  for (const auto& entry : std::filesystem::directory_iterator(inbox_)) {
    if (entry.path().extension() != ".json") continue;  // being written
    const nlohmann::json row = nlohmann::json::parse(read_file(entry.path()), nullptr, false);
    if (row.is_array() && row.size() == 6) (void)database_->query(kInsert, row);
    taken.push_back(entry.path());
  }
  (void)database_->query("COMMIT");
  for (const std::filesystem::path& file : taken) std::filesystem::remove(file);
}

void RunBatch::ended(const NamedRun& run, const RunResult& result) {
  if (!run.race.empty() && met_its_targets(run.spec, result)) races_[run.race][run.key()] = result.cycles.value();
}

std::uint64_t RunBatch::bound_of(const NamedRun& run) const {
  const auto race = races_.find(run.race);
  if (race == races_.end()) return kNoBound;
  std::vector<std::uint64_t> cycles;
  for (const auto& [key, length] : race->second) cycles.push_back(length);
  return race_bound(std::move(cycles), run.wanted);
}

std::vector<RunResult> RunBatch::find(const std::vector<NamedRun>& runs) {
  std::vector<std::optional<RunStore::Kept>> kept;
  for (const NamedRun& run : runs) {
    const auto lost = lost_.find(run.key());
    kept.push_back(lost == lost_.end() ? store_.find(run.key()) : RunStore::Kept{lost->second, {}});
    if (kept.back() && kept.back()->error.empty()) ended(run, kept.back()->result);
    if (kept.back() && !kept.back()->error.empty() && !failures_stay_) kept.back().reset();
  }
  std::vector<RunResult> results;
  std::string error;
  bool all = true;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::string key = runs[i].key();
    // A kept run that was stopped: its race may have been another one. Would it be stopped by then in this one?
    const auto holds = [&](const RunResult& result) {
      return made_.contains(key) || runs[i].race.empty() || met_its_targets(runs[i].spec, result) ||
             bound_of(runs[i]) <= result.cycles.value();
    };
    if (!kept[i] || (kept[i]->error.empty() && !holds(kept[i]->result))) {
      all = false;
      if (wanted_.insert(key).second) missing_.push_back(runs[i]);
      continue;
    }
    if (counted.insert(key).second) ++totals.reused;
    if (error.empty()) error = kept[i]->error;
    results.push_back(std::move(kept[i]->result));
  }
  if (!all) throw Missing{};
  if (!error.empty()) throw CheckFailed(error);
  return results;
}

bool RunBatch::make(unsigned jobs, const std::string& what) {
  const std::vector<NamedRun> runs = std::exchange(missing_, {});
  wanted_.clear();
  if (runs.empty()) return false;
  std::vector<RunSpec> specs;
  for (const NamedRun& run : runs) specs.push_back(run.spec);
  Progress progress(what, runs.size());
  std::size_t finished = 0;
  const auto finish = [&](const NamedRun& run) {
    ++finished;
    made_.insert(run.key());
    counted.insert(run.key());
    ++totals.runs;
    progress.done(run.name);
  };
  const auto on_done = [&](std::size_t i, const RunResult& result, const HostCost& cost) {
    totals.cpu_seconds += cost.cpu_seconds;
    totals.peak_rss_mib = std::max(totals.peak_rss_mib, cost.peak_rss_mib);
    ended(runs[i], result);
    store_.keep(runs[i], "", cost.cpu_seconds, &result);
    finish(runs[i]);
  };
  const auto on_failed = [&](std::size_t i, ErrorKind kind, const std::string& error) {
    if (!failures_stay_) throw_error(kind, error);
    const std::string named = fmt::format("{}: {}", runs[i].name, error);
    if (kind == ErrorKind::System)
      lost_[runs[i].key()] = named;
    else
      store_.keep(runs[i], named, 0, nullptr);
    finish(runs[i]);
  };
  const auto before_start = [&](std::size_t i, RunSpec& spec) {
    if (const std::uint64_t bound = bound_of(runs[i]); bound != kNoBound) spec.window = Cycles(bound);
  };
  const RunPool pool([] { return std::make_unique<ModelDevice>(); }, jobs);
  if (!pool.run(std::move(specs), on_done, before_start, on_failed))
    throw Interrupted(
        fmt::format("interrupted: {} of {} runs are kept; the same command goes on from there", finished, runs.size()));
  return true;
}

std::vector<RunResult> run_all(const std::vector<NamedRun>& runs, const std::filesystem::path& store, unsigned jobs,
                               const std::string& what) {
  RunStore kept(store);
  RunBatch batch(kept, false);
  try {
    return batch.find(runs);
  } catch (const RunBatch::Missing&) {
    batch.make(jobs, what);
  }
  return batch.find(runs);
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
  if (folder.empty()) throw InputError("--out: must be a folder");
  refuse_unpublishable(folder, SLUICE_COMMIT);
  check_writable(folder);
}

}  // namespace sluice
