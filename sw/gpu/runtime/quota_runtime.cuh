// Device half of the quota runtime (docs/gpu.md), joined as PTX to the user's kernel. One CTA = one slot of its SM; its leader is
// thread 0. Nobody waits for memory between two blocks: while block i runs, the leader stages block i+1 and has the SM's quota copied
// into shared memory; at the end of block i it only decides, and one barrier passes the decision on. State lives in shared memory, so
// that the kernel keeps its registers.

// What the next block is. Two of them in turns: one that all read, one that the leader writes.
struct SluiceStage {
  unsigned run;  // 0: leave
  uint3 block;
};

// sw/gpu/transform.cpp reads `stage` and job.grid_x. Alignment: the kernel's own shared memory keeps its.
struct alignas(256) SluiceState {
  SluiceStage stage[2];
  unsigned quota[4];              // copy of the SM's quota; the rest is padding
  unsigned long long task, last;  // next task of the claimed range, and its end
  SluiceJob job;
  unsigned sm, slot;
  unsigned began;  // %clock at the begin of the block
  unsigned rank, granted;  // while entering: which free slot to try; the quota that the slot was granted under
  unsigned pad;
  unsigned long long enter_ns;
};
static_assert(sizeof(SluiceStage) == 16 && sizeof(SluiceJob) == 96 && sizeof(SluiceState) == 256, "transform.cpp has these offsets");
__shared__ SluiceState sluice_rt_state;

namespace sluice_rt {

constexpr unsigned kNoSlot = 32;
enum Attempt : unsigned { kNone = 0, kTaken = 1, kAgain = 2 };

// The job's pointers come from memory: only so does the compiler know that they are global.
__device__ __forceinline__ unsigned load(const unsigned* p) {
  unsigned v;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ __forceinline__ unsigned long long load(const unsigned long long* p) {
  unsigned long long v;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
}
__device__ __forceinline__ void store(unsigned long long* p, unsigned long long v) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}
__device__ __forceinline__ void add(unsigned* p, unsigned v) {
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
__device__ __forceinline__ unsigned fetch_add(unsigned* p, unsigned v) {
  unsigned old;
  asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(v) : "memory");
  return old;
}
__device__ __forceinline__ unsigned long long fetch_add(unsigned long long* p, unsigned long long v) {
  unsigned long long old;
  asm volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], %2;" : "=l"(old) : "l"(p), "l"(v) : "memory");
  return old;
}
__device__ __forceinline__ unsigned long long nanoseconds() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}
__device__ __forceinline__ unsigned cycles() {
  unsigned t;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(t));
  return t;
}

/// One attempt at a free slot below the SM's quota, each CTA of a launch at another. None when as many CTAs hold slots as the quota allows, counting those
/// above it that still drain.
__device__ __forceinline__ Attempt take_slot(SluiceState& s) {
  SluiceControl* c = s.job.control;
  const unsigned quota = load(&c->orders.quota[s.sm][0]);
  unsigned seen = load(&c->slots[s.sm]);
  const unsigned below = quota >= 32 ? ~0u : (1u << quota) - 1;
  for (unsigned skip = s.rank; (~seen & below) != 0 && __popc(seen) < (int)quota; ++skip) {
    unsigned open = ~seen & below;
    for (unsigned k = skip % __popc(open); k > 0; --k) open &= open - 1;
    const unsigned bit = open & (0u - open);
    unsigned old;
    asm volatile("atom.acquire.gpu.global.or.b32 %0, [%1], %2;" : "=r"(old) : "l"(&c->slots[s.sm]), "r"(bit) : "memory");
    seen = old;
    if ((old & bit) != 0) continue;  // another CTA was faster: the next slot
    if (__popc(old) >= (int)quota) {  // others have come since, or drain above the quota
      asm volatile("red.relaxed.gpu.global.and.b32 [%0], %1;" ::"l"(&c->slots[s.sm]), "r"(~bit) : "memory");
      return kAgain;
    }
    s.slot = __ffs(bit) - 1;
    s.granted = quota;
    return kTaken;
  }
  // A CTA without a slot stays a moment while slots are open on other SMs: the hardware then places the next CTAs there.
  if (load(&c->resident_total) >= load(&c->orders.wanted) || nanoseconds() - s.enter_ns > 20000) return kNone;
  __nanosleep(200);
  return kAgain;
}

/// n / d with inverse = (2**32 - 1) / d: the product is too small by less than one.
__device__ __forceinline__ unsigned divide(unsigned n, unsigned d, unsigned inverse, unsigned& rest) {
  unsigned q = __umulhi(n, inverse);
  rest = n - q * d;
  if (rest >= d) {
    ++q;
    rest -= d;
  }
  return q;
}
__device__ __forceinline__ uint3 block_of(const SluiceJob& job, unsigned long long task) {
  unsigned long long rest = task - __umul64hi(task, job.inverse_blocks) * job.blocks;
  if (rest >= job.blocks) rest -= job.blocks;
  uint3 block;
  const unsigned y = divide((unsigned)rest, job.grid_x, job.inverse_x, block.x);
  block.z = divide(y, job.grid_y, job.inverse_y, block.y);
  return block;
}

/// Claims a range when there is none, and stages its first block. Afterwards s.task != s.last unless the queue is empty.
/// @param known  tasks that are claimed at least: the end of the last range
__device__ __forceinline__ void claim(SluiceState& s, SluiceStage& stage, unsigned long long known) {
  const SluiceJob& job = s.job;
  if (s.task == s.last) {
    const unsigned long long left = known < job.total ? (job.total - known) >> job.share : 0;
    const unsigned group = left == 0 ? 1 : left < job.group ? (unsigned)left : job.group;
    const unsigned long long first = fetch_add(&job.control->next, group);
    if (first >= job.total) return;
    s.task = first;
    s.last = first + group < job.total ? first + group : job.total;
  }
  stage.block = block_of(job, s.task);
}

/// Gives the slot back, with the tasks that were claimed and not begun.
__device__ __forceinline__ void leave(SluiceState& s) {
  const SluiceJob& job = s.job;
  SluiceControl* c = job.control;
  if (s.task < s.last) {
    SluiceRange* unfinished = &c->unfinished[s.sm][s.slot];
    store(&unfinished->first, s.task);
    store(&unfinished->last, s.last);
    add(&c->returned, 1);
  }
  if (job.lifetimes != nullptr) {
    const unsigned at = fetch_add(&c->lifetimes, 1);
    if (at < SLUICE_MAX_LIFETIMES) {
      SluiceLifetime* l = &job.lifetimes[at];
      l->enter_ns = s.enter_ns;
      l->leave_ns = nanoseconds();
      l->sm = s.sm;
      l->slot = s.slot;
    }
  }
  const unsigned epoch = load(&c->orders.epoch), wanted = load(&c->orders.wanted);
  add(&c->resident[s.sm], ~0u);
  asm volatile("red.release.gpu.global.and.b32 [%0], %1;" ::"l"(&c->slots[s.sm]), "r"(~(1u << s.slot)) : "memory");
  if (fetch_add(&c->resident_total, ~0u) == 1 && wanted == 0) {
    *job.gone = epoch;
    __threadfence_system();
  }
}

__device__ __forceinline__ SluiceState& state_of(unsigned stage) {
  return *(SluiceState*)__cvta_shared_to_generic(stage & ~255u);
}

}  // namespace sluice_rt

// What the joined kernel's leader does: enter and, after a barrier, for every block begin, then the kernel's body, end, and a barrier;
// at last leave. `stage` is the shared address of the block's stage; the other one is the next block's.

// Takes a slot and a first task, into stage 0.
extern "C" __device__ void sluice_rt_enter(const SluiceJob* job) {
  SluiceState& s = sluice_rt_state;
  s.job = *job;
  s.slot = sluice_rt::kNoSlot;
  s.enter_ns = sluice_rt::nanoseconds();
  s.stage[0].run = 0;
  asm("mov.u32 %0, %%smid;" : "=r"(s.sm));
  asm("mov.u32 %0, %%ctaid.x;" : "=r"(s.rank));
  s.rank /= s.job.sms;
  SluiceControl* c = s.job.control;
  const unsigned long long known = sluice_rt::load(&c->next);
  sluice_rt::Attempt attempt = sluice_rt::kAgain;
  while (attempt == sluice_rt::kAgain) attempt = sluice_rt::take_slot(s);
  if (attempt == sluice_rt::kTaken) {
    const unsigned inside = sluice_rt::fetch_add(&c->resident[s.sm], 1) + 1;
    sluice_rt::add(&c->resident_total, 1);
    s.enter_ns = sluice_rt::nanoseconds();
    SluiceRange* unfinished = &c->unfinished[s.sm][s.slot];  // what the slot's last holder had not begun
    s.task = sluice_rt::load(&unfinished->first);
    s.last = sluice_rt::load(&unfinished->last);
    if (s.task != s.last) {
      sluice_rt::store(&unfinished->first, s.last);
      sluice_rt::add(&c->returned, ~0u);
    }
    sluice_rt::claim(s, s.stage[0], known);
    s.stage[0].run = s.task != s.last && s.slot < sluice_rt::load(&c->orders.quota[s.sm][0]);
    asm volatile("red.relaxed.gpu.global.max.u32 [%0], %1;" ::"l"(&c->max_resident[s.sm]), "r"(inside) : "memory");
    if (inside > s.granted) sluice_rt::add(&c->violations, 1);
  }
  sluice_rt::add(&c->arrived, 1);
}

// Stages the next block, beside the threads that already work on this one, and has the quota fetched.
extern "C" __device__ void sluice_rt_begin(unsigned stage) {
  SluiceState& s = sluice_rt::state_of(stage);
  SluiceControl* c = s.job.control;
  const unsigned shared = (stage & ~255u) + 32;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(&c->orders.quota[s.sm][0]) : "memory");
  s.began = sluice_rt::cycles();
  sluice_rt::add(&c->done[s.sm], 1);
  const unsigned now = stage >> 4 & 1;
  uint3 block = s.stage[now].block;
  if (s.job.runs != nullptr)
    sluice_rt::add(&s.job.runs[((unsigned long long)block.z * s.job.grid_y + block.y) * s.job.grid_x + block.x], 1);
  SluiceStage& next = s.stage[now ^ 1];
  const unsigned long long task = s.task + 1;
  s.task = task;
  if (task == s.last) {
    sluice_rt::claim(s, next, task);
    return;
  }
  if (++block.x == s.job.grid_x) {
    block.x = 0;
    if (++block.y == s.job.grid_y) {
      block.y = 0;
      if (++block.z == s.job.grid_z) block.z = 0;
    }
  }
  next.block = block;
}

// Decides on the next block. A quota that was fetched when a long block began would come too late.
extern "C" __device__ void sluice_rt_end(unsigned stage) {
  SluiceState& s = sluice_rt::state_of(stage);
  asm volatile("cp.async.wait_all;" ::: "memory");
  unsigned quota = *(volatile unsigned*)&s.quota[0];
  if (sluice_rt::cycles() - s.began > s.job.fresh_cycles) quota = sluice_rt::load(&s.job.control->orders.quota[s.sm][0]);
  s.stage[(stage >> 4 & 1) ^ 1].run = s.slot < quota && s.task != s.last;
}

extern "C" __device__ void sluice_rt_leave() {
  SluiceState& s = sluice_rt_state;
  if (s.slot != sluice_rt::kNoSlot) sluice_rt::leave(s);
}
