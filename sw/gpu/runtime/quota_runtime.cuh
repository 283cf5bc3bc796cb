// Device half of the quota runtime (docs/gpu.md), joined as PTX to the user's kernel. One CTA = one slot of its SM; its leader is
// thread 0. What every block costs is in sw/gpu/transform.cpp, instruction by instruction; here is what happens once a CTA, or once a
// claim. State lives in shared memory, so that the kernel keeps its registers.

// What the next block is. Two of them in turns: one that all read, one that the leader writes.
struct SluiceStage {
  unsigned run;  // 0: leave
  uint3 block;
};

// sw/gpu/transform.cpp has the offsets of all but the last four. Alignment: the kernel's own shared memory keeps its.
struct alignas(128) SluiceState {
  SluiceStage stage[2];
  struct alignas(16) Leader {
    unsigned sm, slot;
    unsigned left;  // tasks of the claimed range that are not begun
  } leader;
  unsigned grid[3];
  unsigned long long last;  // what follows the last task of the range
  unsigned long long enter_ns;
  unsigned rank, granted;  // while entering: which slot to try first; the quota that the slot was granted under
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
/// Sets a slot's bit. @return the bits before
__device__ __forceinline__ unsigned try_slot(SluiceControl* c, unsigned sm, unsigned bit) {
  unsigned old;
  asm volatile("atom.acquire.gpu.global.or.b32 %0, [%1], %2;" : "=r"(old) : "l"(&c->slots[sm]), "r"(bit) : "memory");
  return old;
}
/// One attempt at a free slot below the SM's quota, each CTA of an SM at another. None when as many CTAs hold slots as the quota
/// allows, counting those above it that still drain.
__device__ __forceinline__ Attempt take_slot(SluiceState& s, SluiceControl* c) {
  const unsigned sm = s.leader.sm;
  const unsigned quota = load(&c->orders.quota[sm]);
  const unsigned below = quota >= 32 ? ~0u : (1u << quota) - 1;
  unsigned bit = 1u << (s.rank & 31) & below;  // most are the first to ask for theirs
  unsigned seen = bit != 0 ? try_slot(c, sm, bit) : load(&c->slots[sm]);
  while ((seen & bit) != 0 || bit == 0) {  // another CTA was faster: the next free slot in a circle
    const unsigned open = ~seen & below, above = open & ~0u << (s.rank & 31);
    if (open == 0 || __popc(seen) >= (int)quota) {
      // A CTA without a slot stays a moment while slots are open on other SMs: the hardware then places the next CTAs there.
      if (load(&c->resident_total) >= load(&c->orders.wanted) || nanoseconds() - s.enter_ns > 20000) return kNone;
      __nanosleep(200);
      return kAgain;
    }
    bit = above != 0 ? above & (0u - above) : open & (0u - open);
    seen = try_slot(c, sm, bit);
  }
  if (__popc(seen) >= (int)quota) {  // others have come since, or drain above the quota
    asm volatile("red.relaxed.gpu.global.and.b32 [%0], %1;" ::"l"(&c->slots[sm]), "r"(~bit) : "memory");
    return kAgain;
  }
  s.leader.slot = __ffs(bit) - 1;
  s.granted = quota;
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
__device__ __forceinline__ uint3 block_of(const SluiceJob& job, unsigned long long task) {
  if (task >= job.blocks) {  // a later pass
    task -= __umul64hi(task, job.inverse_blocks) * job.blocks;
    if (task >= job.blocks) task -= job.blocks;
  }
  uint3 block = {(unsigned)task, 0, 0};
  if (job.grid_x == job.blocks) return block;
  const unsigned y = divide((unsigned)task, job.grid_x, job.inverse_x, block.x);
  block.z = divide(y, job.grid_y, job.inverse_y, block.y);
  return block;
}

/// Claims a range and stages its first block. @return how many tasks it has, 0 when there was none left
__device__ __forceinline__ unsigned claim(const SluiceJob& job, SluiceState& s, SluiceStage& stage) {
  unsigned long long ticket = fetch_add(&job.control->next, 1ull), task = 0;
  if (ticket >= job.tickets) return 0;
  unsigned tasks = job.group;
  if (ticket >= job.middle_ticket) {
    unsigned long long first = job.middle_ticket;
    task = first * tasks;
    tasks = job.middle;
    if (ticket >= job.single_ticket) {
      task += (job.single_ticket - first) * tasks;
      tasks = 1;
      first = job.single_ticket;
    }
    ticket -= first;
  }
  const unsigned beside = (unsigned)ticket & (1u << job.width_bits) - 1;
  task += ((ticket >> job.width_bits) * tasks << job.width_bits) + beside;
  s.last = task + ((unsigned long long)tasks << job.width_bits);
  stage.block = block_of(job, task);
  return tasks;
}

}  // namespace sluice_rt

// What the joined kernel's leader does: enter and, after a barrier, the kernel's body for every block, next where a block was the
// last of its range, and a barrier; at last leave. `stage` is the shared address of the next block's stage. The job is a parameter of
// the kernel.

// Takes a slot and a first task, into stage 0. @param inverse_warps  2**16 / warps of a CTA, rounded up
extern "C" __device__ void sluice_rt_enter(SluiceJob job, unsigned inverse_warps) {
  SluiceState& s = sluice_rt_state;
  SluiceControl* c = job.control;
  s.leader.slot = sluice_rt::kNoSlot;
  s.enter_ns = sluice_rt::nanoseconds();
  s.stage[0].run = 0;
  s.grid[0] = job.grid_x;
  s.grid[1] = job.grid_y;
  s.grid[2] = job.grid_z;
  unsigned sm, warp;
  asm("mov.u32 %0, %%smid;" : "=r"(sm));
  asm("mov.u32 %0, %%warpid;" : "=r"(warp));
  s.leader.sm = sm;
  // As the CTAs lie on the SM: those that a smaller quota sends away lie together, and leave room for others.
  s.rank = warp * inverse_warps >> 16;
  if (job.by_launch) asm("mov.u32 %0, %%ctaid.y;" : "=r"(s.rank));  // launched as SMs x CTAs
  sluice_rt::Attempt attempt = sluice_rt::kAgain;
  while (attempt == sluice_rt::kAgain) attempt = sluice_rt::take_slot(s, c);
  if (attempt == sluice_rt::kTaken) {
    const unsigned inside = sluice_rt::fetch_add(&c->resident[sm], 1) + 1;
    sluice_rt::add(&c->resident_total, 1);
    SluiceRange* unfinished = &c->unfinished[sm][s.leader.slot];  // what the slot's last holder had not begun
    const unsigned long long first = sluice_rt::load(&unfinished->first), last = sluice_rt::load(&unfinished->last);
    unsigned tasks;
    if (first != last) {
      sluice_rt::store(&unfinished->first, last);
      sluice_rt::add(&c->returned, ~0u);
      s.stage[0].block = sluice_rt::block_of(job, first);
      s.last = last;
      tasks = (unsigned)(last - first >> job.width_bits);
    } else {
      tasks = sluice_rt::claim(job, s, s.stage[0]);
    }
    s.stage[0].run = tasks != 0;
    s.leader.left = tasks - (tasks != 0);
    asm volatile("red.relaxed.gpu.global.max.u32 [%0], %1;" ::"l"(&c->max_resident[sm]), "r"(inside) : "memory");
    if (inside > s.granted) sluice_rt::add(&c->violations, 1);
    s.enter_ns = sluice_rt::nanoseconds();
  }
  sluice_rt::add(&c->arrived, 1);
}

// Claims the next range at the end of one, and begins it unless the slot lies at or beyond the quota.
extern "C" __device__ void sluice_rt_next(SluiceJob job, unsigned stage, unsigned quota) {
  SluiceState& s = *(SluiceState*)__cvta_shared_to_generic(stage & ~127u);
  SluiceStage& next = s.stage[stage >> 4 & 1];
  const unsigned tasks = sluice_rt::claim(job, s, next);
  const unsigned run = tasks != 0 & s.leader.slot < quota;
  next.run = run;
  s.leader.left = tasks - run;
}

// Counts a block that is done, where the job wants that.
extern "C" __device__ void sluice_rt_count(SluiceJob job, unsigned x, unsigned y, unsigned z) {
  sluice_rt::add(&job.runs[((unsigned long long)z * job.grid_y + y) * job.grid_x + x], 1);
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
  const unsigned taken = ~(1u << slot), left = s.leader.left;
  if (left != 0) {
    SluiceRange* unfinished = &c->unfinished[sm][slot];
    sluice_rt::store(&unfinished->first, s.last - ((unsigned long long)left << job.width_bits));
    sluice_rt::store(&unfinished->last, s.last);
    sluice_rt::add(&c->returned, 1);
    __threadfence();  // before the slot's next holder looks
  }
  asm volatile("red.relaxed.gpu.global.and.b32 [%0], %1;" ::"l"(&c->slots[sm]), "r"(taken) : "memory");
  if (wanted != 0) {
    sluice_rt::add(&c->resident_total, ~0u);
  } else if (sluice_rt::fetch_add(&c->resident_total, ~0u) == 1) {
    *job.gone = epoch;
    __threadfence_system();
  }
}
