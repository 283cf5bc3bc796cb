// Device half of the quota runtime (docs/gpu.md), joined as PTX to the user's kernel. One CTA = one slot of its SM. The leader
// (thread 0) takes a slot, claims block tasks, and at every block boundary reads its SM's quota again; the others only wait at two
// barriers a block. So that the kernel keeps its registers, state lives in shared memory; and so that the assembler still sees whole
// warps in the kernel (else it gives up uniform registers and spills), the leader has no loop of its own.

// sw/gpu/transform.cpp has the offsets of `block` and `job`. Alignment: the kernel's own shared memory keeps its.
struct alignas(128) SluiceState {
  uint3 block;  // what the kernel sees as blockIdx
  unsigned run;
  SluiceJob job;                  // with gridDim
  unsigned long long task, last;  // next claimed task; end of the claimed range
  unsigned long long enter_ns;
  unsigned sm, slot;
  uint3 next;  // block of the next task
};
__shared__ SluiceState sluice_rt_state;

namespace sluice_rt {

using State = SluiceState;
constexpr unsigned kNoSlot = 32;
constexpr int kAttempts = 100;
enum Attempt : unsigned { kNone = 0, kTaken = 1, kAgain = 2 };

__device__ __forceinline__ bool is_leader() { return (threadIdx.x | threadIdx.y | threadIdx.z) == 0; }
__device__ __forceinline__ unsigned load(const unsigned* p) {
  unsigned v;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ __forceinline__ unsigned long long nanoseconds() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

/// One attempt at the lowest free slot below the SM's quota. None when as many CTAs hold slots as the quota allows, counting those
/// above it that still drain. With the slot come the tasks that its last holder left unfinished.
__device__ __forceinline__ Attempt take_slot(State& s) {
  SluiceControl* c = s.job.control;
  const unsigned seen = load(&c->slots[s.sm]), quota = load(&c->orders.quota[s.sm]);
  const unsigned open = ~seen & (quota >= 32 ? ~0u : (1u << quota) - 1);
  if (open == 0 || __popc(seen) >= (int)quota) {
    // A CTA without a slot stays a moment while slots are open on other SMs: the hardware then places the next CTAs there.
    if (load(&c->resident_total) >= load(&c->orders.wanted) || nanoseconds() - s.enter_ns > 20000) return kNone;
    __nanosleep(200);
    return kAgain;
  }
  const unsigned bit = open & (0u - open);
  if (atomicCAS(&c->slots[s.sm], seen, seen | bit) != seen) return kAgain;
  s.slot = __ffs(bit) - 1;
  const unsigned inside = atomicAdd(&c->resident[s.sm], 1u) + 1;
  atomicMax(&c->max_resident[s.sm], inside);
  if (inside > quota) atomicAdd(&c->violations, 1u);
  atomicAdd(&c->resident_total, 1u);
  __threadfence();
  volatile SluiceRange* unfinished = &c->unfinished[s.sm][s.slot];
  s.task = unfinished->first;
  s.last = unfinished->last;
  if (s.task != s.last) {
    unfinished->first = unfinished->last;
    atomicSub(&c->returned, 1u);
  }
  s.enter_ns = nanoseconds();
  return kTaken;
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
__device__ __forceinline__ uint3 block_of(const State& s, unsigned long long task) {
  unsigned long long rest = task - __umul64hi(task, s.job.inverse_blocks) * s.job.blocks;
  if (rest >= s.job.blocks) rest -= s.job.blocks;
  uint3 block;
  const unsigned y = divide((unsigned)rest, s.job.grid_x, s.job.inverse_x, block.x);
  block.z = divide(y, s.job.grid_y, s.job.inverse_y, block.y);
  return block;
}

/// Leader only, beside the block that the others already work on: claims tasks when there are none left, and puts the block of the
/// next one into s.next. Afterwards s.task != s.last unless the queue is empty.
__device__ __forceinline__ void prepare(State& s) {
  unsigned long long task = s.task;
  if (task == s.last) {
    task = atomicAdd(&s.job.control->next, (unsigned long long)s.job.group);
    if (task >= s.job.total) return;
    s.task = task;
    s.last = task + s.job.group < s.job.total ? task + s.job.group : s.job.total;
  }
  s.next = block_of(s, task);
}

/// Leader only: begins the prepared task, unless there is none or the CTA's slot is beyond the quota.
__device__ __forceinline__ void begin(State& s, unsigned quota) {
  s.run = s.slot < quota && s.task != s.last;
  if (!s.run) return;
  s.block = s.next;
  ++s.task;
  if (s.job.runs != nullptr)
    atomicAdd(&s.job.runs[((unsigned long long)s.next.z * s.job.grid_y + s.next.y) * s.job.grid_x + s.next.x], 1u);
}

/// Gives the slot back, with the tasks that were claimed and not begun.
__device__ __forceinline__ void leave(State& s) {
  SluiceControl* c = s.job.control;
  if (s.task < s.last) {
    volatile SluiceRange* unfinished = &c->unfinished[s.sm][s.slot];
    unfinished->first = s.task;
    unfinished->last = s.last;
    atomicAdd(&c->returned, 1u);
  }
  if (s.job.lifetimes != nullptr) {
    const unsigned at = atomicAdd(&c->lifetimes, 1u);
    if (at < SLUICE_MAX_LIFETIMES) {
      SluiceLifetime* l = &s.job.lifetimes[at];
      l->enter_ns = s.enter_ns;
      l->leave_ns = nanoseconds();
      l->sm = s.sm;
      l->slot = s.slot;
    }
  }
  const unsigned epoch = load(&c->orders.epoch);
  atomicSub(&c->resident[s.sm], 1u);
  __threadfence();
  atomicAnd(&c->slots[s.sm], ~(1u << s.slot));
  if (atomicSub(&c->resident_total, 1u) == 1) {
    *s.job.gone = epoch;
    __threadfence_system();
  }
}

/// End of a block: no thread may see the next one before all have left this one. A thread that has returned early stands in at the
/// barriers of those that have not, until all have (CUDA lets exited threads off; here nobody exits).
template <bool StandIn>
__device__ __forceinline__ unsigned boundary() {
  State& s = sluice_rt_state;
  unsigned quota = 0;
  if (is_leader()) {  // on the way while the others still work on this block
    atomicAdd(&s.job.control->done[s.sm], 1u);
    quota = load(&s.job.control->orders.quota[s.sm]);
  }
  if (StandIn) {
    while (__syncthreads_and(1) == 0) {
    }
  } else {
    __syncthreads();
  }
  if (is_leader()) begin(s, quota);
  __syncthreads();
  const unsigned run = s.run;
  if (is_leader() && run) prepare(s);
  return run;
}

}  // namespace sluice_rt

// What the joined kernel calls, all threads of the CTA. The values are 0 when the CTA has to leave.
extern "C" __device__ unsigned sluice_rt_enter(const SluiceJob* job) {
  SluiceState& s = sluice_rt_state;
  if (sluice_rt::is_leader()) {
    s.job = *job;
    s.slot = sluice_rt::kNoSlot;
    s.enter_ns = sluice_rt::nanoseconds();
    asm("mov.u32 %0, %%smid;" : "=r"(s.sm));
  }
  unsigned state = sluice_rt::kAgain;
#pragma unroll 1
  for (int attempt = 0; attempt < sluice_rt::kAttempts; ++attempt)  // a fixed number: all threads of a warp stay together
    if (sluice_rt::is_leader() && state == sluice_rt::kAgain) state = sluice_rt::take_slot(s);
  if (sluice_rt::is_leader()) {
    s.run = state == sluice_rt::kTaken;
    atomicAdd(&s.job.control->arrived, 1u);
  }
  if (sluice_rt::is_leader() && s.run != 0) {
    sluice_rt::prepare(s);
    sluice_rt::begin(s, sluice_rt::load(&s.job.control->orders.quota[s.sm]));
  }
  __syncthreads();
  const unsigned run = s.run;
  if (sluice_rt::is_leader() && run) sluice_rt::prepare(s);
  return run;
}
extern "C" __device__ unsigned sluice_rt_boundary() { return sluice_rt::boundary<false>(); }
extern "C" __device__ unsigned sluice_rt_boundary_stand_in() { return sluice_rt::boundary<true>(); }
extern "C" __device__ void sluice_rt_leave() {
  SluiceState& s = sluice_rt_state;
  if (sluice_rt::is_leader() && s.slot != sluice_rt::kNoSlot) sluice_rt::leave(s);
}
