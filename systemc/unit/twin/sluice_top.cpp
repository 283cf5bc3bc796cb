// SPDX-License-Identifier: Apache-2.0
#include "systemc/unit/twin/sluice_top.h"

namespace sluice {

std::unique_ptr<ISluiceTop> make_twin_sluice_top(const regs::Parameters& parameters,
                                                 const std::optional<BalanceConfig>& balance) {
  return std::make_unique<SluiceTopTwin>(parameters, balance);
}

}  // namespace sluice
