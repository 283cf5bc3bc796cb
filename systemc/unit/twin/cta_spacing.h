// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <optional>
#include <vector>

#include "systemc/unit/ports/i_cta_dispatcher.h"

namespace sluice {

/// CTAs of a kernel that enter an SM together stay in step, and what one of them lacks all lack at once. So they enter one by
/// one, `most` cycles apart, or as far as costs little: the time from a CTA's entry until one of the kernel's there ends, over
/// eight times the SM's CTA slots.
class CtaSpacing {
 public:
  CtaSpacing(const CtaDispatcherParams& params, std::uint32_t most)
      : ctas_(params.ctas), most_(most), kernels_(params.kernels, Kernel{most, std::vector<std::uint64_t>(params.num_sms)}) {}

  /// @param on  otherwise they enter as they come
  /// @param in  with the end of a CTA in this cycle
  void clock(bool on, const CtaDispatcherOut& dispatched, const CtaDispatcherIn& in) {
    ++now_;
    if (!on) {
      until_ = 0;
      for (Kernel& kernel : kernels_) kernel = Kernel{most_, std::move(kernel.free_at)};
      return;
    }
    for (std::uint32_t k = 0; k < kernels_.size(); ++k) {
      Kernel& kernel = kernels_[k];
      if (dispatched.state[k] == SlotState::kFree) kernel = Kernel{most_, std::move(kernel.free_at)};  // a new one may come
      if (kernel.watched && in.done_valid && kernel.watched->sm == in.done_sm && kernel.watched->slot == in.done_slot) {
        kernel.spacing = std::min(most_, (now_ - kernel.watched->since) / (8 * ctas_));
        kernel.watched.reset();
      }
      if (!dispatched.dispatch_valid || dispatched.dispatch_kernel != k) continue;
      if (!kernel.watched) kernel.watched = {dispatched.dispatch_sm, dispatched.dispatch_slot, now_};
      kernel.free_at[dispatched.dispatch_sm] = now_ + kernel.spacing;
      until_ = std::max(until_, now_ + kernel.spacing);
    }
  }
  void skip(std::uint64_t cycles) { now_ += cycles; }
  [[nodiscard]] bool any() const { return now_ < until_; }
  /// SMs that take no CTA of a kernel yet.
  [[nodiscard]] SmBits waits(std::uint32_t kernel) const {
    SmBits waits;
    for (std::size_t sm = 0; any() && sm < kernels_[kernel].free_at.size(); ++sm) waits[sm] = now_ < kernels_[kernel].free_at[sm];
    return waits;
  }

 private:
  /// An SM whose next end of one of the kernel's CTAs is waited for.
  struct Watched {
    std::uint32_t sm = 0, slot = 0;
    std::uint64_t since = 0;
  };
  struct Kernel {
    std::uint64_t spacing;
    std::vector<std::uint64_t> free_at;  ///< by SM
    std::optional<Watched> watched{};
  };
  std::uint64_t ctas_, most_;
  std::vector<Kernel> kernels_;
  std::uint64_t now_ = 0, until_ = 0;
};

}  // namespace sluice
