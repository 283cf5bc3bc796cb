// SPDX-License-Identifier: Apache-2.0
// A lane is a job of the service while it has launches, and a little longer: 10^5 short launches are one job. What the program's
// threads say is noted under a lock; one thread of ours talks to the service.
#include "sw/interpose/shares.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "sw/gpu/runtime/control.h"
#include "sw/interpose/eviction_times.h"
#include "sw/interpose/threads.h"
#include "sw/service/client_session.h"

namespace sluice::interpose {

namespace {

using Clock = std::chrono::steady_clock;
using service::StubState;
using service::StubWord;
using Step = OrderTimes::Step;

using std::chrono::nanoseconds;
constexpr nanoseconds kLinger = std::chrono::milliseconds(1);  ///< between a lane's last launch and the end of its job
constexpr nanoseconds kCoverage = std::chrono::milliseconds(500), kSoon = std::chrono::microseconds(50);
constexpr Share kNothing{CtaCount(0), {}};
constexpr LaneId kOpaque = 0;  ///< of launches that cannot be transformed, one at a time; streams and graphs count from 1
constexpr std::uint32_t kOpaqueThreads = 32;  ///< of a CTA: what it takes is not known, and no share is enforced

/// The service counts CTAs of the kernel that it knows; the lane's other launches get as much of an SM, or as it says.
Share parts_of(Share share, const KernelDemand& kernel, std::uint32_t parts) {
  const std::uint32_t ctas = share.ctas.value();
  if (parts != 0) return {CtaCount(parts), share.sms};
  return {ctas < kernel.fits ? CtaCount(sluice_quota(ctas, sluice_flags(kernel.fits, true))) : kWholeMachine.ctas, share.sms};
}

Share share_of(const StubWord& word) {
  constexpr std::uint16_t kAll = SLUICE_WHOLE;
  Share share = kWholeMachine;
  if (word.ctas != kAll) share.ctas = CtaCount(word.ctas);
  share.sms.first = SmId(word.first_sm);
  if (word.sms != kAll) share.sms.count = word.sms;
  return share;
}

std::string own_name() {
  if (const char* name = std::getenv("SLUICE_NAME"); name != nullptr && *name != '\0') return name;
  return std::string(::program_invocation_short_name).substr(0, sizeof(service::Hello::name) - 1);
}

class ServiceShares : public IShares {
 public:
  ServiceShares(ILanes& lanes, GpuNumber gpu)
      : lanes_(lanes),
        number_(gpu),
        required_(std::getenv("SLUICE_REQUIRE_SERVICE") != nullptr),
        spins_(std::getenv("SLUICE_SPIN") != nullptr) {
    const char* priority = std::getenv("SLUICE_PRIORITY");
    const std::int32_t asked = priority == nullptr ? SLUICE_THREAD_PRIORITY : std::atoi(priority);
    const std::string name = own_name();
    const DeviceShape device = lanes_.device(gpu);
    gpu_ = {device.sms, device.sm.threads, device.sm.registers, device.sm.shared_memory_bytes, device.sm.cta_slots, {}};
    std::ranges::copy(device.uuid, gpu_.uuid);
    if (sluice_connect(std::getenv("SLUICE_SOCKET"), name.c_str(), asked, &session_) != SLUICE_OK) {
      end(sluice_last_error());
      return;
    }
    descriptor_ = sluice_descriptor(session_);
    hold_ = (session_->welcome.flags & service::kHold) != 0;
    memory_ = session_->welcome.memory;
    wake_ = service::UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    start_thread([this] { talk(); });  // ends with the process, or with the service
    all().push_back(this);
    static const int registered = std::atexit([] {
      for (ServiceShares* each : all()) each->good_bye_();
    });
    (void)registered;
  }

  Share launched(LaneId id, const KernelDemand& kernel) override {
    const std::scoped_lock lock(mutex_);
    if (!why_.empty()) return kWholeMachine;
    Lane& lane = lanes_known_[id];
    lane.idle_since.reset();
    const bool other = lane.kernel != kernel;
    if (other) {
      lane.kernel = kernel;
      ++lane.version;
    }
    begin(lane);
    if (!lane.open || other) {
      lane.news = true;
      ::eventfd_write(wake_.get(), 1);
    }
    return lane.share;
  }
  bool in_parts() const override { return true; }
  bool holds() const override { return hold_; }
  std::uint64_t memory_limit() const override { return memory_; }
  /// What cannot be transformed starts in a turn of one of the program's streams, which then lasts until it has ended. Without
  /// one it is a job of its own: it starts when that is given anything, and leaves by its end.
  bool admit(const std::string& kernel) override {
    const std::scoped_lock lock(mutex_);
    if (!why_.empty()) return true;
    Lane& lane = lanes_known_[kOpaque];
    const bool turn = std::ranges::any_of(lanes_known_, [](const auto& l) {
      return l.first != kOpaque && l.second.busy && l.second.share.ctas.value() != 0 && !l.second.to_leave;
    });
    if (turn) lane.admitted_last = Clock::now();
    if (turn && !lane.busy) return lane.admitted = true;
    lane.idle_since.reset();
    begin(lane);
    if (!lane.open || lane.kernel.name != kernel) {
      if (lane.kernel.name != kernel) ++lane.version;
      lane.kernel = {kernel, kOpaqueThreads, 0, 0, 1, 0};
      lane.news = true;
      ::eventfd_write(wake_.get(), 1);
    }
    const bool now = turn || lane.share.ctas.value() != 0;
    lane.admitted = lane.admitted || now;
    if (now) ++lane.begun;
    return now;
  }
  void admitted_ended() override {
    const std::scoped_lock lock(mutex_);
    Lane& lane = lanes_known_[kOpaque];
    lane.admitted = false;
    lane.done = lane.begun;
    if (lane.busy) lane.idle_since = Clock::now();
    ::eventfd_write(wake_.get(), 1);
  }
  void progress(LaneId id, std::uint64_t begun, std::uint64_t done) override {
    const std::scoped_lock lock(mutex_);
    Lane& lane = lanes_known_[id];
    lane.begun = std::max(lane.begun, begun);  // one look at a time, and CTAs leave
    lane.done = std::max(lane.done, done);
  }
  void evicted(LaneId id) override {
    const std::scoped_lock lock(mutex_);
    Lane& lane = lanes_known_[id];
    if (!std::exchange(lane.left, true) && lane.to_leave) lane.times.at(Step::Left);
    ::eventfd_write(wake_.get(), 1);
  }
  void idle(LaneId id) override {
    const std::scoped_lock lock(mutex_);
    Lane& lane = lanes_known_[id];
    lane.idle_since = Clock::now();
    if (lane.to_leave || hold_) ::eventfd_write(wake_.get(), 1);  // somebody may wait for it
  }
  void failed() override {
    if (!failed_.exchange(true)) ::eventfd_write(wake_.get(), 1);
  }
  bool changes() const override { return true; }
  std::string times_json() const override {
    const std::scoped_lock lock(mutex_);
    return nlohmann::json{{"service", {{"evictions", times_.json()}}}}.dump();
  }
  std::string native() const override {
    const std::scoped_lock lock(mutex_);
    return why_;
  }

 private:
  struct Lane {
    KernelDemand kernel;
    std::uint64_t version = 0;  ///< of the kernel
    Share share = kNothing;
    bool busy = false;                ///< between a launch and the end of the job
    bool news = false;                ///< the service has to hear of a launch
    bool open = false;                ///< a job of the service
    bool to_leave = false;            ///< told to
    bool left = false;                ///< and has
    bool admitted = false;            ///< kOpaque: launches have started, and not all have ended
    Clock::time_point admitted_last;  ///< in another lane's turn
    std::optional<sluice_stub> stub;
    std::optional<Clock::time_point> idle_since;
    std::uint64_t begun = 0, done = 0;                ///< of the lane
    std::uint64_t begun_before = 0, done_before = 0;  ///< of them before this job
    std::uint64_t told_begun = 0, told_done = 0;
    std::optional<std::uint8_t> answered;  ///< the order to leave that was obeyed last
    OrderTimes times;                      ///< of the order that is being obeyed
  };
  static std::vector<ServiceShares*>& all() {  // in a process that was forked also its parent's
    static std::vector<ServiceShares*> made;
    return made;
  }

  void begin(Lane& lane) {
    if (std::exchange(lane.busy, true)) return;
    lane.share = unasked();
    lane.begun_before = lane.begun;
    lane.done_before = lane.done;
  }
  /// What a lane may take until the service has answered: the whole GPU while nobody has anything of it.
  Share unasked() const { return share_of(StubWord::of(__atomic_load_n(&session_->page->unasked, __ATOMIC_ACQUIRE))); }

  void talk() {
    ::prctl(PR_SET_TIMERSLACK, 1000UL);  // ns; 50 us by default
    {                                    // the program's first launch does not wait for the answer
      const std::scoped_lock lock(talking_);
      if (!why_now().empty()) return;
      if (sluice_machine(session_, &gpu_) != SLUICE_OK) return gone();
    }
    while (why_now().empty() && !leaving_) {
      pollfd fds[] = {{descriptor_, POLLIN, 0}, {wake_.get(), POLLIN, 0}};
      const bool busy = any_busy();
      const auto most = spins_ && busy ? nanoseconds(0) : held_up() ? kSoon : busy ? kLinger : kCoverage;
      const timespec wait = {0, static_cast<long>(most.count())};
      ::ppoll(fds, 2, &wait, nullptr);
      eventfd_t count = 0;
      (void)::eventfd_read(wake_.get(), &count);
      const std::scoped_lock lock(talking_);
      if (!why_now().empty()) return;
      if (sluice_listen(session_) != SLUICE_OK) return gone();
      if (!tell_failure()) return gone();
      lanes_.look_at_admitted(number_);
      std::vector<LaneId> leaving;
      for (const LaneId id : known())
        if (!step(id, &leaving)) return gone();
      if (!leaving.empty()) lanes_.await_leaving(leaving);
      for (const LaneId id : leaving)  // who waits for their SMs hears of it at once
        if (!step(id, nullptr)) return gone();
      if (!send_coverage(false)) return gone();
    }
  }

  /// What a lane has to say, and what it is told. @return false when the service is gone
  bool step(LaneId id, std::vector<LaneId>* leaving) {
    Lane lane = copy_of(id);
    if (lane.news && !submit(id, lane)) return false;
    if (!lane.open) return true;
    const service::Stub& stub = session_->page->stub[*lane.stub];
    const StubWord now = StubWord::of(__atomic_load_n(&stub.word, __ATOMIC_ACQUIRE));
    // An order that was answered stands there until the service has read the answer.
    const bool told_to_leave = now.state == StubState::ToEvict && lane.answered != now.evictions;
    const bool stays = (lane.idle_since || lane.left) && others_ride(id) && lanes_.admitted_runs(number_);
    const bool over =
        lane.idle_since && !stays && (told_to_leave || Clock::now() - *lane.idle_since >= kLinger || another_waits(id));
    if (over) return close(id, lane);
    bool has_left = told_to_leave && lane.left && !stays;
    if (told_to_leave && id == kOpaque) {  // what has not started never will, from before the service hears so
      const std::scoped_lock lock(mutex_);
      Lane& kept = lanes_known_[id];
      has_left = !kept.admitted;
      if (has_left) kept.share = kNothing;
    }
    const std::uint64_t begun = lane.begun - lane.begun_before, done = lane.done - lane.done_before;
    if (has_left || begun != lane.told_begun || done != lane.told_done)
      if (sluice_report(session_, *lane.stub, has_left ? SLUICE_EVICTED : SLUICE_PROGRESS, std::max(begun, done), done) !=
          SLUICE_OK)
        return false;
    const bool holds = now.state == StubState::ToRun || now.state == StubState::Running;
    const Share share = holds ? parts_of(share_of(now), lane.kernel, now.parts) : kNothing;
    const bool to_leave = told_to_leave && !has_left;
    const bool fresh = to_leave && !lane.to_leave;
    {
      const std::scoped_lock lock(mutex_);
      Lane& kept = lanes_known_[id];
      kept.told_begun = begun;
      kept.told_done = done;
      if (has_left) {
        kept.answered = now.evictions;
        kept.times.at(Step::Told);
        times_.add(kept.times);
      }
      if (fresh) {
        kept.times.begin(__atomic_load_n(&stub.changed_ns, __ATOMIC_RELAXED));
        kept.times.at(Step::Seen);
      }
      kept.to_leave = to_leave;
      if (!to_leave) kept.left = false;
      if (kept.share == share && !fresh) return true;
      kept.share = share;
    }
    if (id == kOpaque) return true;  // no lane: nothing enforces its share
    lanes_.on_share(id, share);
    if (fresh && leaving != nullptr) leaving->push_back(id);
    return true;
  }

  bool submit(LaneId id, Lane& lane) {
    const std::string name = lane.kernel.name.substr(0, sizeof(service::Register::name) - 1);
    const sluice_kernel kernel = {name.c_str(), lane.kernel.threads, lane.kernel.registers, lane.kernel.shared,
                                  lane.kernel.module};
    sluice_error e = SLUICE_OK;
    if (!lane.stub && free_stubs_.empty() && stubs_ == service::kStubs) {  // one that is idle gives its place up sooner
      const std::optional<LaneId> idle = an_idle_one();
      if (!idle) return true;  // no channel of the GPU is free, either
      if (!close(*idle, copy_of(*idle))) return false;
      if (free_stubs_.empty()) return true;  // it launched in between
    }
    if (!lane.stub && !free_stubs_.empty()) {  // of a lane that has none of its own now
      lane.stub = free_stubs_.back();
      free_stubs_.pop_back();
    }
    if (!lane.stub) {
      sluice_stub stub = 0;
      e = sluice_kernel_stub(session_, &kernel, &stub);
      if (e == SLUICE_OK) lane.stub = stub;
      stubs_ += e == SLUICE_OK ? 1 : 0;
    } else {
      e = sluice_next_kernel(session_, *lane.stub, &kernel);
    }
    if (e == SLUICE_OK && !lane.open) e = sluice_submit(session_, *lane.stub, 0, 0);
    const std::scoped_lock lock(mutex_);
    Lane& kept = lanes_known_[id];
    kept.news = kept.version != lane.version;  // it changed meanwhile: the next round tells it
    kept.stub = lane.stub;
    if (!lane.open) {
      kept.answered = lane.answered = std::nullopt;
      kept.told_begun = kept.told_done = lane.told_begun = lane.told_done = 0;
    }
    kept.open = lane.open = lane.open || e == SLUICE_OK;
    return e == SLUICE_OK;
  }

  bool close(LaneId id, const Lane& lane) {
    const std::uint64_t done = lane.done - lane.done_before;
    {
      const std::scoped_lock lock(mutex_);
      Lane& kept = lanes_known_[id];
      if (!kept.idle_since) return true;  // a launch came in between
      kept.busy = kept.open = kept.left = kept.to_leave = false;
      kept.share = kNothing;
      kept.stub.reset();
    }
    free_stubs_.push_back(*lane.stub);
    return sluice_report(session_, *lane.stub, SLUICE_ENDED, std::max(done, lane.begun - lane.begun_before), done) == SLUICE_OK;
  }

  bool send_coverage(bool at_once) {
    if (!at_once && Clock::now() - told_coverage_ < kCoverage) return true;
    told_coverage_ = Clock::now();
    if (const MemoryFigures now = lanes_.memory(number_); now != last_memory_) {
      last_memory_ = now;
      service::Memory m{{}, now.used, now.most, now.refused};
      if (session_->tell(m) != SLUICE_OK) return false;
    }
    const std::vector<CoverageLine> table = lanes_.coverage(number_);
    if (table.empty() || table == last_coverage_) return true;
    last_coverage_ = table;
    for (const CoverageLine& line : table)
      if (sluice_coverage(session_, line.quota ? SLUICE_QUOTA : SLUICE_NATIVE, line.kernel.c_str(), line.module,
                          line.reason.c_str(), line.launches, line.gpu_ns) != SLUICE_OK)
        return false;
    return true;
  }

  bool tell_failure() { return !failed_ || std::exchange(told_failure_, true) || sluice_failed(session_) == SLUICE_OK; }

  void good_bye() {
    if (process_ != ::getpid()) return;  // of the process that this one was forked from
    leaving_ = true;
    const auto talking = lock_at_exit(talking_);
    if (!talking.owns_lock()) return;
    if (const auto state = lock_at_exit(mutex_); !state.owns_lock() || !why_.empty()) return;
    (void)send_coverage(true);
    if (lanes_.has_failed(number_)) failed_ = true;
    (void)tell_failure();
    const auto state = lock_at_exit(mutex_);
    if (!state.owns_lock()) return;
    why_ = "the process ends";
    sluice_disconnect(std::exchange(session_, nullptr));
  }

  void gone() {
    end(sluice_last_error());
    lanes_.on_gone(number_);
  }
  void end(const std::string& why) {
    std::fprintf(stderr, "sluice: %s: %s\n", why.c_str(), required_ ? "ends, as --require-service says" : "runs natively");
    if (required_) ::_exit(2);
    const std::scoped_lock lock(mutex_);
    why_ = "no service: " + why;
  }

  std::string why_now() const {
    const std::scoped_lock lock(mutex_);
    return why_;
  }
  static bool waits(const Lane& lane) { return lane.busy && !lane.idle_since && lane.share.ctas.value() == 0; }
  /// Launches without a transformed form have started in this lane's turn, and not ended. Not for ever: they may wait for a
  /// launch that waits for the turn.
  bool others_ride(LaneId id) const {
    const std::scoped_lock lock(mutex_);
    const auto opaque = lanes_known_.find(kOpaque);
    return id != kOpaque && opaque != lanes_known_.end() && opaque->second.admitted && opaque->second.share.ctas.value() == 0 &&
           Clock::now() - opaque->second.admitted_last < std::chrono::seconds(1);
  }
  /// One lane of the program at a time has the turn: one that is idle does not keep another from it.
  bool another_waits(LaneId id) const {
    const std::scoped_lock lock(mutex_);
    return hold_ && std::ranges::any_of(lanes_known_, [&](const auto& l) { return l.first != id && waits(l.second); });
  }
  /// Something waits for the end of launches that nothing but a look can tell of.
  bool held_up() const {
    const std::scoped_lock lock(mutex_);
    const auto opaque = lanes_known_.find(kOpaque);
    return opaque != lanes_known_.end() && opaque->second.admitted &&
           std::ranges::any_of(lanes_known_, [&](const auto& l) { return waits(l.second) || l.second.to_leave; });
  }
  std::optional<LaneId> an_idle_one() const {
    const std::scoped_lock lock(mutex_);
    const auto idle = std::ranges::find_if(lanes_known_, [](const auto& l) { return l.second.open && l.second.idle_since; });
    return idle == lanes_known_.end() ? std::nullopt : std::optional(idle->first);
  }
  bool any_busy() const {
    const std::scoped_lock lock(mutex_);
    for (const auto& [id, lane] : lanes_known_)
      if (lane.busy) return true;
    return false;
  }
  std::vector<LaneId> known() const {
    const std::scoped_lock lock(mutex_);
    std::vector<LaneId> ids;
    for (const auto& [id, lane] : lanes_known_)
      if (lane.busy) ids.push_back(id);
    return ids;
  }
  Lane copy_of(LaneId id) const {
    const std::scoped_lock lock(mutex_);
    return lanes_known_.at(id);
  }

  ILanes& lanes_;
  const GpuNumber number_;
  bool required_, spins_, hold_ = false;
  std::uint64_t memory_ = 0;
  sluice_gpu gpu_{};
  std::atomic<bool> leaving_{false}, failed_{false};
  bool told_failure_ = false;  ///< with `talking_` held
  pid_t process_ = ::getpid();
  LastWork good_bye_{[this] { good_bye(); }};
  sluice_session* session_ = nullptr;  ///< with `talking_` held, or `mutex_` and no `why_`
  int descriptor_ = -1;
  service::UniqueFd wake_;
  std::mutex talking_;        ///< with the service
  mutable std::mutex mutex_;  ///< of what follows
  std::map<LaneId, Lane> lanes_known_;
  std::string why_;  ///< nobody decides any more
  Clock::time_point told_coverage_{};
  std::vector<CoverageLine> last_coverage_;
  MemoryFigures last_memory_;
  std::vector<sluice_stub> free_stubs_;  ///< the thread's
  std::uint32_t stubs_ = 0;              ///< that it has taken
  EvictionTimes times_;
};

}  // namespace

std::unique_ptr<IShares> service_shares(ILanes& lanes, GpuNumber gpu) { return std::make_unique<ServiceShares>(lanes, gpu); }

}  // namespace sluice::interpose
