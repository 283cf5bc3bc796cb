// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "sw/service/socket.h"

namespace sluice::service {

/// The JSON of `sluice serve status` in Prometheus' text format, version 0.0.4. Units are seconds and counts.
[[nodiscard]] std::string metrics_text(std::string_view status);

/// Answers `GET /metrics` over HTTP, one request at a time, in a thread of its own: it asks the daemon as any client does, so
/// nobody who reads slowly, or not at all, holds up another program.
class MetricsEndpoint {
 public:
  /// @param place   the path of a Unix socket, which only this user can open, or 127.0.0.1:PORT, which every user of the machine
  /// can
  /// @param status  the JSON to tell of; what it throws becomes a 503
  /// @throws InputError naming --metrics when it is no such place, or cannot be had
  MetricsEndpoint(std::string place, std::function<std::string()> status);
  ~MetricsEndpoint();
  MetricsEndpoint(const MetricsEndpoint&) = delete;
  MetricsEndpoint& operator=(const MetricsEndpoint&) = delete;

 private:
  void serve();
  void answer(const UniqueFd& reader) const;

  std::string place_;
  std::function<std::string()> status_;
  UniqueFd listener_, stop_;
  std::thread thread_;
};

}  // namespace sluice::service
