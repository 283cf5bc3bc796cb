// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the files of class Service share: a client as the service sees it.
#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sw/service/service.h"

namespace sluice::service {

/// Why a request is not granted.
struct Service::Refusal {
  Code code;
  std::string text;
};

struct Service::Kernel {
  KernelDescriptor kernel;
  std::int32_t priority;
  std::optional<JobId> job{};  ///< until it is done
};

struct Service::Session {
  SessionId id;
  Peer peer;
  Page* page;
  Time hello_by;
  std::string name{};
  std::int32_t priority = 0;
  std::uint32_t sequence = 0;
  std::array<std::optional<Kernel>, kStubs> kernels{};
  std::uint64_t launches = 0;
  Time held{};  ///< of launches that have ended

  [[nodiscard]] bool is_open() const { return !name.empty(); }
};

template <class Message>
void Service::send(SessionId to, const Message& message, std::string text) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&message);
  outgoing_.push_back({to, {bytes, bytes + sizeof message}, std::move(text)});
}

/// A word of a page, which its client may read at any time.
template <class Value>
void store_word(Value& place, Value value) {
  std::atomic_ref(place).store(value, std::memory_order_release);
}

}  // namespace sluice::service
