#include "systemc/partition/partition_sequencer.h"

#include <algorithm>
#include <cmath>

#include "sw/partition/ipc_scaling.h"

namespace sluice {

namespace {

/// Fixed-point 1.0 of the partition core's normalised performance (sluice_pkg::PerfOne).
std::uint32_t to_perf(double fraction) {
  return static_cast<std::uint32_t>(std::lround(std::clamp(fraction, 0.0, 1.0) * kPerfOne));
}

}  // namespace

PartitionSequencer::PartitionSequencer(const sc_core::sc_module_name& name, const MachineConfig& machine, SimClock clock,
                                       CtaDispatcher& dispatcher, IPartitionCore& core, const std::vector<RunningKernel>& kernels,
                                       std::vector<StreamingMultiprocessor*> sms)
    : sc_module(name),
      machine_(machine),
      clock_(clock),
      dispatcher_(dispatcher),
      core_(core),
      kernels_(kernels),
      sms_(std::move(sms)) {
  SC_THREAD(run);
}

void PartitionSequencer::run() {
  for (;;) {
    seen_changes_ = dispatcher_.changes();
    const std::vector<KernelId> present = dispatcher_.present();
    if (present.size() == 1) dispatcher_.lift_quotas(present.front());
    if (present.size() >= 2) decide(present);
    while (dispatcher_.changes() == seen_changes_) wait(dispatcher_.kernels_changed);
  }
}

bool PartitionSequencer::sleep(std::uint64_t cycles) {
  if (cycles != 0) wait(clock_.cycles(cycles), dispatcher_.kernels_changed);
  return dispatcher_.changes() == seen_changes_;
}

std::vector<std::vector<PartitionSequencer::Level>> PartitionSequencer::plan_windows(const std::vector<KernelId>& present) const {
  const std::vector<SmRange> ranges = split_sms(machine_.num_sms, static_cast<std::uint32_t>(present.size()));
  std::vector<std::uint32_t> max_ctas;
  std::uint32_t num_windows = 1;
  for (std::uint32_t k = 0; k < present.size(); ++k) {
    const CtaCount most = occupancy(kernels_[present[k].value()].descriptor.demand(), machine_.sm.capacity);
    max_ctas.push_back(std::min(most.value(), kMaxCtas));
    num_windows = std::max(num_windows, (max_ctas[k] + ranges[k].count - 1) / ranges[k].count);
  }
  std::vector<std::vector<Level>> windows(num_windows, std::vector<Level>(machine_.num_sms));
  for (std::uint32_t k = 0; k < present.size(); ++k) {
    for (std::uint32_t w = 0; w < num_windows; ++w) {
      for (std::uint32_t i = 0; i < ranges[k].count; ++i) {
        const std::uint32_t level = w * ranges[k].count + i;
        // Spare SMs run the kernel's last level: idle ones would leave the memory system less loaded than it will be.
        windows[w][ranges[k].first.value() + i] = {k, std::min(level + 1, max_ctas[k]), level < max_ctas[k]};
      }
    }
  }
  return windows;
}

void PartitionSequencer::enforce(const std::vector<KernelId>& present, const std::vector<Level>& window) {
  for (std::uint32_t sm = 0; sm < machine_.num_sms; ++sm) {
    for (std::uint32_t k = 0; k < present.size(); ++k) {
      dispatcher_.set_quota(SmId(sm), present[k], CtaCount(window[sm].kernel == k ? window[sm].ctas : 0));
    }
  }
}

void PartitionSequencer::enforce(const std::vector<KernelId>& present, const Partition& partition) {
  const std::vector<SmRange> ranges = split_sms(machine_.num_sms, static_cast<std::uint32_t>(present.size()));
  for (std::uint32_t sm = 0; sm < machine_.num_sms; ++sm) {
    for (std::uint32_t k = 0; k < present.size(); ++k) {
      const bool mine = partition.mode == PartitionMode::IntraSm ||
                        (sm >= ranges[k].first.value() && sm < ranges[k].first.value() + ranges[k].count);
      dispatcher_.set_quota(SmId(sm), present[k], mine ? partition.ctas[k] : CtaCount(0));
    }
  }
}

bool PartitionSequencer::decide(const std::vector<KernelId>& present) {
  const auto windows = plan_windows(present);
  std::vector<std::vector<LevelSample>> samples(present.size());
  for (std::size_t w = 0; w < windows.size(); ++w) {
    enforce(present, windows[w]);
    // Later windows need only as long as a CTA takes to end; half the warm-up is the compromise.
    if (!sleep(w == 0 ? machine_.partitioner.warm_up_cycles : machine_.partitioner.warm_up_cycles / 2)) return false;
    std::vector<StreamingMultiprocessor::Sample> before;
    for (StreamingMultiprocessor* sm : sms_) before.push_back(sm->sample());
    if (!sleep(machine_.partitioner.profile_cycles)) return false;
    std::vector<LevelSample> window_totals(present.size());
    for (std::uint32_t sm = 0; sm < machine_.num_sms; ++sm) {
      window_totals[windows[w][sm].kernel].cta_sum += windows[w][sm].ctas;
      ++window_totals[windows[w][sm].kernel].num_samples;
    }
    for (std::uint32_t sm = 0; sm < machine_.num_sms; ++sm) {
      const Level& level = windows[w][sm];
      if (!level.sampled) continue;
      const StreamingMultiprocessor::Sample after = sms_[sm]->sample();
      samples[level.kernel].push_back({static_cast<std::uint32_t>(after.warp_instructions - before[sm].warp_instructions),
                                       static_cast<std::uint32_t>(after.memory_stall_cycles - before[sm].memory_stall_cycles),
                                       window_totals[level.kernel].cta_sum, window_totals[level.kernel].num_samples});
    }
  }
  Decision decision;
  decision.sampled_at = Cycles(clock_.now());
  PartitionCoreOut out;
  if (!run_core(present, samples, out)) return false;
  if (!sleep(machine_.partitioner.algorithm_delay)) return false;
  decision.decided_at = Cycles(clock_.now());
  decision.kernels = present;
  for (std::size_t k = 0; k < present.size(); ++k) {
    Profile profile;
    for (std::size_t j = 0; j < samples[k].size(); ++j) {
      const LevelSample& s = samples[k][j];
      const double window = machine_.partitioner.profile_cycles;
      profile.push_back(scale_ipc(s.warp_instructions / window, s.stall_cycles / window, static_cast<double>(j + 1),
                                  static_cast<double>(s.cta_sum) / s.num_samples));
    }
    decision.profiles.push_back(profile);
  }
  if (out.no_fit || out.spatial) {
    decision.partition.mode = PartitionMode::Spatial;
    for (const KernelId kernel : present) {
      decision.partition.ctas.push_back(occupancy(kernels_[kernel.value()].descriptor.demand(), machine_.sm.capacity));
    }
  } else {
    decision.partition.mode = PartitionMode::IntraSm;
    for (std::size_t k = 0; k < present.size(); ++k) decision.partition.ctas.emplace_back(out.ctas[k]);
  }
  enforce(present, decision.partition);
  decisions_.push_back(decision);
  return true;
}

bool PartitionSequencer::run_core(const std::vector<KernelId>& present, const std::vector<std::vector<LevelSample>>& samples,
                                  PartitionCoreOut& out) {
  const SmResources& capacity = machine_.sm.capacity;
  PartitionCoreIn in;
  in.start = true;
  in.num_kernels = static_cast<std::uint8_t>(present.size());
  in.capacity_warps = capacity.threads / kWarpSize;
  in.capacity_registers = capacity.registers;
  in.capacity_shared_bytes = capacity.shared_memory_bytes;
  in.capacity_slots = capacity.cta_slots;
  for (std::size_t k = 0; k < present.size(); ++k) {
    const SmResources demand = kernels_[present[k].value()].descriptor.demand();
    in.demand_warps[k] = demand.threads / kWarpSize;
    in.demand_registers[k] = demand.registers;
    in.demand_shared_bytes[k] = demand.shared_memory_bytes;
  }
  in.window_cycles = machine_.partitioner.profile_cycles;
  in.epsilon = to_perf(machine_.partitioner.epsilon);
  in.perf_floor = to_perf(1.0 - machine_.partitioner.loss_limit / static_cast<double>(present.size()));
  std::size_t kernel = 0, level = 0;
  std::uint32_t prepared = 0;  // sum of the samples' kernel that the core knows; 0 = none yet
  bool interrupted = false;
  for (;;) {
    in.prepare_valid = in.sample_valid = false;
    if (kernel < samples.size() && !in.start) {
      const LevelSample& sample = samples[kernel][level];
      in.sample_valid = prepared == sample.cta_sum;
      in.prepare_valid = !in.sample_valid;
      in.prepare_kernel = static_cast<std::uint8_t>(kernel);
      in.prepare_sum = sample.cta_sum;
      in.sample_kernel = static_cast<std::uint8_t>(kernel);
      in.sample_ctas = static_cast<std::uint8_t>(level + 1);
      in.sample_warp_insts = sample.warp_instructions;
      in.sample_stall_cycles = sample.stall_cycles;
      in.num_samples = sample.num_samples;
      in.sample_final = level + 1 == samples[kernel].size();
    }
    out = core_.cycle(in);
    if (in.sample_valid && out.sample_ready && ++level == samples[kernel].size()) {
      level = 0;
      prepared = 0;
      ++kernel;
    }
    if (in.prepare_valid && out.prepare_ready) prepared = in.prepare_sum;
    in.start = false;
    // The core is let finish even when its answer is no longer wanted: it has no abort.
    if (!sleep(1)) interrupted = true;
    if (out.done) return !interrupted;
  }
}

}  // namespace sluice
