// SPDX-License-Identifier: Apache-2.0
// Kernels of the experiment `completion` (completion.cpp): work that tells when it is done, what waits for it, what follows.
struct Moments {
  unsigned ended;                 // CTAs that are done
  unsigned long long last, next;  // %globaltimer: end of the last CTA, begin of what follows
};

__device__ unsigned long long now() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}
__device__ unsigned look(const unsigned* word) {
  unsigned v;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(word) : "memory");
  return v;
}
__device__ void say(unsigned* word, unsigned v) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(word), "r"(v) : "memory");
}

// Every CTA is busy for `ns`; the last to end says so in `done`.
extern "C" __global__ void work(Moments* m, unsigned* done, unsigned epoch, unsigned ns) {
  const unsigned long long begun = now();
  while (now() - begun < ns) continue;
  __threadfence();
  if (atomicAdd(&m->ended, 1) + 1 != gridDim.x) return;
  m->ended = 0;
  m->last = now();
  say(done, epoch);
}

// A CTA that stays until the work is done, asleep between looks.
extern "C" __global__ void sleeper(const unsigned* done, unsigned epoch, unsigned ns) {
  while (look(done) != epoch) __nanosleep(ns);
}

extern "C" __global__ void follower(Moments* m) { m->next = now(); }

// Looks at `order` every `ns` (0: at once again); the last CTA that has seen a new value says it in `answer`. Ends after
// `rounds`.
extern "C" __global__ void listener(Moments* m, const unsigned* order, unsigned* answer, unsigned rounds, unsigned ns) {
  for (unsigned round = 1; round <= rounds; ++round) {
    while (look(order) < round)
      if (ns != 0) __nanosleep(ns);
    if (atomicAdd(&m->ended, 1) + 1 == round * gridDim.x) say(answer, round);
  }
}

// Arithmetic of a CTA that has much of it: what sleepers take from others.
extern "C" __global__ void victim(float* out, unsigned steps) {
  float a = threadIdx.x, b = blockIdx.x, c = 1, d = 2;
  for (unsigned i = 0; i < steps; ++i) {
    a = a * 1.0001f + b;
    b = b * 0.9999f + c;
    c = c * 1.0002f + d;
    d = d * 0.9998f + a;
  }
  if (a + b + c + d == 0) *out = a;
}
