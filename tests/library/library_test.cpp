// SPDX-License-Identifier: Apache-2.0
// libsluice through its C functions: what it refuses, partitions and plans, the unit under a loop that is not ours.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "lib/sluice.h"
#include "sw/driver/sluice_regs.h"

namespace sluice {
namespace {

constexpr sluice_sm kSm = {1536, 32768, 49152, 8};
constexpr sluice_unit_parameters kUnit = {4, 4, 8, 2, 0, 0, 1, 0, 0, 0, 0, 0, 0};
constexpr sluice_kernel kKernel = {"scan", 100, 192, 4096, 2048, nullptr, 0};

class Library : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(sluice_machine_new(16, &kSm, &machine), SLUICE_OK) << sluice_error(); }
  void TearDown() override {
    sluice_scheduler_free(scheduler);
    sluice_unit_free(unit);
    sluice_machine_free(machine);
  }
  void schedule(const char* name) { ASSERT_EQ(sluice_scheduler_new(machine, name, &scheduler), SLUICE_OK) << sluice_error(); }
  std::uint32_t arrives(const sluice_kernel& kernel, std::int32_t priority, std::uint64_t now) {
    std::uint32_t job = 99;
    EXPECT_EQ(sluice_job_arrived(scheduler, &kernel, priority, now, &job), SLUICE_OK) << sluice_error();
    return job;
  }
  std::vector<sluice_job_share> plan(std::uint64_t now) {
    std::vector<sluice_job_share> entries(8);
    std::size_t count = 0;
    std::uint64_t wake = 0;
    EXPECT_EQ(sluice_scheduler_decide(scheduler, now, entries.data(), entries.size(), &count, &wake), SLUICE_OK)
        << sluice_error();
    entries.resize(count);
    return entries;
  }
  sluice_machine* machine = nullptr;
  sluice_scheduler* scheduler = nullptr;
  sluice_unit* unit = nullptr;
};

TEST_F(Library, RefusesInOneLineAndWritesNothing) {
  const double bad_curve[] = {1, -1}, short_curve[] = {1, 2};
  const auto with = [](auto change) {
    sluice_kernel k = kKernel;
    change(k);
    return k;
  };
  const sluice_kernel none = with([](auto&k) { k.grid_ctas = 0; }), wide = with([](auto&k) { k.block_threads = 1025; }),
                      huge = with([](auto&k) { k.shared_bytes_per_cta = 49153; }), nameless = with([](auto&k) { k.name = ""; }),
                      negative = with([&](auto&k) { k.ipc = bad_curve, k.num_ipc = 2; }),
                      brief = with([&](auto&k) { k.ipc = short_curve, k.num_ipc = 2; });
  const sluice_kernel twice[] = {kKernel, kKernel};
  sluice_share share = {7, 7, 7};
  const auto partition = [&](const char* policy, const sluice_kernel* k, std::size_t count = 1) {
    return sluice_partition(machine, policy, k, count, &share, nullptr);
  };
  const auto unit_of = [&](auto change) {
    sluice_unit_parameters p = kUnit;
    change(p);
    return sluice_unit_new(&p, &unit);
  };
  sluice_sm odd = kSm;
  odd.threads = 100;
  const std::pair<std::function<sluice_status()>, const char*> cases[] = {
      {[&] { return sluice_machine_new(0, &kSm, &machine); }, "num_sms = 0: must be 1..256"},
      {[&] { return sluice_machine_new(4, &odd, &machine); }, "threads = 100: must be a multiple of 32"},
      {[&] { return sluice_machine_read("/nowhere.toml", &machine); }, "/nowhere.toml"},
      {[&] { return sluice_machine_read(nullptr, &machine); }, "file: is NULL"},
      {[&] { return partition("fair", &kKernel); }, "fair"},
      {[&] { return partition("oracle", &kKernel); }, "must be one of left_over"},
      {[&] { return partition("solo_curve", &kKernel); }, "kernel scan: ipc"},
      {[&] { return partition("solo_curve", &negative); }, "kernel scan: ipc: "},
      {[&] { return partition("solo_curve", &brief); }, "num_ipc = 2: must be 8"},
      {[&] { return partition("even", &none); }, "kernel scan: grid_ctas = 0: must be 1.."},
      {[&] { return partition("even", &wide); }, "block_threads = 1025: must be 1..1024"},
      {[&] { return partition("even", &huge); }, "kernel scan"},
      {[&] { return partition("even", &nameless); }, "must not be empty"},
      {[&] { return partition("even", twice, 2); }, "stands there twice"},
      {[&] { return partition("even", nullptr); }, "kernels: is NULL"},
      {[&] { return unit_of([](auto& p) { p.max_ctas = 33; }); }, "max_ctas = 33: must be 4..32"},
      {[&] { return unit_of([](auto& p) { p.patience = 3; }); }, "patience = 3"},
      {[&] { return unit_of([](auto& p) { p.region_units = 8; }); }, "region_units = 8: must be 16..128"},
      {[&] { return sluice_scheduler_new(machine, "fair", &scheduler); }, "fair"},
  };
  const sluice_machine* before = machine;
  for (const auto& [call, line] : cases) {
    EXPECT_EQ(call(), SLUICE_BAD_INPUT) << line;
    EXPECT_NE(std::string(sluice_error()).find(line), std::string::npos) << sluice_error() << " has no " << line;
    EXPECT_EQ(std::string(sluice_error()).find('\n'), std::string::npos);
  }
  EXPECT_EQ(machine, before);
  EXPECT_EQ(share.ctas, 7U);
  EXPECT_EQ(unit, nullptr);
  EXPECT_EQ(scheduler, nullptr);
}

/// By hand: eight CTAs fit, and two of the second kernel do what six would; water-filling leaves the first the rest.
TEST_F(Library, PartitionsAreThePolicies) {
  const double rises[] = {1, 2, 3, 4, 5, 6, 7, 8}, flat[] = {5, 10, 10, 10, 10, 10, 10, 10};
  const sluice_kernel kernels[] = {{"rises", 100, 128, 4096, 0, rises, 8}, {"flat", 100, 128, 4096, 0, flat, 8}};
  sluice_share shares[2];
  int limited = 7;
  ASSERT_EQ(sluice_partition(machine, "solo_curve", kernels, 2, shares, &limited), SLUICE_OK) << sluice_error();
  EXPECT_EQ(limited, 1);
  EXPECT_EQ(std::pair(shares[0].ctas, shares[1].ctas), std::pair(6U, 2U));
  ASSERT_EQ(sluice_partition(machine, "spatial", kernels, 2, shares, &limited), SLUICE_OK) << sluice_error();
  EXPECT_EQ(std::pair(shares[1].first_sm, shares[1].num_sms), std::pair(8U, 8U));
  ASSERT_EQ(sluice_partition(machine, "left_over", kernels, 2, shares, &limited), SLUICE_OK) << sluice_error();
  EXPECT_EQ(limited, 0);
}

TEST_F(Library, APriorityTakesTheMachineAndGivesItBack) {
  schedule("piv");
  const std::uint32_t low = arrives(kKernel, 1, 0);
  ASSERT_EQ(plan(0).size(), 1U);
  ASSERT_EQ(sluice_job_progress(scheduler, low, 10, 2, 10), SLUICE_OK);
  const std::uint32_t high = arrives(kKernel, 5, 20);
  ASSERT_EQ(plan(20).size(), 1U);
  EXPECT_EQ(plan(20)[0].job, high);
  EXPECT_EQ(sluice_job_evicted(scheduler, low, 30), SLUICE_BAD_INPUT);  // eight CTAs are there
  ASSERT_EQ(sluice_job_progress(scheduler, low, 10, 10, 30), SLUICE_OK) << sluice_error();
  ASSERT_EQ(sluice_job_evicted(scheduler, low, 30), SLUICE_OK) << sluice_error();
  ASSERT_EQ(sluice_job_progress(scheduler, high, 100, 100, 40), SLUICE_OK) << sluice_error();
  ASSERT_EQ(plan(40).size(), 1U);
  EXPECT_EQ(plan(40)[0].job, low);
  EXPECT_EQ(sluice_job_progress(scheduler, high, 100, 100, 50), SLUICE_BAD_INPUT);
  EXPECT_EQ(sluice_job_lost(scheduler, low, 39), SLUICE_BAD_INPUT);  // time runs back
  ASSERT_EQ(sluice_job_lost(scheduler, low, 60), SLUICE_OK);
  EXPECT_TRUE(plan(60).empty());
}

TEST_F(Library, WarpedSlicerNeedsCurvesOfAll) {
  schedule("warped_slicer");
  const double curve[] = {1, 2, 3, 4, 5, 6, 7, 8};
  sluice_kernel known = kKernel;
  known.ipc = curve;
  known.num_ipc = 8;
  arrives(known, 0, 0);
  arrives(kKernel, 0, 0);
  std::vector<sluice_job_share> entries(2);
  std::size_t count = 9;
  std::uint64_t wake = 9;
  EXPECT_EQ(sluice_scheduler_decide(scheduler, 0, entries.data(), 1, &count, &wake), SLUICE_BAD_INPUT);
  EXPECT_EQ(sluice_scheduler_decide(scheduler, 0, entries.data(), 2, &count, &wake), SLUICE_BAD_INPUT);
  EXPECT_NE(std::string(sluice_error()).find("job 1 (scan) has none"), std::string::npos) << sluice_error();
  EXPECT_EQ(count, 9U);
}

/// A foreign loop with random ends, busy SMs and a port that waits: every CTA of both grids runs once, and no error is reported.
TEST_F(Library, TheUnitRunsWholeGridsUnderAForeignLoop) {
  ASSERT_EQ(sluice_unit_new(&kUnit, &unit), SLUICE_OK) << sluice_error();
  ASSERT_EQ(sluice_unit_set_machine(unit, &kSm), SLUICE_OK) << sluice_error();
  ASSERT_EQ(sluice_unit_set_mode(unit, "dynamic"), SLUICE_OK) << sluice_error();
  ASSERT_EQ(sluice_unit_set_window(unit, 100, 1024), SLUICE_OK) << sluice_error();
  sluice_kernel long_grid = kKernel;
  long_grid.grid_ctas = 1000;
  for (std::uint32_t k = 0; k < 2; ++k) ASSERT_EQ(sluice_unit_launch(unit, k, &long_grid), SLUICE_OK) << sluice_error();
  EXPECT_EQ(sluice_unit_launch(unit, 0, &kKernel), SLUICE_BAD_INPUT);  // it runs
  EXPECT_EQ(sluice_unit_read32(unit, 0xffc, nullptr), SLUICE_BAD_INPUT);
  std::mt19937 random(1);
  struct Cta {
    std::uint8_t sm, slot, kernel;
  };
  std::vector<Cta> there;
  std::uint32_t ended = 0, dispatched = 0, resident = 9, quotas[2] = {};
  for (int cycle = 0; cycle < 200000 && ended != 3; ++cycle) {
    sluice_unit_out out;
    ASSERT_EQ(sluice_unit_outputs(unit, &out), SLUICE_OK);
    ended |= out.kernel_done;
    sluice_unit_in in = {};
    sluice_sm_activity sms[4] = {};
    for (const Cta& cta : there) {  // kernel 0 issues more with every CTA, kernel 1 as much with one as with eight
      const bool issues = random() % (cta.kernel == 0 ? 8 : 2) == 0;
      sms[cta.sm].issue_valid |= issues ? static_cast<std::uint8_t>(1U << cta.kernel) : 0;
      sms[cta.sm].issue_kernel[cta.kernel] = cta.kernel;
    }
    in.sms = sms;
    for (std::uint32_t k = 0; k < 2 && cycle == 20000; ++k)
      ASSERT_EQ(sluice_unit_slot(unit, k, &resident, &quotas[k]), SLUICE_OK) << sluice_error();
    const bool busy = cycle < 500;  // SM 3
    in.sm_busy[0] = busy ? 8 : 0;
    in.dispatch_ready = random() % 4 != 0 ? 1 : 0;
    if (!there.empty() && random() % 40 == 0) {
      const std::size_t leaves = random() % there.size();
      in.done_valid = 1;
      in.done_sm = there[leaves].sm;
      in.done_slot = there[leaves].slot;
      there.erase(there.begin() + static_cast<std::ptrdiff_t>(leaves));
    }
    if (out.dispatch_valid != 0 && in.dispatch_ready != 0) {
      EXPECT_FALSE(busy && out.dispatch_sm == 3) << cycle;
      there.push_back({out.dispatch_sm, out.dispatch_slot, out.dispatch_kernel});
      ++dispatched;
    }
    ASSERT_EQ(sluice_unit_clock(unit, &in), SLUICE_OK) << sluice_error();
  }
  EXPECT_EQ(ended, 3U);
  EXPECT_EQ(dispatched, 2000U);     // both grids, none lost or doubled
  EXPECT_GT(quotas[0], quotas[1]);  // the decision saw what the SMs did
  std::uint32_t quota = 0, error = 9;
  ASSERT_EQ(sluice_unit_slot(unit, 0, &resident, &quota), SLUICE_OK);
  EXPECT_EQ(resident, 0U);
  ASSERT_EQ(sluice_unit_read32(unit, regs::kError, &error), SLUICE_OK) << sluice_error();
  EXPECT_EQ(error, 0U);
  sluice_unit_in outside = {};
  outside.done_valid = 1;
  outside.done_sm = 4;
  EXPECT_EQ(sluice_unit_clock(unit, &outside), SLUICE_BAD_INPUT);
}

}  // namespace
}  // namespace sluice
