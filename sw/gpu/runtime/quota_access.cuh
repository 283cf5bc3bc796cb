// SPDX-License-Identifier: Apache-2.0
// How the quota runtime reads and writes memory that others use at the same time. Compiled in front of quota_runtime.cuh.

namespace sluice_rt {

// The job's pointers come from memory: only so does the compiler know that they are global.
__device__ __forceinline__ unsigned load(const unsigned* p) {
  unsigned v;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ __forceinline__ unsigned long long load(const unsigned long long* p) {
  unsigned long long v;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
}
__device__ __forceinline__ void store(unsigned long long* p, unsigned long long v) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}
__device__ __forceinline__ void add(unsigned* p, unsigned v) {  // no answer: nobody waits
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
__device__ __forceinline__ unsigned fetch_add(unsigned* p, unsigned v) {
  unsigned old;
  asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(v) : "memory");
  return old;
}
__device__ __forceinline__ unsigned long long fetch_add(unsigned long long* p, unsigned long long v) {
  unsigned long long old;
  asm volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], %2;" : "=l"(old) : "l"(p), "l"(v) : "memory");
  return old;
}
__device__ __forceinline__ unsigned long long load_acquire(const unsigned long long* p) {
  unsigned long long v;
  asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
}
/// Acquires what its predecessors released, and releases.
__device__ __forceinline__ unsigned long long fetch_add_both_ways(unsigned long long* p, unsigned long long v) {
  unsigned long long old;
  asm volatile("atom.acq_rel.gpu.global.add.u64 %0, [%1], %2;" : "=l"(old) : "l"(p), "l"(v) : "memory");
  return old;
}
__device__ __forceinline__ unsigned long long compare_and_swap(unsigned long long* p, unsigned long long expected, unsigned long long v) {
  unsigned long long old;
  asm volatile("atom.relaxed.gpu.global.cas.b64 %0, [%1], %2, %3;" : "=l"(old) : "l"(p), "l"(expected), "l"(v) : "memory");
  return old;
}
__device__ __forceinline__ void raise(unsigned* p, unsigned v) {
  asm volatile("red.relaxed.gpu.global.max.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
__device__ __forceinline__ void set_bits(unsigned* p, unsigned bits) {
  asm volatile("red.relaxed.gpu.global.or.b32 [%0], %1;" ::"l"(p), "r"(bits) : "memory");
}
__device__ __forceinline__ void clear_bits(unsigned* p, unsigned kept) {
  asm volatile("red.relaxed.gpu.global.and.b32 [%0], %1;" ::"l"(p), "r"(kept) : "memory");
}
/// What this thread wrote before is seen by whoever acquires what it writes from here on. Behind a block's output it takes a
/// microsecond or more: only where something was written that the next holder reads.
__device__ __forceinline__ void fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
// Programmatic dependent launch, of compute capability 9.0: where a launch asks for it, its CTAs are placed while the grid before it in
// its stream still ends.
/// Waits until that grid has ended and what it wrote is seen; at once where it has, or nobody asked.
__device__ __forceinline__ void wait_for_grid_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/// The next grid's CTAs may be placed once each CTA of this one has ended or said this.
__device__ __forceinline__ void place_next_grid() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
/// Of slots: on the host the tests see by it who gave one back.
__device__ __forceinline__ void give_bits(unsigned* p, unsigned kept) { clear_bits(p, kept); }
__device__ __forceinline__ unsigned acquire_bits(unsigned* p, unsigned bits) {
  unsigned old;
  asm volatile("atom.acquire.gpu.global.or.b32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(bits) : "memory");
  return old;
}
/// Where the CTA is. With number_sms_of_gpu (machine_code.h) the register has the SM's number from bit 20 on, above the warp's.
__device__ __forceinline__ unsigned this_sm() {
  unsigned v;
  asm("mov.u32 %0, %%smid;" : "=r"(v));
  return v < SLUICE_MAX_SM ? v : v >> 20 & SLUICE_MAX_SM - 1;
}
__device__ __forceinline__ unsigned this_warp() {
  unsigned v;
  asm("mov.u32 %0, %%warpid;" : "=r"(v));
  return v;
}
/// Launched as SMs x CTAs.
__device__ __forceinline__ unsigned ctas_of_grid() {
  unsigned sms, ctas;
  asm("mov.u32 %0, %%nctaid.x;" : "=r"(sms));
  asm("mov.u32 %0, %%nctaid.y;" : "=r"(ctas));
  return sms * ctas;
}
__device__ __forceinline__ void nap(unsigned ns) { __nanosleep(ns); }
__device__ __forceinline__ unsigned long long nanoseconds() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

}  // namespace sluice_rt
