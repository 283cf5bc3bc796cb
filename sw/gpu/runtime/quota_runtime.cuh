// Device half of the quota runtime (docs/gpu.md): what stands before the user's unchanged text. One CTA = one slot of its SM.
// The leader (thread 0) takes a slot, claims block tasks, and at every block boundary reads its SM's quota again; the others only
// wait at two barriers a block. State lives in shared memory, so that the user's kernel keeps its registers.
namespace sluice_rt {

struct State {
  unsigned long long task, last;  // next claimed task; end of the claimed range
  unsigned long long enter_ns;
  unsigned sm, slot, run;
};

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

/// Takes the lowest free slot below the SM's quota. Fails when as many CTAs hold slots as the quota allows, counting those above
/// it that still drain.
__device__ __forceinline__ bool take_slot(SluiceControl* c, State& s) {
  for (unsigned seen = load(&c->slots[s.sm]);;) {
    const unsigned quota = load(&c->orders.quota[s.sm]);
    const unsigned below = quota >= 32 ? ~0u : (1u << quota) - 1;
    const unsigned open = ~seen & below;
    if (open == 0 || __popc(seen) >= (int)quota) return false;
    const unsigned bit = open & (0u - open);
    const unsigned before = atomicCAS(&c->slots[s.sm], seen, seen | bit);
    if (before == seen) {
      s.slot = __ffs(bit) - 1;
      const unsigned inside = atomicAdd(&c->resident[s.sm], 1u) + 1;
      atomicMax(&c->max_resident[s.sm], inside);
      if (inside > quota) atomicAdd(&c->violations, 1u);
      atomicAdd(&c->resident_total, 1u);
      return true;
    }
    seen = before;
  }
}

/// A CTA without a slot stays a moment while slots are open on other SMs: the hardware then places the next CTAs there.
__device__ __noinline__ bool enter(SluiceControl* c, State& s) {
  asm("mov.u32 %0, %%smid;" : "=r"(s.sm));
  const unsigned long long start = nanoseconds();
  while (!take_slot(c, s)) {
    if (load(&c->resident_total) >= load(&c->orders.wanted) || nanoseconds() - start > 20000) return false;
    __nanosleep(200);
  }
  s.task = s.last = 0;
  s.enter_ns = nanoseconds();
  return true;
}

__device__ __forceinline__ void lock(SluiceControl* c) {
  while (atomicCAS(&c->requeue_lock, 0u, 1u) != 0) __nanosleep(64);
  __threadfence();
}
__device__ __forceinline__ void unlock(SluiceControl* c) {
  __threadfence();
  atomicExch(&c->requeue_lock, 0u);
}

__device__ __noinline__ void leave(const SluiceJob& job, State& s) {
  SluiceControl* c = job.control;
  if (s.task < s.last) {  // claimed, not begun: somebody else's
    lock(c);
    volatile SluiceRange* to = &job.requeue[c->requeue_count];
    to->first = s.task;
    to->last = s.last;
    __threadfence();
    atomicAdd(&c->requeue_count, 1u);
    unlock(c);
  }
  if (job.lifetimes != nullptr) {
    const unsigned at = atomicAdd(&c->lifetimes, 1u);
    if (at < SLUICE_MAX_LIFETIMES) {
      SluiceLifetime* l = &job.lifetimes[at];
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
    *job.gone = epoch;
    __threadfence_system();
  }
}

/// Claims tasks: those given back first, so that their number stays bounded by the CTAs resident.
__device__ __noinline__ bool claim(const SluiceJob& job, State& s, unsigned requeued) {
  SluiceControl* c = job.control;
  if (requeued != 0) {
    bool found = false;
    lock(c);
    const unsigned count = load(&c->requeue_count);
    if (count != 0) {
      const volatile SluiceRange* from = &job.requeue[count - 1];
      s.task = from->first;
      s.last = from->last;
      atomicSub(&c->requeue_count, 1u);
      found = true;
    }
    unlock(c);
    if (found) return true;
  }
  const unsigned long long first = atomicAdd(&c->next, (unsigned long long)job.group);
  if (first >= job.total) return false;
  s.task = first;
  s.last = first + job.group < job.total ? first + job.group : job.total;
  return true;
}

/// Grids and queues beyond 2**32: rare, and 64-bit division is long.
__device__ __noinline__ uint3 block_of_long(const SluiceJob& job, unsigned long long task) {
  const unsigned long long plane = (unsigned long long)job.grid_x * job.grid_y;
  const unsigned long long t = task % (plane * job.grid_z), row = t / job.grid_x;
  return make_uint3((unsigned)(t % job.grid_x), (unsigned)(row % job.grid_y), (unsigned)(row / job.grid_y));
}
__device__ __forceinline__ uint3 block_of(const SluiceJob& job, unsigned long long task) {
  if (task >> 32 != 0 || job.blocks == 0) return block_of_long(job, task);
  const unsigned t = (unsigned)task % job.blocks, row = t / job.grid_x, z = row / job.grid_y;
  return make_uint3(t - row * job.grid_x, row - z * job.grid_y, z);
}

/// Block boundary, leader only: the block that this CTA runs next, or false when it has to leave. A CTA that leaves has begun
/// none of the tasks it still holds.
__device__ __forceinline__ bool advance(const SluiceJob& job, State& s, uint3& block) {
  SluiceControl* c = job.control;
  const unsigned quota = load(&c->orders.quota[s.sm]);
  const unsigned requeued = load(&c->requeue_count);
  if (s.slot >= quota) return false;
  if (s.task != s.last) {
    if (++block.x == job.grid_x) {
      block.x = 0;
      if (++block.y == job.grid_y) {
        block.y = 0;
        if (++block.z == job.grid_z) block.z = 0;
      }
    }
  } else {
    if (!claim(job, s, requeued)) return false;
    block = block_of(job, s.task);
  }
  ++s.task;
  if (job.runs != nullptr) atomicAdd(&job.runs[((unsigned long long)block.z * job.grid_y + block.y) * job.grid_x + block.x], 1u);
  return true;
}

// A kernel's parameters as one value: Pack<A, B> holds A, then B, with the padding of nested structs (host: pack_offsets()).
template <class... T>
struct Pack {};
template <class H>
struct Pack<H> {
  H head;
};
template <class H, class T, class... R>
struct Pack<H, T, R...> {
  H head;
  Pack<T, R...> tail;
};
template <class F>
struct ParametersOf;
template <class... A>
struct ParametersOf<void (*)(A...)> {
  using Type = Pack<A...>;
};

template <auto Kernel, class... D>
__device__ __forceinline__ void call(const Pack<>&, D... done) {
  Kernel(done...);
}
template <auto Kernel, class H, class... D>
__device__ __forceinline__ void call(const Pack<H>& p, D... done) {
  Kernel(done..., p.head);
}
template <auto Kernel, class H, class T, class... R, class... D>
__device__ __forceinline__ void call(const Pack<H, T, R...>& p, D... done) {
  call<Kernel>(p.tail, done..., p.head);
}

}  // namespace sluice_rt

__shared__ uint3 sluice_rt_block, sluice_rt_grid;
__shared__ sluice_rt::State sluice_rt_state;

namespace sluice_rt {

/// A thread that has returned from the block stands in at the barriers of those that have not (CUDA lets exited threads off; here
/// nobody exits), until all have returned. Only used where the text has both barriers and returns.
__device__ __forceinline__ void user_barrier() { (void)__syncthreads_and(0); }
template <bool StandIn>
__device__ __forceinline__ void block_end() {
  if (StandIn) {
    while (__syncthreads_and(1) == 0) {
    }
  } else {
    __syncthreads();
  }
}

template <auto Kernel, bool StandIn, class P>
__device__ __forceinline__ void persist(const SluiceJob& job, const P& parameters) {
  State& s = sluice_rt_state;
  const bool leader = (threadIdx.x | threadIdx.y | threadIdx.z) == 0;
  if (leader) {
    sluice_rt_grid = make_uint3(job.grid_x, job.grid_y, job.grid_z);
    uint3 block = make_uint3(0, 0, 0);
    s.run = enter(job.control, s);
    if (s.run) {
      if (!advance(job, s, block)) {
        s.run = 0;
        leave(job, s);
      }
      sluice_rt_block = block;
    }
  }
  __syncthreads();
  while (s.run) {
    call<Kernel>(parameters);
    uint3 block;
    bool go = true;
    if (leader) {  // the next task is claimed while the others still work on this one
      block = sluice_rt_block;
      atomicAdd(&job.control->done[s.sm], 1u);
      go = advance(job, s, block);
    }
    block_end<StandIn>();
    if (leader) {
      sluice_rt_block = block;
      if (!go) {
        s.run = 0;
        leave(job, s);
      }
    }
    __syncthreads();
  }
}

}  // namespace sluice_rt
