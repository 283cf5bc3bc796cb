#pragma once
#include <atomic>
#include <memory>
#include <systemc>
#include <vector>

#include "sw/device/i_device.h"
#include "sw/workload/i_instruction_source.h"
#include "systemc/memory/dram_channel.h"
#include "systemc/memory/interconnect.h"
#include "systemc/memory/l2_slice.h"
#include "systemc/memory/packet.h"
#include "systemc/partition/cta_dispatcher.h"
#include "systemc/partition/i_partition_core.h"
#include "systemc/partition/partition_sequencer.h"
#include "systemc/sim_clock.h"
#include "systemc/sm/streaming_multiprocessor.h"

namespace sluice {

/// A machine put together from its description, with the kernels of one run on it. SystemC allows one per process.
class Gpu : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Gpu);
  Gpu(const sc_core::sc_module_name& name, const RunSpec& spec, ICtaObserver* observer);

  /// Runs until every target is reached, or the window ends, or `interrupt` is set.
  RunResult run(const std::atomic<bool>& interrupt);

 private:
  void host();      ///< SC_THREAD: programs the quotas of Partitioned mode when kernels arrive or end
  void arrivals();  ///< SC_THREAD: kernels arrive at their time, or when the one before them in their stream is over
  void watch();     ///< SC_THREAD: stops when all is done
  void apply_quotas(const std::vector<KernelId>& present);

  RunSpec spec_;
  SimClock clock_;
  PacketPool pool_;
  std::vector<std::unique_ptr<IInstructionSource>> sources_;
  std::vector<RunningKernel> kernels_;
  std::vector<KernelCounters> counters_;
  std::unique_ptr<IPartitionCore> core_;
  Interconnect interconnect_;
  std::vector<std::unique_ptr<L2Slice>> slices_;
  std::vector<std::unique_ptr<DramChannel>> channels_;
  CtaDispatcher dispatcher_;
  std::vector<std::unique_ptr<StreamingMultiprocessor>> sms_;
  std::unique_ptr<PartitionSequencer> sequencer_;
};

}  // namespace sluice
