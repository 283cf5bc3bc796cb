/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SLUICE_CLIENT_H
#define SLUICE_CLIENT_H
/* A client of the sharing service `sluice serve`: C, no CUDA. docs/reference/service_protocol.md says what happens below.
 *
 *   call                       EffiSha                        SiM                 Slate
 *   sluice_connect                                            init                first API call
 *   sluice_kernel_stub         GetAKernelStub
 *   sluice_set_priority        setIPriority, initStub's
 *   sluice_submit              initStub                       obtainParameters    launch
 *   sluice_wait_share          wait for TORUN                 the parameters
 *   sluice_wait                waiting point                                      synchronise
 *   sluice_release             DONE: reclaimed                release
 *
 * Every call may come from any thread. A process that was forked connects anew. */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* NOLINTBEGIN(modernize-use-using): C reads this, too */
typedef enum {
  SLUICE_OK = 0,
  SLUICE_ERROR_NO_SERVICE = 1, /* nobody listens there */
  SLUICE_ERROR_GONE = 2,       /* the service has died, or ended this session: sluice_last_error() says which */
  SLUICE_ERROR_TIMEOUT = 3,    /* no answer within 1 s, or a wait's own limit is over */
  SLUICE_ERROR_REFUSED = 4,    /* a value out of its range, a busy or unknown stub: sluice_last_error() says which */
  SLUICE_ERROR_FORKED = 5,     /* the session is another process's */
  SLUICE_ERROR_INVALID = 6     /* a null pointer, a name that is too long */
} sluice_error;

typedef enum { /* of a stub */
               SLUICE_FREE,
               SLUICE_PREP,
               SLUICE_READY,
               SLUICE_TO_RUN,
               SLUICE_RUNNING,
               SLUICE_TO_EVICT,
               SLUICE_DONE
} sluice_state;

typedef enum { SLUICE_PROGRESS, SLUICE_LAST_TASK_BEGUN, SLUICE_EVICTED, SLUICE_ENDED } sluice_what;
typedef enum { SLUICE_QUOTA, SLUICE_NATIVE } sluice_way;

typedef struct sluice_session sluice_session;
typedef uint32_t sluice_stub; /* 0..62: the place of a launch in its session; a program has one a stream */

#define SLUICE_THREAD_PRIORITY INT32_MIN /* (20 - nice) / 2 of the process */
#define SLUICE_WHOLE 65535               /* CTAs: as many as fit; SMs: all behind the first */
#define SLUICE_ALL_STUBS UINT32_MAX

typedef struct {
  const char* name;       /* 1..255 bytes, UTF-8 */
  uint32_t block_threads; /* of one CTA, 1..1024 */
  uint32_t registers;     /* of one CTA, 32 bits each */
  uint32_t shared_bytes;  /* of one CTA */
  uint64_t module;        /* what tells the name from the same one of another program, such as a hash of its code; 0: nothing */
} sluice_kernel;

typedef struct {
  sluice_state state;
  uint16_t ctas;                           /* on each of its SMs; SLUICE_WHOLE; 0 without a share */
  uint16_t first_sm, sms;                  /* first_sm .. first_sm + sms - 1 */
  uint64_t tasks, tasks_begun, tasks_done; /* CTAs of the launch */
  uint64_t evictions;                      /* how often it left the GPU with tasks left */
} sluice_progress;

typedef struct {
  uint16_t ctas;          /* on each of its SMs; SLUICE_WHOLE; 0: the launch was done without one */
  uint16_t first_sm, sms; /* first_sm .. first_sm + sms - 1 */
} sluice_granted;

typedef struct {
  uint32_t sms;
  uint32_t threads, registers, shared_bytes, ctas; /* of one SM: what it holds at a time */
  uint8_t uuid[16];                                /* as its driver says; zeros: not known */
} sluice_gpu;
/* NOLINTEND(modernize-use-using) */

/* socket: path, or NULL for the default. name: 1..63 bytes. priority: 0..30, or SLUICE_THREAD_PRIORITY. */
sluice_error sluice_connect(const char* socket, const char* name, int32_t priority, sluice_session** session);
/* Says good-bye, and frees the session: no other call may be under way. Launches that have not ended are lost. */
void sluice_disconnect(sluice_session* session);
/* Takes a free stub for launches of the kernel, one at a time. */
sluice_error sluice_kernel_stub(sluice_session* session, const sluice_kernel* kernel, sluice_stub* stub);
/* What the stub launches from here on is another kernel, also in a launch that has not ended (executor `gpu`). */
sluice_error sluice_next_kernel(sluice_session* session, sluice_stub stub, const sluice_kernel* kernel);
/* Of one stub or SLUICE_ALL_STUBS, for launches to come. granted (may be NULL): what it is; more than the thread's is root's. */
sluice_error sluice_set_priority(sluice_session* session, sluice_stub stub, int32_t priority, int32_t* granted);
/* tasks: CTAs. Executor `fake`: 1..2^32-1, and each takes task_ns, 1..10^12. Executor `gpu`: the caller runs them under the
 * stub's share and reports what they do; 0: as many as come until it reports SLUICE_ENDED. Returns at once. */
sluice_error sluice_submit(sluice_session* session, sluice_stub stub, uint64_t tasks, uint64_t task_ns);
/* Until the stub's launch has a share, or is done. timeout_ms < 0: no limit. granted (may be NULL): that share; of a launch that
 * was done meanwhile the last that it had. A sluice_read() afterwards may find that the launch has lost it again. */
sluice_error sluice_wait_share(sluice_session* session, sluice_stub stub, int timeout_ms, sluice_granted* granted);
/* Until the stub's launch is done. timeout_ms < 0: no limit. */
sluice_error sluice_wait(sluice_session* session, sluice_stub stub, int timeout_ms);
/* Reads shared memory, sends nothing; also when the service is gone: what it was then. */
sluice_error sluice_read(const sluice_session* session, sluice_stub stub, sluice_progress* progress);
sluice_error sluice_release(sluice_session* session, sluice_stub stub);

/* Executor `gpu`. None of these waits for an answer but sluice_machine. begun, done: tasks of the launch until now.
 * SLUICE_EVICTED answers the state SLUICE_TO_EVICT: no CTA of the stub is left on the GPU, tasks are. */
sluice_error sluice_report(sluice_session* session, sluice_stub stub, sluice_what what, uint64_t begun, uint64_t done);
/* The GPU that this session is for: the service shares each by itself. A process that uses two has a session for each. */
sluice_error sluice_machine(sluice_session* session, const sluice_gpu* gpu);
/* How launches of a kernel ran in this process until now, for `sluice serve status`. reason: may be NULL. */
sluice_error sluice_coverage(sluice_session* session, sluice_way way, const char* kernel, uint64_t module, const char* reason,
                             uint64_t launches, uint64_t gpu_ns);
/* The process's context on that GPU has failed: under MPS perhaps those of others, which the service then starts anew. */
sluice_error sluice_failed(sluice_session* session);
/* To poll(2): readable when the service has said something. sluice_listen() takes that in; sluice_read() has what it changed. */
int sluice_descriptor(const sluice_session* session);
sluice_error sluice_listen(sluice_session* session);

/* One line about this thread's last error; never NULL. */
const char* sluice_last_error(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
