// SPDX-License-Identifier: Apache-2.0
// The protocol by which CTAs claim blocks, simulated for a grid whose blocks each wait for the one before (quota_runtime.cuh).
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <vector>

namespace {

constexpr std::uint64_t kBlocks = 40000;
constexpr unsigned kSms = 132;

struct Protocol {
  unsigned group;    ///< blocks of a ticket, 2**width_bits apart
  bool quota_first;  ///< a CTA looks at the quota before it claims
};

/// Blocks done when nothing moves any more. CTAs move in turns; a block ends once the one before it has ended.
/// @param later  quota from the moment when a tenth of the blocks are done
std::uint64_t run(const Protocol& protocol, unsigned occupancy, unsigned quota, unsigned later) {
  const unsigned width_bits = static_cast<unsigned>(std::bit_width(occupancy * kSms)) - 1;
  const std::uint64_t stride = std::uint64_t{1} << width_bits;
  struct Cta {
    unsigned slot;
    std::uint64_t task = 0, left = 0;  // the block that it runs, and how many of its range are not begun
    bool running = false, gone = false;
  };
  std::vector<Cta> ctas;
  for (unsigned slot = 0; slot < quota; ++slot)
    for (unsigned sm = 0; sm < kSms; ++sm) ctas.push_back({slot});
  std::uint64_t next = 0, done = 0;
  std::vector<bool> ended(kBlocks + 1, false);
  const auto claim = [&](Cta& c) {
    const std::uint64_t ticket = next++;
    c.task = ((ticket >> width_bits) * protocol.group << width_bits) + (ticket & (stride - 1));
    c.left = protocol.group;
  };
  for (bool moved = true; moved && done < kBlocks;) {
    moved = false;
    const unsigned now = done >= kBlocks / 10 ? later : quota;
    for (Cta& c : ctas) {
      if (c.gone) continue;
      if (c.running) {
        if (c.task > 0 && c.task <= kBlocks && !ended[c.task - 1]) continue;  // spins
        if (c.task < kBlocks) {
          ended[c.task] = true;
          ++done;
        }
        c.running = false;
        c.task += stride;
        moved = true;
      }
      if (protocol.quota_first && c.left == 0 && c.slot >= now) {
        c.gone = moved = true;
        continue;
      }
      if (c.left == 0) claim(c);
      if (c.slot >= now) {  // leaves; what it has claimed waits in a cell that nobody opens
        c.gone = moved = true;
        continue;
      }
      --c.left;
      c.running = moved = true;
      if (c.task >= kBlocks && protocol.group == 1) c.gone = true;  // nothing is left
    }
  }
  return done;
}

TEST(Protocol, BlocksThatWaitForLowerOnesAllRunWhateverTheQuota) {
  constexpr Protocol kWaits{1, true};
  EXPECT_EQ(run(kWaits, 8, 4, 4), kBlocks);
  EXPECT_EQ(run(kWaits, 8, 1, 1), kBlocks);
  EXPECT_EQ(run(kWaits, 4, 2, 2), kBlocks);
  EXPECT_EQ(run(kWaits, 8, 8, 4), kBlocks);
  EXPECT_EQ(run(kWaits, 8, 4, 1), kBlocks);
}

TEST(Protocol, RangesOrALateLookWouldHang) {
  EXPECT_EQ(run({4, false}, 8, 4, 4), 528U) << "ranges, with fewer CTAs than they are wide";
  EXPECT_EQ(run({4, false}, 8, 1, 1), 132U);
  EXPECT_LT(run({1, false}, 8, 8, 4), kBlocks) << "claimed, and then the slot is closed";
}

}  // namespace
