// SPDX-License-Identifier: Apache-2.0
#include <Vpartition_sequencer_16.h>

#include "tb/partition_sequencer/lockstep.h"

namespace sluice::tb {
namespace {

TEST(PartitionSequencer, RtlAndTwinAgreeInEveryCycle) {
  lockstep<Vpartition_sequencer_16>({16, 4, 32, 2, 64}, campaign(2000000, 10000000), campaign(3000000, 10000000));
}

// No SM ever holds what the layout says: the window begins when the limit is over, which takes a cycle more than it says.
TEST(PartitionSequencer, EachBitOfTheDrainLimitCounts) {
  const regs::Parameters parameters{16, 4, 32, 2, 64};
  RtlPartitionSequencer<Vpartition_sequencer_16> rtl(parameters, waveform("partition_sequencer"));
  for (std::uint32_t limit = 1; limit < 256; limit *= 2) {
    SluiceConfig config;
    config.mode = static_cast<std::uint8_t>(Mode::Dynamic);
    config.warm_up = config.window = 1024;
    config.drain_limit = limit;
    config.capacity_warps = 64;
    config.capacity_slots = 32;
    config.demand_warps = {2, 5};
    SequencerIn in;
    in.num_present = 2;
    in.age = {1, 0};
    in.change = true;
    rtl.reset();
    std::uint64_t drain = 0;
    unsigned cycles = 0;
    for (auto state = State::kIdle; state != State::kProfile; in.change = false) {
      ASSERT_LT(++cycles, limit * 4096 + 2000);
      state = static_cast<State>(rtl.out(config, in, 0).state);
      drain += state == State::kDrain ? 1 : 0;
      rtl.clock(config, in);
    }
    EXPECT_EQ(drain, limit * 4096 + 1);
  }
}

}  // namespace
}  // namespace sluice::tb
