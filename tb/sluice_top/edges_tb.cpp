// SPDX-License-Identifier: Apache-2.0
// Resets, quiesces, SMs that hang and die, flushes, a front end and priorities, all at random, in the standard and the full
// configuration and in a small unit with short timers. Nothing here knows the twin: what counts is what happens at the ports.
#include <Vsluice_top_full.h>
#include <Vsluice_top_small.h>
#include <Vsluice_top_standard.h>
#include <gtest/gtest.h>

#include "systemc/unit/rtl/rtl_sluice_top.h"
#include "tb/sluice_top/edges_world.h"

namespace sluice {
namespace {

using tb::EdgesWorld;

constexpr regs::Parameters kSmall{5, 3, 4, 2, 16, 1, 1, 2, 5, 7, 1, 6, 0}, kStandard{16, 4, 8, 2, 0, 0, 1, 2, 12, 16, 1, 0, 0},
    kFull{16, 4, 8, 2, 64, 1, 1, 2, 12, 16, 1, 15, 1};

class Edges : public testing::Test {
 protected:
  void campaign(std::unique_ptr<ISluiceTop> top, const regs::Parameters& parameters, std::uint64_t cycles) {
    world_ = std::make_unique<EdgesWorld>(std::move(top), parameters, tb::seed());
    parameters_ = parameters;
    while (world_->now() < cycles && world_->wrong().empty()) {
      begin();
      for (unsigned actions = in(5, 40); actions > 0 && world_->wrong().empty(); --actions) act();
      end();
    }
    EXPECT_EQ(world_->wrong(), "");
    report();
  }

 private:
  std::uint32_t in(std::uint32_t low, std::uint32_t high) { return world_->random().in(low, high); }
  bool chance(double p) { return world_->random().chance(p); }
  unsigned slot() { return in(0, parameters_.max_kernels - 1); }

  void begin() {
    world_->give_to_port(in(0, (1U << parameters_.max_kernels) - 1));
    world_->offer_launches(chance(0.3) ? 0 : chance(0.7) ? 0.01 : 0.2);
    set_mode();
  }

  void set_mode() { world_->set_mode(chance(0.6) ? (chance(0.5) ? Mode::LeftOver : Mode::Fcfs) : static_cast<Mode>(in(2, 5))); }

  /// What a host, SMs and a network do, then some time.
  void act() {
    EdgesWorld& world = *world_;
    const unsigned k = slot();
    switch (in(0, 17)) {
      case 0: world.stop(k); break;
      case 1: world.evict(k, in(0, 20)); break;
      case 2: world.resume(k); break;
      case 3:
      case 4: world.flush(k); break;
      case 5: quiesce_context(static_cast<std::uint8_t>(in(1, 3))); break;
      case 6: chance(0.3) ? set_mode() : world.launch(k); break;
      case 7: world.set_static(k, in(0, parameters_.max_ctas), chance(0.5) ? ~0U : world.random().word()); break;
      case 8: world.hang_an_sm(chance(0.7) ? in(1, 3000) : 1U << 30); break;
      case 9: world.report_nonsense(); break;
      case 10: world.check_errors(); break;
      case 11:
        if (chance(0.1)) world.reset(chance(0.5));
        break;
      case 12:  // the network takes nothing for a while
        if (!chance(0.3)) break;
        world.stick_the_port(in(1, 3U << parameters_.flush));
        world.run(in(0, 30));
        if (chance(0.7)) world.flush(k);
        break;
      default: world.launch(k); break;
    }
    world.run(chance(parameters_.patience < 10 ? 0.02 : 0.002) ? in(0, 4U << parameters_.patience) : in(0, 300));
  }

  /// A context comes to rest; the others go on.
  void quiesce_context(std::uint8_t context) {
    EdgesWorld& world = *world_;
    world.silence_context(context);
    for (unsigned c = 0; c < 2000 && world.offers(context); ++c) world.run(1);
    if (!world.offers(context)) {
      world.flush_context(context);
      world.wait("FLUSH_CONTEXT", world.flush_limit(parameters_.max_kernels), [&] { return !world.has_context(context); });
    }
    world.silence_context(0);
  }

  /// The whole unit comes to rest: all ends by itself where it can, or is flushed; then often a reset.
  void end() {
    EdgesWorld& world = *world_;
    world.offer_launches(0);
    for (unsigned c = 0; c < 100 && world.offers({}); ++c) world.run(1);
    if (!world.offers({})) {
      world.give_to_port(0);
      if (chance(0.3)) {
        world.revive();
        for (unsigned k = 0; k < parameters_.max_kernels; ++k) world.stop(k);
        world.run(3000);
      }
      world.flush_all();
      world.wait("FLUSH_ALL", world.flush_limit(parameters_.max_kernels), [&] { return world.empty(); });
      if (!world.wrong().empty()) return;
      world.check_errors();
      world.check_rest();
      ++quiesced_;
    }
    world.revive();
    if (chance(0.4) || !world.empty()) world.reset(chance(0.5));
  }

  void report() {
    const EdgesWorld::Counts& n = world_->counts();
    const auto print = [](const char* what, std::uint64_t value) {
      std::printf("%-28s %10llu\n", what, static_cast<unsigned long long>(value));
    };
    for (const auto& [what, value, least] : {std::tuple("launches", n.launches, 100ULL),
                                             {"handed back", n.handed_back, 5ULL},
                                             {"refused", n.refused, 5ULL},
                                             {"ran to their end", n.completed, 100ULL},
                                             {"stopped", n.stopped, 10ULL},
                                             {"flushed", n.flushed, 50ULL},
                                             {"CTAs", n.ctas, 1000ULL},
                                             {"CTAs given up", n.given_up, 100ULL},
                                             {"taken back from the port", n.taken_back, 1ULL},
                                             {"late reports", n.late, 20ULL},
                                             {"reports of no CTA", n.bad_reports, 5ULL},
                                             {"SMs hung", n.hangs, 20ULL},
                                             {"resets", n.resets, 10ULL},
                                             {"quiesced", quiesced_, 8ULL},
                                             {"waits of a period", n.long_waits, parameters_.patience < 10 ? 1ULL : 0ULL}}) {
      print(what, value);
      EXPECT_GE(value, least) << what;
    }
    print("longest wait", n.longest_wait);
    print("room unused at most for", n.lone);
    print("longest flush", n.longest_flush);
  }

  std::unique_ptr<EdgesWorld> world_;
  regs::Parameters parameters_;
  std::uint64_t quiesced_ = 0;
};

TEST_F(Edges, OfASmallUnitLoseNothing) {
  campaign(std::make_unique<RtlSluiceTop<Vsluice_top_small, 2>>("", 1000, 5), kSmall, tb::campaign(500000, 10000000));
}

TEST_F(Edges, OfTheStandardConfigurationLoseNothing) {
  campaign(std::make_unique<RtlSluiceTop<Vsluice_top_standard, 2>>("", 1000, 16), kStandard, tb::campaign(500000, 10000000));
}

TEST_F(Edges, OfTheFullConfigurationLoseNothing) {
  campaign(std::make_unique<RtlSluiceTop<Vsluice_top_full, 2>>("", 1000, 16), kFull, tb::campaign(500000, 10000000));
}

}  // namespace
}  // namespace sluice
