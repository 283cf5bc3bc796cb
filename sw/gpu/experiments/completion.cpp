// SPDX-License-Identifier: Apache-2.0
// A launch under a quota is done when its blocks are, not when its first grid is: evicted blocks run in a grid that comes later,
// in another stream. What may hold the program's stream until then, how soon it lets the stream go on, and what it costs others.
#include <fmt/format.h>

#include <array>
#include <functional>
#include <thread>

#include "sw/gpu/experiments/experiments.h"
#include "sw/gpu/runtime/embedded.h"
#include "sw/io/progress.h"
#include "sw/io/raw_store.h"

namespace sluice::gpu {

namespace {

constexpr unsigned kRounds = 200;      ///< measurements of each latency
constexpr unsigned kWorkNs = 100'000;  ///< length of the work that is waited for
constexpr unsigned kBusyCtas = 8, kBusyThreads = 256, kBusySteps = 20'000;

/// As in completion.cu.
struct Moments {
  unsigned ended;
  unsigned long long last, next;
};

/// Kernels, memory and streams of the experiment.
class Bench {
 public:
  explicit Bench(GpuSession& session)
      : session_(session),
        moments_(allocate(sizeof(Moments), "moments")),
        device_word_(allocate(4, "word")),
        sink_(allocate(4, "sink")),
        words_(allocate_pinned(4096, "pinned words")) {
    clear(moments_, sizeof(Moments));
    clear(device_word_, 4);
    for (unsigned i = 0; i < 4; ++i) word(i) = 0;
  }

  [[nodiscard]] unsigned sms() const { return session_.context().limits().sms; }
  [[nodiscard]] volatile unsigned& word(unsigned i) { return static_cast<volatile unsigned*>(words_.get())[std::size_t{16} * i]; }
  [[nodiscard]] CUdeviceptr pinned(unsigned i) const { return device_address(words_) + CUdeviceptr{64} * i; }
  [[nodiscard]] CUdeviceptr device_word() const { return device_word_.get(); }
  [[nodiscard]] CUstream program() const { return program_.get(); }
  [[nodiscard]] CUstream service() const { return service_.get(); }
  [[nodiscard]] CUstream copies() const { return copies_.get(); }
  unsigned next_epoch() { return ++epoch_; }

  void work(CUstream stream, CUdeviceptr done, unsigned epoch) {
    CUdeviceptr moments = moments_.get();
    unsigned ns = kWorkNs;
    std::array<void*, 4> arguments{&moments, &done, &epoch, &ns};
    launch(work_, sms(), 128, stream, arguments.data());
  }
  void sleeper(CUstream stream, unsigned ctas, CUdeviceptr done, unsigned epoch, unsigned ns) {
    std::array<void*, 3> arguments{&done, &epoch, &ns};
    launch(sleeper_, ctas, 32, stream, arguments.data());
  }
  void follower(CUstream stream) {
    CUdeviceptr moments = moments_.get();
    std::array<void*, 1> arguments{&moments};
    launch(follower_, 1, 32, stream, arguments.data());
  }
  void listener(CUstream stream, unsigned ctas, CUdeviceptr order, unsigned rounds, unsigned ns) {
    clear(moments_, sizeof(Moments));
    CUdeviceptr moments = moments_.get(), answer = pinned(1);
    std::array<void*, 5> arguments{&moments, &order, &answer, &rounds, &ns};
    launch(listener_, ctas, 1, stream, arguments.data());
  }
  /// Seconds of a kernel that keeps all SMs busy with arithmetic.
  [[nodiscard]] double victim_seconds() {
    CUdeviceptr sink = sink_.get();
    unsigned steps = kBusySteps;
    std::array<void*, 2> arguments{&sink, &steps};
    const EventHandle first = make_event(), last = make_event();
    check(driver().cuEventRecord(first.get(), program()), "recording an event");
    launch(victim_, sms() * kBusyCtas * 4, kBusyThreads, program(), arguments.data());
    check(driver().cuEventRecord(last.get(), program()), "recording an event");
    check(driver().cuEventSynchronize(last.get()), "waiting for the victim");
    float ms = 0;
    check(driver().cuEventElapsedTime(&ms, first.get(), last.get()), "reading an event");
    return ms / 1e3;
  }
  static void wait(CUstream stream, CUdeviceptr word, unsigned epoch) {
    check(driver().cuStreamWaitValue32(stream, word, epoch, CU_STREAM_WAIT_VALUE_GEQ), "a stream's wait for a word");
  }
  /// Microseconds from the end of the last CTA of the work to the begin of what follows. @pre the GPU is idle
  [[nodiscard]] double gap_us() {
    check(driver().cuCtxSynchronize(), "waiting for what follows");
    Moments m{};
    check(driver().cuMemcpyDtoH(&m, moments_.get(), sizeof m), "reading moments");
    return static_cast<double>(static_cast<std::int64_t>(m.next - m.last)) / 1e3;
  }

 private:
  [[nodiscard]] Kernel kernel(const char* name) {
    const CompiledKernel code =
        session_.compiler().compile(std::string(embedded_file("experiments/completion.cu")), "completion.cu", name);
    return {session_.context(), code.ptx, code.symbol};
  }
  static void clear(const DeviceMemory& memory, std::size_t bytes) {
    check(driver().cuMemsetD8(memory.get(), 0, bytes), "clearing memory");
    check(driver().cuCtxSynchronize(), "clearing memory");
  }
  static void launch(const Kernel& kernel, unsigned ctas, unsigned threads, CUstream stream, void** arguments) {
    check(driver().cuLaunchKernel(kernel.function(), ctas, 1, 1, threads, 1, 1, 0, stream, arguments, nullptr), "launch");
  }
  GpuSession& session_;
  Kernel work_ = kernel("work"), sleeper_ = kernel("sleeper"), follower_ = kernel("follower"), listener_ = kernel("listener"),
         victim_ = kernel("victim");
  DeviceMemory moments_, device_word_, sink_;
  PinnedMemory words_;
  StreamHandle program_ = make_stream(), service_ = make_stream(), copies_ = make_stream(true);
  unsigned epoch_ = 0;
};

/// Where the done word lies.
CUdeviceptr place(Bench& b, bool pinned) { return pinned ? b.pinned(0) : b.device_word(); }

// The work in the program's own stream, as when nothing is evicted; `wait` holds what follows until the word is there.
void same_stream(Bench& b, bool wait, bool pinned) {
  const unsigned epoch = b.next_epoch();
  b.work(b.program(), place(b, pinned), epoch);
  if (wait) Bench::wait(b.program(), place(b, pinned), epoch);
  b.follower(b.program());
}
// The work in a grid of the service's, as after an eviction; the program's stream waits for the word.
void other_stream(Bench& b, bool pinned) {
  const unsigned epoch = b.next_epoch();
  Bench::wait(b.program(), place(b, pinned), epoch);
  b.follower(b.program());
  b.work(b.service(), place(b, pinned), epoch);
}
void asleep(Bench& b, unsigned ns) {
  const unsigned epoch = b.next_epoch();
  b.sleeper(b.program(), 1, b.device_word(), epoch, ns);
  b.follower(b.program());
  b.work(b.service(), b.device_word(), epoch);
}
// The host sees the word and launches what follows.
void by_host(Bench& b) {
  const unsigned epoch = b.next_epoch();
  b.work(b.service(), b.pinned(0), epoch);
  while (b.word(0) != epoch) continue;
  b.follower(b.program());
}

/// A captured stream, ready to replay: the work, a wait for its word, what follows.
GraphExecHandle captured(Bench& b, bool wait) {
  check(driver().cuStreamBeginCapture(b.program(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "beginning a capture");
  check(driver().cuMemsetD32Async(b.device_word(), 0, 1, b.program()), "clearing the word in a capture");
  b.work(b.program(), b.device_word(), 1);
  const CUresult waited =
      wait ? driver().cuStreamWaitValue32(b.program(), b.device_word(), 1, CU_STREAM_WAIT_VALUE_GEQ) : CUDA_SUCCESS;
  if (waited == CUDA_SUCCESS) b.follower(b.program());
  CUgraph graph = nullptr;
  const CUresult ended = driver().cuStreamEndCapture(b.program(), &graph);
  const GraphHandle owner(graph);
  check(waited, "a wait for a word in a captured stream");
  check(ended, "ending a capture");
  CUgraphExec exec = nullptr;
  check(driver().cuGraphInstantiate(&exec, graph, 0), "instantiating a graph");
  return GraphExecHandle(exec);
}

/// A stream that late work could be launched into: made before the others, or after them, or after them with highest priority.
enum class Target : std::uint8_t { First, New, Urgent };
constexpr const char* kTargets[] = {"made first", "new", "new, urgent"};

/// How soon a stream's kernel ends while `waiting` streams wait, by a memory operation or with a sleeper, and have a kernel
/// behind it. The word is written after 100 ms, whatever happens: where streams share a channel, a launch may not return before.
nlohmann::json beside_waiting_streams(Bench& b, unsigned waiting, bool asleep, Target target) {
  const unsigned epoch = b.next_epoch();
  const Clock::time_point begin = Clock::now();
  const std::jthread release([&] {
    sleep_seconds(0.1);
    b.word(2) = epoch;
  });
  std::vector<StreamHandle> streams;
  for (unsigned i = 0; i < waiting; ++i) {
    streams.push_back(make_stream());
    if (asleep)
      b.sleeper(streams.back().get(), 1, b.pinned(2), epoch, 1000);
    else
      Bench::wait(streams.back().get(), b.pinned(2), epoch);
    b.follower(streams.back().get());
  }
  const StreamHandle fresh = make_stream(target == Target::Urgent);
  CUstream stream = target == Target::First ? b.service() : fresh.get();
  const Clock::time_point ready = Clock::now();
  b.follower(stream);
  check(driver().cuStreamSynchronize(stream), "waiting for a stream beside others that wait");
  const double us = seconds(Clock::now() - ready) * 1e6;
  const bool held = b.word(2) == epoch;
  return {{"made_us", seconds(ready - begin) * 1e6}, {"us", us}, {"held", held}};
}

/// Microseconds from an order's being written to the last CTA's having seen it, as the host sees it.
nlohmann::json order_us(Bench& b, unsigned ctas, unsigned ns, bool pinned) {
  b.word(1) = 0;
  b.word(3) = 0;
  const std::uint32_t zero = 0;
  check(driver().cuMemcpyHtoD(b.device_word(), &zero, 4), "clearing the order");
  b.listener(b.program(), ctas, pinned ? b.pinned(3) : b.device_word(), kRounds, ns);
  nlohmann::json us = nlohmann::json::array();
  for (unsigned round = 1; round <= kRounds; ++round) {
    sleep_seconds(50e-6);
    const Clock::time_point begin = Clock::now();
    b.word(3) = round;
    if (!pinned)
      check(driver().cuMemcpyHtoDAsync(b.device_word(), const_cast<unsigned*>(&b.word(3)), 4, b.copies()), "sending an order");
    while (b.word(1) != round) continue;
    us.push_back(seconds(Clock::now() - begin) * 1e6);
  }
  check(driver().cuCtxSynchronize(), "the listeners' end");
  return us;
}

/// Seconds of a busy kernel beside sleepers and without, in turns.
nlohmann::json beside_sleepers(Bench& b, unsigned sleepers, unsigned ns, unsigned repetitions) {
  nlohmann::json without = nlohmann::json::array(), with = nlohmann::json::array();
  static_cast<void>(b.victim_seconds());
  for (unsigned r = 0; r < repetitions; ++r) {
    without.push_back(b.victim_seconds());
    const unsigned epoch = b.next_epoch();
    b.sleeper(b.service(), sleepers, b.device_word(), epoch, ns);
    sleep_seconds(200e-6);
    with.push_back(b.victim_seconds());
    check(driver().cuMemcpyHtoDAsync(b.device_word(), &epoch, 4, b.copies()), "waking the sleepers");
    check(driver().cuCtxSynchronize(), "the sleepers' end");
  }
  return {{"sleepers", sleepers}, {"look_ns", ns}, {"seconds_without", without}, {"seconds_with", with}};
}

}  // namespace

void completion_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawStore store(options.out / "completion.jsonl");
  Bench b(session);
  const std::vector<std::pair<std::string, std::function<void()>>> gaps = {
      {"stream order", [&] { same_stream(b, false, false); }},
      {"same stream, word in device memory", [&] { same_stream(b, true, false); }},
      {"same stream, word in host memory", [&] { same_stream(b, true, true); }},
      {"other stream, word in device memory", [&] { other_stream(b, false); }},
      {"other stream, word in host memory", [&] { other_stream(b, true); }},
      {"sleeper that looks every 200 ns", [&] { asleep(b, 200); }},
      {"sleeper that looks every 1 us", [&] { asleep(b, 1000); }},
      {"sleeper that looks every 5 us", [&] { asleep(b, 5000); }},
      {"the host launches what follows", [&] { by_host(b); }}};
  Progress progress("completion", 5);
  for (const auto& [name, run] : gaps) {
    if (store.has("gap: " + name)) continue;
    nlohmann::json us = nlohmann::json::array();
    for (unsigned i = 0; i <= kRounds; ++i) {
      run();
      if (const double gap = b.gap_us(); i > 0) us.push_back(gap);  // the first loads code
    }
    store.add("gap: " + name, {{"gap_us", us}});
  }
  progress.done("what follows");
  for (const bool wait : {false, true}) {
    const std::string key = wait ? "gap: graph with a wait for the word" : "gap: graph";
    if (store.has(key)) continue;
    nlohmann::json us = nlohmann::json::array();
    try {
      const GraphExecHandle graph = captured(b, wait);
      for (unsigned i = 0; i <= kRounds; ++i) {
        check(driver().cuGraphLaunch(graph.get(), b.program()), "replaying a graph");
        if (const double gap = b.gap_us(); i > 0) us.push_back(gap);
      }
      store.add(key, {{"gap_us", us}});
    } catch (const GpuError& e) {
      store.add(key, {{"refused", e.what()}});
    }
  }
  progress.done("graphs");
  for (const bool asleep : {false, true})
    for (const Target target : {Target::First, Target::New, Target::Urgent})
      for (const unsigned waiting : {0U, 1U, 8U, 16U, 24U, 31U, 32U, 48U, 64U, 127U, 128U}) {
        const char* name = kTargets[static_cast<std::size_t>(target)];
        const std::string key =
            fmt::format("stream {} beside {} that wait {}", name, waiting, asleep ? "with a sleeper" : "for a word");
        if (store.has(key)) continue;
        nlohmann::json runs = nlohmann::json::array();
        for (unsigned r = 0; r < options.repetitions; ++r) runs.push_back(beside_waiting_streams(b, waiting, asleep, target));
        store.add(key, {{"stream", name}, {"waiting", waiting}, {"asleep", asleep}, {"runs", runs}});
      }
  progress.done("waiting streams");
  for (const unsigned ctas : {1U, b.sms(), b.sms() * 8})
    for (const unsigned ns : {0U, 2000U})
      for (const bool pinned : {true, false}) {
        const std::string key = fmt::format("order to {} CTAs, look every {} ns, {}", ctas, ns, pinned ? "host memory" : "copy");
        if (store.has(key)) continue;
        store.add(key, {{"ctas", ctas}, {"look_ns", ns}, {"pinned", pinned}, {"us", order_us(b, ctas, ns, pinned)}});
      }
  progress.done("orders");
  for (const unsigned sleepers : {1U, b.sms(), 4 * b.sms()})
    for (const unsigned ns : {200U, 5000U}) {
      const std::string key = fmt::format("beside {} sleepers, look every {} ns", sleepers, ns);
      if (!store.has(key)) store.add(key, beside_sleepers(b, sleepers, ns, 3 * options.repetitions));
    }
  progress.done("sleepers");
}

}  // namespace sluice::gpu
