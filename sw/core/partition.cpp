#include "sw/core/partition.h"

namespace sluice {

std::string_view to_string(PartitionMode mode) {
  switch (mode) {
    case PartitionMode::LeftOver: return "left_over";
    case PartitionMode::Fcfs: return "fcfs";
    case PartitionMode::IntraSm: return "intra_sm";
    case PartitionMode::Spatial: return "spatial";
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

}  // namespace sluice
