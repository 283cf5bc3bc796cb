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
  for (Sm& sm : sms_) {
    sm.insts = {};
    sm.nobody = sm.younger = {};
    sm.requests = 0;
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
  }
}

/// By age among the present, the kernel in whose range an SM is; as many as there are where the SMs are not shared out.
std::size_t SampleScoreboard::rank_of(std::size_t sm) const {
  const std::size_t n = present_.size();
  for (std::size_t rank = 0, first = 0; rank < n; ++rank) {
    first += parameters_.num_sm / n + (rank < parameters_.num_sm % n ? 1 : 0);
    if (sm < first) return rank;
  }
  return n;
}

/// This kernel goes behind the one of that rank.
bool SampleScoreboard::goes_behind(std::size_t kernel, std::size_t rank) const {
  if (rank == present_.size()) return false;
  const std::size_t owner = present_[rank];
  if (priority_[kernel] != priority_[owner]) return priority_[kernel] < priority_[owner];
  return static_cast<std::size_t>(std::ranges::find(present_, kernel) - present_.begin()) > rank;
}

/// Where the pick of the cycle before went: it is new at the port in this one. An SM that could have had it notes if nobody did,
/// or a kernel that goes behind its own.
void SampleScoreboard::follow_picks(const SluiceTopOut& out) {
  const bool picked = out.dispatch_valid && !waited_;
  // With PATIENCE a kernel that holds no CTA anywhere may go first.
  const bool may_claim = parameters_.patience != 0 &&
                         std::ranges::all_of(sms_, [&out](const Sm& sm) { return sm.resident[out.dispatch_kernel] == 0; });
  for (std::size_t m = 0; m < sms_.size(); ++m) {
    Sm& sm = sms_[m];
    if (!sm.pickable) continue;
    if (!picked) sm.nobody[sm.holds] = std::max(sm.nobody[sm.holds], sm.since);
    if (picked && !may_claim && goes_behind(out.dispatch_kernel, rank_of(m)))
      sm.younger[sm.holds] = std::max(sm.younger[sm.holds], sm.since);
  }
}

/// Whether each SM could be picked in this cycle, as its last word allows (docs/reference/blocks/cta_dispatcher.md, Available
/// SMs).
void SampleScoreboard::note_pickable(const SluiceTopOut& out, const SluiceTopIn& in) {
  const bool fresh = out.dispatch_valid && !waited_;
  const bool free = !out.dispatch_valid || in.dispatch_ready;
  for (std::size_t m = 0; m < sms_.size(); ++m) {
    Sm& sm = sms_[m];
    const bool at_port = out.dispatch_valid && out.dispatch_sm == m;
    const bool happens = (in.done_valid && in.done_sm == m) || (fresh && at_port);
    sm.since = happens ? 0 : sm.since + 1;
    sm.holds = at_port ? 1 : 0;
    for (const std::uint32_t ctas : sm.resident) sm.holds += ctas;
    sm.pickable = window_ && free && sm.available;
    sm.available = parameters_.sm_ready == 0 || (in.sm_ready[m] && !at_port);
  }
  waited_ = out.dispatch_valid && !in.dispatch_ready;
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
  std::size_t first = 0, end = 0;  // SMs of the kernel
  while (rank_of(first) < rank) ++first;
  for (end = first; end < sms_.size() && rank_of(end) == rank;) ++end;
  const std::size_t m = first + (out.profile_ctas - 1U) % (end - first), slot = present_[rank];
  const Sm& sm = sms_[m];
  std::uint32_t foreign = 0;
  for (std::size_t k = 0; k < parameters_.max_kernels; ++k) foreign += k == slot ? 0 : sm.most[k];
  if (out.profile_scaled == 0) {
    ++dropped_;
    unclean_ += foreign == 0 && sm.most[slot] == out.profile_ctas ? 0 : 1;
    return {};
  }
  ++clean_;
  never_full_ += sm.most[slot] < out.profile_ctas ? 1 : 0;
  const std::string sample = fmt::format("sample of {} CTAs of kernel slot {} on SM {}", out.profile_ctas, slot, m);
  if (foreign != 0 || sm.most[slot] > out.profile_ctas)
    return fmt::format("{}: that held {} of them at most, and {} of others", sample, sm.most[slot], foreign);
  for (std::uint32_t ctas = 0; ctas < out.profile_ctas; ++ctas) {
    longest_refill_ = std::max(longest_refill_, sm.nobody[ctas]);
    if (sm.nobody[ctas] >= refill())
      return fmt::format("{}: with {} of them, nobody was picked {} cycles after its last end or start: fewer than {}", sample,
                         ctas, sm.nobody[ctas], refill());
    if (sm.younger[ctas] >= refill())
      return fmt::format("{}: with {} of them, a kernel that goes behind it was picked {} cycles after its last end or start",
                         sample, ctas, sm.younger[ctas]);
  }
  if (out.profile_scaled != entry_of(sm.insts[slot]))
    return fmt::format("{}: entry {:#x}, the ports say {} instructions: {:#x}", sample, out.profile_scaled, sm.insts[slot],
                       entry_of(sm.insts[slot]));
  return {};
}

std::string SampleScoreboard::observe(const SluiceTopOut& out, const SluiceTopIn& in, const std::vector<std::size_t>& present,
                                      std::uint32_t share, const std::array<std::uint8_t, kMaxKernelSlots>& priority) {
  if (!in.rst_n) {
    *this = SampleScoreboard(parameters_);
    return {};
  }
  if (window_) follow_picks(out);
  priority_ = priority;
  if (out.profile_window && !window_) begin_window(present);
  window_ = out.profile_window;
  note_pickable(out, in);
  if (window_) count(in, share);
  std::string wrong;
  if (out.profile_valid) wrong = judge(out);
  move_ctas(out, in);
  return wrong;
}

}  // namespace sluice::tb
