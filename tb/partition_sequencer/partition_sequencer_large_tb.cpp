// SPDX-License-Identifier: Apache-2.0
// The largest ranges of SMs that there are: 256 SMs, two kernels.
#include <Vpartition_sequencer_256.h>

#include "tb/partition_sequencer/lockstep.h"

namespace sluice::tb {
namespace {

// Warped-Slicer's profile: the i-th SM of a range runs i CTAs, and as many as fit on those beyond. The last SM's number in its
// range is 128.
TEST(PartitionSequencer, EverySmOfALargeRangeHasALevel) {
  const regs::Parameters parameters{256, 2, 32, 2, 0};
  RtlPartitionSequencer<Vpartition_sequencer_256> rtl(parameters, waveform("partition_sequencer"));
  PartitionSequencerTwin twin(parameters);
  SluiceConfig config;
  config.mode = static_cast<std::uint8_t>(Mode::Dynamic);
  config.warm_up = config.window = 200;
  config.capacity_warps = 64;
  config.capacity_slots = 32;
  config.demand_warps = {2, 5};
  const std::array<std::uint32_t, 2> fits{32, 12};
  SequencerIn in;
  in.num_present = 2;
  in.age = {1, 0};
  in.change = true;
  for (unsigned c = 0; twin.out(config).state != static_cast<std::uint8_t>(State::kWarmUp); ++c) {
    ASSERT_LT(c, 200U) << "no plan";
    rtl.out(config, in, 0);
    rtl.clock(config, in);
    twin.clock(config, in);
    in.change = false;
  }
  for (std::uint32_t sm = 0; sm < 256; ++sm) {
    rtl.out(config, in, sm);
    for (std::uint32_t k = 0; k < 2; ++k) {
      const bool owner = (sm < 128) == (k == 1);  // the older kernel has the first range
      const std::uint32_t level = owner ? std::min(sm % 128 + 1, fits[k]) : 0;
      EXPECT_EQ(rtl.quota(k), level) << "of kernel " << k << " on SM " << sm;
      EXPECT_EQ(twin.quota(config, sm, k), level) << "of kernel " << k << " on SM " << sm << ", twin";
    }
  }
}

}  // namespace
}  // namespace sluice::tb
