#pragma once
#include <cstdint>
#include <string>

#include "sw/core/resources.h"

namespace sluice {

enum class WarpSchedulerKind { Gto, Lrr };  ///< greedy-then-oldest; loose round robin

/// One cache: `bytes` / (`line_bytes` * `ways`) sets, LRU.
struct CacheConfig {
  std::uint32_t bytes = 0, ways = 0, line_bytes = 128;
  std::uint32_t mshrs = 0;        ///< outstanding lines
  std::uint32_t mshr_merges = 8;  ///< requests one MSHR can hold
  std::uint32_t hit_latency = 0;  ///< core cycles
};

/// DRAM timing in DRAM command-clock cycles (Warped-Slicer table I names them as JEDEC does).
struct DramConfig {
  std::uint32_t channels = 0, banks = 16;
  double clock_mhz = 0;
  std::uint32_t row_bytes = 2048;
  std::uint32_t bytes_per_cycle = 32;  ///< of one channel's data bus, per command-clock cycle
  std::uint32_t access_bytes = 128;    ///< fetched per L2 miss
  std::uint32_t queue_depth = 32;      ///< requests FR-FCFS chooses from
  std::uint32_t t_cl = 12, t_rp = 12, t_rc = 40, t_ras = 28, t_rcd = 12, t_rrd = 6, t_wtr = 5, t_wr = 12;
};

/// One SM and its pipelines. Latencies in core cycles; intervals are cycles between two warp instructions of one pipeline.
struct SmConfig {
  SmResources capacity;  ///< threads, registers, shared memory, CTA slots
  std::uint32_t schedulers = 2;
  WarpSchedulerKind scheduler = WarpSchedulerKind::Gto;
  std::uint32_t alu_pipes = 2, alu_latency = 10;
  std::uint32_t sfu_latency = 20, sfu_interval = 8;
  std::uint32_t dp_latency = 20, dp_interval = 2;          ///< double precision
  std::uint32_t tensor_latency = 24, tensor_interval = 8;  ///< matrix unit
  std::uint32_t register_unit = 64;                        ///< registers of a warp are allocated in multiples of this many
  std::uint32_t shared_latency = 24;
  std::uint32_t ldst_queue = 4;      ///< memory instructions waiting in the LDST pipeline
  std::uint32_t store_credits = 64;  ///< stores in flight to L2
  CacheConfig l1;
};

/// Crossbar between the SMs and the L2 slices.
struct InterconnectConfig {
  std::uint32_t latency = 0;           ///< core cycles, one way
  std::uint32_t bytes_per_cycle = 32;  ///< of one port, each direction
  std::uint32_t header_bytes = 8;
};

/// Warped-Slicer's sequencing constants (section IV-A, V).
struct PartitionerConfig {
  std::uint32_t warm_up_cycles = 20000, profile_cycles = 5120, algorithm_delay = 0;
  double loss_limit = 1.2;  ///< of 1/K: a kernel may lose at most loss_limit / K of its own best
  double epsilon = 0.0;     ///< saturation threshold of water-filling; 0 is the paper's rule
  /// Units that registers and shared memory are each divided into for contiguous regions (Left-Over, FCFS): 16..128; 0 = counts
  /// only
  std::uint32_t region_units = 64;
};

/// A whole GPU, as a TOML file under configs/machines/ describes it.
struct MachineConfig {
  std::string name;
  std::uint32_t num_sms = 0;
  double core_mhz = 0;
  SmConfig sm;
  CacheConfig l2;  ///< one slice; there are `l2_slices`
  std::uint32_t l2_slices = 0;
  InterconnectConfig interconnect;
  DramConfig dram;
  PartitionerConfig partitioner;
};

}  // namespace sluice
