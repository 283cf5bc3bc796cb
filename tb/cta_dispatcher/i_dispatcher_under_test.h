// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "systemc/unit/ports/i_cta_dispatcher.h"

namespace sluice {

/// What the benches see of the RTL beyond the ports that the GPU model uses.
class IDispatcherUnderTest : public ICtaDispatcher {
 public:
  /// idle_o, just before the last rising edge.
  [[nodiscard]] virtual bool was_idle() const = 0;
};

}  // namespace sluice
