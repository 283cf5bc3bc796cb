// The fit of a kernel to its own solo figures.
#include <gtest/gtest.h>

#include "sw/workload/calibration.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"

namespace sluice {
namespace {

/// What is fitted must not depend on what an earlier fit left in the file: else the committed workload could not be repeated.
TEST(Calibration, AFitOfAFittedKernelStartsWhereTheFirstDid) {
  const std::filesystem::path root = SLUICE_SOURCE_DIR;
  const MachineConfig machine = read_machine(root / "configs/machines/fermi_table1.toml");
  for (const KernelDescriptor& kernel : read_workload(root / "configs/workloads/table2.toml").kernels) {
    const KernelDescriptor first = initial_behaviour(kernel, machine);
    SoloReference model = *kernel.reference;
    model.instructions *= 0.7;
    model.ldst_utilization *= 0.8;
    model.l2_mpki += 3;
    KernelDescriptor fitted = calibration_step(first, model, 1.0);
    fitted.behaviour.reuse_lines += 1;
    fitted.behaviour.fetch_interval += 1;
    const Workload one{"w", {first}}, two{"w", {initial_behaviour(fitted, machine)}};
    EXPECT_EQ(format_workload(two, ""), format_workload(one, ""));
  }
}

}  // namespace
}  // namespace sluice
