// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: two clients of the service say any bytes, and a third does not notice. The input is a list of steps, a byte
// of how and a byte of length each: raw bytes, a message with a right header, time that passes, an end, a new session. The
// input's length says which scheduler and executor.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <vector>

#include "sw/scheduler/live_scheduler.h"
#include "sw/service/service.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;
  using namespace sluice::service;
  static const MachineConfig machine = [] {
    MachineConfig m;
    m.name = "fuzz";
    m.num_sms = 2;
    m.sm.capacity = {1536, 32768, 49152, 8};
    return m;
  }();
  constexpr const char* kNames[] = {"piv", "even", "dprr", "fcfs"};
  const char* name = kNames[size % 4];
  const bool gpu = (size & 4U) != 0;
  ServiceOptions options{
      .scheduler = name, .executor = gpu ? ExecutorKind::Gpu : ExecutorKind::Fake, .isolate = (size & 8U) != 0};
  options.takes_others = options.blocks_others = [size](pid_t) { return (size & 16U) != 0; };
  options.make_scheduler = [name](const MachineConfig& m, const auto&) { return make_live_scheduler(name, m); };
  Service service(machine, make_live_scheduler(name, machine), options, {}, {});
  std::deque<Page> pages;
  Time now{};
  std::uint32_t sequence[3] = {};
  SessionId sessions[3];
  const auto open = [&](std::size_t k) {
    sequence[k] = 0;
    sessions[k] = *service.open({static_cast<std::int32_t>(k), false, 10}, pages.emplace_back(), now);
  };
  const auto say = [&](std::size_t k, auto message) { service.handle(sessions[k], std::as_bytes(std::span(&message, 1)), now); };
  for (std::size_t k = 0; k < 3; ++k) open(k);
  Page& witness = pages.back();
  Hello hello = make<Hello>(1);
  hello.version = kVersion;
  hello.name[0] = 'w';
  say(2, hello);
  Register kernel = make<Register>(2);
  kernel.block_threads = 64;
  kernel.name[0] = 'k';
  say(2, kernel);
  TakeStub stub = make<TakeStub>(3);
  stub.stub = kAnyStub;
  say(2, stub);
  Submit submit = make<Submit>(4);
  submit.tasks = 4;
  submit.task_ns = 1000;
  say(2, submit);
  while (size >= 2) {
    const std::uint8_t how = data[0];
    const std::size_t length = std::min<std::size_t>(data[1] * 2, size - 2), k = how & 1U;
    std::vector<std::byte> bytes(length);
    if (length != 0) std::memcpy(bytes.data(), data + 2, length);
    data += 2 + length;
    size -= 2 + length;
    switch (how >> 1U & 3U) {
      case 0: service.handle(sessions[k], bytes, now); break;
      case 1: {  // a right header, so that the fields behind it are reached; no task count that takes minutes
        if (bytes.size() < sizeof(Header)) break;
        const Header header{static_cast<std::uint16_t>(1 + (how >> 3U) % 14), static_cast<std::uint16_t>(bytes.size()),
                            ++sequence[k]};
        std::memcpy(bytes.data(), &header, sizeof header);
        if (header.type == static_cast<std::uint16_t>(Type::Submit) && bytes.size() == sizeof(Submit))
          std::fill(bytes.begin() + 18, bytes.begin() + 24, std::byte{});
        service.handle(sessions[k], bytes, now);
        break;
      }
      case 2:
        now += std::chrono::microseconds(how);
        service.advance(now);
        break;
      default: service.lost(sessions[k], now); open(k);
    }
    (void)service.take_outgoing();
    (void)service.take_closed();
    if (service.sessions() > 3 || service.sessions() < 1) std::abort();
  }
  for (std::size_t k = 0; k < 2; ++k) service.lost(sessions[k], now);
  service.advance(now);
  for (int k = 0; k < 1000 && service.next(); ++k) service.advance(now = std::max(now, *service.next()));
  if (gpu) {  // with the others gone it has a share, once it has left as it was told to
    Report report = make<Report>(4);
    const auto tell = [&](What what, std::uint64_t tasks) {
      ++report.header.sequence;
      report.what = static_cast<std::uint32_t>(what);
      report.tasks_begun = report.tasks_done = tasks;
      say(2, report);
      service.advance(now);
    };
    if (StubWord::of(witness.stub[0].word).state == StubState::ToEvict) tell(What::Evicted, 0);
    if (StubWord::of(witness.stub[0].word).ctas == 0) std::abort();
    tell(What::Done, 4);
  }
  if (StubWord::of(witness.stub[0].word).state != StubState::Done || witness.stub[0].tasks_done != 4) std::abort();
  if (service.open_jobs() != 0 || service.sessions() != 1) std::abort();
  return 0;
}
