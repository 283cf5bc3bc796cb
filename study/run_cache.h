// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sw/driver/i_device.h"

namespace sluice {

/// A run with the name its result is kept under.
struct NamedRun {
  std::string name;         ///< unique in the folder; letters, digits, '-', '_', '.'
  std::string fingerprint;  ///< text of everything the result depends on
  RunSpec spec;
  /// Of the runs of one race only the `wanted` fastest are of interest: one that is longer than the last of them so far by more
  /// than kRaceMargin is stopped there, its targets not met. Empty = runs to its end.
  std::string race{};
  std::size_t wanted = 1;
};

/// The fastest is the one of highest IPC. Targets are warp instructions, so threads differ a little between runs of a mix;
/// by less than this.
inline constexpr double kRaceMargin = 1.02;
/// @param cycles  of the finished runs of a race so far, in any order
/// @return where the others are stopped; the largest number while fewer than `wanted` have finished
[[nodiscard]] std::uint64_t race_bound(std::vector<std::uint64_t> cycles, std::size_t wanted);

/// Hash of a text that names everything a result depends on, and of the program that makes it.
[[nodiscard]] std::string key_of(const std::string& text, PartitionerKind partitioner);

/// Runs what is not in `folder` yet and keeps every result there as it comes, so that an interrupted evaluation goes on where it
/// stopped. A kept result counts only if its fingerprint, and the program that made it, are the same.
/// @return results in the order of `runs`
/// @throws Interrupted on Ctrl-C, otherwise as RunPool::run
std::vector<RunResult> run_all(const std::vector<NamedRun>& runs, const std::filesystem::path& folder, unsigned jobs,
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
