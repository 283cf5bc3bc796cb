// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "sw/core/units.h"

namespace sluice {

/// How the partition unit shares the SMs; the numbers are those of its register MODE. LeftOver: the first kernel takes what it
/// can, the others what is left. Fcfs: the CTAs of all kernels in turn, no quotas. Even, Spatial: the unit works the shares out.
/// Static: the shares are given. Dynamic: the unit profiles and decides (Warped-Slicer). Balance: the unit measures partitions of
/// all kernels and keeps the best.
enum class Mode : std::uint32_t { LeftOver, Fcfs, Even, Spatial, Static, Dynamic, Balance };

[[nodiscard]] std::string_view to_string(Mode mode);  ///< "left_over", "fcfs", "even", "spatial", "static", "dynamic", "balance"

/// SMs first .. first+count-1.
struct SmRange {
  SmId first;
  std::uint32_t count = 0;

  bool operator==(const SmRange&) const = default;
};
/// All that the machine has.
inline constexpr SmRange kEverySm{SmId(0), std::numeric_limits<std::uint32_t>::max()};

/// Contiguous, as even as possible; the first kernels take the remainder.
/// @pre 1 <= num_kernels <= num_sms
[[nodiscard]] std::vector<SmRange> split_sms(std::uint32_t num_sms, std::uint32_t num_kernels);

/// What one kernel may hold: `ctas` CTAs on each of the SMs `sms`.
struct Share {
  CtaCount ctas;
  SmRange sms = kEverySm;

  bool operator==(const Share&) const = default;
};
/// Everything: what a kernel gets that is alone.
inline constexpr Share kWholeMachine{CtaCount(std::numeric_limits<std::uint32_t>::max()), kEverySm};

/// A decision: the shares of the kernels of a mix, in mix order. Static: on SMs that all kernels share. Spatial: each on SMs of
/// its own. LeftOver, Fcfs: no quotas hold; the shares are what an empty SM takes, or none.
struct Partition {
  Mode mode = Mode::LeftOver;
  std::vector<Share> shares;

  bool operator==(const Partition&) const = default;
};

/// `ctas[k]` CTAs of kernel k on every SM.
[[nodiscard]] Partition on_every_sm(std::span<const CtaCount> ctas, Mode mode = Mode::Static);
/// `ctas[k]` CTAs of kernel k on each of its own SMs. @pre no more kernels than SMs
[[nodiscard]] Partition on_own_sms(std::span<const CtaCount> ctas, std::uint32_t num_sms);
/// CTAs of each kernel on one of its SMs.
[[nodiscard]] std::vector<std::uint32_t> counts(const Partition& partition);
/// "intra_sm", "spatial", "left_over", "fcfs": the spelling of results.json.
[[nodiscard]] std::string_view layout_name(Mode mode);

}  // namespace sluice
