// SPDX-License-Identifier: Apache-2.0
// Errors of the unit's neighbours, planted into the running example: each is found by the assertion of rtl/sluice_sva.sv that
// forbids it.
#include <Vexample_gpu___024root.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>

#include "tb/example_gpu/example_gpu_world.h"

namespace sluice {
namespace {

/// Two kernels run; then `error` happens.
void run_with(const std::function<void(tb::ExampleGpu&, Vexample_gpu___024root&)>& error) {
  dup2(STDERR_FILENO, STDOUT_FILENO);  // where GoogleTest looks for the message
  setvbuf(stdout, nullptr, _IONBF, 0);
  tb::ExampleGpu gpu("");
  const tb::ExampleProgram gather{"gather", 0, 1, 0, 64, 0x1000};
  gpu.load(0, gather);
  gpu.launch(0, gather, false);
  gpu.run(200);
  error(gpu, *gpu.pins().rootp);
  gpu.run(2000);
}

using Gpu = tb::ExampleGpu;
using Root = Vexample_gpu___024root;

TEST(SluiceSvaDeathTest, WriteAddressThatChangesWhileItWaits) {
  const auto error = [](Gpu& gpu, Root&) {
    AxiLiteIn pins;
    pins.awvalid = true;  // the first is taken, and waits for its data
    for (const std::uint32_t address : {0x40U, 0x44U, 0x48U}) {
      pins.awaddr = address;
      gpu.cycle(pins);
    }
  };
  EXPECT_DEATH(run_with(error), "axi_write_address_waits");
}

TEST(SluiceSvaDeathTest, WriteDataThatIsWithdrawn) {
  const auto error = [](Gpu& gpu, Root&) {
    AxiLiteIn pins;
    pins.wvalid = true;
    gpu.cycle(pins);
    gpu.cycle(pins);
    pins.wvalid = false;
    gpu.cycle(pins);
  };
  EXPECT_DEATH(run_with(error), "axi_write_data_waits");
}

TEST(SluiceSvaDeathTest, ReadThatIsWithdrawn) {
  const auto error = [](Gpu& gpu, Root&) {
    AxiLiteIn pins;
    pins.arvalid = true;
    for (int c = 0; c < 3; ++c) gpu.cycle(pins);  // the first is answered, and the answer is not taken
    pins.arvalid = false;
    gpu.cycle(pins);
  };
  EXPECT_DEATH(run_with(error), "axi_read_address_waits");
}

TEST(SluiceSvaDeathTest, LaunchThatIsWithdrawn) {
  const auto error = [](Gpu& gpu, Root&) {
    gpu.pins().launch_warps_i = 1;
    gpu.pins().launch_valid_i = 1;
    gpu.run(20);  // no kernel slot is the port's: its queue is full
    gpu.pins().launch_valid_i = 0;
    gpu.run(1);
  };
  EXPECT_DEATH(run_with(error), "launch_waits");
}

void force_done(Gpu& gpu, Root& root, std::uint8_t sm, std::uint8_t slot) {
  root.example_gpu__DOT__done_sm__VforceVal = sm;
  root.example_gpu__DOT__done_slot__VforceVal = slot;
  root.example_gpu__DOT__done_sm__VforceEn = 0xff;
  root.example_gpu__DOT__done_slot__VforceEn = 0xff;
  gpu.run(1);
  root.example_gpu__DOT__done_valid__VforceVal = 1;
  root.example_gpu__DOT__done_valid__VforceEn = 1;
  gpu.run(2);
}

TEST(SluiceSvaDeathTest, EndOfACtaThatIsReportedTwice) {
  const auto error = [](Gpu& gpu, Root& root) {
    force_done(gpu, root, 2, 3);  // the slot is not given to another CTA so soon
  };
  EXPECT_DEATH(run_with(error), "done_is_of_a_cta_that_runs: SM 2, slot 3");
}

TEST(SluiceSvaDeathTest, EndOnAnSmThatDoesNotExist) {
  const auto error = [](Gpu& gpu, Root& root) { force_done(gpu, root, tb::kExampleSms, 0); };
  EXPECT_DEATH(run_with(error), "done_names_a_slot: SM 4, slot 0");
}

TEST(SluiceSvaDeathTest, IssueForAKernelThatIsNotThere) {
  const auto error = [](Gpu& gpu, Root& root) {
    root.example_gpu__DOT__issue_kernel__VforceVal = 1U << 3;  // on SM 1, kernel slot 1
    root.example_gpu__DOT__issue_kernel__VforceEn = 7U << 3;
    gpu.run(100);
  };
  EXPECT_DEATH(run_with(error), "issue_is_of_a_cta_that_runs: SM 1");
}

TEST(SluiceSvaDeathTest, AreSilentWithoutAnError) {
  const auto nothing = [](Gpu&, Root&) {};
  EXPECT_EXIT((run_with(nothing), std::_Exit(0)), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace sluice
