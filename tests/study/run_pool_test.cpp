// SPDX-License-Identifier: Apache-2.0
// What goes wrong in a process of a run arrives in this one as what it was.
#include "study/run_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <new>
#include <nlohmann/json.hpp>

#include "sw/core/errors.h"

namespace sluice {
namespace {

using namespace sluice;

class Failing : public IDevice {
 public:
  explicit Failing(void (*fail)()) : fail_(fail) {}
  RunResult run(const RunSpec&) override {
    fail_();
    return {};
  }

 private:
  void (*fail_)();
};

void run(void (*fail)()) {
  const RunPool pool([fail] { return std::make_unique<Failing>(fail); }, 1);
  pool.run({RunSpec{}}, [](std::size_t, const RunResult&, const HostCost&) {});
}

TEST(RunPool, KeepsTheKindOfAChildsError) {
  EXPECT_THROW(run([] { throw InputError("x"); }), InputError);
  EXPECT_THROW(run([] { throw CheckFailed("x"); }), CheckFailed);
  EXPECT_THROW(run([] { throw SystemError("x"); }), SystemError);
  EXPECT_THROW(run([] { throw std::bad_alloc(); }), SystemError);
  EXPECT_THROW(run([] { throw std::logic_error("x"); }), std::logic_error);
}

TEST(RunPool, KeepsTheTextOfAChildsError) {
  try {
    run([] { throw CheckFailed("RTL and twin differ at irq_o after 7 clocks"); });
    FAIL();
  } catch (const CheckFailed& e) {
    EXPECT_STREQ(e.what(), "RTL and twin differ at irq_o after 7 clocks");
  }
}

TEST(RunPool, AChildThatDiesIsTheSystems) {
  EXPECT_THROW(run([] { std::raise(SIGKILL); }), SystemError);
  EXPECT_THROW(run([] { _exit(9); }), SystemError);
}

/// As a user whose limits hold; never returns.
[[noreturn]] void run_without_processes() {
  const rlimit none{0, 0};
  if (getuid() == 0 && setuid(65534) != 0) std::_Exit(7);
  setrlimit(RLIMIT_NPROC, &none);
  try {
    run([] {});
  } catch (const SystemError&) {
    std::_Exit(3);
  }
  std::_Exit(0);
}

TEST(RunPoolDeathTest, AForkThatFailsIsTheSystems) { EXPECT_EXIT(run_without_processes(), ::testing::ExitedWithCode(3), ""); }

TEST(RunResultJson, KeepsTheSamplesOfADecisionAndWhenLaunchesBegan) {
  RunResult result;
  Decision& decision = result.decisions.emplace_back();
  decision.kernels = {KernelId(0), KernelId(2)};
  decision.samples.resize(1);
  decision.samples[0].kernel = KernelId(2);
  result.host.began = {7, 0};
  const RunResult read = nlohmann::json(result).get<RunResult>();
  EXPECT_EQ(read.decisions.at(0).samples, decision.samples);
  EXPECT_EQ(read.host.began, result.host.began);
}

}  // namespace
}  // namespace sluice
