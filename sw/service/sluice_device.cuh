// SPDX-License-Identifier: Apache-2.0
#ifndef SLUICE_DEVICE_CUH
#define SLUICE_DEVICE_CUH
/* For persistent kernels that are written by hand: CTAs stay on an SM while the stub's share allows, and take tasks one by one.
 *
 *   __shared__ sluice_cta cta;
 *   if (!sluice_enter(share, work, &cta)) return;
 *   while (sluice_next(share, work, tasks, &cta)) { ... cta.task ... }
 *
 * `share` is pinned host memory that the host writes as sluice_read() tells it: a new share is in force when each CTA has ended its
 * task. All threads of a CTA call both; neither needs a barrier around it. */
struct sluice_share { /* written by the host, each word at once */
  unsigned ctas;      /* on an SM; 0: all leave */
  unsigned first_sm, sms;
};
struct sluice_work { /* device memory, zero before the first launch; kept while the launch is evicted and launched again */
  unsigned long long next, done; /* tasks begun, and ended */
  unsigned resident[256];        /* CTAs on each SM */
};
struct sluice_cta {
  unsigned long long task;
  unsigned sm, stays;
};

__device__ inline unsigned sluice_allowed(const volatile sluice_share* share, unsigned sm) {
  const unsigned first = share->first_sm, sms = share->sms;
  return sm - first < sms ? share->ctas : 0;  // below the first it wraps, and is none of them
}

/* false: there is no room for this CTA, and it returns. */
__device__ inline bool sluice_enter(const volatile sluice_share* share, sluice_work* work, sluice_cta* cta) {
  if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {
    asm volatile("mov.u32 %0, %smid;" : "=r"(cta->sm));
    cta->stays = atomicAdd(&work->resident[cta->sm], 1) < sluice_allowed(share, cta->sm) ? 1 : 0;
    if (!cta->stays) atomicSub(&work->resident[cta->sm], 1);
    cta->task = ~0ULL;
  }
  __syncthreads();
  return cta->stays != 0;
}

/* Ends the CTA's task, if it has one, and takes the next. false: no task is left, or the CTA has to leave: it returns. */
__device__ inline bool sluice_next(const volatile sluice_share* share, sluice_work* work, unsigned long long tasks, sluice_cta* cta) {
  __syncthreads();
  if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {
    __threadfence_system();
    if (cta->task != ~0ULL) atomicAdd(&work->done, 1);
    unsigned there = work->resident[cta->sm];
    bool left = false;
    for (;;) {  // the surplus leaves, whichever CTAs come first
      if (there <= sluice_allowed(share, cta->sm)) break;
      const unsigned seen = atomicCAS(&work->resident[cta->sm], there, there - 1);
      left = seen == there;
      if (left) break;
      there = seen;
    }
    cta->task = left ? ~0ULL : atomicAdd(&work->next, 1);
    cta->stays = !left && cta->task < tasks ? 1 : 0;
    if (!left && !cta->stays) {
      atomicSub(&work->resident[cta->sm], 1);
      atomicAdd(&work->next, ~0ULL);  // nobody has taken it
    }
  }
  __syncthreads();
  return cta->stays != 0;
}
#endif
