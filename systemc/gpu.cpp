#include "systemc/gpu.h"

#include <algorithm>
#include <limits>
#include <string>

#include "sw/core/errors.h"
#include "sw/workload/synthetic_source.h"

namespace sluice {

namespace {

/// How far the simulation runs between two looks at the interrupt flag.
constexpr std::uint64_t kSliceCycles = 10000;

std::string numbered(const char* stem, std::size_t i) { return stem + std::to_string(i); }

}  // namespace

Gpu::Gpu(const sc_core::sc_module_name& name, const RunSpec& spec, ICtaObserver* observer)
    : sc_module(name),
      spec_(spec),
      clock_(spec.machine.core_mhz),
      counters_(spec.launches.size()),
      interconnect_("interconnect", spec.machine, clock_),
      dispatcher_("cta_dispatcher", spec.machine, clock_, spec.mode, kernels_, counters_, spec.launches.size()) {
  const MachineConfig& machine = spec_.machine;
  for (std::uint32_t k = 0; k < spec_.launches.size(); ++k) {
    const KernelLaunch& launch = spec_.launches[k];
    if (launch.make_source) {
      sources_.push_back(launch.make_source());
    } else {
      sources_.push_back(std::make_unique<SyntheticSource>(launch.kernel, k, spec_.seed));
    }
    kernels_.push_back({launch.kernel, sources_.back().get(), 0, launch.target_warp_instructions,
                        launch.once ? launch.kernel.grid_ctas : 0, nullptr});
  }
  for (std::uint32_t i = 0; i < machine.dram.channels; ++i) {
    channels_.push_back(std::make_unique<DramChannel>(numbered("dram_channel", i).c_str(), machine, clock_, counters_));
  }
  for (std::uint32_t i = 0; i < machine.l2_slices; ++i) {
    slices_.push_back(std::make_unique<L2Slice>(numbered("l2_slice", i).c_str(), machine, clock_, pool_, counters_));
    interconnect_.to_slice[i]->bind(slices_[i]->from_interconnect);
    slices_[i]->to_dram.bind(channels_[i * machine.dram.channels / machine.l2_slices]->new_port());
  }
  std::vector<StreamingMultiprocessor*> sms;
  for (std::uint32_t i = 0; i < machine.num_sms; ++i) {
    sms_.push_back(std::make_unique<StreamingMultiprocessor>(numbered("sm", i).c_str(), SmId(i), machine, clock_, pool_, kernels_,
                                                             counters_, dispatcher_));
    sms_[i]->memory.bind(*interconnect_.from_sm[i]);
    sms.push_back(sms_.back().get());
  }
  dispatcher_.connect(sms);
  dispatcher_.observe(observer);
  if (spec_.mode == DispatchMode::Dynamic) {
    core_ = spec_.partitioner == PartitionerKind::Rtl ? make_rtl_partition_core(spec_.fst_file.string(), clock_.period_ps())
                                                      : make_tlm_partition_core();
    sequencer_ = std::make_unique<PartitionSequencer>("partition_sequencer", machine, clock_, dispatcher_, *core_, kernels_, sms);
  }
  SC_THREAD(arrivals);
  SC_THREAD(watch);
  if (spec_.mode == DispatchMode::Partitioned) SC_THREAD(host);
}

void Gpu::arrivals() {
  std::vector<std::uint32_t> waiting(spec_.launches.size());
  for (std::uint32_t k = 0; k < waiting.size(); ++k) waiting[k] = k;
  std::ranges::stable_sort(waiting, {}, [this](std::uint32_t k) { return spec_.launches[k].arrival; });
  while (!waiting.empty()) {
    std::uint64_t next = std::numeric_limits<std::uint64_t>::max();
    std::erase_if(waiting, [&](std::uint32_t k) {
      const KernelLaunch& launch = spec_.launches[k];
      if (launch.after && counters_[*launch.after].finish_cycle == 0) return false;
      if (launch.arrival.value() > clock_.now()) {
        next = std::min(next, launch.arrival.value());
        return false;
      }
      dispatcher_.arrive(KernelId(k));
      return true;
    });
    if (waiting.empty()) break;
    if (next != std::numeric_limits<std::uint64_t>::max()) {
      wait(clock_.cycles(next - clock_.now()), dispatcher_.kernels_changed);
    } else {
      wait(dispatcher_.kernels_changed);
    }
  }
}

void Gpu::watch() {
  while (!dispatcher_.done()) wait(dispatcher_.kernels_changed);
  sc_core::sc_stop();
}

void Gpu::host() {
  for (;;) {
    const std::uint64_t seen = dispatcher_.changes();
    const std::vector<KernelId> present = dispatcher_.present();
    if (present.size() == 1) {
      dispatcher_.lift_quotas(present.front());
    } else if (!present.empty()) {
      apply_quotas(present);
    }
    while (dispatcher_.changes() == seen) wait(dispatcher_.kernels_changed);
  }
}

void Gpu::apply_quotas(const std::vector<KernelId>& present) {
  const Quotas quotas = spec_.quotas(present);
  for (std::uint32_t sm = 0; sm < spec_.machine.num_sms; ++sm) {
    for (const KernelId kernel : present) {
      const std::uint32_t k = kernel.value();
      const bool mine = quotas.sm_ranges.empty() || (sm >= quotas.sm_ranges[k].first.value() &&
                                                     sm < quotas.sm_ranges[k].first.value() + quotas.sm_ranges[k].count);
      dispatcher_.set_quota(SmId(sm), kernel, mine ? quotas.ctas[k] : CtaCount(0));
    }
  }
}

RunResult Gpu::run(const std::atomic<bool>& interrupt) {
  RunResult result;
  const std::uint64_t window = spec_.window.value();
  while (sc_core::sc_get_status() != sc_core::SC_STOPPED && !dispatcher_.done()) {
    if (interrupt) {
      result.interrupted = true;
      break;
    }
    const std::uint64_t now = clock_.now();
    if (window != 0 && now >= window) break;
    const std::uint64_t slice = window == 0 ? kSliceCycles : std::min(kSliceCycles, window - now);
    sc_core::sc_start(clock_.cycles(slice));
  }
  for (const RunningKernel& kernel : kernels_) {
    if (kernel.error) std::rethrow_exception(kernel.error);
  }
  const std::uint64_t now = clock_.now();
  dispatcher_.settle(now);
  result.cycles = Cycles(now);
  result.kernels = counters_;
  result.sm_cycles = now * spec_.machine.num_sms;
  result.threads_resident = dispatcher_.thread_cycles;
  result.registers_resident = dispatcher_.register_cycles;
  result.shared_bytes_resident = dispatcher_.shared_byte_cycles;
  for (const KernelCounters& k : counters_) result.total += k;
  for (const auto& source : sources_) {
    for (const auto& [opcode, count] : source->unknown_opcodes()) result.unknown_opcodes[opcode] += count;
  }
  for (const auto& sm : sms_) result.stalls += sm->stalls();
  if (sequencer_) result.decisions = sequencer_->decisions();
  return result;
}

}  // namespace sluice
