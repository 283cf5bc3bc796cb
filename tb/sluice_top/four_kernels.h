// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "systemc/unit/rtl/unit_world.h"
#include "tb/common/random.h"

namespace sluice::tb {

/// Launches four kernels on 16 SMs, which issue and request at random, in a mode that measures them and decides.
inline void launch_four_kernels(UnitWorld& world, Mode mode, const SequencerSettings& settings) {
  world.let_ctas_last(400);
  world.driver().configure_machine({48 * kWarpSize, 32768, 49152, 8});
  world.driver().configure_sequencer(settings);
  world.driver().set_mode(mode);
  world.let_sms_act(16, [random = Random(1)](std::uint64_t, std::vector<SmActivity>& sms) mutable {
    for (SmActivity& sm : sms) {
      const std::uint32_t word = random.word();
      sm.issue_valid = word & 3;
      sm.issue_kernel = {static_cast<std::uint8_t>(word >> 8 & 3), static_cast<std::uint8_t>(word >> 12 & 3)};
      sm.request = word >> 29 == 0;
    }
  });
  for (const unsigned k : {0U, 1U, 2U, 3U}) world.driver().launch(k, {{128, 2048, 1024 * k, 1}, 1000000, true});
}

}  // namespace sluice::tb
