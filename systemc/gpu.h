// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <systemc>
#include <vector>

#include "sw/driver/i_device.h"
#include "sw/workload/i_instruction_source.h"
#include "sw/workload/sampled_source.h"
#include "systemc/host/partition_host.h"
#include "systemc/host/partition_unit.h"
#include "systemc/memory/dram_channel.h"
#include "systemc/memory/host_port.h"
#include "systemc/memory/interconnect.h"
#include "systemc/memory/l2_slice.h"
#include "systemc/memory/packet.h"
#include "systemc/memory/protocol_checker.h"
#include "systemc/sim/sim_clock.h"
#include "systemc/sm/streaming_multiprocessor.h"

namespace sluice {

/// The unit's elaboration for so many kernels at once: MAX_KERNELS 4, or 8 where that is too few; more take turns.
[[nodiscard]] regs::Parameters unit_parameters(const MachineConfig& machine, std::size_t kernels);

/// A machine put together from its description, with the kernels of one run on it. SystemC allows one per process.
class Gpu : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Gpu);
  Gpu(const sc_core::sc_module_name& name, const RunSpec& spec, ICtaObserver* observer);

  /// Runs until every target is reached, or the window ends.
  RunResult run();

 private:
  using SamplePlans = std::vector<std::optional<SamplePlan>>;  ///< by launch
  [[nodiscard]] static SamplePlans sample_plans(const RunSpec& spec);
  [[nodiscard]] static RunSpec shortened(RunSpec spec, const SamplePlans& plans);
  /// Puts the runtime of persistent CTAs around the source made last.
  PersistentSource* make_persistent(std::uint32_t kernel);
  void watch();  ///< SC_THREAD: stops when all is done
  /// Binds two sockets, with a protocol checker between them if the run asks for it.
  template <class Initiator, class Target>
  void connect(Initiator& initiator, Target& target);
  void check_protocol() const;
  void extend(RunResult& result);  ///< from the CTAs that were simulated to all

  const SamplePlans plans_;
  RunSpec spec_;  ///< of grids as long as they are simulated
  SimClock clock_;
  PacketPool pool_;
  std::vector<std::unique_ptr<IInstructionSource>> sources_;
  std::vector<RunningKernel> kernels_;
  std::vector<KernelCounters> counters_;                  ///< what L2, DRAM and dispatcher count
  std::vector<std::vector<KernelCounters>> sm_counters_;  ///< what each SM counts, by kernel
  Interconnect interconnect_;
  HostPort host_memory_;
  std::vector<std::unique_ptr<L2Slice>> slices_;
  std::vector<std::unique_ptr<DramChannel>> channels_;
  PartitionUnit unit_;
  PartitionHost host_;
  std::vector<std::unique_ptr<StreamingMultiprocessor>> sms_;
  std::vector<std::unique_ptr<ProtocolChecker>> checkers_;
};

}  // namespace sluice
