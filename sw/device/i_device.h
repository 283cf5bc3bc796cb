#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sw/core/energy.h"
#include "sw/core/kernel.h"
#include "sw/core/machine.h"
#include "sw/core/partition.h"
#include "sw/core/profile.h"
#include "sw/core/units.h"
#include "sw/workload/i_instruction_source.h"

namespace sluice {

/// What the CTA dispatcher is told to do. LeftOver, Fcfs: by arrival order. Partitioned: quotas and SM ranges are given.
/// Dynamic: the partition sequencer profiles and decides (Warped-Slicer).
enum class DispatchMode { LeftOver, Fcfs, Partitioned, Dynamic };

/// Which implementation of the partition hardware decides in Dynamic mode.
enum class PartitionerKind { Tlm, Rtl, Both };

[[nodiscard]] std::string_view to_string(PartitionerKind kind);  ///< "tlm", "rtl", "both"

/// One kernel of a run.
struct KernelLaunch {
  KernelDescriptor kernel;
  std::uint64_t target_warp_instructions =
      0;                               ///< the kernel is halted and its CTAs released here; 0 = runs to the end of the window
  Cycles arrival;                      ///< 0 = at once
  std::optional<std::size_t> after{};  ///< arrives when this launch (of the same stream) is over, but not before `arrival`
  /// Its instructions; empty = synthetic, from kernel.behaviour. Called once, in the process that runs the model.
  std::function<std::unique_ptr<IInstructionSource>()> make_source{};
  bool once = false;  ///< over when its grid is done; otherwise the grid is launched again and again
};

/// What the host programs into the dispatcher in Partitioned mode.
struct Quotas {
  std::vector<CtaCount> ctas;      ///< CTAs per SM of each kernel, in launch order; 0 = none
  std::vector<SmRange> sm_ranges;  ///< SMs of each kernel; empty = all SMs for all
};

/// One simulation. Equal specs give bit-identical results.
struct RunSpec {
  MachineConfig machine;
  std::vector<KernelLaunch> launches;
  DispatchMode mode = DispatchMode::LeftOver;
  /// Partitioned: asked at the start and whenever a kernel arrives or ends, with the kernels present (never empty). A kernel
  /// that is alone is not asked for: it gets every SM.
  std::function<Quotas(const std::vector<KernelId>& present)> quotas;
  Cycles window;  ///< stop here; 0 = until every kernel with a target has reached it
  PartitionerKind partitioner = PartitionerKind::Tlm;
  std::uint64_t seed = 1;
  bool check_protocol = false;          ///< puts a TLM-2.0 protocol checker on every memory socket; a violation ends the run
  std::filesystem::path fst_file;       ///< waveform of the partition core (Rtl only); empty = none
  std::filesystem::path timeline_file;  ///< Chrome trace of the CTAs on every SM; empty = none
};

/// Why an SM issued nothing in a cycle, summed over SMs (Warped-Slicer figure 1). A cycle in which both schedulers issued
/// nothing counts once, for the reason of most of its warps.
struct StallCycles {
  std::uint64_t long_memory = 0, execution_resource = 0, raw = 0, instruction_buffer = 0, barrier = 0, idle = 0;
  StallCycles& operator+=(const StallCycles& other);
};

/// Counters of one kernel (or, in `RunResult::total`, of the machine), over the whole run and all SMs.
struct KernelCounters {
  std::uint64_t warp_instructions = 0, thread_instructions = 0;
  std::uint64_t alu_busy = 0, sfu_busy = 0, ldst_busy = 0;  ///< pipeline-cycles held (ALU: summed over its pipes)
  std::uint64_t l1_accesses = 0, l1_misses = 0;             ///< load lines; MSHR merges count as misses
  std::uint64_t alu_lanes = 0, sfu_lanes = 0, dp_lanes = 0, tensor_lanes = 0;  ///< lane operations issued to each pipeline
  std::uint64_t shared_passes = 0, store_lines = 0;                            ///< passes over the scratchpad banks, lines stored
  std::uint64_t noc_bytes = 0;                                                 ///< over the interconnect, both ways, with headers
  std::uint64_t l2_accesses = 0, l2_misses = 0;                                ///< lines, loads and stores
  std::uint64_t dram_bytes = 0, dram_row_hits = 0, dram_requests = 0;
  std::uint64_t ctas_dispatched = 0, ctas_completed = 0;
  std::uint64_t finish_cycle = 0;                           ///< cycle the target was reached; 0 = not reached
  KernelCounters& operator+=(const KernelCounters& other);  ///< finish_cycle: the later one
};

/// One decision of the partition sequencer.
struct Decision {
  Cycles sampled_at, decided_at;  ///< end of the profile window; quotas valid
  std::vector<KernelId> kernels;  ///< who took part
  std::vector<Profile> profiles;  ///< scaled IPC per kernel, 1..N CTAs (one SM)
  Partition partition;
};

/// Counters of one SM, all kernels.
struct SmCounters {
  KernelCounters work;  ///< what the SM itself counts: issue, pipelines, L1; no L2, DRAM, CTAs
  StallCycles stalls;
};

struct RunResult {
  Cycles cycles;                        ///< until the last target was reached (or the window ended)
  std::vector<KernelCounters> kernels;  ///< in launch order
  KernelCounters total;
  StallCycles stalls;
  std::vector<SmCounters> sms;
  std::uint64_t sm_cycles = 0;  ///< cycles * SMs: the denominator of stalls and utilisations
  std::uint64_t threads_resident = 0, registers_resident = 0, shared_bytes_resident = 0;  ///< resource-cycles, summed over SMs
  std::vector<Decision> decisions;
  std::map<std::string, std::uint64_t> unknown_opcodes;  ///< of traces: name, instructions that had it
  bool interrupted = false;
};

/// What the counters say about energy. @param cycles  length of the run
[[nodiscard]] EnergyEvents energy_events(const KernelCounters& counters, Cycles cycles);

/// Anything that can run a mix: the SystemC model, later a real GPU.
class IDevice {
 public:
  virtual ~IDevice() = default;
  /// @throws InputError when the spec can't run on this device (a CTA that does not fit, no kernel, quota 0 for all)
  virtual RunResult run(const RunSpec& spec) = 0;
};

}  // namespace sluice
