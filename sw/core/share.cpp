// SPDX-License-Identifier: Apache-2.0
#include "sw/core/share.h"

namespace sluice {

std::string_view to_string(Mode mode) {
  switch (mode) {
    case Mode::LeftOver: return "left_over";
    case Mode::Fcfs: return "fcfs";
    case Mode::Even: return "even";
    case Mode::Spatial: return "spatial";
    case Mode::Static: return "static";
    case Mode::Dynamic: return "dynamic";
    case Mode::Balance: return "balance";
  }
  return "unknown";
}

std::vector<SmRange> split_sms(std::uint32_t num_sms, std::uint32_t num_kernels) {
  std::vector<SmRange> ranges;
  std::uint32_t first = 0;
  for (std::uint32_t k = 0; k < num_kernels; ++k) {
    const std::uint32_t count = num_sms / num_kernels + (k < num_sms % num_kernels ? 1 : 0);
    ranges.push_back({SmId(first), count});
    first += count;
  }
  return ranges;
}

Partition on_every_sm(std::span<const CtaCount> ctas, Mode mode) {
  Partition partition{mode, {}};
  for (const CtaCount c : ctas) partition.shares.push_back({c});
  return partition;
}

Partition on_own_sms(std::span<const CtaCount> ctas, std::uint32_t num_sms) {
  Partition partition{Mode::Spatial, {}};
  const std::vector<SmRange> ranges = split_sms(num_sms, static_cast<std::uint32_t>(ctas.size()));
  for (std::size_t k = 0; k < ctas.size(); ++k) partition.shares.push_back({ctas[k], ranges[k]});
  return partition;
}

std::vector<std::uint32_t> counts(const Partition& partition) {
  std::vector<std::uint32_t> ctas;
  for (const Share& share : partition.shares) ctas.push_back(share.ctas.value());
  return ctas;
}

std::string_view layout_name(Mode mode) { return mode == Mode::Static ? "intra_sm" : to_string(mode); }

}  // namespace sluice
