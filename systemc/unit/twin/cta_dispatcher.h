// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "systemc/unit/ports/i_cta_dispatcher.h"

namespace sluice {

/// A set of SMs.
class SmSet {
 public:
  void insert(std::uint32_t sm) { words_[sm / 64] |= bit(sm); }
  void erase(std::uint32_t sm) { words_[sm / 64] &= ~bit(sm); }
  void put(std::uint32_t sm, bool member) { member ? insert(sm) : erase(sm); }
  void clear() { words_ = {}; }
  void fill(std::uint32_t num_sms);
  [[nodiscard]] bool contains(std::uint32_t sm) const { return (words_[sm / 64] & bit(sm)) != 0; }
  [[nodiscard]] bool empty() const;
  /// First member at or after `from`, else the first of all.
  [[nodiscard]] std::optional<std::uint32_t> next(std::uint32_t from) const;
  [[nodiscard]] SmSet without(const SmSet& other) const;
  bool operator==(const SmSet&) const = default;

 private:
  static std::uint64_t bit(std::uint32_t sm) { return std::uint64_t{1} << (sm % 64); }
  [[nodiscard]] std::optional<std::uint32_t> first_from(std::uint32_t from) const;
  std::array<std::uint64_t, kMaxSms / 64> words_{};
};

/// The twin of rtl/dispatch/cta_dispatcher.sv: same answers, same cycles at the ports, written from
/// docs/reference/blocks/cta_dispatcher.md.
class CtaDispatcherTwin : public ICtaDispatcher {
 public:
  explicit CtaDispatcherTwin(const CtaDispatcherParams& params);

  [[nodiscard]] const CtaDispatcherOut& outputs() const override { return out_; }
  void clock(const CtaDispatcherIn& in) override;

  /// With these inputs, and no pulse, end of a CTA, change of quotas or of who is ready among them, clock() changes nothing,
  /// however often it is called: such cycles may be skipped.
  [[nodiscard]] bool quiet(const CtaDispatcherIn& in) const;
  /// What it knows of the SMs' readiness changes with the next clock().
  [[nodiscard]] bool ready_changes(const CtaDispatcherIn& in) const;

 private:
  struct Amounts {
    std::uint32_t warps = 0, registers = 0, shared_bytes = 0;
  };
  /// A resource in units of a power of two.
  struct Units {
    std::uint32_t shift = 0, total = 0;
    [[nodiscard]] std::uint32_t of(std::uint32_t amount) const { return (amount + (1U << shift) - 1) >> shift; }
  };
  struct Region {
    std::uint32_t base = 0, length = 0;
    std::uint32_t slot = 0;
  };
  using Regions = std::vector<Region>;  ///< in order of their bases
  struct Slot {
    bool used = false;
    std::uint32_t kernel = 0;
    bool region = false;  ///< its place is known; else the SM chose it
  };
  /// What is compared of an SM, as it was read.
  struct Row {
    Amounts used;
    std::uint32_t ctas = 0;
    std::array<std::uint32_t, kMaxKernelSlots> resident{}, quota{};
  };
  struct Sm {
    Row row;
    std::array<Slot, kMaxCtaSlots> slots{};
    Regions registers, shared;
  };
  /// Largest gaps of an SM as they were read; an SM without regions has room for any, one that placed a CTA itself for none.
  struct Gaps {
    bool none_held = true, unknown = false;
    std::uint32_t registers = 0, shared = 0;
  };
  struct Kernel {
    SlotState state = SlotState::kFree;
    Amounts demand;
    std::uint32_t register_units = 0, shared_units = 0;
    std::uint32_t grid = 0, next = 0;
    std::uint32_t priority = 0;     ///< 0 without the option
    std::uint64_t launched_at = 0;  ///< in launch order
    bool finished = false, held = false, evicting = false;
    std::uint32_t evict_left = 0;
  };
  struct Pick {
    std::uint32_t kernel = 0, sm = 0;
  };
  /// A CTA behind its first cycle at the port: charged, then compared.
  struct Charge {
    std::uint32_t kernel = 0, sm = 0;
    Row row;  ///< with it
    bool stale = false, regions = false;
    std::array<bool, kMaxKernelSlots> regions_fit{};
  };
  /// The end of a CTA on its way.
  struct End {
    std::uint32_t sm = 0, slot = 0, kernel = 0;
    bool waits = false;  ///< it was at the port: has not started
  };

  /// Kernels whose CTAs are given up, one kernel after the other (docs/reference/blocks/flush.md).
  struct Flush {
    enum class State { kRest, kClose, kSettle, kWalk } state = State::kRest;
    std::uint32_t asked = 0;                       ///< mask
    std::uint32_t kernel = 0, sm = 0, waited = 0;  ///< waited: cycles for the port
    std::array<bool, kMaxCtaSlots> ended{};        ///< CTA slots of this SM that were ended
    std::optional<std::uint32_t> next;             ///< the one to be ended in this cycle
    std::array<std::uint8_t, kMaxKernelSlots> tags{};
    std::uint32_t fresh = ~0U;  ///< mask: no kernel since the reset
  };

  /// No kernel waits for ever (docs/reference/blocks/cta_dispatcher.md, Waiting). Masks of kernels; SMs.
  struct Guard {
    std::uint32_t timer = 0, mark = 0, urgent = 0;
    std::optional<std::uint32_t> claim, reserved;
    std::optional<std::uint32_t> found;  ///< SM that was read in the cycle before, with a quota of the claim
    /// The timer has begun anew since the SMs are read for the claim, or since the reserved one showed life.
    bool tired = false;
    std::uint32_t next = 0;  ///< first in the round
    SmSet hung;              ///< SMs that showed no life while they were reserved, and none since
    bool operator==(const Guard&) const = default;
  };

  [[nodiscard]] Units units(std::uint32_t capacity) const;
  [[nodiscard]] bool fits_empty(const CtaDispatcherIn& in, std::uint32_t k) const;
  [[nodiscard]] SmSet eligible(const CtaDispatcherIn& in, std::uint32_t k) const;
  [[nodiscard]] SmSet unready(const CtaDispatcherIn& in) const;  ///< in the next cycle
  [[nodiscard]] bool may_take(std::uint32_t k) const;
  [[nodiscard]] bool goes_before(const CtaDispatcherIn& in, std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] std::optional<Pick> pick(const CtaDispatcherIn& in) const;
  [[nodiscard]] bool full(const Row& row) const;  ///< as many CTAs of each kernel as its quota says
  [[nodiscard]] bool room(const CtaDispatcherIn& in, const Row& row, std::uint32_t k) const;
  [[nodiscard]] bool region_room(const CtaDispatcherIn& in, const Sm& sm, std::uint32_t k) const;
  [[nodiscard]] static std::uint32_t largest_gap(const Regions& regions, std::uint32_t total);
  static std::optional<std::uint32_t> first_fit(const Regions& regions, std::uint32_t length, std::uint32_t total);
  static std::uint32_t place(Regions& regions, std::uint32_t length, std::uint32_t total, std::uint32_t slot);
  static void release(Regions& regions, std::uint32_t slot);
  void clock_kernels(const CtaDispatcherIn& in, std::optional<std::uint32_t> taken, std::optional<std::uint32_t> counted,
                     std::optional<std::uint32_t> given);
  void launch(const CtaDispatcherIn& in, std::uint32_t k);
  [[nodiscard]] static std::uint32_t lowest_free_slot(const Sm& sm);
  void step(const CtaDispatcherIn& in, bool flushing);  ///< nothing is picked while a flush runs
  [[nodiscard]] std::uint32_t waiting(const CtaDispatcherIn& in) const;
  /// It is ready, or a CTA of it ends.
  [[nodiscard]] bool shows_life(const CtaDispatcherIn& in, std::uint32_t sm) const;
  [[nodiscard]] bool clock_guard(const CtaDispatcherIn& in, std::optional<std::uint32_t> taken, bool reads);
  void clock_flush(const CtaDispatcherIn& in);
  void refresh_flush();
  [[nodiscard]] bool takes_back() const;  ///< the CTA at the port, which has waited too long
  void next_tag(std::uint32_t kernel);
  [[nodiscard]] bool late(const CtaDispatcherIn& in) const;
  void answer(const CtaDispatcherIn& in);
  void compare(const CtaDispatcherIn& in);
  void charge(const CtaDispatcherIn& in);
  void seat(const CtaDispatcherIn& in);
  std::optional<std::uint32_t> end(const CtaDispatcherIn& in, bool runs);
  void read_next(const CtaDispatcherIn& in, std::optional<std::uint32_t> wanted);
  void refresh_outputs(const CtaDispatcherIn& in);

  CtaDispatcherParams params_;
  std::array<Kernel, kMaxKernelSlots> kernels_{};
  std::vector<Sm> sms_;
  std::array<SmSet, kMaxKernelSlots> room_{};
  SmSet dirty_, busy_;
  SmSet unready_;                      ///< SMs that were not ready in the cycle before, or whose CTA waited at the port
  std::optional<std::uint32_t> eval_;  ///< read in this cycle
  bool unanswered_ = false;            ///< because it was dirty
  bool answer_new_ = false;
  std::optional<std::uint32_t> answer_;  ///< the one whose answer is here, and
  Row answer_row_;                       ///< what was read of it
  Gaps answer_gaps_;
  std::uint32_t next_sm_ = 0, next_dirty_ = 0, next_kernel_ = 0;
  std::uint64_t launches_ = 0;
  std::array<std::uint64_t, kMaxKernelSlots> served_at_{};  ///< when a CTA of it was picked last, in picks
  std::uint64_t picks_ = 0;
  // The CTA at the port. In its first cycle there (fresh) its slot and regions are taken.
  bool fresh_ = false, with_regions_ = false;
  std::optional<std::uint32_t> last_picked_;  ///< its SM, until the port is free and nothing is picked
  std::optional<Charge> charging_, charged_;
  std::optional<End> ended_, left_, credited_;  ///< as it came; its slot is left; its kernel knows
  Flush flush_;
  Guard guard_;
  CtaDispatcherOut out_;
};

}  // namespace sluice
