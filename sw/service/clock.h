// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "sw/scheduler/job.h"

namespace sluice::service {

/// The daemon's time, since its start. Injected: tests have a clock that stands still until it is told otherwise.
class IClock {
 public:
  virtual ~IClock() = default;
  [[nodiscard]] virtual Time now() = 0;
  /// From `at` on, fd() is readable; never where there is none.
  virtual void arm(std::optional<Time> at) = 0;
  [[nodiscard]] virtual int fd() const = 0;
};

}  // namespace sluice::service
