// SPDX-License-Identifier: Apache-2.0
// Device half of the quota runtime (docs/reference/how_sharing_works.md), joined as PTX to the user's kernel. One CTA = one slot of its
// SM; its leader is thread 0. What every block costs is in sw/gpu/rewrite/block_loop.ptx, instruction by instruction; here is what
// happens once a CTA, or once a claim. State lives in shared memory, so that the kernel keeps its registers.

__shared__ SluiceState sluice_rt_state;

namespace sluice_rt {

constexpr unsigned kNoSlot = 32;
enum Attempt : unsigned { kNone = 0, kTaken = 1, kAgain = 2 };

/// The slot's next holder acquires it and sees the cell as it is now: whoever filled or cleared it has fenced that.
__device__ __forceinline__ void give_slot(SluiceControl* c, unsigned sm, unsigned bit) { give_bits(&c->slots[sm], ~bit); }
/// Sets a slot's bit. @return the bits before
__device__ __forceinline__ unsigned try_slot(SluiceControl* c, unsigned sm, unsigned bit) {
  return acquire_bits(&c->slots[sm], bit);
}
/// The range in a slot's cell.
__device__ __forceinline__ SluiceRange range_in(const SluiceControl* c, unsigned sm, unsigned slot) {
  const SluiceRange* unfinished = &c->unfinished[slot][sm];
  return {load(&unfinished->first), load(&unfinished->last)};
}
/// All blocks are claimed, and nobody has given some back.
__device__ __forceinline__ bool nothing_left(const SluiceJob& job) {
  return load(&job.control->next) >= job.tickets && load(&job.control->returned) == 0;
}
/// One attempt at a free slot below the SM's quota, each CTA of an SM at another. None when as many CTAs hold slots as the quota
/// allows, counting those above it that still drain.
/// @param[out] found  what the slot's cell has, read beside the quota: who holds the bit alone writes it
__device__ __forceinline__ Attempt take_slot(const SluiceJob& job, SluiceState& s, SluiceRange& found) {
  SluiceControl* c = job.control;
  const unsigned sm = s.leader.sm;
  s.order = load(&job.orders->epoch);
  const unsigned quota = sluice_ctas(load(&job.orders->quota[sm]), job.flags);
  const unsigned below = quota >= 32 ? ~0u : (1u << quota) - 1;
  unsigned bit = 1u << (s.rank & 31) & below;  // most are the first to ask for theirs
  unsigned seen = bit != 0 ? try_slot(c, sm, bit) : load(&c->slots[sm]);
  while ((seen & bit) != 0 || bit == 0) {  // another CTA was faster: the next free slot in a circle
    const unsigned open = ~seen & below, above = open & ~0u << (s.rank & 31);
    if (open == 0 || __popc(seen) >= (int)quota) {
      bit = 0;
      break;
    }
    bit = above != 0 ? above & (0u - above) : open & (0u - open);
    seen = try_slot(c, sm, bit);
  }
  if (bit != 0) {
    // The quota of this moment counts: under one that became smaller others may have come that did not see this CTA.
    const unsigned now = sluice_ctas(load(&job.orders->quota[sm]), job.flags), slot = __ffs(bit) - 1;
    found = range_in(c, sm, slot);
    if (__popc(seen) < (int)now && slot < now) {
      s.leader.slot = slot;
      s.leader.place = slot == 0 ? 0 : sluice_quota(slot + 1, job.flags) - 1;
      s.granted = quota > now ? quota : now;
      return kTaken;
    }
    clear_bits(&c->slots[sm], ~bit);  // others have come since, or drain above the quota
  }
  // A CTA without a slot stays a moment while slots are open, here or on other SMs: the hardware then places the next CTAs there.
  // A short one on SMs of others, whose CTAs it keeps out; none where all blocks are claimed.
  if (load(&c->resident_total) >= load(&job.orders->wanted[sluice_fits(job.flags) - 1]) || nothing_left(job)) return kNone;
  if (nanoseconds() - s.enter_ns > (quota == 0 ? 10000 : 20000)) return kNone;
  nap(200);
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
/// The block's place in the grid, counted along x first.
__device__ __forceinline__ SluiceBlock index_of(const SluiceJob& job, unsigned number) {
  SluiceBlock block = {number, 0, 0};
  if (job.grid_x == job.blocks) return block;
  const unsigned y = divide(number, job.grid_x, job.inverse_x, block.x);
  block.z = divide(y, job.grid_y, job.inverse_y, block.y);
  return block;
}

/// The range of a ticket: its first task, and what follows its last. @return how many tasks it has, 0 when there was none left
__device__ __forceinline__ unsigned range_of(const SluiceJob& job, unsigned long long ticket, unsigned long long& task,
                                             unsigned long long& last) {
  task = 0;
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
  last = task + ((unsigned long long)tasks << job.width_bits);
  return tasks;
}

/// Claims a range.
__device__ __forceinline__ unsigned claim(const SluiceJob& job, unsigned long long& task, unsigned long long& last) {
  return range_of(job, fetch_add(&job.control->next, 1ull), task, last);
}

/// Takes over the range that the cell of a slot has, whose bit the caller has set. @return how many tasks it has
__device__ __forceinline__ unsigned take_over(const SluiceJob& job, unsigned sm, unsigned slot, const SluiceRange& found,
                                              unsigned long long& task, unsigned long long& last) {
  SluiceControl* c = job.control;
  task = found.first;
  last = found.last;
  if (task == last) return 0;
  store(&c->unfinished[slot][sm].first, last);
  clear_bits(&c->filled[sm], ~(1u << slot));
  add(&c->returned, ~0u);
  fence();
  return (unsigned)(last - task >> job.width_bits);
}
/// With the queue empty: a range that an evicted CTA left in a slot which nobody holds, of a held grid. The slot may lie beyond the
/// quota: it is taken for a moment only.
__device__ __forceinline__ unsigned adopt(const SluiceJob& job, unsigned near, unsigned long long& task, unsigned long long& last) {
  SluiceControl* c = job.control;
  if ((job.flags & (SLUICE_HELD | SLUICE_LATER)) == 0 || load(&c->returned) == 0) return 0;
  for (unsigned i = 0; i < SLUICE_MAX_SM; ++i) {
    const unsigned sm = near + i & SLUICE_MAX_SM - 1;
    for (unsigned filled = load(&c->filled[sm]); filled != 0; filled &= filled - 1) {
      const unsigned slot = __ffs(filled) - 1, bit = 1u << slot;
      if ((try_slot(c, sm, bit) & bit) != 0) continue;  // its holder has the range
      const unsigned tasks = take_over(job, sm, slot, range_in(c, sm, slot), task, last);
      give_slot(c, sm, bit);
      if (tasks != 0) return tasks;
    }
  }
  return 0;
}

// Held grids and later ones: SLUICE_HELD.
__device__ __forceinline__ unsigned long long gate_add(SluiceControl* c, unsigned long long v) { return fetch_add_both_ways(&c->gate, v); }
/// A CTA of a later grid comes. @return its launch has not ended, and does not before the CTA has gone
__device__ __forceinline__ bool pass_gate(const SluiceJob& job) {
  const unsigned long long inside = 1ull << SLUICE_GATE_INSIDE_SHIFT;
  const unsigned long long gate = gate_add(job.control, inside + (1ull << SLUICE_GATE_CAME_SHIFT));
  if ((gate >> SLUICE_GATE_NUMBER_SHIFT & SLUICE_GATE_NUMBERS) == sluice_number(job.flags)) return true;
  gate_add(job.control, 0 - inside);
  return false;
}
/// A CTA of a held grid ends. What others must see of it it has fenced, and its blocks' output is seen at the grid's end.
/// @return CTAs that had ended before
__device__ __forceinline__ unsigned count_ended(SluiceControl* c) { return (unsigned)(fetch_add(&c->gate, 1ull) & SLUICE_GATE_ENDED); }
/// The last CTA of a held grid waits until all blocks are done and nobody is inside, and makes ready for the next launch.
__device__ __forceinline__ void end_held(const SluiceJob& job) {
  SluiceControl* c = job.control;
  // Read beside the rest, as the launch waits for each look: from here on it alone writes what it reads here.
  unsigned naps = c->naps, ended = c->ended;
  volatile unsigned long long* const told = c->told;
  const auto tell = [&] {
    if (told != nullptr) *told = (unsigned long long)naps << 32 | ended;
  };
  unsigned told_after = ~0u;  // how many had come when it told last: each time that they have gone it tells anew
  for (;;) {
    const unsigned long long gate = load_acquire(&c->gate), next = load(&c->next);
    const unsigned returned = load(&c->returned);
    const unsigned came = (unsigned)(gate >> SLUICE_GATE_CAME_SHIFT);
    const bool inside = (gate >> SLUICE_GATE_INSIDE_SHIFT & SLUICE_GATE_ENDED) != 0;
    if (!inside && next >= job.tickets && returned == 0) {
      // The word as it was read: nobody came since, and what nobody holds nobody changes. Whoever comes now reads the number only.
      const unsigned long long number = (gate >> SLUICE_GATE_NUMBER_SHIFT) + 1 & SLUICE_GATE_NUMBERS;
      const unsigned long long fresh = (unsigned long long)came << SLUICE_GATE_CAME_SHIFT | number << SLUICE_GATE_NUMBER_SHIFT;
      if (compare_and_swap(&c->gate, gate, fresh) == gate) break;
    } else if (!inside && told_after != came) {
      told_after = came;
      c->naps = ++naps;
      tell();
    }
    nap(1000);
  }
  place_next_grid();  // not before: its CTAs, which wait for this grid, would take the room of blocks that have not run
  store(&c->next, 0);
  c->ended = ++ended;
  tell();
}

/// Takes a slot and first tasks. @return a task was found: `task`; the CTA's state has what follows it
__device__ __forceinline__ bool enter(const SluiceJob& job, SluiceState& s, unsigned inverse_warps, unsigned long long& task) {
  SluiceControl* c = job.control;
  s.leader.slot = kNoSlot;
  s.enter_ns = nanoseconds();
  s.grid[0] = job.grid_x;
  s.grid[1] = job.grid_y;
  s.grid[2] = job.grid_z;
  const unsigned sm = this_sm();
  s.leader.sm = sm;
  // As the CTAs lie on the SM: those that a smaller quota sends away lie together, and leave room for others.
  s.rank = this_warp() * inverse_warps >> 16;
  Attempt attempt = kAgain;
  SluiceRange found;
  while (attempt == kAgain) attempt = take_slot(job, s, found);
  unsigned tasks = 0;
  if (attempt == kTaken) {
    const unsigned inside = fetch_add(&c->resident[sm], 1) + 1;
    add(&c->resident_total, 1);
    tasks = take_over(job, sm, s.leader.slot, found, task, s.last);  // what the slot's last holder had not begun
    if (tasks == 0) tasks = claim(job, task, s.last);
    if (tasks == 0) tasks = adopt(job, sm, task, s.last);
    s.leader.left = tasks - (tasks != 0);
    raise(&c->max_resident[sm], inside);
    // Under a larger quota that came meanwhile, and may have gone again, others come rightly.
    if (inside > s.granted && load(&job.orders->epoch) == s.order &&
        inside > sluice_ctas(load(&job.orders->quota[sm]), job.flags))
      add(&c->violations, 1);
  }
  add(&c->arrived, 1);
  return tasks != 0;
}

/// Gives the slot back. @param left  tasks that were claimed and not begun; `last`: what follows them
__device__ __forceinline__ void leave(const SluiceJob& job, SluiceState& s, unsigned left, unsigned long long last) {
  const unsigned sm = s.leader.sm, slot = s.leader.slot;
  SluiceControl* c = job.control;
  const unsigned inside = fetch_add(&c->resident[sm], ~0u);
  if (left != 0) {
    SluiceRange* unfinished = &c->unfinished[slot][sm];
    store(&unfinished->first, last - ((unsigned long long)left << job.width_bits));
    store(&unfinished->last, last);
    set_bits(&c->filled[sm], 1u << slot);
    add(&c->returned, 1);
    fence();
  }
  // Once the count is down, as its answer tells: else the slot's next holder could count one too many.
  if (inside != 0) give_slot(c, sm, 1u << slot);
  add(&c->resident_total, ~0u);
}

}  // namespace sluice_rt

// What the joined kernel's leader does: enter and, after a barrier, the kernel's body for every block, next where a block was the
// last of its range, and a barrier; at last leave. `stage` is the shared address of the next block's stage. The job is a parameter of
// the kernel.

// Takes a slot and a first task, into stage 0. @param inverse_warps  2**16 / warps of a CTA, rounded up
extern "C" __device__ void sluice_rt_enter(SluiceJob job, unsigned inverse_warps) {
  SluiceState& s = sluice_rt_state;
  unsigned long long task = 0;
  sluice_rt::wait_for_grid_before();
  s.began = (job.flags & SLUICE_LATER) == 0 || sluice_rt::pass_gate(job);  // it is inside
  s.leader.slot = sluice_rt::kNoSlot;
  s.stage[0].block.x = SLUICE_LEAVE;
  if (s.began != 0 && sluice_rt::enter(job, s, inverse_warps, task))
    s.stage[0].block = sluice_rt::index_of(job, (unsigned)task);
}

// Claims the next range at the end of one, and begins it unless the CTA's place lies at or beyond the quota.
extern "C" __device__ void sluice_rt_next(SluiceJob job, unsigned stage, unsigned quota) {
  SluiceState& s = *(SluiceState*)__cvta_shared_to_generic(stage & ~127u);
  SluiceStage& next = s.stage[stage >> 4 & 1];
  unsigned long long task;
  unsigned tasks = sluice_rt::claim(job, task, s.last);
  if (tasks == 0 & s.leader.place < quota) tasks = sluice_rt::adopt(job, s.leader.sm, task, s.last);
  next.block = sluice_rt::index_of(job, (unsigned)task);
  const unsigned run = tasks != 0 & s.leader.place < quota;
  if (!run) next.block.x = SLUICE_LEAVE;
  s.leader.left = tasks - run;
}

// The same for blocks that may wait for blocks with lower numbers: looks at the quota first, so that what is claimed is begun. Then a
// block that others wait for runs, or all its predecessors have been begun and somebody is free to claim it.
extern "C" __device__ void sluice_rt_next_begun(SluiceJob job, unsigned stage, unsigned quota) {
  SluiceState& s = *(SluiceState*)__cvta_shared_to_generic(stage & ~127u);
  SluiceStage& next = s.stage[stage >> 4 & 1];
  unsigned long long task = 0;
  unsigned tasks = 0;
  if (s.leader.place < quota) tasks = sluice_rt::claim(job, task, s.last);
  next.block = sluice_rt::index_of(job, (unsigned)task);
  if (tasks == 0) next.block.x = SLUICE_LEAVE;
  s.leader.left = tasks - (tasks != 0);
}

// Counts a block that is done, where the job wants that.
extern "C" __device__ void sluice_rt_count(SluiceJob job, unsigned x, unsigned y, unsigned z) {
  sluice_rt::add(&job.runs[((unsigned long long)z * job.grid_y + y) * job.grid_x + x], 1);
}

extern "C" __device__ void sluice_rt_leave(SluiceJob job) {
  SluiceState& s = sluice_rt_state;
  const bool slot = s.leader.slot != sluice_rt::kNoSlot, held = (job.flags & (SLUICE_HELD | SLUICE_LATER)) == SLUICE_HELD;
  // Where it leaves no range to others it counts as ended while it gives its slot back: the launch waits for one answer less.
  const bool early = held & (!slot || s.leader.left == 0);
  unsigned ended = 0;
  if (early) ended = sluice_rt::count_ended(job.control);
  if (slot) sluice_rt::leave(job, s, s.leader.left, s.last);
  if ((job.flags & SLUICE_LATER) != 0 && s.began != 0) sluice_rt::gate_add(job.control, 0 - (1ull << SLUICE_GATE_INSIDE_SHIFT));
  if (held & !early) ended = sluice_rt::count_ended(job.control);
  if (held && ended + 1 == sluice_rt::ctas_of_grid()) sluice_rt::end_held(job);
}
