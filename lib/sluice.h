/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SLUICE_H
#define SLUICE_H
/* The C interface of libsluice (docs/user/library.md): partitions, schedulers, and the partition unit cycle by cycle, for a
 * simulator in any language.
 *
 * A function that can fail returns a sluice_status; sluice_error() then has one line that names what was wrong. After an error
 * the handle is as before the call, and nothing was written to the results. A handle is used by one thread at a time. Text is
 * UTF-8. Structs and functions of one SLUICE_ABI never change, and functions are only added; a library of another SLUICE_ABI has
 * another soname. */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SLUICE_ABI 1
#define SLUICE_MAX_SMS 256
#define SLUICE_MAX_SCHEDULERS 4 /* of one SM */

typedef enum sluice_status {
  SLUICE_OK = 0,
  SLUICE_BAD_INPUT = 2, /* an argument, a file that it names, or a call that the unit refuses now */
  SLUICE_SYSTEM = 3,    /* memory, disk; or a defect of this library */
} sluice_status;

/* Of the last call of this thread that failed; "" before. Valid until the thread's next call that fails. */
const char* sluice_error(void);
const char* sluice_version(void); /* "0.1.0" */
unsigned sluice_abi(void);        /* of the library that was loaded */

/* ---- Machines and kernels ---- */

typedef struct sluice_machine sluice_machine;

/* Capacity of one SM. */
typedef struct sluice_sm {
  uint32_t threads;      /* 32..2^20, whole warps of 32 */
  uint32_t registers;    /* 32-bit ones, 1..2^20 */
  uint32_t shared_bytes; /* scratchpad, 0..2^20 */
  uint32_t cta_slots;    /* 1..32 */
} sluice_sm;

/* A machine file (docs/user/machines.md). */
sluice_status sluice_machine_read(const char* file, sluice_machine** machine);
/* num_sms: 1..SLUICE_MAX_SMS */
sluice_status sluice_machine_new(uint32_t num_sms, const sluice_sm* sm, sluice_machine** machine);
uint32_t sluice_machine_sms(const sluice_machine* machine);
void sluice_machine_free(sluice_machine* machine); /* NULL does nothing, as in every _free */

typedef struct sluice_kernel {
  const char* name;              /* not empty, unique among the kernels of a call */
  uint32_t grid_ctas;            /* 1.. */
  uint32_t block_threads;        /* 1..1024 */
  uint32_t registers_per_cta;    /* 32-bit ones */
  uint32_t shared_bytes_per_cta; /* static and dynamic */
  const double* ipc;             /* alone, with 1, 2, ... num_ipc CTAs on every SM, any unit; NULL: not known */
  uint32_t num_ipc;
} sluice_kernel;

/* What a kernel may hold: `ctas` CTAs on each of the SMs first_sm .. first_sm + num_sms - 1. */
typedef struct sluice_share {
  uint32_t ctas, first_sm, num_sms;
} sluice_share;

/* ---- Policies that answer once ---- */

/* policy: one of sluice_policies(). shares: `count` of them, in the kernels' order. limited (may be NULL): 1 when the shares are
 * quotas; 0 when none hold (left_over, fcfs), and the shares are what an empty SM takes first. */
sluice_status sluice_partition(const sluice_machine* machine, const char* policy, const sluice_kernel* kernels, size_t count,
                               sluice_share* shares, int* limited);
const char* sluice_policies(void); /* "left_over, fcfs, ..." */

/* ---- Schedulers: events in, shares out ---- */

typedef struct sluice_scheduler sluice_scheduler;

/* name: a scheduler that needs to know no kernel beforehand (docs/user/schedulers.md), such as even, spatial, rr, prio_np, piv,
 * dprr, warped_slicer. */
sluice_status sluice_scheduler_new(const sluice_machine* machine, const char* name, sluice_scheduler** scheduler);
void sluice_scheduler_free(sluice_scheduler* scheduler);

/* A kernel was launched; its inputs are in device memory. priority: larger is more important. job: its number, from 0. */
sluice_status sluice_job_arrived(sluice_scheduler* scheduler, const sluice_kernel* kernel, int32_t priority, uint64_t now_ns,
                                 uint32_t* job);
/* CTAs that began and ended since the launch: begun >= done, both never less than before, at most the grid. The first that
 * begins and the last that ends are events. */
sluice_status sluice_job_progress(sluice_scheduler* scheduler, uint32_t job, uint64_t begun, uint64_t done, uint64_t now_ns);
/* A job whose share was taken away has no CTA on the GPU any more, and has CTAs to begin. */
sluice_status sluice_job_evicted(sluice_scheduler* scheduler, uint32_t job, uint64_t now_ns);
/* Its owner is gone: it reports nothing any more. */
sluice_status sluice_job_lost(sluice_scheduler* scheduler, uint32_t job, uint64_t now_ns);

typedef struct sluice_job_share {
  uint32_t job;
  sluice_share share;
  uint64_t cta_limit; /* CTAs that it may have begun in all; UINT64_MAX: no limit */
} sluice_job_share;

/* The whole wanted state, not a change of it: a job that is not in the plan holds nothing. now_ns: never less than in an earlier
 * call. plan: room for `room` entries, 1 for every job that is not done is enough; count: how many there are. wake_at_ns: ask
 * again then at the latest; UINT64_MAX: only after an event. */
sluice_status sluice_scheduler_decide(sluice_scheduler* scheduler, uint64_t now_ns, sluice_job_share* plan, size_t room,
                                      size_t* count, uint64_t* wake_at_ns);

/* ---- The partition unit, a clock cycle at a time ---- */

/* The cycle-accurate twin of rtl/sluice_top.sv (docs/reference/blocks/sluice_top.md): parameters, ports and registers are those.
 */
typedef struct sluice_unit sluice_unit;

typedef struct sluice_unit_parameters {
  uint32_t num_sm;                                                                    /* 1..256 */
  uint32_t max_kernels;                                                               /* 2..8: kernel slots */
  uint32_t max_ctas;                                                                  /* 4..32: CTA slots of an SM */
  uint32_t num_sched;                                                                 /* 1..4: warp schedulers of an SM */
  uint32_t region_units;                                                              /* 0, or 16..128 */
  uint32_t sm_enable, sm_ready, launch_queue, flush, patience, priority, churn, tail; /* options; 0 is off */
} sluice_unit_parameters;

/* What one SM did in this cycle. */
typedef struct sluice_sm_activity {
  uint8_t issue_valid;                         /* bit s: scheduler s issued a warp instruction */
  uint8_t issue_kernel[SLUICE_MAX_SCHEDULERS]; /* of the kernel in this slot */
  uint8_t request;                             /* 1: exchanged a line with the memory system */
} sluice_sm_activity;

/* Input ports of one cycle. All zero is "nothing happens, and no CTA is taken". */
typedef struct sluice_unit_in {
  const sluice_sm_activity* sms; /* num_sm of them, read in this call alone; NULL: nothing anywhere */
  uint8_t dispatch_ready;        /* 1: the CTA that is offered starts */
  uint8_t done_valid;            /* 1: a CTA ended, here: */
  uint8_t done_sm, done_slot;
  uint8_t done_kernel, done_tag;       /* with the option flush */
  uint8_t sm_busy[SLUICE_MAX_SMS / 8]; /* with the option sm_ready, bit m of byte m / 8: SM m takes no CTA without delay */
} sluice_unit_in;

/* Output ports; they come from registers, so they are known before the inputs of their cycle. */
typedef struct sluice_unit_out {
  uint8_t irq;
  uint8_t dispatch_valid; /* 1: a CTA is offered; the dispatch_ fields mean something only then */
  uint8_t dispatch_sm, dispatch_kernel, dispatch_slot, dispatch_tag;
  uint32_t dispatch_cta; /* its number in the grid */
  uint8_t dispatch_region_valid;
  uint32_t dispatch_register_base, dispatch_shared_base; /* of its regions, where these are valid */
  uint8_t flush_valid, flush_kernel, flush_tag;          /* SMs give up the CTAs of this kernel with this tag */
  uint8_t kernel_done;                                   /* bit k: the last CTA of the kernel in slot k has ended */
  uint8_t profile_window;                                /* 1: issues and requests are counted */
  uint8_t idle;                                          /* 1: the clock may stop until an input changes */
} sluice_unit_out;

sluice_status sluice_unit_new(const sluice_unit_parameters* parameters, sluice_unit** unit);
void sluice_unit_free(sluice_unit* unit);
sluice_status sluice_unit_outputs(const sluice_unit* unit, sluice_unit_out* out);
/* One rising edge. An end is refused with SLUICE_BAD_INPUT where no CTA is in that place of an SM that exists. */
sluice_status sluice_unit_clock(sluice_unit* unit, const sluice_unit_in* in);
uint64_t sluice_unit_cycles(const sluice_unit* unit); /* edges so far */

/* The host's side. Each call runs the clock for some cycles, in which no CTA is taken and no SM does anything. */
sluice_status sluice_unit_read32(sluice_unit* unit, uint32_t address, uint32_t* value);
sluice_status sluice_unit_write32(sluice_unit* unit, uint32_t address, uint32_t value);
sluice_status sluice_unit_set_machine(sluice_unit* unit, const sluice_sm* sm);
/* mode: left_over, fcfs, even, spatial, static, dynamic */
sluice_status sluice_unit_set_mode(sluice_unit* unit, const char* mode);
sluice_status sluice_unit_launch(sluice_unit* unit, uint32_t slot, const sluice_kernel* kernel);
sluice_status sluice_unit_set_quota(sluice_unit* unit, uint32_t slot, uint32_t ctas); /* mode static; CTAs on an SM */
/* Warm-up and window of dynamic, cycles: 0..1,048,575 and 1,024..65,535. */
sluice_status sluice_unit_set_window(sluice_unit* unit, uint32_t warm_up, uint32_t window);
/* CTAs of slot `slot` on all SMs now, and its quota on an SM; max_ctas is no limit. */
sluice_status sluice_unit_slot(sluice_unit* unit, uint32_t slot, uint32_t* resident, uint32_t* quota);

#ifdef __cplusplus
}
#endif
#endif
