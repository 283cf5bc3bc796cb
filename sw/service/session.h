// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the files of class Service share: a client as the service sees it.
#include <array>
#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sw/service/logged_scheduler.h"
#include "sw/service/service.h"

namespace sluice::service {

/// Why a request is not granted.
struct Service::Refusal {
  Code code;
  std::string text;
};

/// A GPU, and who decides there.
struct Service::Gpu {
  MachineConfig machine;
  GpuId id{};
  bool known = false;  ///< a client has reported it
  std::shared_ptr<KernelTimes> times;
  std::unique_ptr<Logged> scheduler{};
  std::unique_ptr<IExecutor> executor{};
  std::vector<JobId> forsaken{};  ///< jobs of nobody that the scheduler has yet to hear of
};

/// A place of the page.
struct Service::Taken {
  std::uint32_t kernel;  ///< in Session::kernels
  std::int32_t priority;
  std::optional<JobId> job{};         ///< until it is done
  Leaving leaving = Leaving::InTime;  ///< as was said last
  std::optional<Time> waits_since{};  ///< it has no SM
  std::uint32_t evictions = 0;        ///< of the job, so far
};

/// How a kernel's launches ran, as its client says.
struct Service::Covered {
  std::uint64_t launches = 0, gpu_ns = 0;
  std::string reason;
  Time told{};
};

struct Service::Session {
  SessionId id;
  Peer peer;
  Page* page;
  Gpu* gpu;
  Time hello_by;
  std::string name{};
  std::int32_t priority = 0;
  std::uint32_t sequence = 0;
  std::vector<KernelDescriptor> kernels{};
  std::array<std::optional<Taken>, kStubs> stubs{};
  std::map<std::pair<std::uint32_t, std::string>, Covered> covered{};  ///< by way and kernel; empty: the executor's figures hold
  /// CTAs on every SM that launches of a kernel held, by its name; nothing: more than one number, or not every SM.
  std::map<std::string, std::optional<CtaCount>> held_ctas{};
  std::uint64_t launches = 0;
  bool has_context = false;  ///< it has said which GPU it uses
  bool begins = false;       ///< its process becomes a program
  bool failed = false;       ///< it has said that its context failed
  bool has_run = false;      ///< a launch of it has begun on the GPU, as it says
  Time held{};               ///< of launches that have ended
  Time waited{};             ///< of launches without an SM, until they got one or ended
  std::uint64_t evictions = 0;
  Memory memory{};

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
