// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sw/driver/i_device.h"

namespace sluice {

/// The SystemC GPU model behind the device interface. One run per process: SystemC elaborates once.
class ModelDevice : public IDevice {
 public:
  RunResult run(const RunSpec& spec) override;
};

}  // namespace sluice
