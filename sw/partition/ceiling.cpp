// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/ceiling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sw/core/errors.h"

namespace sluice {

namespace {

constexpr std::uint32_t kSectorBytes = 32;
constexpr double kMaxShare = 8191;  // of REQUEST_SHARE

/// Units that hold so many bytes.
double units(std::uint32_t bytes, std::uint32_t unit) { return std::ceil(static_cast<double>(bytes) / unit); }

}  // namespace

double crossbar_lines_per_cycle(const MachineConfig& machine) {
  const InterconnectConfig& crossbar = machine.interconnect;
  const std::uint32_t packet = machine.l2.line_bytes + crossbar.header_bytes, slice = crossbar.slice_bytes_per_cycle;
  const double sms = machine.num_sms, slices = machine.l2_slices, packet_cycles = units(packet, crossbar.bytes_per_cycle);
  if (crossbar.input_queued) return (sms + slices - std::hypot(sms, slices)) / packet_cycles;
  return std::min(sms / packet_cycles, slices / (slice == 0 ? packet_cycles : units(packet, slice)));
}

double lines_per_cycle(const MachineConfig& machine) {
  const std::uint32_t line = machine.l2.line_bytes;
  const DramConfig& dram = machine.dram;
  const std::uint32_t fetch = machine.l2.sectored && !dram.joins_sectors ? kSectorBytes : line;
  const double dram_bytes = units(fetch, dram.access_bytes) * dram.access_bytes * units(line, fetch);
  return std::min(crossbar_lines_per_cycle(machine), dram_bytes_per_cycle(machine) / dram_bytes);
}

std::uint32_t request_share(const MachineConfig& machine) {
  const double given = machine.partitioner.lines_per_cycle;
  const double lines = given == kAsTheMachineGives ? lines_per_cycle(machine) : given;
  if (lines == 0) return 0;
  const double share = std::round(lines * machine.partitioner.profile_cycles / machine.num_sms);
  if (share > kMaxShare) {
    throw InputError(
        fmt::format("machine {}: partitioner.profile_cycles = {}: an SM's share would be {} lines: must be at most {}",
                    machine.name, machine.partitioner.profile_cycles, share, std::floor(kMaxShare * machine.num_sms / lines)));
  }
  return static_cast<std::uint32_t>(std::max(share, 1.0));
}

}  // namespace sluice
