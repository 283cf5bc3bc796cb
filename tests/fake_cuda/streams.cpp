// SPDX-License-Identifier: Apache-2.0
// Streams and events of the driver for tests. Each channel is a thread, and its streams' work follows each other: as many as
// CUDA_DEVICE_MAX_CONNECTIONS says. A launch of the transformed kernels takes FAKE_CUDA_TASK_US for each block, divided by the
// CTAs that the quotas allow, and obeys quotas that change meanwhile.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "sw/interpose/threads.h"
#include "tests/fake_cuda/fake.h"

namespace sluice::fake {

namespace {

using std::chrono::microseconds;

class Stream {
 public:
  Stream() {
    interpose::start_thread([this] { run(); });
  }  // as of the driver: the program's signals are the program's
  void add(std::function<void()> work) {
    const std::scoped_lock held(lock_);
    work_.push_back(std::move(work));
    ++open_;
    moved_.notify_all();
  }
  void wait() {
    std::unique_lock held(lock_);
    moved_.wait(held, [&] { return open_ == 0; });
  }
  std::size_t open() {
    const std::scoped_lock held(lock_);
    return open_;
  }
  bool done() {
    const std::scoped_lock held(lock_);
    return open_ == 0;
  }

 private:
  void run() {
    std::unique_lock held(lock_);
    for (;;) {
      moved_.wait(held, [&] { return !work_.empty(); });
      const std::function<void()> work = std::move(work_.front());
      work_.pop_front();
      held.unlock();
      work();
      held.lock();
      --open_;
      moved_.notify_all();
    }
  }
  std::mutex lock_;
  std::condition_variable moved_;
  std::deque<std::function<void()>> work_;
  std::size_t open_ = 0;
};

std::mutex g_lock;
std::map<CUstream, std::shared_ptr<Stream>>& streams() {
  static auto* all = new std::map<CUstream, std::shared_ptr<Stream>>;
  return *all;
}
/// As the driver has them where the variable is not set.
std::uintptr_t channels() {
  static const char* set = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  return set == nullptr ? 8U : static_cast<unsigned>(std::atoi(set));
}
std::shared_ptr<Stream> stream_of(CUstream stream) {
  if (stream == CU_STREAM_LEGACY) stream = nullptr;  // two names of one stream
  const auto handle = reinterpret_cast<std::uintptr_t>(stream);
  stream = reinterpret_cast<CUstream>(handle % channels() + (handle < 5000 ? 0 : 100));  // each device has channels of its own
  const std::scoped_lock held(g_lock);
  std::shared_ptr<Stream>& s = streams()[stream];
  if (s == nullptr) s = std::make_shared<Stream>();
  return s;
}

struct Event {
  std::atomic<int> open{0};  ///< records that have not come: the last of them counts
  CUcontext context = current();
  unsigned long long id = fake::context(context).id;
  std::chrono::steady_clock::time_point at;
};

/// What the device and the host write at the same time.
template <class T>
std::atomic_ref<T> word(T& t) {
  return std::atomic_ref<T>(t);
}

unsigned task_us() {
  const char* us = std::getenv("FAKE_CUDA_TASK_US");
  return us == nullptr ? 0 : static_cast<unsigned>(std::atoi(us));
}

}  // namespace

/// The driver knows nothing of an event whose context has ended.
static Event* alive(CUevent e) {
  auto* event = reinterpret_cast<Event*>(e);
  if (context(event->context).id != event->id) tell("crash: an event of a context that has ended");
  return event;
}
void enqueue(CUstream stream, std::function<void()> work) { stream_of(stream)->add(std::move(work)); }

void wait_for_stream(CUstream stream) { stream_of(stream)->wait(); }
std::size_t open_in(CUstream stream) { return stream_of(stream)->open(); }
void wait_for_streams() {
  std::vector<std::shared_ptr<Stream>> all;
  {
    const std::scoped_lock held(g_lock);
    for (const auto& [handle, stream] : streams()) all.push_back(stream);
  }
  for (const auto& stream : all) stream->wait();
}

namespace {

/// How often each block of the launch on a control block ran, until it has ended.
struct Runs {
  std::mutex lock;
  std::vector<unsigned> blocks;
  std::uint64_t total = 0;
};
Runs& runs_of(const SluiceControl* control) {
  static auto* all = new std::map<const SluiceControl*, std::unique_ptr<Runs>>;
  const std::scoped_lock held(g_lock);
  std::unique_ptr<Runs>& runs = (*all)[control];
  if (runs == nullptr) runs = std::make_unique<Runs>();
  return *runs;
}

/// A block that is not counted where counts are wanted: FAKE_CUDA_SKIPS.
unsigned long long skipped_block() {
  const char* block = std::getenv("FAKE_CUDA_SKIPS");
  return block == nullptr ? ~0ULL : std::strtoull(block, nullptr, 10);
}

/// The tasks of a ticket, by the runtime's arithmetic.
void run_ticket(const SluiceJob& job, unsigned long long ticket, Runs& runs) {
  unsigned long long first = 0, task = 0;
  unsigned tasks = job.group;
  if (ticket >= job.middle_ticket) {
    first = job.middle_ticket;
    task = first * tasks;
    tasks = job.middle;
    if (ticket >= job.single_ticket) {
      task += (job.single_ticket - first) * tasks;
      tasks = 1;
      first = job.single_ticket;
    }
    ticket -= first;
  }
  task += ((ticket >> job.width_bits) * tasks << job.width_bits) + (ticket & ((1U << job.width_bits) - 1));
  for (unsigned i = 0; i < tasks; ++i) {
    const unsigned long long block = (task + (static_cast<unsigned long long>(i) << job.width_bits)) % job.blocks;
    ++runs.blocks[block];
    if (job.counts_runs != 0) word(job.runs[block]).fetch_add(block == skipped_block() ? 0U : 1U);
  }
  runs.total += tasks;
}

unsigned allowed(const SluiceJob& job, const Grid& grid) {
  unsigned sum = 0;
  for (unsigned sm = 0; sm < grid.grid[0]; ++sm)
    sum += std::min(sluice_ctas(word(const_cast<unsigned&>(job.orders->quota[sm])).load(), job.flags), grid.grid[1]);
  return sum;
}

/// CTAs below which blocks of a kernel named "waits" do not end: FAKE_CUDA_WAITS.
unsigned ctas_needed(const Grid& grid) {
  const char* ctas = std::getenv("FAKE_CUDA_WAITS");
  return ctas == nullptr || !grid.function->name.starts_with("waits") ? 0 : static_cast<unsigned>(std::atoi(ctas));
}

/// A launch of a kernel named "waits_for_frees" ends no block before one of a kernel named "frees" has run.
std::atomic<unsigned> g_frees{0}, g_freed{0};
bool waits_for_frees(const Grid& grid) { return grid.function->name.starts_with("waits_for_frees"); }

bool failed() { return context(reinterpret_cast<CUcontext>(1)).error != CUDA_SUCCESS; }

/// CTAs of a grid that find a slot, where the others come on SMs of others and leave: FAKE_CUDA_FIND_ROOM.
unsigned find_room(const Grid& grid) {
  const char* ctas = std::getenv("FAKE_CUDA_FIND_ROOM");
  return ctas == nullptr ? grid.grid[0] * grid.grid[1] : static_cast<unsigned>(std::atoi(ctas));
}

/// Claims and runs blocks until none is left or no CTA is allowed. @param most  CTAs of the grid
void work_on(const SluiceJob& job, const Grid& grid, Runs& runs, unsigned most) {
  SluiceControl& c = *job.control;
  if (grid.function->name.starts_with("traps")) context(reinterpret_cast<CUcontext>(1)).error = CUDA_ERROR_LAUNCH_FAILED;
  word(c.slots[0]).fetch_add(1);  // some: which does not matter
  for (;;) {
    if (failed()) return;
    const unsigned ctas = std::min(allowed(job, grid), most);
    word(c.resident_total).store(ctas);
    if (ctas == 0) break;
    for (unsigned sm = 0; sm < grid.grid[0]; ++sm) {
      const unsigned here =
          std::min(sluice_ctas(word(const_cast<unsigned&>(job.orders->quota[sm])).load(), job.flags), sluice_fits(job.flags));
      word(c.max_resident[sm]).store(std::max(word(c.max_resident[sm]).load(), here));
    }
    if (ctas < ctas_needed(grid) ||
        (waits_for_frees(grid) && g_frees == g_freed)) {  // the blocks that have begun wait for others
      std::this_thread::sleep_for(microseconds(200));
      continue;
    }
    {
      const std::scoped_lock held(runs.lock);
      const std::uint64_t before = runs.total;
      for (unsigned i = 0; i < ctas && word(c.next).load() < job.tickets; ++i) run_ticket(job, word(c.next).fetch_add(1), runs);
      word(c.done[0]).fetch_add(static_cast<unsigned>(runs.total - before));
    }
    if (word(c.next).load() >= job.tickets) break;
    std::this_thread::sleep_for(microseconds(task_us()));
  }
  word(c.resident_total).store(0);
  word(c.slots[0]).fetch_sub(1);
}

void tell_told(SluiceControl& c) {
  const auto ended = word(c.ended).load(), naps = word(c.naps).load();
  if (c.told != nullptr)
    word(const_cast<unsigned long long&>(*c.told)).store(static_cast<unsigned long long>(naps) << 32 | ended);
}

std::string words(const Grid& grid) {
  std::string line = "launch " + grid.function->name + " " + std::to_string(grid.grid[0]) + "x" + std::to_string(grid.grid[1]);
  for (const unsigned long long a : grid.arguments) line += " arg " + std::to_string(static_cast<unsigned>(a));
  if (!grid.function->mark.empty()) line += " mark " + grid.function->mark;
  return line;
}

}  // namespace

std::atomic<int> g_asleep{0};  // launches that wait for a quota, or did

void execute(const Grid& grid) {
  if (failed()) return;
  if (grid.function->logs) write_log(grid);
  if (grid.function->name.starts_with("frees")) ++g_frees;
  if (!grid.function->ours) {
    static std::atomic<int> beside{0};
    const bool alone = beside++ == 0;
    while (waits_for_frees(grid) && g_frees == g_freed) std::this_thread::sleep_for(microseconds(200));
    if (waits_for_frees(grid)) ++g_freed;
    std::this_thread::sleep_for(microseconds(task_us()));
    --beside;
    if (grid.function->name.starts_with("traps")) context(reinterpret_cast<CUcontext>(1)).error = CUDA_ERROR_LAUNCH_FAILED;
    tell(words(grid) + (alone ? "" : " beside another"));
    return;
  }
  const SluiceJob& job = grid.job;
  if (job.control == nullptr || job.orders == nullptr) {
    tell("crash: a transformed launch without a control block");
    return;
  }
  if (!has_room(job.control, sizeof(SluiceControl))) tell("crash: a control block without room for every slot");
  SluiceControl& c = *job.control;
  Runs& runs = runs_of(job.control);
  if (const char* ms = std::getenv("FAKE_CUDA_BEGIN_MS")) std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(ms)));
  const auto number = [](unsigned long long gate) { return gate >> SLUICE_GATE_NUMBER_SHIFT & SLUICE_GATE_NUMBERS; };
  if ((job.flags & SLUICE_LATER) != 0) {
    const auto gate = word(c.gate).fetch_add((1ULL << SLUICE_GATE_INSIDE_SHIFT) + (1ULL << SLUICE_GATE_CAME_SHIFT));
    if (number(gate) != sluice_number(job.flags)) {
      word(c.gate).fetch_sub(1ULL << SLUICE_GATE_INSIDE_SHIFT);
      return tell("later grid: too late");
    }
    const unsigned ctas = grid.grid[0] * grid.grid[1], room = (gate & SLUICE_GATE_ENDED) == ctas ? ctas - 1 : ctas;
    if (word(c.resident_total).load() >= room) {  // beside the sleeper's: it waits in the hardware's queue
      tell("later grid without room");
      while (!failed() && word(c.resident_total).load() >= room) std::this_thread::sleep_for(microseconds(20));
    }
    work_on(job, grid, runs, room);
    word(c.gate).fetch_sub(1ULL << SLUICE_GATE_INSIDE_SHIFT);
    return tell("later grid of " + grid.function->name);
  }
  const unsigned long long at_start = word(c.next).load();
  {
    const std::scoped_lock held(runs.lock);
    runs.blocks.assign(job.blocks, 0);
  }
  const unsigned quota = word(const_cast<unsigned&>(job.orders->quota[0])).load(),
                 wanted = word(const_cast<unsigned&>(job.orders->wanted[sluice_fits(job.flags) - 1])).load();
  const unsigned ctas = grid.grid[0] * grid.grid[1], find = std::min(find_room(grid), ctas);
  word(c.gate).fetch_add(ctas - find);
  work_on(job, grid, runs, find);
  word(c.gate).fetch_add(find);
  unsigned naps = 0;
  std::optional<unsigned long long> told_after;  // so many had come
  const std::shared_ptr<void> asleep(nullptr, [&](void*) { g_asleep -= naps == 0 ? 0 : 1; });
  for (;; std::this_thread::sleep_for(microseconds(20))) {
    if (failed()) return;
    unsigned long long gate = word(c.gate).load();
    const unsigned long long came = gate >> SLUICE_GATE_CAME_SHIFT;
    if ((gate >> SLUICE_GATE_INSIDE_SHIFT & SLUICE_GATE_ENDED) != 0) continue;
    if (word(c.next).load() >= job.tickets) {
      const unsigned long long fresh = (number(gate) + 1) & SLUICE_GATE_NUMBERS;
      if (word(c.gate).compare_exchange_strong(gate, came << SLUICE_GATE_CAME_SHIFT | fresh << SLUICE_GATE_NUMBER_SHIFT)) break;
    } else if (told_after != came) {
      told_after = came;
      if (naps++ == 0) ++g_asleep;
      word(c.naps).fetch_add(1);
      if (std::getenv("FAKE_CUDA_NAPS_UNHEARD") == nullptr) tell_told(c);
    }
  }
  unsigned wrong = 0;
  {
    const std::scoped_lock held(runs.lock);
    for (const unsigned n : runs.blocks) wrong += n == 1 ? 0U : 1U;
  }
  tell(words(grid) + " quota " + std::to_string(quota) + " wanted " + std::to_string(wanted) + " blocks " +
       std::to_string(job.blocks) + " wrong " + std::to_string(wrong) + (at_start == 0 ? "" : " not rewound") +
       (naps == 0 ? "" : " slept " + std::to_string(naps)));
  if (waits_for_frees(grid)) ++g_freed;
  word(c.next).store(0);
  word(c.ended).fetch_add(1);
  tell_told(c);
}

}  // namespace sluice::fake

using sluice::fake::Event;

extern "C" {
int fake_cuda_asleep() { return sluice::fake::g_asleep; }
CUresult cuStreamCreate(CUstream* s, unsigned) {
  static std::atomic<std::uintptr_t> next{1000};
  *s = reinterpret_cast<CUstream>(next++ + (sluice::fake::current() == reinterpret_cast<CUcontext>(2) ? 4000 : 0));
  // One beyond the channels is not there before what sleeps in its channel has ended.
  const auto inside = sluice::fake::in_driver();
  if (next > 1000U + sluice::fake::channels()) sluice::fake::wait_for_stream(*s);
  return CUDA_SUCCESS;
}
CUresult cuStreamCreateWithPriority(CUstream* s, unsigned flags, int) { return cuStreamCreate(s, flags); }
CUresult cuStreamDestroy_v2(CUstream) { return CUDA_SUCCESS; }
/// A thread's own stream is made by the first call that names it.
CUresult cuStreamGetId(CUstream s, unsigned long long* id) {
  thread_local CUstream own = nullptr;
  if (s == CU_STREAM_PER_THREAD && own == nullptr) cuStreamCreate(&own, 0);
  return *id = reinterpret_cast<unsigned long long>(s == CU_STREAM_PER_THREAD ? own : s), CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream s) { return sluice::fake::stream_of(s)->wait(), sluice::fake::error_of(s); }
CUresult cuStreamQuery(CUstream s) {
  if (const CUresult error = sluice::fake::error_of(s); error != CUDA_SUCCESS) return error;
  return sluice::fake::stream_of(s)->done() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
CUresult cuCtxSynchronize() { return sluice::fake::wait_for_streams(), sluice::fake::error_of(nullptr); }
CUresult cuEventCreate(CUevent* e, unsigned) {
  return *e = reinterpret_cast<CUevent>(new Event), sluice::fake::error_of(nullptr);
}
CUresult cuEventDestroy_v2(CUevent e) { return sluice::fake::alive(e), CUDA_SUCCESS; }  // its stream may still write it
CUresult cuEventRecord(CUevent e, CUstream s) {
  auto* event = sluice::fake::alive(e);
  ++event->open;
  sluice::fake::enqueue(s, [event] {
    event->at = std::chrono::steady_clock::now();
    --event->open;
  });
  return CUDA_SUCCESS;
}
CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned) {
  sluice::fake::enqueue(s, [e] { cuEventSynchronize(e); });
  return CUDA_SUCCESS;
}
CUresult cuLaunchHostFunc(CUstream s, CUhostFn function, void* data) {
  sluice::fake::enqueue(s, [function, data] { function(data); });
  return CUDA_SUCCESS;
}
CUresult cuEventQuery(CUevent e) { return sluice::fake::alive(e)->open == 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY; }
CUresult cuEventSynchronize(CUevent e) {
  while (cuEventQuery(e) != CUDA_SUCCESS) std::this_thread::sleep_for(std::chrono::microseconds(50));
  return CUDA_SUCCESS;
}
#undef cuEventElapsedTime  // the first of its name is called
CUresult cuEventElapsedTime(float* ms, CUevent a, CUevent b) {
  const auto ns = reinterpret_cast<Event*>(b)->at - reinterpret_cast<Event*>(a)->at;
  return *ms = std::chrono::duration<float, std::milli>(ns).count(), CUDA_SUCCESS;
}
CUresult cuEventElapsedTime_v2(float* ms, CUevent a, CUevent b) { return cuEventElapsedTime(ms, a, b); }
/// It waits under the driver's lock, as seen on an H100 with registered memory.
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  const auto inside = sluice::fake::in_driver();
  sluice::fake::stream_of(nullptr)->wait();
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
  const auto inside = sluice::fake::in_driver();
  sluice::fake::stream_of(nullptr)->wait();
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream s) {
  const auto inside = sluice::fake::in_driver();
  if (!sluice::fake::known(from)) sluice::fake::wait_for_stream(s);
  sluice::fake::enqueue(s, [to, from, bytes] {  // quotas are read meanwhile: word by word
    for (std::size_t i = 0; i < bytes / 4; ++i)
      sluice::fake::word(reinterpret_cast<unsigned*>(to)[i]).store(static_cast<const unsigned*>(from)[i]);
  });
  return CUDA_SUCCESS;
}
/// The GPU copies to the host one after the other (an H100, results/h100/orders). A long copy lasts until a kernel named "frees"
/// has run.
constexpr std::size_t kShort = 1U << 20;
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream s) {
  const auto inside = sluice::fake::in_driver();
  if (!sluice::fake::known(to)) sluice::fake::wait_for_stream(s);
  sluice::fake::enqueue(s, [to, from, bytes, frees = sluice::fake::g_frees.load()] {
    static std::mutex to_host;
    const std::scoped_lock one_at_a_time(to_host);
    while (bytes > kShort && sluice::fake::g_frees == frees) std::this_thread::sleep_for(std::chrono::microseconds(200));
    for (std::size_t i = 0; i < bytes / 4; ++i)
      static_cast<unsigned*>(to)[i] = sluice::fake::word(reinterpret_cast<unsigned*>(from)[i]).load();
  });
  return CUDA_SUCCESS;
}
CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char v, std::size_t n, CUstream s) {
  const auto inside = sluice::fake::in_driver();
  sluice::fake::wait_for_room(s);
  sluice::fake::enqueue(s, [p, v, n] {
    for (std::size_t i = 0; i < n; ++i) reinterpret_cast<unsigned char*>(p)[i] = v;
  });
  return CUDA_SUCCESS;
}
CUresult cuMemsetD8_v2(CUdeviceptr p, unsigned char v, std::size_t n) { return cuMemsetD8Async(p, v, n, nullptr); }
CUresult cuMemsetD32Async(CUdeviceptr p, unsigned v, std::size_t n, CUstream s) {
  const auto inside = sluice::fake::in_driver();
  sluice::fake::wait_for_room(s);
  sluice::fake::enqueue(s, [p, v, n] {
    for (std::size_t i = 0; i < n; ++i) sluice::fake::word(reinterpret_cast<unsigned*>(p)[i]).store(v);
  });
  return CUDA_SUCCESS;
}
}
