// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the quota runtime takes from a GPU (sw/gpu/runtime/quota_access.cuh), on the host: each access of shared memory is one
// step, and before it another CTA may go on. Memory is sequentially consistent here, so this finds wrong orders of steps and no
// missing fences.
#include <ucontext.h>

#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

#include "sw/gpu/runtime/control.h"

// NOLINTBEGIN: CUDA's names
#define __device__
#define __forceinline__ inline
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))
#define __cvta_shared_to_generic(address) (static_cast<void>(address), &sluice_rt_state)
inline int __popc(unsigned v) { return std::popcount(v); }
inline int __ffs(unsigned v) { return v == 0 ? 0 : std::countr_zero(v) + 1; }
inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(std::uint64_t{a} * b >> 32); }
// NOLINTEND

namespace sluice::gpu::on_host {

/// CTAs and a host that take turns, one step at a time, as a choice says.
class Turns {
 public:
  /// @param choice  called with the actors that can go on, and the one that had the last turn: whose turn is next
  using Choice = std::function<std::size_t(const std::vector<std::size_t>&, std::size_t)>;
  std::function<void(std::size_t from, std::size_t to)> changes;  ///< whose memory of its own is there
  std::uint64_t steps = 0;

  void run(const std::vector<std::function<void()>>& actors, const Choice& choice) {
    constexpr std::size_t kStack = 64 * 1024;
    now = this;
    actors_ = &actors;
    fibres_.clear();
    for (std::size_t a = 0; a < actors.size(); ++a) {
      fibres_.push_back(std::make_unique<Fibre>());
      Fibre& f = *fibres_.back();
      f.stack.resize(kStack);
      getcontext(&f.context);
      f.context.uc_stack.ss_sp = f.stack.data();
      f.context.uc_stack.ss_size = kStack;
      f.context.uc_link = &main_;
      makecontext(&f.context, &Turns::start, 0);
    }
    std::size_t last = 0;
    for (;;) {
      std::vector<std::size_t> able;
      for (std::size_t a = 0; a < fibres_.size(); ++a) {
        if (!fibres_[a]->done) able.push_back(a);
      }
      if (able.empty()) return;
      actor = choice(able, last);
      if (actor != last) changes(last, actor);
      last = actor;
      swapcontext(&main_, &fibres_[actor]->context);
    }
  }
  /// Before an access. Nobody needs so many: a CTA turns in a circle, and all end.
  void step() {
    if (++steps > kMostSteps) throw Spins{};
    swapcontext(&fibres_[actor]->context, &main_);
  }
  /// A step of an actor that waits: the others go on first.
  void yield() {
    yields = true;
    step();
  }
  bool yields = false;  ///< the last turn was given up; whoever chooses clears it
  static constexpr std::uint64_t kMostSteps = 2000;
  std::size_t actor = 0;
  static inline Turns* now = nullptr;

 private:
  struct Spins {};
  struct Fibre {
    ucontext_t context;
    std::vector<char> stack;
    bool done = false;
  };
  static void start() {
    try {
      (*now->actors_)[now->actor]();
    } catch (const Spins&) {
    }
    now->fibres_[now->actor]->done = true;
  }
  const std::vector<std::function<void()>>* actors_ = nullptr;
  ucontext_t main_{};
  std::vector<std::unique_ptr<Fibre>> fibres_;
};

}  // namespace sluice::gpu::on_host

namespace sluice_rt {

inline std::function<void()> took, gave;   ///< the actor took bits that were free, or released some, in this step
inline std::function<void()> next_placed;  ///< CTAs of the next grid may come

template <class T>
T load(const T* p) {
  sluice::gpu::on_host::Turns::now->step();
  return *p;
}
inline unsigned long long load_acquire(const unsigned long long* p) { return load(p); }
inline void store(unsigned long long* p, unsigned long long v) {
  sluice::gpu::on_host::Turns::now->step();
  *p = v;
}
template <class T>
T fetch_add(T* p, std::type_identity_t<T> v) {
  sluice::gpu::on_host::Turns::now->step();
  const T old = *p;
  *p += v;
  return old;
}
inline void add(unsigned* p, unsigned v) { fetch_add(p, v); }
inline unsigned long long fetch_add_both_ways(unsigned long long* p, unsigned long long v) { return fetch_add(p, v); }
inline unsigned long long compare_and_swap(unsigned long long* p, unsigned long long expected, unsigned long long v) {
  sluice::gpu::on_host::Turns::now->step();
  const unsigned long long old = *p;
  if (old == expected) *p = v;
  return old;
}
inline void raise(unsigned* p, unsigned v) {
  sluice::gpu::on_host::Turns::now->step();
  if (v > *p) *p = v;
}
inline void clear_bits(unsigned* p, unsigned kept) {
  sluice::gpu::on_host::Turns::now->step();
  *p &= kept;
}
inline void fence() {}
inline void wait_for_grid_before() {}
inline void place_next_grid() {
  if (next_placed) next_placed();
}
inline void give_bits(unsigned* p, unsigned kept) {
  clear_bits(p, kept);
  if (gave) gave();
}
inline unsigned acquire_bits(unsigned* p, unsigned bits) {
  sluice::gpu::on_host::Turns::now->step();
  const unsigned old = *p;
  *p |= bits;
  if (took && (old & bits) == 0) took();
  return old;
}
inline void set_bits(unsigned* p, unsigned bits) {
  sluice::gpu::on_host::Turns::now->step();
  *p |= bits;
}
inline unsigned this_sm() { return 0; }
inline unsigned this_warp() { return static_cast<unsigned>(sluice::gpu::on_host::Turns::now->actor); }
inline unsigned grid_of_ctas = 0;
inline unsigned ctas_of_grid() { return grid_of_ctas; }
inline bool naps_yield = false;
inline void nap(unsigned) {
  if (naps_yield) sluice::gpu::on_host::Turns::now->yield();
}
inline unsigned long long nanoseconds() { return 2000 * sluice::gpu::on_host::Turns::now->steps; }

}  // namespace sluice_rt
