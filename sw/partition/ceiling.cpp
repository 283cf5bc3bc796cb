#include "sw/partition/ceiling.h"

#include <algorithm>
#include <cmath>

namespace sluice {

namespace {

constexpr std::uint32_t kSectorBytes = 32;

std::uint32_t rounded_up(std::uint32_t bytes, std::uint32_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

double lines_per_cycle(const MachineConfig& machine) {
  const std::uint32_t line = machine.l2.line_bytes;
  const InterconnectConfig& crossbar = machine.interconnect;
  const double packet_cycles = rounded_up(line + crossbar.header_bytes, crossbar.bytes_per_cycle) / crossbar.bytes_per_cycle;
  const double sms = machine.num_sms, slices = machine.l2_slices;
  const double ports = crossbar.input_queued ? sms + slices - std::hypot(sms, slices) : std::min(sms, slices);
  const DramConfig& dram = machine.dram;
  const std::uint32_t fetch = machine.l2.sectored ? kSectorBytes : line;
  const double dram_bytes = rounded_up(fetch, dram.access_bytes) * static_cast<double>(line / fetch);
  const double bus = dram.channels * dram.bytes_per_cycle * dram.clock_mhz / machine.core_mhz;
  return std::min(ports / packet_cycles, bus / dram_bytes);
}

std::uint32_t request_share(const MachineConfig& machine) {
  const double given = machine.partitioner.lines_per_cycle;
  const double lines = given == kAsTheMachineGives ? lines_per_cycle(machine) : given;
  if (lines == 0) return 0;
  const double share = std::round(lines * machine.partitioner.profile_cycles / machine.num_sms);
  return static_cast<std::uint32_t>(std::clamp(share, 1.0, 65535.0));
}

}  // namespace sluice
