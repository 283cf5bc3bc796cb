// What host and device share about one quota job. Compiled by the host compiler and, as text, by NVRTC: plain types only.
#pragma once

#define SLUICE_MAX_SM 256           /* quota table entries; %nsmid of the device must not exceed it */
#define SLUICE_MAX_SLOTS 32         /* CTAs of one kernel on an SM */
#define SLUICE_MAX_LIFETIMES 262144 /* CTA lifetimes kept for the placement check */

/// Tasks first, first + width .. last - width that an evicted CTA had claimed and not begun; empty when the two are equal.
struct SluiceRange {
  unsigned long long first, last;
};

/// One CTA's stay on an SM, for the placement check on the host: shares nothing with the slot bitmap it checks.
struct SluiceLifetime {
  unsigned long long enter_ns, leave_ns;  // %globaltimer
  unsigned sm, slot;
};

/// Written by the host as one copy while the kernel runs.
struct SluiceOrders {
  unsigned epoch;   // number of this order; comes back in `gone`
  unsigned wanted;  // sum of quota over the SMs: CTAs without a slot wait a moment while fewer are resident
  unsigned quota[SLUICE_MAX_SM];
};

/// Device memory, one per job. What every CTA adds to has lines of its own: additions to one line come one after the other.
struct SluiceControl {
  SluiceOrders orders;
  alignas(128) unsigned resident_total;  // CTAs that hold a slot
  alignas(128) unsigned arrived;         // CTAs that have taken a slot or given up
  alignas(128) unsigned long long next;  // first ticket nobody has claimed
  alignas(128) unsigned returned;        // slots with an unfinished range
  unsigned violations;                   // acquisitions that found more CTAs than the quota they were granted under
  unsigned lifetimes;                    // entries of the lifetime log, may exceed its capacity
  unsigned slots[SLUICE_MAX_SM];         // bit s: slot s is taken
  unsigned resident[SLUICE_MAX_SM];      // CTAs inside, counted apart from the slots
  unsigned max_resident[SLUICE_MAX_SM];  // most of them at a time since the host cleared it
  unsigned done[SLUICE_MAX_SM];          // tasks begun, and finished unless a CTA is still at one; wraps
  SluiceRange unfinished[SLUICE_MAX_SM][SLUICE_MAX_SLOTS];  // belongs to whoever holds the slot
};

/// What stays the same for a job: a parameter of the transformed kernel. Task t is block t % (grid_x * grid_y * grid_z). A CTA
/// draws a ticket. The first `long_tickets` are ranges of `group` tasks, `width` apart, so that CTAs which begin together work
/// side by side as they do in the untransformed kernel; the others are single tasks, so that all end together.
struct SluiceJob {
  SluiceControl* control;
  SluiceLifetime* lifetimes;  // null: not logged
  unsigned* runs;             // times each block of the grid ran; null: not counted
  volatile unsigned* gone;    // host memory: epoch of the eviction order under which the last CTA left
  unsigned long long tickets, long_tickets;
  unsigned long long long_tasks;  // of the ranges: long_tickets * group
  unsigned grid_x, grid_y, grid_z;
  unsigned blocks;  // of the grid
  unsigned width, group;
  unsigned step_x, step_y, step_z;  // width % blocks, as a block index
  unsigned sms;
  unsigned inverse_x, inverse_y;                     // (2**32 - 1) / divisor: division by multiplication
  unsigned long long inverse_blocks, inverse_width;  // (2**64 - 1) / divisor
};
