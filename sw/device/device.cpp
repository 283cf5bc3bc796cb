#include "sw/device/i_device.h"

#include <algorithm>

namespace sluice {

StallCycles& StallCycles::operator+=(const StallCycles& other) {
  long_memory += other.long_memory;
  execution_resource += other.execution_resource;
  raw += other.raw;
  instruction_buffer += other.instruction_buffer;
  barrier += other.barrier;
  idle += other.idle;
  return *this;
}

KernelCounters& KernelCounters::operator+=(const KernelCounters& other) {
  warp_instructions += other.warp_instructions;
  thread_instructions += other.thread_instructions;
  alu_busy += other.alu_busy;
  sfu_busy += other.sfu_busy;
  ldst_busy += other.ldst_busy;
  l1_accesses += other.l1_accesses;
  l1_misses += other.l1_misses;
  l2_accesses += other.l2_accesses;
  l2_misses += other.l2_misses;
  dram_bytes += other.dram_bytes;
  dram_row_hits += other.dram_row_hits;
  dram_requests += other.dram_requests;
  ctas_dispatched += other.ctas_dispatched;
  ctas_completed += other.ctas_completed;
  finish_cycle = std::max(finish_cycle, other.finish_cycle);
  return *this;
}

std::string_view to_string(PartitionerKind kind) {
  return kind == PartitionerKind::Rtl ? "rtl" : kind == PartitionerKind::Tlm ? "tlm" : "both";
}

}  // namespace sluice
