// SPDX-License-Identifier: Apache-2.0
// What clients ask for: each message looked at and answered.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "sw/core/errors.h"
#include "sw/policy/policy.h"
#include "sw/scheduler/priority.h"
#include "sw/service/session.h"

namespace sluice::service {

namespace {

/// @return nullopt when it is no text as the protocol has it
template <std::size_t n>
std::optional<std::string> text(const char (&field)[n]) {
  const char* end = std::find(field, field + n, '\0');
  if (end == field + n || end == field) return {};
  if (std::any_of(field, end, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })) return {};
  return std::string(field, end);
}

/// A kernel's name, apart from the same one of another program.
std::string identity(const std::string& name, std::uint64_t module) {
  return module == 0 ? name : fmt::format("{}@{:016x}", name, module);
}

constexpr std::size_t kMostGpus = 16;  ///< beyond them those that nobody uses are forgotten

bool is_priority(std::int32_t p) { return p == kThreadPriority || (p >= 0 && p <= kMaxPriority); }

}  // namespace

void Service::dispatch(Session& session, std::span<const std::byte> message, Time now) {
  Header header{};
  if (message.size() < sizeof header) throw Refusal{Code::Malformed, fmt::format("a message of {} bytes", message.size())};
  std::memcpy(&header, message.data(), sizeof header);
  if (header.bytes != message.size())
    throw Refusal{Code::Malformed, fmt::format("a message of {} bytes that says {}", message.size(), header.bytes)};
  if (header.sequence != session.sequence + 1)
    throw Refusal{Code::OutOfOrder, fmt::format("message {} after {}", header.sequence, session.sequence)};
  const auto as = [&]<class Message>(Message m) {
    if (message.size() != sizeof m)
      throw Refusal{Code::Malformed, fmt::format("type {} of {} bytes: must be {}", header.type, message.size(), sizeof m)};
    std::memcpy(&m, message.data(), sizeof m);
    return m;
  };
  const auto type = static_cast<Type>(header.type);
  const bool known =
      header.type >= static_cast<std::uint16_t>(Type::Hello) && header.type <= static_cast<std::uint16_t>(Type::Begins);
  if (!known) throw Refusal{Code::Malformed, fmt::format("type {}: there is none", header.type)};
  const bool before_hello = type == Type::Hello || type == Type::Status || type == Type::Bye || type == Type::Begins;
  if (!session.is_open() && !before_hello) throw Refusal{Code::OutOfOrder, "a request before HELLO"};
  session.sequence = header.sequence;
  switch (type) {
    case Type::Hello: return take(session, as(Hello{}));
    case Type::Register: return take(session, as(Register{}));
    case Type::Priority: return take(session, as(Priority{}));
    case Type::Submit: return take(session, as(Submit{}), now);
    case Type::Release: return take(session, as(Release{}));
    case Type::TakeStub: return take(session, as(TakeStub{}), now);
    case Type::Report: return take(session, as(Report{}), now);
    case Type::Machine: return take(session, as(Machine{}));
    case Type::Coverage: return take(session, as(Coverage{}), now);
    case Type::Memory: session.memory = as(Memory{}); return;
    case Type::Begins: (void)as(Begins{}), session.begins = true; return;
    case Type::Failed: (void)as(Failed{}), session.failed = session.has_context; return;
    case Type::Status: {
      (void)as(Status{});
      const auto waits = [&](const Outgoing& o) { return o.session == session.id && !o.text.empty(); };
      if (std::ranges::any_of(outgoing_, waits)) throw Refusal{Code::Busy, "STATUS: the one before was not sent yet"};
      if (status_.empty() || now >= status_until_) {  // whoever asks without end delays nobody
        status_ = status_json(now);
        status_until_ = now + kStatusLife;
      }
      StatusText m = make<StatusText>(session.sequence);
      m.length = status_.size();
      return send(session.id, m, status_);
    }
    default: (void)as(Bye{}); return leaves(session, now, false);
  }
}

void Service::take(Session& session, const Hello& m) {
  if (session.is_open()) throw Refusal{Code::OutOfOrder, "a second HELLO"};
  if (m.version != kVersion) throw Refusal{Code::Version, fmt::format("version {}: must be {}", m.version, kVersion)};
  const std::optional<std::string> name = text(m.name);
  if (!name) throw Refusal{Code::Malformed, "HELLO: name: must be text that ends with a zero byte"};
  if (!is_priority(m.priority))
    throw Refusal{Code::Malformed, fmt::format("HELLO: priority {}: must be 0..{}", m.priority, kMaxPriority)};
  session.name = *name;
  const auto asked = m.priority == kThreadPriority ? std::nullopt : std::optional(m.priority);
  session.priority = granted_priority(asked, session.peer.thread_priority, session.peer.root);
  Welcome welcome = make<Welcome>(session.sequence);
  welcome.session = session.id.value();
  welcome.stubs = kStubs;
  welcome.priority = session.priority;
  welcome.flags = options_.hold ? kHold : 0;
  welcome.memory = options_.memory;
  send(session.id, welcome);
}

void Service::take(Session& session, const Register& m) {
  const std::optional<std::string> name = text(m.name);
  if (!name || m.reserved != 0) throw Refusal{Code::Malformed, "REGISTER: name or reserved field"};
  KernelDescriptor kernel;
  kernel.name = identity(*name, m.module);
  kernel.block_threads = m.block_threads;
  kernel.registers_per_cta = m.registers;
  kernel.shared_bytes_per_cta = m.shared_bytes;
  if (const auto wish = options_.wishes.find(session.name); wish != options_.wishes.end()) kernel.wish = wish->second;
  constexpr std::uint32_t kMostThreads = 1024;
  if (m.block_threads == 0 || m.block_threads > kMostThreads)
    throw Refusal{Code::Invalid, fmt::format("block_threads = {}: must be 1..{}", m.block_threads, kMostThreads)};
  try {
    check_fits(session.gpu->machine, kernel);
  } catch (const InputError& error) {
    throw Refusal{Code::Invalid, error.what()};
  }
  if (session.kernels.size() >= kKernels) throw Refusal{Code::Full, fmt::format("a session has {} kernels", kKernels)};
  session.kernels.push_back(std::move(kernel));
  answer(session, static_cast<std::uint32_t>(session.kernels.size() - 1), session.priority);
}

Service::Taken& Service::taken(Session& session, std::uint32_t stub) {
  if (stub >= kStubs || !session.stubs[stub]) throw Refusal{Code::UnknownStub, fmt::format("stub {}: nobody took it", stub)};
  return *session.stubs[stub];
}

void Service::take(Session& session, const TakeStub& m, Time now) {
  if (m.kernel >= session.kernels.size()) throw Refusal{Code::Invalid, fmt::format("kernel {}: there is none", m.kernel)};
  if (m.stub != kAnyStub) {
    Taken& stub = taken(session, m.stub);
    if (stub.job) {
      try {
        const JobId before = *stub.job;
        stub.job = session.gpu->executor->change_kernel(before, session.kernels[m.kernel], now);
        session.gpu->forsaken.push_back(before);
      } catch (const InputError& error) {
        throw Refusal{Code::Invalid, fmt::format("stub {}: {}", m.stub, error.what())};
      }
      store_word(session.page->stub[m.stub].job, stub.job->value());
    }
    stub.kernel = m.kernel;
    return answer(session, m.stub, stub.priority);
  }
  const auto place = std::ranges::find_if(session.stubs, [](const auto& s) { return !s; });
  if (place == session.stubs.end()) throw Refusal{Code::Full, fmt::format("a session has {} stubs", kStubs)};
  *place = Taken{m.kernel, session.priority};
  const auto stub = static_cast<std::uint32_t>(place - session.stubs.begin());
  store_word(session.page->stub[stub].word, StubWord{StubState::Prep}.packed());
  answer(session, stub, session.priority);
}

void Service::take(Session& session, const Priority& m) {
  if (!is_priority(m.priority))
    throw Refusal{Code::Invalid, fmt::format("priority = {}: must be 0..{}", m.priority, kMaxPriority)};
  const auto asked = m.priority == kThreadPriority ? std::nullopt : std::optional(m.priority);
  const std::int32_t granted = granted_priority(asked, session.peer.thread_priority, session.peer.root);
  if (m.stub == kAllStubs) {
    session.priority = granted;
    for (std::optional<Taken>& stub : session.stubs)
      if (stub) stub->priority = granted;
  } else {
    taken(session, m.stub).priority = granted;
  }
  answer(session, m.stub, granted);
}

void Service::take(Session& session, const Submit& m, Time now) {
  if (m.reserved != 0) throw Refusal{Code::Malformed, "SUBMIT: reserved field"};
  Taken& launching = taken(session, m.stub);
  if (launching.job) throw Refusal{Code::Busy, fmt::format("stub {}: its launch has not ended", m.stub)};
  ClientLaunch launch;
  launch.kernel = session.kernels[launching.kernel];
  launch.tasks = m.tasks;
  launch.task_time = std::chrono::nanoseconds(std::min(m.task_ns, kMaxTaskNs + 1));
  launch.priority = launching.priority;
  launch.owner = session.id.value();
  try {
    check_fits(session.gpu->machine, launch.kernel);  // it may be another one than when the kernel was registered
    launching.job = session.gpu->executor->submit(launch, now);
  } catch (const InputError& error) {
    throw Refusal{Code::Invalid, error.what()};
  }
  ++session.launches;
  Stub& stub = session.page->stub[m.stub];
  store_word(stub.job, launching.job->value());
  store_word(stub.priority, launching.priority);
  store_word(stub.tasks, m.tasks);
  for (std::uint64_t* count : {&stub.tasks_begun, &stub.tasks_done, &stub.evictions, &stub.granted})
    store_word(*count, std::uint64_t{0});
  store_word(stub.word, StubWord{StubState::Prep}.packed());
  answer(session, launching.job->value(), launching.priority);
}

void Service::take(Session& session, const Report& m, Time now) {
  Taken& stub = taken(session, m.stub);
  if (!stub.job) throw Refusal{Code::Invalid, fmt::format("stub {}: its launch has ended", m.stub)};
  try {
    session.gpu->executor->report(*stub.job, m, now);
    session.has_run |= m.tasks_begun != 0;
  } catch (const InputError& error) {
    throw Refusal{Code::Invalid, fmt::format("stub {}: {}", m.stub, error.what())};
  }
  if (static_cast<What>(m.what) != What::Done) return;
  update(session, now);  // the next message may be about the stub's next launch
}

void Service::take(Session& session, const Machine& m) {
  constexpr std::uint32_t kMostSms = 1024, kMostThreads = 1U << 16U, kMostBytes = 1U << 24U, kMostSlots = 1024;
  const bool sane = m.sms >= 1 && m.sms <= kMostSms && m.threads >= 32 && m.threads <= kMostThreads && m.registers >= 1 &&
                    m.registers <= kMostBytes && m.shared_bytes <= kMostBytes && m.cta_slots >= 1 && m.cta_slots <= kMostSlots;
  if (m.reserved != 0 || !sane) throw Refusal{Code::Invalid, "MACHINE: a figure out of its range"};
  Gpu& gpu = gpu_of(session, m);
  const bool works = std::ranges::any_of(session.stubs, [](const auto& stub) { return stub && stub->job; });
  if (session.gpu != &gpu && works) throw Refusal{Code::Busy, "MACHINE: a launch on another GPU has not ended"};
  const SmResources sm{m.threads, m.registers, m.shared_bytes, m.cta_slots};
  const bool same = gpu.machine.num_sms == m.sms && gpu.machine.sm.capacity == sm;
  const bool settled = gpu.known && used(gpu, &session);
  if (!same && (settled || !options_.any_machine || open_jobs(gpu) != 0))
    throw Refusal{Code::Invalid, fmt::format("the service shares a GPU of {} SMs, not this one of {} SMs: {}",
                                             gpu.machine.num_sms, m.sms, gpu.machine.name)};
  if (!same) {
    gpu.machine.num_sms = m.sms;
    gpu.machine.sm.capacity = sm;
    gpu.machine.name = "as client " + std::to_string(session.peer.pid) + " has it";
    make_executor(gpu, options_.make_scheduler(gpu.machine, gpu.times));
  }
  session.gpu = &gpu;
  gpu.known = session.has_context = true;
  answer(session, m.sms, session.priority);
}

/// The one of that UUID. The first that is reported is the service's first.
Service::Gpu& Service::gpu_of(const Session& session, const Machine& m) {
  Gpu& first = gpus_.front();
  const auto known = std::ranges::find(gpus_, m.gpu, &Gpu::id);
  if (m.gpu == GpuId{} || known != gpus_.end()) return m.gpu == GpuId{} ? first : *known;
  Gpu* gpu = first.id == GpuId{} && !(first.known && used(first, &session)) ? &first : nullptr;
  if (gpu == nullptr) {
    if (!options_.make_scheduler) throw Refusal{Code::Invalid, "the service shares another GPU alone"};
    for (auto old = std::next(gpus_.begin()); old != gpus_.end();) {  // one that nobody uses makes room
      const bool goes = gpus_.size() > kMostGpus && !used(*old, nullptr) && open_jobs(*old) == 0;
      if (goes) old->scheduler->tell(to_string(old->id)), calls_before_ += old->scheduler->calls();
      old = goes ? gpus_.erase(old) : std::next(old);
    }
    gpu = &gpus_.emplace_back(Gpu{.machine = first.machine, .times = options_.times ? std::make_shared<KernelTimes>() : nullptr});
    make_executor(*gpu, options_.make_scheduler(gpu->machine, gpu->times));
  }
  gpu->id = m.gpu;
  if (gpu->times && !options_.learned.empty()) gpu->times->keep(options_.learned / (to_string(gpu->id) + ".json"), events_);
  return *gpu;
}

void Service::take(Session& session, const Coverage& m, Time now) {
  const std::optional<std::string> name = text(m.name), reason = m.reason[0] == 0 ? std::string() : text(m.reason);
  if (m.reserved != 0 || m.way > static_cast<std::uint32_t>(Way::Native) || !name || !reason)
    throw Refusal{Code::Malformed, "COVERAGE: way, name, reason or reserved field"};
  const std::string kernel = identity(*name, m.module);
  if (session.covered.size() >= kKernels && !session.covered.contains({m.way, kernel})) return;  // the sums miss it
  const bool ours = session.gpu->times && m.way == static_cast<std::uint32_t>(Way::Quota) && m.launches != 0;
  Covered& covered = session.covered[{m.way, kernel}];
  if (ours && m.launches > covered.launches && m.gpu_ns > covered.gpu_ns)
    session.gpu->times->seen(kernel, covered.told, m.launches - covered.launches, static_cast<double>(m.gpu_ns - covered.gpu_ns));
  covered = {m.launches, m.gpu_ns, *reason, now};
  const auto held = session.held_ctas.find(kernel);
  if (ours && held != session.held_ctas.end() && held->second)
    session.gpu->times->learn(kernel, *held->second, static_cast<double>(m.gpu_ns) / static_cast<double>(m.launches));
}

void Service::take(Session& session, const Release& m) {
  if (m.reserved != 0) throw Refusal{Code::Malformed, "RELEASE: reserved field"};
  if (taken(session, m.stub).job) throw Refusal{Code::Busy, fmt::format("stub {}: its launch has not ended", m.stub)};
  session.stubs[m.stub].reset();
  store_word(session.page->stub[m.stub].word, StubWord{}.packed());
  answer(session, m.stub, session.priority);
}

}  // namespace sluice::service
