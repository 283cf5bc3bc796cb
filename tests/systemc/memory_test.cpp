// SPDX-License-Identifier: Apache-2.0
// Blocks of the memory system on their own.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "systemc/memory/cache_tags.h"
#include "systemc/memory/input_queued_switch.h"
#include "systemc/memory/packet.h"
#include "systemc/memory/port_calendar.h"
#include "systemc/memory/protocol_checker.h"
#include "systemc/sm/fetch_unit.h"
#include "systemc/sm/warp_scheduler.h"

namespace sluice {
namespace {

CacheConfig cache(std::uint32_t bytes, std::uint32_t ways, CacheIndex index = CacheIndex::Linear) {
  CacheConfig config;
  config.bytes = bytes;
  config.ways = ways;
  config.index = index;
  return config;
}

TEST(CacheTags, ReplacesTheLeastRecentlyUsedAndNeverALineOnItsWay) {
  CacheTags tags(cache(2 * 128, 2));
  for (const std::uint64_t line : {0, 1}) {
    CacheTags::Way* way = tags.victim(line);
    tags.assign(*way, line);
    way->valid = kAllSectors;
  }
  (void)tags.find(0);
  EXPECT_EQ(tags.victim(7)->line, 1U);
  tags.find(1)->pending = 1;
  EXPECT_EQ(tags.victim(7)->line, 0U);
  tags.find(0)->pending = 1;
  EXPECT_EQ(tags.victim(7), nullptr);
}

TEST(CacheTags, EveryIndexFunctionSpreadsAnAlignedBlockOverAllSets) {
  for (const CacheIndex index : {CacheIndex::Linear, CacheIndex::Xor, CacheIndex::Fermi}) {
    CacheTags tags(cache(16384, 4, index));
    for (std::uint64_t line = 0; line < 128; ++line) {  // 128 lines fit only if each set gets four
      CacheTags::Way* way = tags.victim(line + 4096);
      ASSERT_TRUE(way != nullptr && way->valid == 0) << static_cast<int>(index) << " " << line;
      tags.assign(*way, line + 4096);
      way->valid = kAllSectors;
    }
  }
}

/// Units moved per input and cycle with every input full of packets to random outputs.
double saturated(std::size_t inputs, std::size_t outputs, std::uint32_t units) {
  InputQueuedSwitch<int> crossbar(inputs, outputs);
  std::mt19937 random(1);
  constexpr std::uint64_t kCycles = 4000;
  std::uint64_t moved = 0;
  for (std::size_t i = 0; i < inputs; ++i) {
    for (std::uint64_t n = 0; n < kCycles; ++n) crossbar.push(i, random() % outputs, 0, units, 1, 0);
  }
  for (std::uint64_t now = 0; now < kCycles; ++now)
    crossbar.cycle(now, [&](int, std::uint64_t, std::size_t, std::size_t) { moved += units; });
  return static_cast<double>(moved) / static_cast<double>(kCycles * inputs);
}

TEST(InputQueuedSwitch, SaturatesWhereHeadOfLineBlockingTheoryHasIt) {
  EXPECT_NEAR(saturated(64, 64, 1), 2 - std::sqrt(2.0), 0.015);  // Karol, Hluchyj and Morgan, 1987
  EXPECT_NEAR(saturated(2, 2, 1), 0.75, 0.015);
}

TEST(InputQueuedSwitch, KeepsTheOrderOfEveryInputAndLosesNothing) {
  InputQueuedSwitch<int> crossbar(4, 3);
  std::mt19937 random(2);
  int next = 0;
  for (int n = 0; n < 400; ++n)
    crossbar.push(static_cast<std::size_t>(n % 4), random() % 3, static_cast<std::uint64_t>(n), 1 + random() % 4, 2, next++);
  std::map<std::size_t, int> last;
  std::size_t seen = 0;
  for (std::uint64_t now = 0; crossbar.next(now) != std::numeric_limits<std::uint64_t>::max() || now == 0; ++now) {
    crossbar.cycle(now, [&](int payload, std::uint64_t end, std::size_t input, std::size_t) {
      EXPECT_GT(end, now);
      EXPECT_LT(last.contains(input) ? last[input] : -1, payload);
      last[input] = payload;
      ++seen;
    });
  }
  EXPECT_EQ(seen, 400U);
}

class Rules : public ::testing::Test {
 protected:
  PacketPool pool;
  ProtocolRules rules;
  tlm::tlm_generic_payload* packet = pool.acquire(128, false, kAllSectors, 0, 0);
  void request(tlm::tlm_generic_payload& p) {
    rules.forward(p, tlm::BEGIN_REQ);
    rules.forward_returned(p, tlm::TLM_UPDATED, tlm::END_REQ);
  }
  void respond(tlm::tlm_generic_payload& p) {
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    rules.backward(p, tlm::BEGIN_RESP);
    rules.backward_returned(p, tlm::TLM_COMPLETED, tlm::BEGIN_RESP);
  }
  void expect_violation(const std::string& text) {
    ASSERT_FALSE(rules.violations().empty()) << text;
    EXPECT_NE(rules.violations().front().find(text), std::string::npos) << rules.violations().front();
  }
};

TEST_F(Rules, AcceptTheBaseProtocol) {
  request(*packet);
  respond(*packet);
  rules.finish();
  EXPECT_TRUE(rules.violations().empty());
  EXPECT_EQ(rules.transactions(), 1U);
}
TEST_F(Rules, CatchASecondRequestBeforeTheFirstEnded) {
  rules.forward(*packet, tlm::BEGIN_REQ);
  rules.forward_returned(*packet, tlm::TLM_ACCEPTED, tlm::BEGIN_REQ);
  rules.forward(*pool.acquire(256, false, kAllSectors, 0, 0), tlm::BEGIN_REQ);
  expect_violation("before the last request ended");
}
TEST_F(Rules, CatchAResponseWithoutStatus) {
  request(*packet);
  rules.backward(*packet, tlm::BEGIN_RESP);
  expect_violation("without a response status");
}
TEST_F(Rules, CatchAResponseThatNobodyAskedFor) {
  respond(*packet);
  expect_violation("not under way");
}
TEST_F(Rules, CatchAChangedAddress) {
  request(*packet);
  packet->set_address(0);
  respond(*packet);
  expect_violation("changed command, address or length");
}
TEST_F(Rules, CatchALostTransaction) {
  request(*packet);
  rules.finish();
  expect_violation("never ended");
}
TEST_F(Rules, CatchAWrongPhase) {
  rules.forward(*packet, tlm::END_REQ);
  expect_violation("forward path");
}

/// Every cycle is given once, and always the first run of free ones.
TEST(PortCalendar, GivesTheFirstFreeCyclesInARow) {
  std::mt19937 random(1);
  PortCalendar port;
  std::vector<bool> taken(40000);
  std::uint64_t now = 0;
  while (now < 15000) {
    now += random() % 16;
    const std::uint64_t ready = now + random() % 300, length = 1 + random() % 9;
    std::uint64_t start = ready;
    for (std::uint64_t c = ready; c < start + length; ++c)
      if (taken[c]) start = c + 1;
    ASSERT_EQ(port.reserve(now, ready, length), start + length);
    for (std::uint64_t c = start; c < start + length; ++c) taken[c] = true;
  }
}

TEST(FetchUnit, ServesPairsFromOneFetchAndOneWarpACycle) {
  FetchConfig config;
  config.cache_bytes = 2048;
  FetchUnit fetch(config, 4);
  EXPECT_EQ(fetch.request(0, 0, 10, 10), FetchUnit::kMissing);
  EXPECT_TRUE(fetch.miss(0));
  EXPECT_FALSE(fetch.miss(0));  // already asked for
  fetch.fill(0);
  EXPECT_EQ(fetch.request(0, 0, 20, 20), 22U);
  EXPECT_EQ(fetch.request(0, 16, 22, 22), 23U);  // the second of the pair is in the buffer
  EXPECT_EQ(fetch.request(0, 32, 23, 23), 25U);  // the third is not
  EXPECT_EQ(fetch.request(1, 0, 23, 23), 26U);   // another warp has to wait its turn
  EXPECT_EQ(fetch.request(0, 32, 30, 30), 32U);  // a jump to where the warp is empties the buffer
}

TEST(WarpScheduler, TwoLevelLooksAtItsActiveSetOnly) {
  WarpScheduler scheduler(WarpSchedulerKind::TwoLevel, 8, 2);
  for (std::uint32_t w = 0; w < 8; ++w) scheduler.admit(w, w);
  EXPECT_EQ(scheduler.selectable(0xff), 0b11U);
  scheduler.demote(0);
  EXPECT_EQ(scheduler.selectable(0xfe), 0b110U);
  EXPECT_EQ(scheduler.selectable(0xf8), 0U);  // the active warps are not ready, and there is no room
}

TEST(WarpScheduler, TheOldestCtaHasItsWarpsInTurn) {
  WarpScheduler scheduler(WarpSchedulerKind::OldestCta, 8, 8);
  for (const std::uint32_t w : {1U, 4U, 6U}) scheduler.admit(w, 3);
  for (const std::uint32_t w : {0U, 5U}) scheduler.admit(w, 7);
  const auto picks = [&](std::uint64_t candidates, std::size_t count) {
    std::vector<std::uint32_t> slots;
    while (slots.size() < count) slots.push_back(scheduler.pick(candidates));
    return slots;
  };
  EXPECT_EQ(picks(0b1110011, 4), (std::vector<std::uint32_t>{1, 4, 6, 1}));
  EXPECT_EQ(picks(0b0110001, 2), (std::vector<std::uint32_t>{4, 4}));  // one of the older CTA is enough
  EXPECT_EQ(picks(0b0100001, 3), (std::vector<std::uint32_t>{5, 0, 5}));
}

}  // namespace
}  // namespace sluice
