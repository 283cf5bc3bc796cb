/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SLUICE_FUNNEL_H
#define SLUICE_FUNNEL_H
/* Slate's calls: several programs in one GPU context, that of `sluice_worker`. A program needs no CUDA for it. Kernels of
 * different programs then share SMs without MPS; what one kernel breaks is broken for all. docs/reference/funnel.md has the
 * protocol.
 *
 *   sluice run -- sluice_worker SOCKET        # launches are under the service's quotas, a stream each
 *
 * Allocating, loading, making a stream and synchronising wait for the worker. Copies, launches and frees do not: their errors are
 * told by the next call that waits. Every call may come from any thread. */
#include <stddef.h>
#include <stdint.h>

#include "sw/service/sluice_client.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* NOLINTBEGIN(modernize-use-using): C reads this, too */
typedef struct sluice_funnel sluice_funnel;
typedef uint32_t sluice_stream; /* 0: the session's first */
typedef uint32_t sluice_module;
#define SLUICE_ALL_STREAMS UINT32_MAX

typedef struct {
  const void*
      value; /* bytes > 0: what is copied, 1..16 bytes. bytes 0: an address in a shared buffer: the kernel gets the device's */
  uint32_t bytes;
} sluice_argument;

typedef struct {
  const char* kernel; /* its name in the module, 1..255 bytes */
  uint32_t grid[3], block[3];
  uint32_t shared_bytes;            /* dynamic */
  const sluice_argument* arguments; /* as the kernel has them */
  uint32_t count;                   /* of them, at most 32 */
} sluice_launch;
/* NOLINTEND(modernize-use-using) */

/* socket: as `sluice_worker` was given it. */
sluice_error sluice_funnel_open(const char* socket, sluice_funnel** funnel);
/* Waits for nothing: the worker ends what is under way, then frees all that was the session's. */
void sluice_funnel_close(sluice_funnel* funnel);
/* Memory of the device, and a buffer of so many bytes that program and worker share: copies go between the two. */
sluice_error sluice_funnel_malloc(sluice_funnel* funnel, size_t bytes, void** shared);
sluice_error sluice_funnel_free(sluice_funnel* funnel, void* shared); /* behind all that is under way */
/* `bytes` from `shared` on, which may lie anywhere in a buffer, in the order of the stream. The program may touch the bytes again
 * when it has synchronised. */
sluice_error sluice_funnel_to_device(sluice_funnel* funnel, const void* shared, size_t bytes, sluice_stream stream);
sluice_error sluice_funnel_to_host(sluice_funnel* funnel, void* shared, size_t bytes, sluice_stream stream);
sluice_error sluice_funnel_stream(sluice_funnel* funnel, sluice_stream* stream);
/* PTX that ends with a zero byte, a cubin or a fat binary. */
sluice_error sluice_funnel_load(sluice_funnel* funnel, const void* image, size_t bytes, sluice_module* module);
sluice_error sluice_funnel_launch(sluice_funnel* funnel, sluice_module module, const sluice_launch* launch, sluice_stream stream);
sluice_error sluice_funnel_synchronize(sluice_funnel* funnel, sluice_stream stream); /* or SLUICE_ALL_STREAMS */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
