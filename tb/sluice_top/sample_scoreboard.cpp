// SPDX-License-Identifier: Apache-2.0
#include "tb/sluice_top/sample_scoreboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sluice::tb {

namespace {

/// Instructions as an entry of the performance table holds them (docs/reference/blocks/partition_core.md).
std::uint32_t entry_of(std::uint32_t insts) {
  if (insts < 8) return 0;
  std::uint32_t mantissa = insts, exponent = 10;
  for (; mantissa >= 8192; mantissa /= 2) ++exponent;
  for (; mantissa < 4096; mantissa *= 2) --exponent;
  return exponent * 4096 + mantissa - 4096;
}

}  // namespace

void SampleScoreboard::begin_window(const std::vector<std::size_t>& present) {
  present_ = present;
  free_port_ = cycles_ = 0;
  for (Sm& sm : sms_) {
    sm.insts = {};
    sm.requests = sm.starts = sm.ready = 0;
    sm.most = sm.resident;
  }
}

void SampleScoreboard::count(const SluiceTopIn& in, std::uint32_t share) {
  for (std::size_t m = 0; m < in.sms.size(); ++m) {
    Sm& sm = sms_[m];
    const bool open = sm.requests < (share == 0 ? 8192 : share);
    for (unsigned s = 0; s < parameters_.num_sched; ++s) {
      if (open && ((in.sms[m].issue_valid >> s) & 1U) != 0) ++sm.insts[in.sms[m].issue_kernel[s]];
    }
    sm.requests += in.sms[m].request ? 1 : 0;
    sm.ready += in.sm_ready[m] ? 1 : 0;
  }
}

void SampleScoreboard::move_ctas(const SluiceTopOut& out, const SluiceTopIn& in) {
  const bool late = parameters_.flush != 0 && in.done_tag != (in.done_kernel < tags_.size() ? tags_[in.done_kernel] : 0);
  if (in.done_valid && !late && in.done_sm < sms_.size() && in.done_slot < parameters_.max_ctas) {
    Sm& sm = sms_[in.done_sm];
    std::uint32_t& kernel = sm.kernel[in.done_slot];
    const bool at_port = out.dispatch_valid && out.dispatch_sm == in.done_sm && out.dispatch_slot == in.done_slot;
    if (kernel != 0 && !at_port) --sm.resident[std::exchange(kernel, 0) - 1];
  }
  if (out.flush_valid) give_up(out.flush_kernel);
  if (!out.dispatch_valid || !in.dispatch_ready) return;
  Sm& sm = sms_[out.dispatch_sm];
  ++sm.starts;
  sm.kernel[out.dispatch_slot] = out.dispatch_kernel + 1U;
  const std::uint32_t now = ++sm.resident[out.dispatch_kernel];
  sm.most[out.dispatch_kernel] = std::max(sm.most[out.dispatch_kernel], now);
}

/// An SM has no CTA of this kernel any more, from the word of the unit on.
void SampleScoreboard::give_up(std::size_t kernel) {
  tags_[kernel] = (tags_[kernel] + 1) % 16;
  for (Sm& sm : sms_) {
    for (std::uint32_t& slot : sm.kernel) {
      if (slot == kernel + 1) --sm.resident[std::exchange(slot, 0) - 1];
    }
  }
}

std::string SampleScoreboard::judge(const SluiceTopOut& out) {
  const std::size_t rank = out.profile_kernel, n = present_.size();
  if (rank >= n) return fmt::format("a sample of the {}. kernel of {}", rank + 1, n);
  const std::size_t share = parameters_.num_sm / n, more = parameters_.num_sm % n;
  const std::size_t first = rank * share + std::min(rank, more), sms = share + (rank < more ? 1 : 0);
  const std::size_t m = first + (out.profile_ctas - 1U) % sms, slot = present_[rank];
  const Sm& sm = sms_[m];
  std::uint32_t foreign = 0;
  for (std::size_t k = 0; k < parameters_.max_kernels; ++k) foreign += k == slot ? 0 : sm.most[k];
  const bool as_labelled = foreign == 0 && sm.most[slot] == out.profile_ctas;
  if (out.profile_scaled == 0) {
    ++dropped_;
    unclean_ += as_labelled ? 0 : 1;
    return {};
  }
  ++clean_;
  const bool starved = foreign == 0 && sm.most[slot] < out.profile_ctas &&
                       (free_port_ == 0 || std::uint64_t{16} * sm.starts >= cycles_ || 2 * sm.ready < cycles_);
  short_ += starved ? 1 : 0;
  if (!as_labelled && !starved)
    return fmt::format("sample of {} CTAs of kernel slot {} on SM {}: that held {} of them at most, and {} of others",
                       out.profile_ctas, slot, m, sm.most[slot], foreign);
  if (out.profile_scaled != entry_of(sm.insts[slot]))
    return fmt::format("sample of {} CTAs of kernel slot {} on SM {}: entry {:#x}, the ports say {} instructions: {:#x}",
                       out.profile_ctas, slot, m, out.profile_scaled, sm.insts[slot], entry_of(sm.insts[slot]));
  return {};
}

std::string SampleScoreboard::observe(const SluiceTopOut& out, const SluiceTopIn& in, const std::vector<std::size_t>& present,
                                      std::uint32_t share) {
  if (!in.rst_n) {
    *this = SampleScoreboard(parameters_);
    return {};
  }
  if (out.profile_window && !window_) begin_window(present);
  window_ = out.profile_window;
  if (window_) {
    count(in, share);
    free_port_ += out.dispatch_valid ? 0 : 1;
    ++cycles_;
  }
  std::string wrong;
  if (out.profile_valid) wrong = judge(out);
  move_ctas(out, in);
  return wrong;
}

}  // namespace sluice::tb
