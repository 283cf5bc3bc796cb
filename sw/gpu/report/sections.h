// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sections of the page, each from the measurements in `folder` that it is about, and nothing where there are none.
#include <filesystem>
#include <map>
#include <string>

#include "sw/core/profile.h"
#include "sw/core/resources.h"
#include "sw/gpu/report/output.h"

namespace sluice::gpu {

void verify_section(const std::filesystem::path& folder, Output& out);
void user_kernels_section(const std::filesystem::path& folder, Output& out);
void overhead_section(const std::filesystem::path& folder, Output& out);
void preemption_section(const std::filesystem::path& folder, Output& out);
void curves_section(const std::filesystem::path& folder, Output& out);
/// @param name  "pairs" or "triples"; @param sms  of the GPU
void mixes_section(const std::filesystem::path& folder, const std::string& name, unsigned sms, Output& out);
/// The best partition between SMs, beside the best within them.
void ranges_section(const std::filesystem::path& folder, unsigned sms, Output& out);
/// Equal work: every kernel gets as many launches as it does alone in one and a half windows.
void finish_section(const std::filesystem::path& folder, const std::string& name, Output& out);
/// (b): what water-filling decides from an online profile, and from the curves that were measured one point after the other; what
/// the difference costs; and why Warped-Slicer is furthest from the Oracle where it is.
void profile_section(const std::filesystem::path& folder, unsigned sms, Output& out);
void gate_section(const std::filesystem::path& folder, Output& out);

/// Performance of a kernel alone.
struct Curve {
  Profile performance;        ///< blocks a second with 1, 2, ... CTAs per SM; medians
  std::vector<Profile> runs;  ///< of which they are
  double native = 0;          ///< blocks a second of the untransformed kernel; median
  SmResources demand, capacity;
};
[[nodiscard]] std::map<std::string, Curve> read_curves(const std::filesystem::path& folder);

/// One partition of a mix in the exhaustive search: one short window.
struct SearchPoint {
  std::vector<std::uint32_t> ctas;  ///< of each kernel per SM
  Values rate, alone;               ///< blocks a second of each kernel there, and of each untransformed alone
  std::vector<unsigned> missing;    ///< CTAs of each kernel, on all SMs together, that found no room
  bool incomplete = false;          ///< as `incomplete`
};
struct Search {
  std::vector<std::string> kernels;
  std::vector<SearchPoint> points;
};
/// Mix. @throws InputError when a partition lacks a count or a rate
[[nodiscard]] std::map<std::string, Search> read_search(const std::filesystem::path& folder, unsigned sms);

/// Figures of one mix under one policy.
struct Cell {
  std::vector<std::string> kernels;
  std::vector<std::uint32_t> ctas;  ///< per SM; empty where the policy sets none
  Values stp, antt, fairness;
  std::vector<Values> speedups;  ///< one list a kernel
  int violations = 0;
  unsigned incomplete = 0;  ///< runs left out
};
using Mixes = std::map<std::string, std::map<std::string, Cell>>;  ///< mix, policy
[[nodiscard]] Mixes read_mixes(const std::filesystem::path& folder, const std::string& name, unsigned sms);
/// More than one CTA in a hundred of a kernel found no room: no evidence for or against the partition.
[[nodiscard]] bool incomplete(const nlohmann::json& j, unsigned sms);
/// The best intra-SM partition that was measured again after the search, Warped-Slicer's own choices among them.
[[nodiscard]] const Cell* oracle(const std::map<std::string, Cell>& policies);
/// Median STP; NAN where not measured.
[[nodiscard]] double measured(const std::map<std::string, Cell>& policies, const std::string& policy);

}  // namespace sluice::gpu
