// Device half of the quota runtime (docs/gpu.md), joined as PTX to the user's kernel. One CTA = one slot of its SM; its leader is
// thread 0. While block i runs, the leader stages block i+1; at its end it reads the SM's quota, and one barrier passes the decision on. State lives in shared memory, so
// that the kernel keeps its registers.

// What the next block is. Two of them in turns: one that all read, one that the leader writes.
struct SluiceStage {
  unsigned run;  // 0: leave
  uint3 block;
};

// sw/gpu/transform.cpp reads `stage` and `grid`. Alignment: the kernel's own shared memory keeps its.
struct alignas(128) SluiceState {
  SluiceStage stage[2];
  unsigned long long task, last;  // next task of the claimed range, and what follows its last
  struct alignas(16) Leader {
    unsigned sm, slot;
    unsigned more;  // there is a next block
  } leader;
  unsigned long long enter_ns;
  unsigned rank, granted;  // while entering: which free slot to try; the quota that the slot was granted under
  unsigned grid[3];
};
static_assert(sizeof(SluiceStage) == 16 && sizeof(SluiceState) == 128, "transform.cpp has these offsets");
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
__device__ __forceinline__ void add(unsigned* p, unsigned v) {  // no answer: nobody waits
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
/// One attempt at a free slot below the SM's quota, each CTA of a launch at another. None when as many CTAs hold slots as the quota
/// allows, counting those above it that still drain.
__device__ __forceinline__ Attempt take_slot(SluiceState& s, SluiceControl* c) {
  const unsigned sm = s.leader.sm;
  const unsigned quota = load(&c->orders.quota[sm]);
  unsigned seen = load(&c->slots[sm]);
  const unsigned below = quota >= 32 ? ~0u : (1u << quota) - 1;
  for (unsigned skip = s.rank; (~seen & below) != 0 && __popc(seen) < (int)quota; ++skip) {
    unsigned open = ~seen & below;
    for (unsigned k = skip % __popc(open); k > 0; --k) open &= open - 1;
    const unsigned bit = open & (0u - open);
    unsigned old;
    asm volatile("atom.acquire.gpu.global.or.b32 %0, [%1], %2;" : "=r"(old) : "l"(&c->slots[sm]), "r"(bit) : "memory");
    seen = old;
    if ((old & bit) != 0) continue;  // another CTA was faster: the next slot
    if (__popc(old) >= (int)quota) {  // others have come since, or drain above the quota
      asm volatile("red.relaxed.gpu.global.and.b32 [%0], %1;" ::"l"(&c->slots[sm]), "r"(~bit) : "memory");
      return kAgain;
    }
    s.leader.slot = __ffs(bit) - 1;
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
/// Of the task `width` further on.
__device__ __forceinline__ uint3 next_in_range(const SluiceJob& job, uint3 block) {
  block.x += job.step_x;
  block.y += job.step_y;
  block.z += job.step_z;
  if (block.x >= job.grid_x) {
    block.x -= job.grid_x;
    ++block.y;
  }
  if (block.y >= job.grid_y) {
    block.y -= job.grid_y;
    ++block.z;
  }
  if (block.z >= job.grid_z) block.z -= job.grid_z;
  return block;
}

/// Claims a range and stages its first block. @return whether there was one left
__device__ __forceinline__ bool claim(const SluiceJob& job, SluiceState& s, SluiceStage& stage) {
  const unsigned long long ticket = fetch_add(&job.control->next, 1ull);
  if (ticket >= job.tickets) return false;
  unsigned long long task = ticket - job.long_tickets + job.long_tasks, tasks = 1;
  if (ticket < job.long_tickets) {  // of `width` ranges side by side
    const unsigned long long round = __umul64hi(ticket, job.inverse_width);
    unsigned long long rest = ticket - round * job.width;
    const unsigned over = rest >= job.width;
    rest -= over * job.width;
    tasks = job.group;
    task = (round + over) * job.width * job.group + rest;
  }
  s.task = task;
  s.last = task + tasks * job.width;
  stage.block = block_of(job, task);
  return true;
}

}  // namespace sluice_rt

// What the joined kernel's leader does: enter and, after a barrier, for every block begin, then the kernel's body, end, and a barrier;
// at last leave. `stage` is the shared address of the block's stage; the other one is the next block's. The job is a parameter of the
// kernel. All reads of shared memory come first: a trip there is long where the kernel itself uses it much.

// Takes a slot and a first task, into stage 0.
extern "C" __device__ void sluice_rt_enter(SluiceJob job) {
  SluiceState& s = sluice_rt_state;
  SluiceControl* c = job.control;
  s.leader.slot = sluice_rt::kNoSlot;
  s.enter_ns = sluice_rt::nanoseconds();
  s.stage[0].run = 0;
  s.grid[0] = job.grid_x;
  s.grid[1] = job.grid_y;
  s.grid[2] = job.grid_z;
  unsigned sm, cta;
  asm("mov.u32 %0, %%smid;" : "=r"(sm));
  asm("mov.u32 %0, %%ctaid.x;" : "=r"(cta));
  s.leader.sm = sm;
  s.rank = cta / job.sms;
  sluice_rt::Attempt attempt = sluice_rt::kAgain;
  while (attempt == sluice_rt::kAgain) attempt = sluice_rt::take_slot(s, c);
  if (attempt == sluice_rt::kTaken) {
    const unsigned inside = sluice_rt::fetch_add(&c->resident[sm], 1) + 1;
    sluice_rt::add(&c->resident_total, 1);
    SluiceRange* unfinished = &c->unfinished[sm][s.leader.slot];  // what the slot's last holder had not begun
    s.task = sluice_rt::load(&unfinished->first);
    s.last = sluice_rt::load(&unfinished->last);
    if (s.task != s.last) {
      sluice_rt::store(&unfinished->first, s.last);
      sluice_rt::add(&c->returned, ~0u);
      s.stage[0].block = sluice_rt::block_of(job, s.task);
      s.stage[0].run = 1;
    } else {
      s.stage[0].run = sluice_rt::claim(job, s, s.stage[0]);
    }
    asm volatile("red.relaxed.gpu.global.max.u32 [%0], %1;" ::"l"(&c->max_resident[sm]), "r"(inside) : "memory");
    if (inside > s.granted) sluice_rt::add(&c->violations, 1);
    s.enter_ns = sluice_rt::nanoseconds();
  }
  sluice_rt::add(&c->arrived, 1);
}

// Stages the next block, beside the threads that already work on this one.
extern "C" __device__ void sluice_rt_begin(SluiceJob job, unsigned stage, unsigned x, unsigned y, unsigned z) {
  SluiceState& s = *(SluiceState*)__cvta_shared_to_generic(stage & ~127u);
  const unsigned sm = s.leader.sm;
  const ulonglong2 range = *(const ulonglong2*)&s.task;
  sluice_rt::add(&job.control->done[sm], 1);
  if (job.runs != nullptr) sluice_rt::add(&job.runs[((unsigned long long)z * job.grid_y + y) * job.grid_x + x], 1);
  SluiceStage& next = s.stage[stage >> 4 & 1 ^ 1];
  const unsigned long long task = range.x + job.width;
  bool more = true;
  s.task = task;
  if (task == range.y)
    more = sluice_rt::claim(job, s, next);
  else
    next.block = sluice_rt::next_in_range(job, make_uint3(x, y, z));
  s.leader.more = more;
}

// Decides whether it is begun: on the way while the others may still be at this one.
extern "C" __device__ void sluice_rt_end(SluiceJob job, unsigned stage) {
  SluiceState& s = *(SluiceState*)__cvta_shared_to_generic(stage & ~127u);
  const SluiceState::Leader leader = s.leader;
  const unsigned quota = sluice_rt::load(&job.control->orders.quota[leader.sm]);
  s.stage[stage >> 4 & 1 ^ 1].run = (leader.slot < quota) & leader.more;
}

// Gives the slot back, with the tasks that were claimed and not begun.
extern "C" __device__ void sluice_rt_leave(SluiceJob job) {
  SluiceState& s = sluice_rt_state;
  const unsigned sm = s.leader.sm, slot = s.leader.slot;
  if (slot == sluice_rt::kNoSlot) return;
  SluiceControl* c = job.control;
  const unsigned epoch = sluice_rt::load(&c->orders.epoch), wanted = sluice_rt::load(&c->orders.wanted);
  if (job.lifetimes != nullptr) {
    const unsigned at = sluice_rt::fetch_add(&c->lifetimes, 1);
    if (at < SLUICE_MAX_LIFETIMES) {
      SluiceLifetime* l = &job.lifetimes[at];
      l->enter_ns = s.enter_ns;
      l->leave_ns = sluice_rt::nanoseconds();
      l->sm = sm;
      l->slot = slot;
    }
  }
  sluice_rt::add(&c->resident[sm], ~0u);
  if (s.task != s.last) {
    SluiceRange* unfinished = &c->unfinished[sm][slot];
    sluice_rt::store(&unfinished->first, s.task);
    sluice_rt::store(&unfinished->last, s.last);
    sluice_rt::add(&c->returned, 1);
  }
  asm volatile("red.release.gpu.global.and.b32 [%0], %1;" ::"l"(&c->slots[sm]), "r"(~(1u << slot)) : "memory");
  if (wanted != 0) {
    sluice_rt::add(&c->resident_total, ~0u);
  } else if (sluice_rt::fetch_add(&c->resident_total, ~0u) == 1) {
    *job.gone = epoch;
    __threadfence_system();
  }
}
