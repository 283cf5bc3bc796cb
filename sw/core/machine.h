// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "sw/core/pipe.h"
#include "sw/core/resources.h"

namespace sluice {

/// Greedy-then-oldest; loose round robin; two-level: round robin over an active set, warps that wait for memory leave it; oldest
/// CTA: round robin over the warps of the oldest CTA that has one to issue.
enum class WarpSchedulerKind { Gto, Lrr, TwoLevel, OldestCta };

/// How a line finds its set. Xor: upper bits folded in. Fermi: the measured L1 function (Nugteren et al., HPCA 2014).
enum class CacheIndex { Xor, Linear, Fermi };
inline constexpr std::uint32_t kMaxFermiSets = 64;

/// What a store does to a line the cache holds (stores never allocate in L1). Evict: Fermi. Through: Volta and later.
enum class StorePolicy { Evict, Through };

/// One cache: `bytes` / (`line_bytes` * `ways`) sets, LRU.
struct CacheConfig {
  std::uint32_t bytes = 0, ways = 0, line_bytes = 128;
  std::uint32_t mshrs = 0;         ///< outstanding lines
  std::uint32_t mshr_merges = 8;   ///< requests one MSHR can hold
  std::uint32_t hit_latency = 0;   ///< core cycles
  std::uint32_t miss_latency = 0;  ///< L1: core cycles from the lookup until the request leaves the SM
  bool sectored = false;           ///< misses fetch 32-byte sectors, not lines
  CacheIndex index = CacheIndex::Xor;
  StorePolicy store = StorePolicy::Evict;  ///< L1 only
  double atomic_interval = 0;              ///< L2 only: cycles that an atomic holds the slice for each sector; 0: one in all
  double store_interval = 0;               ///< L2 only: cycles that a store holds the slice for each half line; 0: one in all
  bool fills_partial_writes = false;       ///< L2 only: sectors written in part are read from DRAM when they leave, or are read
  bool writes_rows = false;  ///< L2 only: a line that is written back takes the other dirty lines of its DRAM row along
};

/// Instruction supply of an SM: one warp a cycle is served `width` instructions from the instruction cache into its buffer.
struct FetchConfig {
  std::uint32_t cache_bytes = 0, cache_ways = 4;  ///< 0: instructions are always there
  std::uint32_t width = 2;
  std::uint32_t instruction_bytes = 16;
  std::uint32_t latency = 2;         ///< cycles from the fetch to the first issue
  std::uint32_t prefetch_lines = 0;  ///< lines behind a missing one that are asked for with it
};

/// How a DRAM channel applies first-ready, first-come-first-served. Bus: of all requests the one whose data can start first, one
/// bank after another. Bank: every bank prepares its own oldest row hit, or else its oldest request, and the data bus takes who
/// is ready first; bus turnarounds as JEDEC counts them (tWTR from the end of the write data to the read command).
enum class DramScheduler { Bus, Bank };

/// DRAM timing in DRAM command-clock cycles (Warped-Slicer table I names them as JEDEC does).
struct DramConfig {
  std::uint32_t channels = 0, banks = 16;
  double clock_mhz = 0;
  std::uint32_t row_bytes = 2048;
  std::uint32_t bytes_per_cycle = 32;    ///< of one channel's data bus, per command-clock cycle
  std::uint32_t access_bytes = 128;      ///< smallest transfer: each L2 line or sector fetched is rounded up to whole ones
  std::uint32_t controller_latency = 0;  ///< core cycles a request spends in controller and PHY
  std::uint32_t queue_depth = 32;        ///< requests FR-FCFS chooses from
  std::uint32_t t_cl = 12, t_rp = 12, t_rc = 40, t_ras = 28, t_rcd = 12, t_rrd = 6, t_wtr = 5, t_wr = 12;
  DramScheduler scheduler = DramScheduler::Bus;
  std::uint32_t t_wl = 4;      ///< Bank only: write command to write data
  std::uint32_t t_rtw = 2;     ///< Bank only: idle bus between read and write data
  std::uint32_t t_refi = 0;    ///< Bank only: a channel is refreshed once in so many cycles; 0: never
  std::uint32_t t_rfc = 0;     ///< cycles that this takes all of its banks
  bool joins_sectors = false;  ///< sectors of one access_bytes block are one transfer; else each is one
};

inline constexpr std::uint32_t kMaxSchedulers = 4;  ///< of one SM: largest NUM_SCHED of the partition unit
inline constexpr std::uint32_t kMaxRegisterBanks = 8;

/// Sub-cores, since Volta: each scheduler has pipelines of its own, and an instruction issues when the control bits of its
/// encoding say so, if its source has them.
struct SubCoreConfig {
  bool modelled = false;
  std::array<PipeConfig, kPipes> pipes;     ///< by Pipe
  std::uint32_t operand_read_latency = 10;  ///< cycles until a memory instruction has read its registers
  std::uint32_t register_banks = 0;         ///< of a scheduler, each read once a cycle; 0: any number of registers a cycle
  std::uint32_t operand_slack = 1;          ///< cycles that an instruction may wait for its banks without holding its scheduler
  bool follows_yield = false;               ///< a scheduler stays with its warp while this can issue and does not yield
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
  std::uint32_t ldst_queue = 4;                ///< memory instructions waiting in the LDST pipeline
  std::uint32_t store_credits = 64;            ///< stores in flight to L2
  std::uint32_t cta_launch_latency = 8;        ///< from dispatch to a CTA's first instruction: its set-up
  std::uint32_t cta_launch_latency_apart = 0;  ///< the same of a CTA whose last warp is not full; 0: as of the others
  std::uint32_t cta_launch_interval = 0;       ///< cycles between the set-ups of two CTAs
  bool kernels_stay = false;          ///< warps of a kernel launched before another are the older ones, whenever their CTA began
  std::uint32_t barrier_latency = 4;  ///< cycles from the last arrival at a CTA's barrier to the next instruction
  std::uint32_t active_warps = 6;     ///< two-level scheduler: size of the active set
  bool cta_waits_for_stores = false;  ///< a CTA holds its resources until its stores are acknowledged
  bool kernel_waits_for_stores = false;  ///< CTAs leave before their stores are acknowledged, but the kernel is not over
  std::uint32_t barrier_interval = 0;    ///< cycles between two arrivals at barriers
  std::uint32_t ldst_interval = 1;       ///< cycles that a global access holds the LDST pipeline at least
  std::uint32_t jump_latency = 0;        ///< cycles more before an instruction that does not follow the last one in the code
  FetchConfig fetch;
  SubCoreConfig sub_core;
  CacheConfig l1;
};

/// Crossbar between the SMs and the L2 slices.
struct InterconnectConfig {
  std::uint32_t latency = 0;           ///< core cycles, one way
  std::uint32_t bytes_per_cycle = 32;  ///< of one port, each direction
  std::uint32_t header_bytes = 8;
  std::uint32_t slice_bytes_per_cycle = 0;  ///< of a slice's port; 0: as the SMs' ones
  std::uint32_t to_l2_bytes_per_cycle = 0;  ///< of all ports on the way to L2; 0: as on the way back
  std::uint32_t store_cycles = 1;           ///< that a store holds its SM's port at least
  bool two_slices_a_kilobyte = false;       ///< its 256-byte parts lie in them in turn; else each part by itself in any slice
  bool packed = false;  ///< the sectors of an answer are one packet; else each is one, where the L2 has sectors
  bool input_queued =
      false;  ///< a packet that waits for its output port holds up those behind it (FIFO inputs); else it does not
};

inline constexpr double kAsTheMachineGives = -1;  ///< follows from crossbar and DRAM

/// What a host takes beside its accesses to the partition unit's registers, microseconds.
struct HostConfig {
  double decide_us = 0;            ///< from events to the plan that answers them
  double launch_us = 0;            ///< before each launch into a kernel slot
  double evict_us = 0;             ///< before each order to leave
  double pcie_read_us = 1.3;       ///< from a GPU's read of host memory to its answer, while none waits
  std::uint32_t pcie_reads = 256;  ///< such reads in flight; the next ones wait
};

/// Warped-Slicer's sequencing constants (section IV-A, V).
/// Settings of the mode Balance (docs/user/policies.md#balance).
struct BalanceConfig {
  std::uint32_t candidates = 7;         ///< partitions that are measured side by side in a round, at most; 0: none
  std::uint32_t window_cycles = 10240;  ///< of a window
  double keep = 1.0;                    ///< the least speed-up over one after the other at which kernels share an SM
  std::uint32_t rounds = 3;             ///< of measuring side by side, at most
  std::uint32_t spacing = 2048;         ///< cycles at most between CTAs of a kernel that enter an SM, after the profile
  bool alone = false;                   ///< with `unit`: of a unit without DYNAMIC, whose base is Even's
  bool unit = false;                    ///< the mode is the RTL's (parameter BALANCE), whose `rounds` and `spacing` are 3 and 0
};

struct PartitionerConfig {
  std::uint32_t warm_up_cycles = 20000, profile_cycles = 5120, algorithm_delay = 0;
  std::uint32_t drain_cycles = 255 * 4096;  ///< the warm-up waits so long for CTAs that do not belong to the profile layout
  /// Lines a core cycle that all SMs together can exchange with the memory system, the ceiling of a sample
  /// (sw/partition/ceiling.h); 0: the unit's most, 8,192 a window.
  double lines_per_cycle = kAsTheMachineGives;
  double loss_limit = 1.2;  ///< of 1/K: a kernel may lose at most loss_limit / K of its own best
  double epsilon = 0.0;     ///< saturation threshold of water-filling; 0 is the paper's rule
  /// Phase monitor: a new profile when a kernel's instructions in a window differ by more than this share of the reference's, in
  /// `monitor_hold` windows in a row; 0 = off.
  double monitor_threshold = 0.0;
  std::uint32_t monitor_window = 5120, monitor_hold = 2;
  /// Units that registers and shared memory are each divided into for contiguous regions (Left-Over, FCFS): 16..128; 0 = counts
  /// only
  std::uint32_t region_units = 64;
  /// Option of the unit: profiles outlive changes of the present kernels, and what is in force lives for 2^churn cycles; 0 = off
  std::uint32_t churn = 0;
  /// Further options of the unit: SMs can be disabled; kernels can be flushed; kernels of higher priority go first; a kernel
  /// whose grid has been sent keeps no share; one that waits for 2^patience cycles or more goes first (0 = off)
  bool sm_enable = false, flush = false, priority = false, tail = false;
  std::uint32_t patience = 0;
  BalanceConfig balance;
};

/// Energy of events, picojoules, and leakage. docs/user/machines.md has the source of every default.
struct EnergyConfig {
  double instruction = 10;                              ///< fetch, decode and schedule one warp instruction
  double registers = 20;                                ///< operands of one lane: three reads, one write
  double alu = 4.6, sfu = 12.9, dp = 50, tensor = 9.2;  ///< one lane
  double shared = 320, l1 = 320;                        ///< one pass over 32 banks; one 128-byte line
  double l2 = 1600;                                     ///< one 128-byte line
  double noc_byte = 9.7;                                ///< one byte over 10 mm
  double dram_byte = 112, dram_activate = 0;            ///< activates are part of the bytes unless given
  double sm_clock_watts = 0;       ///< of one SM, busy or not: clocks, pipeline registers, what is no event above
  double sm_leakage_watts = 2.16;  ///< of one SM
};

/// A whole GPU, as a TOML file under configs/machines/ describes it.
struct MachineConfig {
  std::string name;
  std::uint32_t num_sms = 0;
  double core_mhz = 0;
  double cta_interval = 0;  ///< cycles between two CTAs that all SMs together begin; 0: as fast as they are dispatched
  SmConfig sm;
  CacheConfig l2;  ///< one slice; there are `l2_slices`
  std::uint32_t l2_slices = 0;
  InterconnectConfig interconnect;
  DramConfig dram;
  PartitionerConfig partitioner;
  HostConfig host;
  EnergyConfig energy;
};

/// What DRAM's data buses carry at most, bytes a core cycle.
[[nodiscard]] inline double dram_bytes_per_cycle(const MachineConfig& machine) {
  const DramConfig& d = machine.dram;
  return d.channels * d.bytes_per_cycle * d.clock_mhz / machine.core_mhz;
}

}  // namespace sluice
