// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sluice {

/// The rules of sw/partition/balance.h in the number formats of the RTL, whose result they are to the last bit
/// (docs/reference/blocks/balance_search.md). Products and quotients are rounded down.
struct BalanceUnitSettings {
  std::vector<std::uint32_t> weights, floors;  ///< of each kernel: 1..127 of any unit; units of 2^-13
  std::uint32_t keep = 0;                      ///< units of 2^-15
};

/// What was measured of a partition.
struct BalanceUnitEntry {
  std::vector<std::uint32_t> means;  ///< of each kernel, eighths of a sample
  bool measured = false;             ///< every kernel has a rate; otherwise Short and Time mean nothing
  std::uint32_t shortfall = 0;       ///< of the worst-off kernel's rate to its floor, units of 2^-13
  std::uint32_t time = 0;            ///< to the end of all kernels, units of 2^-7 of a kernel's of weight 1
};

/// @return the mean of at most 63 samples, below 2^12 each; 0 of none
[[nodiscard]] std::uint32_t balance_unit_mean(std::uint32_t sum, std::uint32_t samples);
/// @param alone mean of each kernel alone
[[nodiscard]] BalanceUnitEntry balance_unit_entry(std::vector<std::uint32_t> means, std::span<const std::uint32_t> alone,
                                                  const BalanceUnitSettings& settings);
/// Where a round leads, as balance_climb().
/// @param before the base before in its own round
[[nodiscard]] std::optional<std::size_t> balance_unit_climb(std::span<const BalanceUnitEntry> entries,
                                                            const std::optional<BalanceUnitEntry>& before);
/// As balance_turns(), of two entries on all SMs.
[[nodiscard]] bool balance_unit_turns(const BalanceUnitEntry& base, const BalanceUnitEntry& in_turn);
/// Whether its score reaches `keep`.
[[nodiscard]] bool balance_unit_shares(const BalanceUnitEntry& entry, const BalanceUnitSettings& settings);

}  // namespace sluice
