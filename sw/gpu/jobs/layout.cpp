// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/jobs/layout.h"

#include <algorithm>
#include <numeric>

namespace sluice::gpu {

QuotaTable uniform_quota(std::uint32_t num_sms, std::uint32_t quota, std::uint32_t first, std::uint32_t count) {
  QuotaTable table(num_sms, 0);
  for (std::uint32_t sm = first; sm < first + std::min(count, num_sms - std::min(first, num_sms)); ++sm) table[sm] = quota;
  return table;
}

std::vector<QuotaTable> profile_layout(std::uint32_t num_sms, std::span<const CtaCount> most) {
  std::vector<QuotaTable> tables(most.size(), QuotaTable(num_sms, 0));
  const std::vector<SmRange> ranges = split_sms(num_sms, static_cast<std::uint32_t>(most.size()));
  for (std::size_t k = 0; k < most.size(); ++k)
    for (std::uint32_t i = 0; i < ranges[k].count; ++i) tables[k][ranges[k].first.value() + i] = i % most[k].value() + 1;
  return tables;
}

std::vector<double> rates_by_count(const QuotaTable& table, std::span<const double> rate, std::uint32_t most) {
  std::vector<double> sum(most, 0);
  std::vector<unsigned> number(most, 0);
  for (std::size_t sm = 0; sm < table.size(); ++sm) {
    if (table[sm] == 0 || table[sm] > most) continue;
    sum[table[sm] - 1] += rate[sm];
    ++number[table[sm] - 1];
  }
  for (std::size_t j = 0; j < most; ++j)
    if (number[j] > 0) sum[j] /= number[j];
  return sum;
}

std::vector<std::vector<CtaCount>> combinations(std::span<const SmResources> demand, const SmResources& capacity) {
  std::vector<std::vector<CtaCount>> out;
  std::vector<CtaCount> counts(demand.size(), CtaCount(1));
  const auto together = [&] {
    SmResources left = capacity;
    for (std::size_t k = 0; k < demand.size(); ++k) {
      if (!fits(demand[k], left, counts[k])) return false;
      left = take(left, demand[k], counts[k]);
    }
    return true;
  };
  // An odometer: when the last digits no longer fit, a digit before them steps.
  while (!demand.empty()) {
    std::size_t digit = demand.size() - 1;
    if (together())
      out.push_back(counts);
    else {
      while (digit > 0 && counts[digit] == CtaCount(1)) --digit;
      if (digit == 0) break;
      counts[digit] = CtaCount(1);
      --digit;
    }
    counts[digit] += CtaCount(1);
  }
  return out;
}

bool fits_sub_cores(std::span<const SmResources> demand, std::span<const CtaCount> ctas, const SmResources& capacity) {
  constexpr std::uint32_t kSubCores = 4;
  std::uint32_t warps = 0, registers = 0;  // of the fullest sub-core, warps dealt out evenly
  for (std::size_t k = 0; k < demand.size(); ++k) {
    const std::uint32_t of_cta = demand[k].threads / 32, of_kernel = (ctas[k].value() * of_cta + kSubCores - 1) / kSubCores;
    warps += of_kernel;
    registers += of_kernel * (demand[k].registers / of_cta);
  }
  return warps <= capacity.threads / 32 / kSubCores && registers <= capacity.registers / kSubCores;
}

namespace {

constexpr std::uint32_t kKilobyte = 1024;
constexpr std::uint32_t kSplits[] = {
    8 * kKilobyte,   16 * kKilobyte,  32 * kKilobyte,  64 * kKilobyte, 100 * kKilobyte,
    132 * kKilobyte, 164 * kKilobyte, 196 * kKilobyte, 228 * kKilobyte};  // CUDA C++ programming guide, capability 9.0

std::uint32_t split_for(std::uint64_t bytes) {
  for (const std::uint32_t split : kSplits)
    if (bytes <= split) return split;
  return std::end(kSplits)[-1];
}

}  // namespace

std::uint32_t scratchpad_split(std::span<const SmResources> demand, const SmResources& capacity) {
  std::uint32_t most = 0;
  for (const auto& counts : combinations(demand, capacity)) {
    std::uint32_t bytes = 0;
    for (std::size_t k = 0; k < demand.size(); ++k) bytes += counts[k].value() * demand[k].shared_memory_bytes;
    most = std::max(most, bytes);
  }
  for (const SmResources& d : demand) most = std::max(most, occupancy(d, capacity).value() * d.shared_memory_bytes);
  return split_for(most);
}

std::uint32_t split_of_hint(int percent, std::uint32_t shared, std::uint32_t reserved, const SmResources& capacity) {
  const std::uint64_t ctas =
      std::uint64_t{capacity.shared_memory_bytes} * static_cast<unsigned>(percent) / 100 / (shared - reserved);
  return split_for(std::max<std::uint64_t>(1, ctas) * shared);
}

std::vector<int> carveout_hints(std::span<const SmResources> demand, std::uint32_t reserved, const SmResources& capacity) {
  for (const std::uint32_t split : kSplits) {
    if (split < scratchpad_split(demand, capacity)) continue;
    std::vector<int> hints;
    for (const SmResources& d : demand)
      for (int percent = 0; percent <= 100; ++percent)
        if (split_of_hint(percent, d.shared_memory_bytes, reserved, capacity) == split) {
          hints.push_back(percent);
          break;
        }
    if (hints.size() == demand.size()) return hints;
  }
  return std::vector<int>(demand.size(), 100);
}

}  // namespace sluice::gpu
