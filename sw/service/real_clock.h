// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "sw/core/errors.h"
#include "sw/service/clock.h"
#include "sw/service/socket.h"

namespace sluice::service {

/// The machine's clock, `scale` times as fast.
class RealClock : public IClock {
 public:
  /// @throws SystemError
  explicit RealClock(double scale) : scale_(scale), timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
    if (!timer_) throw_errno("the service's timer", errno);
  }
  [[nodiscard]] Time now() override {
    const auto real = std::chrono::steady_clock::now() - start_;
    return std::chrono::duration_cast<Time>(std::chrono::duration<double, std::nano>(real) * scale_);
  }
  void arm(std::optional<Time> at) override {
    itimerspec spec{};
    if (at) {
      const double wait_ns = std::chrono::duration<double, std::nano>(*at - now()).count() / scale_;
      const auto ns = static_cast<long long>(std::clamp(wait_ns + 1, 1.0, 1e18));
      spec.it_value = {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
    }
    ::timerfd_settime(timer_.get(), 0, &spec, nullptr);  // setting it takes back an expiry that nobody has read
  }
  [[nodiscard]] int fd() const override { return timer_.get(); }

 private:
  double scale_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  UniqueFd timer_;
};

}  // namespace sluice::service
