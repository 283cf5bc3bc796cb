#pragma once
#include <atomic>

#include "sw/device/i_device.h"

namespace sluice {

/// Set from a signal handler: the running simulation stops at the next opportunity and returns what it has.
extern std::atomic<bool> interrupt_requested;

/// The SystemC GPU model behind the device interface. One run per process: SystemC elaborates once.
class ModelDevice : public IDevice {
 public:
  RunResult run(const RunSpec& spec) override;
};

}  // namespace sluice
