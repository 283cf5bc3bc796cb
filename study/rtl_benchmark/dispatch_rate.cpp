// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "study/rtl_benchmark/rtl_benchmark.h"
#include "sw/io/progress.h"
#include "systemc/unit/rtl/unit_world.h"

namespace sluice {

namespace {

/// 32 of them fit on an SM, in whatever order.
SlotLaunch small_ctas(std::uint32_t grid) { return {{kWarpSize, 512, 1024, 1}, grid, true}; }

std::unique_ptr<ISluiceTop> unit(std::uint32_t num_sm) {
  return make_rtl_sluice_top({num_sm, 4, kMaxCtas, num_sm == 16 ? 2U : 4U, 64}, "", 1000);
}

void set_up(UnitWorld& world, Mode mode) {
  SluiceDriver& driver = world.driver();
  const regs::Parameters& p = driver.parameters();
  driver.configure_machine({64 * kWarpSize, 65536, 65536, p.max_ctas});
  std::vector<unsigned> all(p.num_sm);
  for (unsigned m = 0; m < all.size(); ++m) all[m] = m;
  for (unsigned k = 0; k < 2; ++k) {
    driver.set_quota(k, p.max_ctas);
    driver.set_mask(k, all);
  }
  driver.set_mode(mode);
  world.run(std::uint64_t{2} * p.num_sm);
}

double rate(std::uint32_t num_sm, Mode mode, std::uint64_t cycles, std::uint64_t seed) {
  UnitWorld world(unit(num_sm), seed);
  set_up(world, mode);
  const std::uint32_t slots = num_sm * kMaxCtas;
  world.let_ctas_last(slots);  // on average half of the slots are taken: there is always room
  for (unsigned k = 0; k < 2; ++k) world.driver().launch(k, small_ctas(1000000));
  world.run(std::uint64_t{2} * slots);
  const std::uint64_t before = world.dispatched();
  world.run(cycles);
  return static_cast<double>(world.dispatched() - before) / static_cast<double>(cycles);
}

unsigned first_dispatch(std::uint32_t num_sm, Mode mode, std::uint64_t seed) {
  UnitWorld world(unit(num_sm), seed);
  set_up(world, mode);
  world.let_ctas_last(20);
  std::mt19937_64 random(seed);
  unsigned worst = 0;
  for (int launch = 0; launch < 100; ++launch) {
    world.forget_first_dispatch();
    SlotLaunch kernel = small_ctas(std::uniform_int_distribution<std::uint32_t>(1, 100)(random));
    kernel.repeat = false;
    world.driver().launch(0, kernel);
    const std::uint64_t launched = world.last_write();
    while (!world.first_dispatch() && world.now() < launched + 100) world.run(1);
    worst = std::max(worst, world.first_dispatch() ? static_cast<unsigned>(*world.first_dispatch() - launched) : 100U);
    while (world.driver().slot_report(0).state != regs::SlotState::kFree) world.run(1);
  }
  return worst;
}

}  // namespace

DispatchRate measure_dispatch(std::uint32_t num_sm, std::uint64_t cycles, std::uint64_t seed) {
  DispatchRate worst{1e9, 0};
  Progress progress(fmt::format("dispatch, {} SMs", num_sm), 3);
  for (const Mode mode : {Mode::Static, Mode::LeftOver, Mode::Fcfs}) {
    worst.per_cycle = std::min(worst.per_cycle, rate(num_sm, mode, cycles, seed));
    worst.first_dispatch = std::max(worst.first_dispatch, first_dispatch(num_sm, mode, seed));
    progress.done(std::string(to_string(mode)));
  }
  return worst;
}

}  // namespace sluice
