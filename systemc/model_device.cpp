#include "systemc/model_device.h"

#include <fmt/format.h>

#include "sw/core/errors.h"
#include "systemc/gpu.h"

// The models are a library; the program's main is its own.
int sc_main(int, char**) { return 0; }

namespace sluice {

std::atomic<bool> interrupt_requested{false};

namespace {

void check(const RunSpec& spec) {
  if (spec.launches.empty()) throw InputError("a run needs at least one kernel");
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
  if (spec.mode == DispatchMode::Dynamic && spec.launches.size() > kMaxKernels) {
    throw InputError(fmt::format("{} kernels at once: the partition core handles at most {}", spec.launches.size(), kMaxKernels));
  }
  if (spec.launches.size() > spec.machine.num_sms) {
    throw InputError(
        fmt::format("{} kernels at once on {} SMs: at most one kernel an SM", spec.launches.size(), spec.machine.num_sms));
  }
}

}  // namespace

RunResult ModelDevice::run(const RunSpec& spec) {
  check(spec);
  sc_core::sc_set_time_resolution(1, sc_core::SC_PS);
  Gpu gpu("gpu", spec, nullptr);
  return gpu.run(interrupt_requested);
}

}  // namespace sluice
