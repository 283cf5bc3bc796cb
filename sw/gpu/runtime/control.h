// SPDX-License-Identifier: Apache-2.0
// What host and device share about one quota job. Compiled by the host compiler and, as text, by NVRTC: plain types only.
#pragma once

#define SLUICE_MAX_SM 256        /* quota table entries; %nsmid of the device must not exceed it */
#define SLUICE_MAX_SLOTS 32      /* CTAs of one kernel on an SM */
#define SLUICE_LEAVE 0xffffffffu /* as a block's x: nothing more to do; grids are smaller */

/* SluiceJob.flags. A program's launch (sw/interpose) is a held grid: its last CTA stays, asleep, until all blocks are done, so
 * that the grid's end is the launch's end, and makes the control block ready for the next launch. Later grids bring CTAs for the
 * blocks of an earlier one. */
#define SLUICE_HELD 2u
#define SLUICE_LATER 4u
#define SLUICE_PARTS 16u      /* quotas are 32nds of the CTAs that fit, else CTAs */
#define SLUICE_NUMBER_SHIFT 8 /* a later grid's: number of the launch that it works for, as many bits as the gate has for it */
#define SLUICE_FITS_SHIFT 26  /* 32 - CTAs of the kernel that an SM holds; 0: not said */

/* SluiceControl.gate, from its lowest bit: CTAs of the held grid that have ended (15), CTAs of later grids inside (15), number of
 * the launch (18), CTAs of later grids that ever came (16, wraps: who saw the same word twice knows that nobody came in between).
 */
#define SLUICE_GATE_ENDED 0x7fffu
#define SLUICE_GATE_INSIDE_SHIFT 15
#define SLUICE_GATE_NUMBER_SHIFT 30
#define SLUICE_GATE_NUMBERS 0x3ffffu
#define SLUICE_GATE_CAME_SHIFT 48

#ifdef __CUDACC__
#define SLUICE_INLINE __device__ __forceinline__
#else
#define SLUICE_INLINE inline
#endif
SLUICE_INLINE unsigned sluice_fits(unsigned flags) { return SLUICE_MAX_SLOTS - (flags >> SLUICE_FITS_SHIFT & 31u); }
SLUICE_INLINE unsigned sluice_number(unsigned flags) { return flags >> SLUICE_NUMBER_SHIFT & SLUICE_GATE_NUMBERS; }
SLUICE_INLINE unsigned sluice_flags(unsigned fits, bool parts) {
  return (SLUICE_MAX_SLOTS - fits) << SLUICE_FITS_SHIFT | (parts ? SLUICE_PARTS : 0);
}
/// CTAs that a quota allows; at least 1, where it allows any.
SLUICE_INLINE unsigned sluice_ctas(unsigned quota, unsigned flags) {
  if ((flags & SLUICE_PARTS) == 0) return quota;
  const unsigned ctas = quota * sluice_fits(flags) / SLUICE_MAX_SLOTS;
  return ctas == 0 && quota != 0 ? 1 : ctas;
}
/// The smallest quota that allows so many, and is as much of an SM.
SLUICE_INLINE unsigned sluice_quota(unsigned ctas, unsigned flags) {
  if ((flags & SLUICE_PARTS) == 0) return ctas;
  const unsigned fits = sluice_fits(flags);
  return (ctas * SLUICE_MAX_SLOTS + fits - 1) / fits;
}

/// Tasks first, first + 2**width_bits .. before last, that an evicted CTA had claimed and not begun; empty when the two are
/// equal.
struct SluiceRange {
  unsigned long long first, last;
};

/// Written by the host as one copy while the kernel runs.
struct SluiceOrders {
  unsigned epoch;                 // number of this order
  unsigned quota[SLUICE_MAX_SM];  // CTAs, or 32nds of those that fit
  unsigned
      wanted[SLUICE_MAX_SLOTS];  // CTAs on all SMs, where 1, 2 .. fit: one without a slot waits a moment while fewer are there
};

/// Device memory, one per job. What every CTA adds to has lines of its own: additions to one line come one after the other.
struct SluiceControl {
  SluiceOrders orders;
  alignas(128) unsigned resident_total;  // CTAs that hold a slot
  alignas(128) unsigned arrived;         // CTAs that have taken a slot or given up
  alignas(128) unsigned long long next;  // first ticket nobody has claimed
  alignas(128) unsigned returned;        // slots with an unfinished range
  unsigned violations;  // acquisitions that found more CTAs than the quota they were granted under, of an order still in force
  alignas(128) unsigned long long gate;  // of held grids, above
  unsigned ended, naps;                  // held grids that have ended; times that one's last CTA went to sleep
  volatile unsigned long long* told;     // host memory: naps << 32 | ended, when either changes; null: not told
  unsigned slots[SLUICE_MAX_SM];         // bit s: slot s is taken
  unsigned resident[SLUICE_MAX_SM];      // CTAs inside, counted apart from the slots
  unsigned max_resident[SLUICE_MAX_SM];  // most of them at a time since the host cleared it
  unsigned done[SLUICE_MAX_SM];          // tasks finished; wraps
  unsigned filled[SLUICE_MAX_SM];        // bit s: slot s has an unfinished range; a hint, the range says it
  SluiceRange unfinished[SLUICE_MAX_SLOTS][SLUICE_MAX_SM];  // belongs to whoever holds the slot; last, as few have all of it
};

/// What stays the same for a job: a parameter of the transformed kernel. Task t is a block of the grid, counted along x first. A
/// CTA draws a ticket for a range of tasks, 2**width_bits apart, so that CTAs which begin together work side by side as they do
/// in the untransformed kernel. Ranges are of three lengths, the longest first, so that claims are few and yet all end together.
/// No longer than this: the compiler keeps a larger argument in memory, where the joined text has none.
struct SluiceJob {
  SluiceControl* control;
  const SluiceOrders* orders;  // the job's own, or those of several jobs
  unsigned* runs;              // times each block of the grid ran, where counts_runs
  unsigned long long tickets;
  unsigned long long middle_ticket, single_ticket;  // where ranges of `middle` tasks begin, and single tasks
  unsigned grid_x, grid_y, grid_z;
  unsigned blocks;  // of the grid
  unsigned width_bits, group, middle;
  unsigned step_x, step_y, step_z;  // 2**width_bits % blocks, as a block index
  unsigned counts_runs;             // `runs` is there
  unsigned inverse_x, inverse_y;    // (2**32 - 1) / divisor: division by multiplication
  unsigned flags;                   // SLUICE_HELD and the like
  unsigned
      shared_at;  // bytes from the dynamic shared memory's begin to the last place where the state may begin, not aligned yet
};
static_assert(sizeof(SluiceJob) <= 128, "see above");

/// A block's place in the grid.
struct SluiceBlock {
  unsigned x, y, z;
};

/// What the next block is. A CTA has two of them in turns: one that all read, one that the leader writes.
struct alignas(16) SluiceStage {
  SluiceBlock block;  // x: SLUICE_LEAVE when there is none
};

/// A CTA's state in shared memory. Aligned so that the kernel's own shared memory keeps its alignment.
struct alignas(128) SluiceState {
  SluiceStage stage[2];
  struct alignas(16) Leader {
    unsigned sm, slot;
    unsigned left;   // tasks of the claimed range that are not begun
    unsigned place;  // the CTA stays while the quota is larger: the slot, or which 32nd of the SM begins it
  } leader;
  unsigned grid[3];
  unsigned long long last;  // what follows the last task of the range
  unsigned long long enter_ns;
  unsigned rank, granted;      // while entering: which slot to try first; the quota that the slot was granted under
  unsigned began;              // of a later grid: its launch had not ended when it came
  SluiceBlock current;         // for functions that read the block's index
  unsigned long long threads;  // mbarrier of the block's threads that have not returned, where some may return early
  unsigned order;              // while entering: the number of the order that `granted` is of
};
static_assert(sizeof(SluiceStage) == 16 && sizeof(SluiceState) == 128, "sluice_rt_next finds the state from a stage's address");
