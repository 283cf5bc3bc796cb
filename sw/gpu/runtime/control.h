// What host and device share about one quota job. Compiled by the host compiler and, as text, by NVRTC: plain types only.
#pragma once

#define SLUICE_MAX_SM 256           /* quota table entries; %nsmid of the device must not exceed it */
#define SLUICE_MAX_SLOTS 32         /* CTAs of one kernel on an SM */
#define SLUICE_MAX_LIFETIMES 262144 /* CTA lifetimes kept for the placement check */

/// Tasks first..last-1 that an evicted CTA had claimed and not begun; empty when the two are equal.
struct SluiceRange {
  unsigned long long first, last;
};

/// One CTA's stay on an SM, for the placement check on the host: shares nothing with the slot bitmap it checks.
struct SluiceLifetime {
  unsigned long long enter_ns, leave_ns;  // %globaltimer
  unsigned sm, slot;
};

/// Written by the host as one copy while the kernel runs. Quotas lie 16 bytes apart, the least that can be fetched past the L1.
struct SluiceOrders {
  unsigned epoch;   // number of this order; comes back in `gone`
  unsigned wanted;  // sum of quota over the SMs: CTAs without a slot wait a moment while fewer are resident
  unsigned pad[2];
  unsigned quota[SLUICE_MAX_SM][4];  // [0]; the rest is padding
};

/// Device memory, one per job.
struct SluiceControl {
  SluiceOrders orders;
  unsigned resident_total;  // CTAs that hold a slot
  unsigned returned;        // slots with an unfinished range
  unsigned violations;      // acquisitions that found more CTAs than the quota they were granted under
  unsigned arrived;         // CTAs that have taken a slot or given up
  unsigned lifetimes;       // entries of the lifetime log, may exceed its capacity
  unsigned pad;
  unsigned long long next;                                  // first task nobody has claimed
  unsigned slots[SLUICE_MAX_SM];                            // bit s: slot s is taken
  unsigned resident[SLUICE_MAX_SM];                         // CTAs inside, counted apart from the slots
  unsigned max_resident[SLUICE_MAX_SM];                     // most of them at a time since the host cleared it
  unsigned done[SLUICE_MAX_SM];                             // tasks begun, and finished unless a CTA is still at one; wraps
  SluiceRange unfinished[SLUICE_MAX_SM][SLUICE_MAX_SLOTS];  // belongs to whoever holds the slot
};

/// What stays the same for a job, in device memory.
struct SluiceJob {
  SluiceControl* control;
  SluiceLifetime* lifetimes;  // null: not logged
  unsigned* runs;             // times each block of the grid ran; null: not counted
  volatile unsigned* gone;    // host memory: epoch of the eviction order under which the last CTA left
  unsigned long long total;   // tasks; task t is block t % (grid_x * grid_y * grid_z)
  unsigned grid_x, grid_y, grid_z;
  unsigned blocks;                    // of the grid
  unsigned group;                     // most tasks claimed at a time
  unsigned share;                     // a claim takes at most (tasks left) >> share: the last blocks go one by one
  unsigned fresh_cycles;              // a block longer than this ends with the quota of that moment, not of its beginning
  unsigned sms;
  unsigned pad[2];
  unsigned inverse_x, inverse_y;      // (2**32 - 1) / divisor: division by multiplication
  unsigned long long inverse_blocks;  // (2**64 - 1) / blocks
};
