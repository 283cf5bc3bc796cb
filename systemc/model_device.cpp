// SPDX-License-Identifier: Apache-2.0
#include "systemc/model_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sw/core/errors.h"
#include "sw/report/chrome_trace.h"
#include "systemc/gpu.h"

namespace sluice {

void check_unit_has(Mode mode, PartitionerKind partitioner, const MachineConfig& machine) {
  if (mode == Mode::Balance && partitioner != PartitionerKind::Twin && !machine.partitioner.balance.unit)
    throw InputError(
        fmt::format("mode balance: --partitioner {} takes the unit with this mode: --balance unit=true", to_string(partitioner)));
}

namespace {

void check(const RunSpec& spec) {
  if (spec.launches.empty()) throw InputError("a run needs at least one kernel");
  if (spec.software && !std::ranges::all_of(spec.launches, &KernelLaunch::once))
    throw InputError("software preemption: every kernel must run once");
  if (spec.sample > 1 && (spec.software || spec.window.value() != 0 || !std::ranges::all_of(spec.launches, &KernelLaunch::once)))
    throw InputError("a sample is of whole launches, each once, and not of software preemption");
  if (spec.make_scheduler) check_unit_has(spec.make_scheduler()->mode(), spec.partitioner, spec.machine);
  const SmResources& sm = spec.machine.sm.capacity;
  for (const KernelLaunch& launch : spec.launches) {
    const SmResources cta = launch.kernel.demand();
    if (!fits(cta, sm)) {
      throw InputError(fmt::format(
          "kernel {}: one CTA needs {} threads, {} registers, {} bytes of shared memory; an SM of machine {} has {}, {}, {}",
          launch.kernel.name, cta.threads, cta.registers, cta.shared_memory_bytes, spec.machine.name, sm.threads, sm.registers,
          sm.shared_memory_bytes));
    }
  }
}

/// CTAs as slices of a Chrome trace.
class Timeline : public ICtaObserver {
 public:
  explicit Timeline(const RunSpec& spec) : spec_(spec), trace_(spec.timeline_file, spec.machine.num_sms) {}
  void cta_ended(SmId sm, std::uint32_t slot, KernelId kernel, std::uint32_t cta, Cycles begin, Cycles end) override {
    trace_.cta(sm.value(), slot, spec_.launches[kernel.value()].kernel.name, cta, begin.value(), end.value());
  }
  void finish(const RunResult& result) {
    for (const Decision& d : result.decisions) trace_.marker("partition decided", d.decided_at.value());
    for (std::size_t k = 0; k < result.kernels.size(); ++k) {
      if (result.kernels[k].finish_cycle != 0)
        trace_.marker(spec_.launches[k].kernel.name + " reached its target", result.kernels[k].finish_cycle);
    }
    trace_.close();
  }

 private:
  const RunSpec& spec_;
  ChromeTrace trace_;
};

}  // namespace

void check_partitioner(const MachineConfig& machine, PartitionerKind kind, std::size_t kernels) {
  if (kind != PartitionerKind::Twin) check_rtl_sluice_top(unit_parameters(machine, kernels));
}

RunResult ModelDevice::run(const RunSpec& spec) {
  check(spec);
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);  // standard output is for results
  sc_core::sc_set_time_resolution(1, sc_core::SC_PS);
  std::optional<Timeline> timeline;
  if (!spec.timeline_file.empty()) timeline.emplace(spec);
  Gpu gpu("gpu", spec, timeline ? &*timeline : nullptr);
  RunResult result = gpu.run();
  if (timeline) timeline->finish(result);
  return result;
}

}  // namespace sluice
