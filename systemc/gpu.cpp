// SPDX-License-Identifier: Apache-2.0
#include "systemc/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "sw/core/errors.h"
#include "sw/trace/program_source.h"
#include "sw/trace/repeated_trace.h"
#include "sw/workload/synthetic_source.h"
#include "systemc/sim/main_stack.h"
#include "systemc/sim/run_simulation.h"

namespace sluice {

namespace {

/// How far the simulation runs between two looks at the interrupt flag.
constexpr std::uint64_t kSliceCycles = 10000;

std::unique_ptr<ISluiceTop> make_top(const RunSpec& spec, const SimClock& clock) {
  const auto at_once = std::ranges::count_if(spec.launches, [](const KernelLaunch& launch) { return !launch.after; });
  const regs::Parameters parameters =
      unit_parameters(spec.machine, spec.kernel_slots != 0 ? spec.kernel_slots : static_cast<std::size_t>(at_once));
  switch (spec.partitioner) {
    case PartitionerKind::Rtl: return make_rtl_sluice_top(parameters, spec.fst_file.string(), clock.period_ps());
    case PartitionerKind::Both: return make_lockstep_sluice_top(parameters, spec.fst_file.string(), clock.period_ps());
    case PartitionerKind::Twin: break;
  }
  if (parameters.balance != 0) return make_twin_sluice_top(parameters);
  return make_twin_sluice_top(parameters, spec.machine.partitioner.balance);
}

std::string numbered(const char* stem, std::size_t i) { return stem + std::to_string(i); }

}  // namespace

regs::Parameters unit_parameters(const MachineConfig& machine, std::size_t kernels) {
  regs::Parameters parameters{machine.num_sms, kernels > 4 ? 8U : 4U, 32, machine.sm.schedulers,
                              machine.partitioner.region_units};
  const PartitionerConfig& options = machine.partitioner;
  parameters.sm_enable = options.sm_enable;
  parameters.flush = options.flush;
  parameters.priority = options.priority;
  parameters.patience = options.patience;
  parameters.churn = options.churn;
  parameters.tail = options.tail;
  parameters.balance = !options.balance.unit ? 0 : options.balance.alone ? 2 : 1;
  return parameters;
}

/// Launches that run side by side are all shortened alike, so that they meet as they would.
Gpu::SamplePlans Gpu::sample_plans(const RunSpec& spec) {
  const auto resident = [&](const KernelLaunch& launch) {
    return occupancy(launch.kernel.demand(), spec.machine.sm.capacity).value() * spec.machine.num_sms;
  };
  bool in_order = true;
  std::uint32_t least = spec.sample;
  for (std::size_t k = 0; k < spec.launches.size(); ++k) {
    in_order = in_order && (k == 0 || spec.launches[k].after == k - 1);
    least = std::min(least, SamplePlan::most_ratio(spec.launches[k].kernel.grid_ctas, resident(spec.launches[k])));
  }
  SamplePlans plans;
  for (const KernelLaunch& launch : spec.launches)
    plans.push_back(SamplePlan::of(launch.kernel.grid_ctas, resident(launch), in_order ? spec.sample : least));
  return plans;
}

RunSpec Gpu::shortened(RunSpec spec, const SamplePlans& plans) {
  for (std::size_t k = 0; k < plans.size(); ++k)
    if (plans[k]) spec.launches[k].kernel.grid_ctas = plans[k]->simulated();
  return spec;
}

Gpu::Gpu(const sc_core::sc_module_name& name, const RunSpec& spec, ICtaObserver* observer)
    : sc_module(name),
      plans_(sample_plans(spec)),
      spec_(shortened(spec, plans_)),
      clock_(spec.machine.core_mhz),
      counters_(spec.launches.size()),
      sm_counters_(spec.machine.num_sms, counters_),
      interconnect_("interconnect", spec.machine, clock_, counters_),
      host_memory_("host_memory", spec.machine, clock_),
      unit_("partition_unit", spec.machine, clock_, kernels_, counters_, make_top(spec, clock_)),
      host_("partition_host", spec_, clock_, unit_) {
  const MachineConfig& machine = spec_.machine;
  for (std::uint32_t k = 0; k < spec.launches.size(); ++k) {
    const KernelLaunch& launch = spec.launches[k];
    if (launch.make_source) {
      sources_.push_back(launch.make_source());
    } else if (launch.kernel.trace) {
      sources_.push_back(trace_source(launch.kernel, k));
    } else if (launch.kernel.program) {
      sources_.push_back(std::make_unique<ProgramSource>(launch.kernel, k));
    } else {
      sources_.push_back(
          std::make_unique<SyntheticSource>(launch.kernel, k, machine.num_sms * machine.sm.capacity.cta_slots, spec_.seed));
    }
    if (plans_[k])
      sources_.back() = std::make_unique<SampledSource>(
          std::move(sources_.back()), *plans_[k], [this] { return clock_.now(); }, [this] { return host_.undecided(); });
    PersistentSource* workers = spec_.software ? make_persistent(k) : nullptr;
    const KernelDescriptor& simulated = spec_.launches[k].kernel;
    kernels_.push_back({simulated, sources_.back().get(), 0, launch.target_warp_instructions,
                        launch.once && workers == nullptr ? simulated.grid_ctas : 0, workers, nullptr});
  }
  for (std::uint32_t i = 0; i < machine.dram.channels; ++i) {
    channels_.push_back(std::make_unique<DramChannel>(numbered("dram_channel", i).c_str(), i, machine, clock_, counters_));
  }
  for (std::uint32_t i = 0; i < machine.l2_slices; ++i) {
    slices_.push_back(std::make_unique<L2Slice>(numbered("l2_slice", i).c_str(), machine, clock_, pool_, counters_));
    connect(*interconnect_.to_slice[i], slices_[i]->from_interconnect);
    connect(slices_[i]->to_dram, channels_[i * machine.dram.channels / machine.l2_slices]->new_port());
  }
  std::vector<StreamingMultiprocessor*> sms;
  for (std::uint32_t i = 0; i < machine.num_sms; ++i) {
    sms_.push_back(std::make_unique<StreamingMultiprocessor>(numbered("sm", i).c_str(), SmId(i), machine, clock_, pool_, kernels_,
                                                             sm_counters_[i], unit_));
    connect(sms_[i]->memory, *interconnect_.from_sm[i]);
    sms.push_back(sms_.back().get());
  }
  interconnect_.to_host.bind(host_memory_.from_interconnect);
  unit_.connect(sms);
  unit_.observe(observer);
  host_.registers.socket.bind(unit_.registers.socket);
  SC_THREAD(watch);
}

PersistentSource* Gpu::make_persistent(std::uint32_t kernel) {
  const std::uint64_t read = host_read_cycles(spec_.machine);
  const auto slice = static_cast<std::uint64_t>(spec_.software->slice_us * spec_.machine.core_mhz);
  auto workers = std::make_unique<PersistentSource>(
      std::move(sources_.back()), spec_.launches[kernel].kernel, kernel,
      PersistentSource::Setting{spec_.software->polling, slice, read / 2, [this] { return clock_.now(); }});
  PersistentSource* made = workers.get();
  sources_.back() = std::move(workers);
  return made;
}

template <class Initiator, class Target>
void Gpu::connect(Initiator& initiator, Target& target) {
  if (!spec_.check_protocol) {
    initiator.bind(target);
    return;
  }
  checkers_.push_back(std::make_unique<ProtocolChecker>(numbered("protocol_checker", checkers_.size()).c_str()));
  initiator.bind(checkers_.back()->from_initiator);
  checkers_.back()->to_target.bind(target);
}

void Gpu::check_protocol() const {
  for (const auto& checker : checkers_) {
    if (!checker->rules.violations().empty())
      throw CheckFailed(std::string(checker->name()) + ": " + checker->rules.violations().front());
  }
}

void Gpu::watch() {
  const auto over = [this](std::size_t k) { return unit_.over(KernelId(static_cast<std::uint32_t>(k))); };
  while (!unit_.done() && std::ranges::none_of(spec_.until_one, over)) wait(unit_.target_met);
  sc_core::sc_stop();
}

RunResult Gpu::run() {
  RunResult result;
  const std::uint64_t window = spec_.window.value();
  while (sc_core::sc_get_status() != sc_core::SC_STOPPED && !unit_.done()) {
    const std::uint64_t now = clock_.now();
    if (window != 0 && now >= window) break;
    const std::uint64_t slice = window == 0 ? kSliceCycles : std::min(kSliceCycles, window - now);
    run_simulation(clock_.cycles(slice));
    restore_main_stack_bounds();
  }
  for (const RunningKernel& kernel : kernels_) {
    if (kernel.error) std::rethrow_exception(kernel.error);
  }
  check_protocol();
  const std::uint64_t now = clock_.now();
  unit_.settle(now);
  result.cycles = Cycles(now);
  result.kernels = counters_;
  for (const std::vector<KernelCounters>& sm : sm_counters_) {
    for (std::size_t k = 0; k < sm.size(); ++k) result.kernels[k] += sm[k];
  }
  result.sm_cycles = now * spec_.machine.num_sms;
  result.threads_resident = unit_.thread_cycles;
  result.registers_resident = unit_.register_cycles;
  result.shared_bytes_resident = unit_.shared_byte_cycles;
  for (const KernelCounters& k : result.kernels) result.total += k;
  for (const auto& source : sources_) {
    for (const auto& [opcode, count] : source->unknown_opcodes()) result.unknown_opcodes[opcode] += count;
  }
  for (std::size_t i = 0; i < sms_.size(); ++i) {
    SmCounters& sm = result.sms.emplace_back();
    for (const KernelCounters& k : sm_counters_[i]) sm.work += k;
    sm.stalls = sms_[i]->stalls();
    result.stalls += sm.stalls;
    result.kernel_stalls.resize(result.kernels.size());
    for (std::size_t k = 0; k < result.kernels.size(); ++k)
      result.kernel_stalls[k] += sms_[i]->stalls(KernelId(static_cast<std::uint32_t>(k)));
  }
  result.decisions = host_.decisions();
  result.host = host_.record();
  result.host.began = unit_.began();
  result.host.pcie_reads = host_memory_.reads();
  if (spec_.sample > 1) result.sampled.resize(plans_.size());
  if (std::ranges::any_of(plans_, [](const auto& plan) { return plan.has_value(); })) extend(result);
  return result;
}

void Gpu::extend(RunResult& result) {
  const auto times = [](std::uint64_t& value, double factor) {
    value = static_cast<std::uint64_t>(std::llround(static_cast<double>(value) * factor));
  };
  for (std::size_t k = 0; k < plans_.size(); ++k)
    for (const Decision& d : result.decisions)
      if (plans_[k] && d.decided_at.value() > dynamic_cast<const SampledSource&>(*sources_[k]).leaves_out_from())
        throw InputError(fmt::format("--sample: the unit decides again at cycle {}, by a profile of samples: simulate it whole",
                                     d.decided_at.value()));
  std::vector<SamplePlan::Estimate> left_out(plans_.size());  // of a launch and those that it comes behind
  std::vector<SamplePlan::Change> changes;
  std::vector<std::size_t> order(plans_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t k) { return result.kernels[k].finish_cycle; });
  for (const Decision& d : result.decisions)  // a profile takes as long in the whole
    if (const auto at = static_cast<double>(d.decided_at.value());
        d.decided_at.value() < result.kernels[order.front()].finish_cycle)
      changes.push_back({at, at});
  result.total = {};
  for (SmCounters& sm : result.sms) sm.work = {};
  for (const std::size_t k : order) {
    KernelCounters& counters = result.kernels[k];
    if (spec_.launches[k].after) left_out[k] = left_out[*spec_.launches[k].after];
    double more = 1;
    if (plans_[k]) {
      const auto& source = dynamic_cast<const SampledSource&>(*sources_[k]);
      if (!spec_.launches[k].after)  // it may have waited for room beside those that were there
        for (const SamplePlan::Estimate& other : left_out)
          left_out[k].cycles = std::max(left_out[k].cycles, other.before(source.first_begun()));
      const auto own = source.left_out(changes, left_out[k].cycles);
      left_out[k].so_far = own.so_far;
      left_out[k].cycles += own.cycles;
      left_out[k].interval = std::hypot(left_out[k].interval, own.interval);
      more = static_cast<double>(plans_[k]->grid()) / plans_[k]->simulated();
      result.sampled[k] = {plans_[k]->simulated(), left_out[k].interval};
    }
    const auto simulated = static_cast<double>(counters.finish_cycle), finish = simulated + left_out[k].cycles;
    changes.push_back({simulated, finish});
    for (const auto& [name, member] : kCounterFields) {
      times(counters.*member, more);
      for (std::size_t i = 0; i < result.sms.size(); ++i) times(sm_counters_[i][k].*member, more);
    }
    counters.finish_cycle = static_cast<std::uint64_t>(std::llround(finish));
    result.total += counters;
    for (std::size_t i = 0; i < result.sms.size(); ++i) result.sms[i].work += sm_counters_[i][k];
  }
  const std::uint64_t end = result.total.finish_cycle;
  const double longer = static_cast<double>(end) / static_cast<double>(result.cycles.value());
  result.cycles = Cycles(end);
  for (std::uint64_t* value :
       {&result.sm_cycles, &result.threads_resident, &result.registers_resident, &result.shared_bytes_resident})
    times(*value, longer);
  for (const auto& [name, member] : kStallFields) {
    times(result.stalls.*member, longer);
    for (StallCycles& kernel : result.kernel_stalls) times(kernel.*member, longer);
    for (SmCounters& sm : result.sms) times(sm.stalls.*member, longer);
  }
}

}  // namespace sluice
