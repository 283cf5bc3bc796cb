#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "sw/core/resources.h"
#include "sw/core/units.h"

namespace sluice {

/// How the SMs are shared. IntraSm: every SM holds `ctas[k]` CTAs of kernel k. Spatial: each kernel has its own SMs,
/// `ctas[k]` on each of them. LeftOver: the first kernel takes what it can, the others what is left. Fcfs: no quotas.
enum class PartitionMode { LeftOver, Fcfs, IntraSm, Spatial };

/// A decision: CTAs of each kernel on one SM, in mix order. Empty `ctas` where the mode sets no counts (Fcfs).
struct Partition {
  PartitionMode mode = PartitionMode::LeftOver;
  std::vector<CtaCount> ctas;

  bool operator==(const Partition&) const = default;
};

/// "left_over", "fcfs", "intra_sm", "spatial": the spelling of results.json.
[[nodiscard]] std::string_view to_string(PartitionMode mode);

/// Range of SMs a kernel may use: first .. first+count-1.
struct SmRange {
  SmId first;
  std::uint32_t count = 0;
};

/// Contiguous, as even as possible; the first kernels take the remainder.
/// @pre 1 <= num_kernels <= num_sms
[[nodiscard]] std::vector<SmRange> split_sms(std::uint32_t num_sms, std::uint32_t num_kernels);

}  // namespace sluice
