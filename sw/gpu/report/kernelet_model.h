// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kernelet's performance model (sw/partition/markov.h) against the measurements of a GPU.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sluice::gpu {

/// Predicted against measured IPC of an SM, in % of the SM's peak.
struct IpcError {
  std::size_t points = 0;
  double mean = 0, max = 0, within_20 = 0;  ///< within_20: % of the points that are off by at most 20 % of peak
};

/// Pairs of kernels side by side.
struct PairError {
  std::size_t pairs = 0;
  IpcError ipc;       ///< of both kernels together, in every measured partition
  double profit = 0;  ///< mean absolute error of the co-scheduling profit
  double choice = 0;  ///< geometric mean of the measured STP of the partitions with the highest predicted profit
  double best = 0;    ///< the same of the partitions with the highest measured STP
};

/// One version of the model against all measurements.
struct KerneletErrors {
  std::string version;  ///< printed; unweighted: calibrated, but every kernel meets all requests of its partner; calibrated
  IpcError solo;        ///< each kernel alone at every number of CTAs
  PairError all, check_half, other_half;
  std::map<std::string, IpcError> by_pair;  ///< name of the pair, "BFS_DXT"
};

struct KerneletModel {
  std::vector<KerneletErrors> versions;
  IpcError three_states;          ///< the printed kernels alone with both kinds of waits; `solo` has them merged into one
  double three_states_apart = 0;  ///< mean distance between both, in % of peak
};

/// The check half is every second pair in alphabetical order: the second, the fourth, ...
/// @param folder    of `sluice gpu experiment`: machine.json, curves.jsonl, and the searches in pairs.jsonl
/// @param profiles  raw Nsight Compute page of the same kernels
/// @throws InputError naming the file, when one is missing, holds no measurement, or lacks a count
[[nodiscard]] KerneletModel kernelet_model(const std::filesystem::path& folder, const std::filesystem::path& profiles);

}  // namespace sluice::gpu
