// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "study/database.h"
#include "sw/driver/i_device.h"

namespace sluice {

/// A run, and what its result is found by.
struct NamedRun {
  std::string name;
  std::string fingerprint;  ///< text of everything the result depends on, beside the name
  RunSpec spec;
  /// Of the runs of one race only the `wanted` fastest are of interest: one that is longer than the last of them so far by more
  /// than kRaceMargin is stopped there, its targets not met. Empty = runs to its end.
  std::string race{};
  std::size_t wanted = 1;

  [[nodiscard]] std::string key() const;
};

/// The fastest is the one of highest IPC. Targets are warp instructions, so threads differ a little between runs of a mix;
/// by less than this.
inline constexpr double kRaceMargin = 1.02;
/// @param cycles  of the finished runs of a race so far, in any order
/// @return where the others are stopped; the largest number while fewer than `wanted` have finished
[[nodiscard]] std::uint64_t race_bound(std::vector<std::uint64_t> cycles, std::size_t wanted);

/// Finished runs in one SQLite file, found by what they depend on, the program that makes them among it (docs/user/sweeps.md).
/// A process that is killed at any moment loses only the runs that it was at.
class RunStore {
 public:
  /// Owner: the only process that writes the file; another one waits for it. Helper: reads the file, where there is one, and
  /// leaves each run in a file of the folder inbox/ beside it: many may do so on many hosts, until an owner takes them in.
  enum class Role { Owner, Helper };
  explicit RunStore(const std::filesystem::path& file, Role role = Role::Owner);
  ~RunStore();
  RunStore(const RunStore&) = delete;
  RunStore& operator=(const RunStore&) = delete;

  struct Kept {
    std::string error;  ///< why it failed; empty: it did not
    RunResult result;
  };
  [[nodiscard]] std::optional<Kept> find(const std::string& key);
  /// @param result  null where it failed
  void keep(const NamedRun& run, const std::string& error, double cpu_seconds, const RunResult* result);
  [[nodiscard]] Database& database() { return *database_; }

 private:
  void take_in();

  std::filesystem::path inbox_;
  Role role_;
  int lock_ = -1;
  std::optional<Database> database_;
};

/// Runs that are asked for are looked for in a store; those that are not there are gathered, each once, and made together.
class RunBatch {
 public:
  /// @param failures_stay  a run that fails is kept as failed, and the others go on
  RunBatch(RunStore& store, bool failures_stay) : store_(store), failures_stay_(failures_stay) {}

  struct Missing {};  ///< thrown: make() before you ask again
  /// @return results in the order of `runs`
  /// @throws Missing; CheckFailed with the error of a run that failed
  [[nodiscard]] std::vector<RunResult> find(const std::vector<NamedRun>& runs);
  /// Runs what was missing since the last call, and keeps every result as it comes. @return false: nothing was
  /// @throws Interrupted on Ctrl-C, otherwise as RunPool::run
  bool make(unsigned jobs, const std::string& what);

 private:
  void ended(const NamedRun& run, const RunResult& result);
  [[nodiscard]] std::uint64_t bound_of(const NamedRun& run) const;

  RunStore& store_;
  bool failures_stay_;
  std::vector<NamedRun> missing_;
  std::set<std::string> wanted_, made_;      ///< keys: of `missing_`; of all that was made
  std::map<std::string, std::string> lost_;  ///< errors of the system's: another attempt may pass, so they are not kept
  std::map<std::string, std::map<std::string, std::uint64_t>> races_;  ///< cycles of each race's finished runs, by key
};

/// Runs what is not in the store yet and keeps every result there as it comes, so that an interrupted evaluation goes on where it
/// stopped.
/// @return results in the order of `runs`
/// @throws Interrupted on Ctrl-C, otherwise as RunPool::run
std::vector<RunResult> run_all(const std::vector<NamedRun>& runs, const std::filesystem::path& store, unsigned jobs,
                               const std::string& what);

/// Creates the folder, and finds out now rather than after an hour that nothing can be written there.
void check_writable(const std::filesystem::path& folder);

/// Cost of the runs made by this process so far; reused: kept ones of other processes that it took up.
struct HostTotals {
  double cpu_seconds = 0, peak_rss_mib = 0;
  std::size_t runs = 0, reused = 0;
};
[[nodiscard]] const HostTotals& host_totals();

/// What is published under `results/` of a checkout names the commit that made it, so a program with changes beside its commit
/// writes nothing there.
/// @param commit  as it was built: "0123456789ab", or "0123456789ab+changes"
/// @throws InputError when `folder` lies in `results/` of a checkout and the commit does not say what made the run
void refuse_unpublishable(const std::filesystem::path& folder, std::string_view commit);

/// For the output folder of a run: as above for this program's commit; then creates the folder and finds out now, rather than
/// after an hour, that nothing can be written there.
void check_output(const std::filesystem::path& folder);

}  // namespace sluice
