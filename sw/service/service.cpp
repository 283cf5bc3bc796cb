// SPDX-License-Identifier: Apache-2.0
// Sessions from their begin to their end, and the time that passes for them.
#include "sw/service/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "sw/service/fake_execution.h"
#include "sw/service/reported_executor.h"
#include "sw/service/session.h"

namespace sluice::service {

namespace {

constexpr std::uint32_t kAll = 65535;  ///< CTAs or SMs: as many as there are

std::uint16_t saturated(std::uint32_t value) { return static_cast<std::uint16_t>(std::min(value, kAll)); }

StubWord word_of(StubState state, const Share& share, std::uint32_t evictions, std::uint8_t parts = 0) {
  return {state,
          saturated(share.ctas.value()),
          saturated(share.sms.first.value()),
          saturated(share.sms.count),
          static_cast<std::uint8_t>(evictions),
          parts};
}

std::uint64_t monotonic_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

StubState stub_state(JobState state) {
  switch (state) {
    case JobState::Prep: return StubState::Prep;
    case JobState::Ready: return StubState::Ready;
    case JobState::ToRun: return StubState::ToRun;
    case JobState::Running: return StubState::Running;
    case JobState::ToEvict: return StubState::ToEvict;
    case JobState::Done:
    case JobState::Lost: break;
  }
  return StubState::Done;
}

}  // namespace

Error refusal(Code code, std::string_view text) {
  Error e = make<Error>(0);
  e.code = static_cast<std::uint32_t>(code);
  e.fatal = 1;
  text.copy(e.text, sizeof e.text - 1);
  return e;
}

std::string to_string(const GpuId& gpu) {
  if (gpu == GpuId{}) return "";
  std::string text = "GPU-";
  for (std::size_t i = 0; i < gpu.size(); ++i)
    text += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", gpu[i]);
  return text;
}

Service::Service(const MachineConfig& machine, std::unique_ptr<IScheduler> scheduler, ServiceOptions options, Log decisions,
                 Log events)
    : options_(std::move(options)), events_(std::move(events)), decisions_(std::move(decisions)) {
  make_executor(gpus_.emplace_back(Gpu{.machine = machine, .times = options_.times}), std::move(scheduler));
}
Service::~Service() { tell_decisions(); }

void Service::tell_decisions() {
  for (const Gpu& gpu : gpus_) gpu.scheduler->tell(to_string(gpu.id));
}

void Service::make_executor(Gpu& gpu, std::unique_ptr<IScheduler> scheduler) {
  if (gpu.scheduler) {
    tell_decisions();
    calls_before_ += gpu.scheduler->calls();
  }
  gpu.executor.reset();
  gpu.scheduler = std::make_unique<Logged>(std::move(scheduler), decisions_);
  if (options_.executor == ExecutorKind::Fake)
    gpu.executor = std::make_unique<FakeExecution>(gpu.machine, *gpu.scheduler, options_.costs);
  else
    gpu.executor = std::make_unique<ReportedExecutor>(*gpu.scheduler, options_.isolate, gpu.machine.sm.capacity);
}

std::optional<SessionId> Service::open(const Peer& peer, Page& page, Time now) {
  if (sessions_.size() >= options_.most_sessions) {  // one that has not said who it is makes room
    const auto silent = std::ranges::find_if(sessions_, [](const auto& s) { return !s.second.is_open(); });
    if (silent == sessions_.end()) return {};
    const Session& oldest = silent->second;
    say(oldest, {Code::TooSlow, "no HELLO, and others want to be served"}, true);
    end(oldest.id, now, true);
  }
  const SessionId id(++last_session_);
  std::memset(&page, 0, sizeof page);
  page.magic = Page::kMagic;
  page.version = kVersion;
  page.session = id.value();
  page.stubs = kStubs;
  sessions_.emplace(id, Session{id, peer, &page, &gpus_.front(), now + options_.hello_within});
  return id;
}

void Service::answer(const Session& session, std::uint32_t value, std::int32_t priority) {
  Ok ok = make<Ok>(session.sequence);
  ok.value = value;
  ok.priority = priority;
  send(session.id, ok);
}

void Service::say(const Session& session, const Refusal& why, bool fatal) {
  Error e = refusal(why.code, why.text);
  e.header.sequence = session.sequence;
  e.fatal = fatal ? 1 : 0;
  send(session.id, e);
  if (events_)
    events_(fmt::format("client {}{}{}: {}: {}{}", session.peer.pid, session.is_open() ? " " : "", session.name,
                        to_string(why.code), why.text, fatal ? "; session closed" : ""));
}

void Service::handle(SessionId id, std::span<const std::byte> message, Time now) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  try {
    const bool before = found->second.failed;
    dispatch(found->second, message, now);
    const auto still = sessions_.find(id);
    if (still != sessions_.end() && still->second.failed && !before) fails(still->second, now);
  } catch (const Refusal& why) {
    const bool fatal = why.code == Code::Malformed || why.code == Code::OutOfOrder || why.code == Code::Version;
    say(found->second, why, fatal);
    if (fatal) end(id, now, true);
  }
}

void Service::lost(SessionId session, Time now) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  if (events_ && found->second.is_open())
    events_(fmt::format("client {} {}: gone without BYE", found->second.peer.pid, found->second.name));
  leaves(found->second, now, true);
}

void Service::leaves(const Session& session, Time now, bool died) {
  const bool takes_others = died && options_.takes_others && on_gpu(session) && options_.takes_others(session.peer.pid);
  const std::string why =
      fmt::format("client {} {} died with work on the GPU: MPS ended the contexts of all", session.peer.pid, session.name);
  end(session.id, now, died && session.is_open());
  if (takes_others) contexts_end(why, now);
}

void Service::fails(const Session& session, Time now) {
  if (!options_.takes_others || !options_.takes_others(0)) return;
  contexts_end(fmt::format("the context of client {} {} failed: MPS ended those of all", session.peer.pid, session.name), now);
}

void Service::ended(pid_t process, Time now) {
  if (begun_.erase(process) == 0 || !options_.blocks_others || !options_.blocks_others(process)) return;
  contexts_end(fmt::format("process {} died while it began: MPS answers nobody", process), now);
}

void Service::too_slow(SessionId session, Time now) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  say(found->second, {Code::TooSlow, "its socket is full of answers that it does not read"}, true);
  end(session, now, true);
}

void Service::shutdown(Time now) {
  while (!sessions_.empty()) {
    const Session& session = sessions_.begin()->second;
    send(session.id, refusal(Code::Shutdown, "the service ends"));
    end(session.id, now, false);
  }
}

void Service::end(SessionId id, Time now, bool lost) {
  const Session& session = sessions_.at(id);
  for (const std::optional<Taken>& stub : session.stubs) {
    if (!stub || !stub->job) continue;
    session.gpu->executor->lose(*stub->job, now);
    session.gpu->forsaken.push_back(*stub->job);
  }
  if (session.gpu->times) session.gpu->times->save();
  if (lost) ++lost_;
  constexpr std::size_t kMostBegun = 256;
  if (session.is_open()) begun_.erase(session.peer.pid);
  if (session.begins && options_.blocks_others && begun_.size() < kMostBegun) begun_.insert(session.peer.pid);
  closed_.push_back(id);
  sessions_.erase(id);
}

bool Service::on_gpu(const Session& session) {
  return session.has_run && std::ranges::any_of(session.stubs, [](const auto& stub) { return stub && stub->job; });
}

/// Contexts without work are lost as well: what ends here is every session that has told of its GPU.
void Service::contexts_end(const std::string& why, Time now) {
  contexts_lost_ = true;
  if (events_) events_(why);
  std::vector<SessionId> others;
  for (const auto& [id, session] : sessions_)
    if (session.has_context) others.push_back(id);
  for (const SessionId id : others) {
    say(sessions_.at(id), {Code::ContextLost, why}, true);
    end(id, now, false);
  }
}

void Service::advance(Time now) {
  for (Gpu& gpu : gpus_) gpu.executor->advance(now);
  std::vector<SessionId> silent;
  for (auto& [id, session] : sessions_) {
    update(session, now);
    if (!session.is_open() && now >= session.hello_by) silent.push_back(id);
  }
  for (Gpu& gpu : gpus_) {
    for (const JobId job : std::exchange(gpu.forsaken, {})) gpu.executor->forget(job);
    const std::uint64_t unasked =
        StubWord{StubState::Free, open_jobs(gpu) == 0 ? saturated(kAll) : std::uint16_t{0}, 0, saturated(kAll)}.packed();
    for (auto& [id, session] : sessions_)
      if (session.gpu == &gpu && session.page->unasked != unasked) store_word(session.page->unasked, unasked);
  }
  for (const SessionId id : silent) {
    say(sessions_.at(id), {Code::TooSlow, "no HELLO"}, true);
    end(id, now, true);
  }
}

void Service::update(Session& session, Time now) {
  for (std::uint32_t k = 0; k < kStubs; ++k) {
    std::optional<Taken>& taken = session.stubs[k];
    if (!taken || !taken->job) continue;
    const Progress p = session.gpu->executor->progress(*taken->job, now);
    Stub& stub = session.page->stub[k];
    store_word(stub.tasks_begun, p.tasks_begun);
    store_word(stub.tasks_done, p.tasks_done);
    store_word(stub.evictions, std::uint64_t{p.evictions});
    store_word(stub.granted, word_of(StubState::ToRun, p.granted, p.evictions).packed());
    if (std::exchange(taken->leaving, p.leaving) != p.leaving) say_late(session, session.kernels[taken->kernel], p.leaving);
    session.evictions += p.evictions - std::exchange(taken->evictions, p.evictions);
    const bool waits = p.state == JobState::Prep || p.state == JobState::Ready || p.state == JobState::ToRun;
    if (!waits && taken->waits_since) session.waited += now - *std::exchange(taken->waits_since, {});
    if (waits && !taken->waits_since) taken->waits_since = now;
    const std::uint64_t word = word_of(stub_state(p.state), p.share, p.evictions, p.parts).packed();
    if (p.state == JobState::Done) {
      session.held += p.held;
      session.gpu->forsaken.push_back(*taken->job);  // forgotten when the scheduler has heard of it
      taken->job.reset();
      taken->evictions = 0;
    }
    if (word == stub.word) continue;
    if (p.state == JobState::ToEvict) ++orders_;
    if (p.share.ctas.value() != 0) note_share(session, session.kernels[taken->kernel], p.share);
    store_word(stub.changed_ns, monotonic_ns());
    store_word(stub.word, word);
    Changed changed = make<Changed>(0);
    changed.stub = k;
    send(session.id, changed);
  }
}

void Service::say_late(const Session& session, const KernelDescriptor& kernel, Leaving how) const {
  if (!events_ || how == Leaving::InTime) return;
  const bool late = how == Leaving::Late;
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(late ? ReportedExecutor::kLateAfter
                                                                             : ReportedExecutor::kForsakenAfter);
  events_(fmt::format("client {} {}: eviction late: {}, {} ms{}", session.peer.pid, session.name, kernel.name, ms.count(),
                      late ? "" : ": nobody waits for it any more"));
}

void Service::note_share(Session& session, const KernelDescriptor& kernel, const Share& share) {
  const MachineConfig& machine = session.gpu->machine;
  std::optional<CtaCount> ctas = std::min(share.ctas, occupancy(kernel.demand(), machine.sm.capacity));
  if (share.sms.first.value() != 0 || share.sms.count < machine.num_sms) ctas.reset();
  const auto [held, fresh] = session.held_ctas.try_emplace(kernel.name, ctas);
  if (!fresh && held->second != ctas) held->second.reset();
}

std::optional<Time> Service::next() const {
  std::optional<Time> first;
  for (const Gpu& gpu : gpus_)
    if (const auto next = gpu.executor->next(); next && (!first || *next < *first)) first = next;
  for (const auto& [id, session] : sessions_)
    if (!session.is_open() && (!first || session.hello_by < *first)) first = session.hello_by;
  return first;
}

std::vector<Outgoing> Service::take_outgoing() { return std::exchange(outgoing_, {}); }
std::vector<SessionId> Service::take_closed() { return std::exchange(closed_, {}); }
std::uint64_t Service::decisions() const {
  std::uint64_t calls = calls_before_;
  for (const Gpu& gpu : gpus_) calls += gpu.scheduler->calls();
  return calls;
}

bool Service::awaits_leaving() const {
  if (options_.executor != ExecutorKind::Gpu) return false;  // those leave by time
  return std::ranges::any_of(sessions_, [](const auto& s) {
    return std::ranges::any_of(s.second.page->stub,
                               [](const Stub& stub) { return StubWord::of(stub.word).state == StubState::ToEvict; });
  });
}

std::size_t Service::open_jobs() const {
  std::size_t jobs = 0;
  for (const Gpu& gpu : gpus_) jobs += open_jobs(gpu);
  return jobs;
}
std::size_t Service::open_jobs(const Gpu& gpu) const {
  std::size_t jobs = gpu.forsaken.size();
  for (const auto& [id, session] : sessions_)
    if (session.gpu == &gpu)
      jobs += static_cast<std::size_t>(std::ranges::count_if(session.stubs, [](const auto& s) { return s && s->job; }));
  return jobs;
}
bool Service::used(const Gpu& gpu, const Session* but) const {
  return std::ranges::any_of(sessions_,
                             [&](const auto& s) { return s.second.gpu == &gpu && s.second.has_context && &s.second != but; });
}

}  // namespace sluice::service
