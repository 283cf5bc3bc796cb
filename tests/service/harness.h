// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <deque>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sw/scheduler/live_scheduler.h"
#include "sw/service/daemon.h"
#include "tests/scheduler/jobs.h"

// A service for tests: two SMs of eight CTA slots, and clocks that do not look at the time.
namespace sluice::service {

inline MachineConfig two_sms() { return small_machine(2, {1536, 32768, 49152, 8}); }

inline Service make_service(const std::string& scheduler, ServiceOptions options = {}, Service::Log log = {},
                            Service::Log events = {}) {
  options.scheduler = scheduler;
  return {two_sms(), make_live_scheduler(scheduler, two_sms()), std::move(options), std::move(log), std::move(events)};
}

/// Time passes only while the daemon would sleep for it, and then at once; a day and more it sleeps.
class JumpingClock : public IClock {
 public:
  [[nodiscard]] Time now() override { return now_; }
  void arm(std::optional<Time> at) override {
    std::uint64_t count = 0;
    if (::read(fd_.get(), &count, sizeof count) < 0) count = 0;
    if (!at || stopped || *at > now_ + std::chrono::hours(24)) return;
    now_ = std::max(now_, *at);
    ::eventfd_write(fd_.get(), 1);
  }
  [[nodiscard]] int fd() const override { return fd_.get(); }
  bool stopped = false;  ///< it stands still

 private:
  Time now_{};
  UniqueFd fd_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

inline std::size_t open_descriptors() {
  std::size_t n = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++n;
  return n;
}

inline Hello hello(std::uint32_t sequence = 1, std::int32_t priority = kThreadPriority, const char* name = "client") {
  Hello m = make<Hello>(sequence);
  m.version = kVersion;
  m.priority = priority;
  std::strncpy(m.name, name, sizeof m.name - 1);
  return m;
}
inline Register kernel(std::uint32_t sequence, std::uint32_t threads = 64, const char* name = "kernel") {
  Register m = make<Register>(sequence);
  m.block_threads = threads;
  m.registers = 1024;
  std::strncpy(m.name, name, sizeof m.name - 1);
  return m;
}
inline TakeStub take_stub(std::uint32_t sequence, std::uint32_t kernel = 0, std::uint32_t stub = kAnyStub) {
  TakeStub m = make<TakeStub>(sequence);
  m.stub = stub;
  m.kernel = kernel;
  return m;
}
inline Submit submit(std::uint32_t sequence, std::uint32_t stub, std::uint64_t tasks, std::uint64_t task_ns = 10'000) {
  Submit m = make<Submit>(sequence);
  m.stub = stub;
  m.tasks = tasks;
  m.task_ns = task_ns;
  return m;
}
template <class Message>
std::span<const std::byte> bytes(const Message& message) {
  return std::as_bytes(std::span(&message, 1));
}

/// Programs whose launches last until they are done, and that count their own messages.
struct Programs {
  template <class Make>
  explicit Programs(const Make& make) : service(make()) {}
  std::size_t open(std::int32_t priority = 5) {
    sessions.push_back(*service.open({static_cast<std::int32_t>(sessions.size()) + 100, false, 10}, pages.emplace_back(), now));
    sequences.push_back(0);
    const std::size_t client = sessions.size() - 1;
    (void)say(client, hello(0, priority));
    return client;
  }
  std::size_t launch(std::int32_t priority = 5, const char* name = "kernel") {
    const std::size_t client = open(priority);
    (void)say(client, kernel(0, 64, name));
    (void)say(client, take_stub(0));
    (void)say(client, submit(0, 0, 0));
    step();
    return client;
  }
  template <class Message>
  std::vector<Outgoing> say(std::size_t client, Message message) {
    message.header.sequence = ++sequences[client];
    service.handle(sessions[client], bytes(message), now);
    return service.take_outgoing();
  }
  void step(Time later = {}) { service.advance(now += later); }
  [[nodiscard]] StubWord word(std::size_t client, std::uint32_t stub = 0) const {
    return StubWord::of(pages[client].stub[stub].word);
  }

  std::deque<Page> pages;
  std::vector<SessionId> sessions;
  std::vector<std::uint32_t> sequences;
  Time now{};
  Service service;
};

}  // namespace sluice::service
