// SPDX-License-Identifier: Apache-2.0
// Kernelet's Case II on the GPU (section 5.3, figure 8): every launch has its inputs copied in and its outputs copied back,
// beside the kernels of others or not, with two kernels side by side or one after the other.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>

#include "sw/gpu/apps/app_sizes.h"
#include "sw/gpu/apps/corun_rates.h"
#include "sw/gpu/experiments/experiments.h"
#include "sw/gpu/experiments/scenario_runs.h"
#include "sw/io/progress.h"
#include "sw/io/raw_store.h"

namespace sluice::gpu {

namespace {

constexpr std::uint32_t kLaunches = 5;  // of each kernel
/// Copies are made in pieces of which two are queued: the host's look at the kernels is a copy of the same engine, which would
/// wait for all that is queued before it (results of `orders`).
constexpr std::size_t kPiece = std::size_t{4} << 20;

/// One kernel's transfers: its own buffers, and as much beside them as the paper's sizes want.
struct Transfers {
  std::size_t in = 0, out = 0;  // bytes
  PinnedMemory inputs, outputs;
};

/// Copies of one direction, in order, of which the host's loop sends a piece after the other.
class Copier {
 public:
  struct Copy {
    std::vector<std::tuple<CUdeviceptr, char*, std::size_t>> parts;
    double first_ms = 0, last_ms = 0;  // by the host's clock
  };
  Copier(bool inwards, Clock::time_point start) : inwards_(inwards), start_(start) {}
  void add(std::uint32_t job, Copy copy) { queue_.emplace_back(job, std::move(copy)); }
  [[nodiscard]] bool done(std::uint32_t job) const { return done_.contains(job); }
  [[nodiscard]] bool idle() const { return queue_.empty(); }
  [[nodiscard]] const std::map<std::uint32_t, Copy>& all() const { return done_; }
  void pump() {
    while (!queue_.empty() && ended(ends_[sent_ % 2])) {
      auto& [job, copy] = queue_.front();
      if (part_ == copy.parts.size()) {  // all is sent
        if (!ended(ends_[(sent_ + 1) % 2])) return;
        copy.last_ms = now();
        done_.emplace(job, std::move(copy));
        queue_.pop_front();
        part_ = at_ = 0;
        continue;
      }
      if (part_ == 0 && at_ == 0) copy.first_ms = now();
      const auto [device, host, bytes] = copy.parts[part_];
      const std::size_t some = std::min(kPiece, bytes - at_);
      check(inwards_ ? driver().cuMemcpyHtoDAsync(device + at_, host + at_, some, stream_.get())
                     : driver().cuMemcpyDtoHAsync(host + at_, device + at_, some, stream_.get()),
            "copying");
      check(driver().cuEventRecord(ends_[sent_++ % 2].get(), stream_.get()), "recording an event");
      at_ += some;
      if (at_ == bytes) {
        ++part_;
        at_ = 0;
      }
    }
  }

 private:
  [[nodiscard]] double now() const { return seconds(Clock::now() - start_) * 1e3; }
  [[nodiscard]] static bool ended(const EventHandle& event) { return driver().cuEventQuery(event.get()) != CUDA_ERROR_NOT_READY; }
  bool inwards_;
  Clock::time_point start_;
  StreamHandle stream_ = make_stream(true);  // not in a channel behind CTAs that wait for orders
  std::array<EventHandle, 2> ends_ = {make_event(), make_event()};
  std::deque<std::pair<std::uint32_t, Copy>> queue_;
  std::map<std::uint32_t, Copy> done_;
  std::size_t part_ = 0, at_ = 0, sent_ = 0;
};

/// Jobs whose inputs are copied as they arrive, and whose outputs are when they end.
class CopiedJobs : public GpuQuotaJobs {
 public:
  CopiedJobs(const GpuScenario& s, std::vector<Transfers>& transfers, CUdeviceptr beside, bool overlapped)
      : GpuQuotaJobs(s.kernels),
        kernels_(s.kernels),
        transfers_(transfers),
        beside_(beside),
        overlapped_(overlapped),
        in_(true, start_),
        out_(false, start_) {}

  void arrive(JobId job, std::uint32_t kernel) override {
    GpuQuotaJobs::arrive(job, kernel);
    kernel_[job.value()] = kernel;
    if (overlapped_) copy(job.value(), true);
  }
  bool ready(JobId job) override {
    pump();
    return !overlapped_ || in_.done(job.value());
  }
  [[nodiscard]] JobSight look(JobId job) override {
    pump();
    return GpuQuotaJobs::look(job);
  }
  void forget(JobId job) override {
    GpuQuotaJobs::forget(job);
    if (overlapped_) copy(job.value(), false);
  }
  /// The same copies with nothing beside them. @return milliseconds
  double copy_all(const std::vector<ScenarioLaunch>& all, bool inputs) {
    const Clock::time_point start = Clock::now();
    for (std::uint32_t k = 0; k < all.size(); ++k) {
      kernel_[k] = static_cast<std::uint32_t>(all[k].job);
      copy(k, inputs);
    }
    wait();
    return seconds(Clock::now() - start) * 1e3;
  }
  void wait() {
    while (!in_.idle() || !out_.idle()) pump();
  }
  [[nodiscard]] double since_start() const { return seconds(Clock::now() - start_) * 1e3; }
  /// Begin and end of every copy, milliseconds since the start. @pre wait()
  [[nodiscard]] std::vector<std::pair<double, double>> intervals() const {
    std::vector<std::pair<double, double>> all;
    for (const Copier* copier : {&in_, &out_})
      for (const auto& [job, copy] : copier->all()) all.emplace_back(copy.first_ms, copy.last_ms);
    return all;
  }

 private:
  void pump() {
    in_.pump();
    out_.pump();
  }
  void copy(std::uint32_t job, bool inputs) {
    const std::uint32_t kernel = kernel_.at(job);
    const PreparedKernel& k = *kernels_[kernel];
    const Transfers& t = transfers_[kernel];
    Copier::Copy copy;
    char* host = static_cast<char*>((inputs ? t.inputs : t.outputs).get());
    std::size_t done = 0;
    const auto part = [&](CUdeviceptr device, std::size_t bytes) {
      copy.parts.emplace_back(device, host + done, bytes);
      done += bytes;
    };
    for (std::size_t a = 0; a < k.spec().arguments.size(); ++a) {
      const ArgumentSpec& argument = k.spec().arguments[a];
      if (argument.kind == (inputs ? ArgumentSpec::Kind::In : ArgumentSpec::Kind::Out)) part(k.buffer(a), argument.bytes());
    }
    if (const std::size_t all = inputs ? t.in : t.out; all > done) part(beside_, all - done);
    (inputs ? in_ : out_).add(job, std::move(copy));
  }

  Clock::time_point start_ = Clock::now();
  PreparedMix kernels_;
  std::vector<Transfers>& transfers_;
  CUdeviceptr beside_;
  bool overlapped_;
  Copier in_, out_;
  std::map<std::uint32_t, std::uint32_t> kernel_;  // by job
};

using Spans = std::vector<std::pair<double, double>>;
/// Of the time in `spans`, the part in which something of `others` was there, too.
double covered(const Spans& spans, Spans others) {
  std::ranges::sort(others);
  Spans joined;
  for (const auto& [first, last] : others) {
    if (joined.empty() || first > joined.back().second) joined.emplace_back(first, last);
    joined.back().second = std::max(joined.back().second, last);
  }
  double all = 0, both = 0;
  for (const auto& [first, last] : spans) {
    all += last - first;
    for (const auto& [a, b] : joined) both += std::max(0.0, std::min(last, b) - std::max(first, a));
  }
  return all == 0 ? 0 : both / all;
}

std::vector<Transfers> transfers_of(const GpuScenario& s) {
  std::vector<Transfers> all;
  for (std::size_t job = 0; job < s.kernels.size(); ++job) {
    Transfers& t = all.emplace_back();
    t.in = static_cast<std::size_t>(s.scenario.jobs[job].in_mib * (1 << 20));
    t.out = static_cast<std::size_t>(s.scenario.jobs[job].out_mib * (1 << 20));
    std::size_t in = 0, out = 0;
    for (const ArgumentSpec& a : s.kernels[job]->spec().arguments)
      (a.kind == ArgumentSpec::Kind::In ? in : out) += a.is_buffer() ? a.bytes() : 0;
    t.in = std::max(t.in, in);
    t.out = std::max(t.out, out);
    t.inputs = allocate_pinned(t.in, "inputs in host memory");
    t.outputs = allocate_pinned(t.out, "outputs in host memory");
    std::memset(t.inputs.get(), 0, t.in);
    char* host = static_cast<char*>(t.inputs.get());
    for (std::size_t a = 0; a < s.kernels[job]->spec().arguments.size(); ++a) {
      const ArgumentSpec& argument = s.kernels[job]->spec().arguments[a];
      if (argument.kind != ArgumentSpec::Kind::In) continue;
      check(driver().cuMemcpyDtoH(host, s.kernels[job]->buffer(a), argument.bytes()), "reading inputs");
      host += argument.bytes();
    }
  }
  return all;
}

/// The outputs that came back are those that lie on the device, and those are the untransformed kernel's.
bool right(const GpuScenario& s, const std::vector<Transfers>& transfers, const std::vector<std::vector<std::uint64_t>>& wanted) {
  bool good = true;
  for (std::size_t job = 0; job < s.kernels.size(); ++job) {
    good = good && s.kernels[job]->fingerprints() == wanted[job];
    const HostBuffers lies = s.kernels[job]->download();
    const char* host = static_cast<const char*>(transfers[job].outputs.get());
    for (std::size_t a = 0; a < lies.size(); ++a) {
      const ArgumentSpec& argument = s.kernels[job]->spec().arguments[a];
      if (argument.kind != ArgumentSpec::Kind::Out) continue;
      good = good && std::memcmp(host, lies[a].data(), argument.bytes()) == 0;
      host += argument.bytes();
    }
  }
  return good;
}

}  // namespace

void kernelet_copies_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawStore store(options.out / "kernelet_copies.jsonl");
  const double core_mhz = options.on.at("core_mhz");
  const CorunRates rates =
      read_corun_rates(options.out / "kernelet_pairs.jsonl", "kernelet", session.machine().num_sms * core_mhz * 1e6);
  Progress progress("kernelet_copies", std::size_t{4} * options.repetitions);
  for (const char* group : {"ci", "mi", "mix", "all"}) {
    Scenario scenario = read_scenario(options.scenarios / fmt::format("kernelet_{}.toml", group));
    for (ScenarioJob& job : scenario.jobs) {
      job.alone.reset();
      job.launches = kLaunches;
    }
    GpuScenario s = gpu_scenario(session, scenario, "kernelet");
    for (ScenarioLaunch& launch : s.all) launch.arrival = Time(0);  // all wait: what there is to overlap is overlapped
    std::vector<Transfers> transfers = transfers_of(s);
    std::size_t most = 0;
    for (const Transfers& t : transfers) most = std::max({most, t.in, t.out});
    const DeviceMemory beside = allocate(most, "the rest of the inputs and outputs");
    const std::vector<std::vector<std::uint64_t>> wanted = native_fingerprints(s);
    for (unsigned r = 0; r < options.repetitions; ++r) {
      for (const auto& [name, overlapped, scheduler_name] :
           {std::tuple("Y,Y", true, "kernelet_opt"), std::tuple("Y,N", true, "arrival"), std::tuple("N,Y", false, "kernelet_opt"),
            std::tuple("N,N", false, "arrival")}) {
        const std::string key = fmt::format("{}/{}/{}", group, name, r);
        if (store.has(key)) continue;
        for (const PreparedKernel* kernel : s.kernels) kernel->poison_outputs();
        SchedulerInput input = scheduler_input(session, s);
        input.machine.core_mhz = core_mhz;
        input.executed = rates.table;
        input.min_slice = std::chrono::milliseconds(1);
        const auto scheduler = make_scheduler(scheduler_name, input);
        CopiedJobs gpu(s, transfers, beside.get(), overlapped);
        const double in_ms = overlapped ? 0 : gpu.copy_all(s.all, true), before_ms = gpu.since_start();
        const GpuRun run = run_scheduled(session, s, *scheduler, gpu);
        const double out_ms = overlapped ? 0 : gpu.copy_all(s.all, false);
        gpu.wait();
        const double end_ms = gpu.since_start();
        Spans kernels;
        for (const nlohmann::json& job : run.jobs)
          kernels.emplace_back(before_ms + job["began_ms"].get<double>(), before_ms + job["ended_ms"].get<double>());
        const Spans copies = gpu.intervals();
        double copied = 0;
        for (const auto& [first, last] : copies) copied += last - first;
        std::size_t bytes = 0;
        for (const ScenarioLaunch& launch : s.all) bytes += transfers[launch.job].in + transfers[launch.job].out;
        store.add(key, {{"group", group},
                        {"variant", name},
                        {"repetition", r},
                        {"end_ms", end_ms},
                        {"in_ms", in_ms},
                        {"out_ms", out_ms},
                        {"copies_ms", copied},
                        {"bytes", bytes},
                        {"covered", covered(copies, kernels)},
                        {"launches", s.all.size()},
                        {"violations", run.violations},
                        {"bit_identical", right(s, transfers, wanted)},
                        {"on", options.on}});
      }
      progress.done(fmt::format("{} {}", group, r));
    }
  }
}

}  // namespace sluice::gpu
