#pragma once
#include <optional>
#include <vector>

#include "systemc/partition/i_cta_dispatcher.h"

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
  [[nodiscard]] SmSet operator&(const SmSet& other) const;

 private:
  static std::uint64_t bit(std::uint32_t sm) { return std::uint64_t{1} << (sm % 64); }
  [[nodiscard]] std::optional<std::uint32_t> first_from(std::uint32_t from) const;
  std::array<std::uint64_t, kMaxSms / 64> words_{};
};

/// The TLM twin of rtl/cta_dispatcher.sv: same answers, same cycles at the ports, written from docs/blocks/cta_dispatcher.md.
class TlmCtaDispatcher : public ICtaDispatcher {
 public:
  explicit TlmCtaDispatcher(const CtaDispatcherParams& params);

  [[nodiscard]] const CtaDispatcherOut& outputs() const override { return out_; }
  void clock(const CtaDispatcherIn& in) override;

  /// With these inputs, and no pulse, end of a CTA or change of quotas among them, clock() changes nothing, however often it
  /// is called: such cycles may be skipped.
  [[nodiscard]] bool quiet(const CtaDispatcherIn& in) const;

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
  };
  struct Sm {
    Amounts used;
    std::uint32_t ctas = 0;
    std::array<std::uint32_t, kMaxKernelSlots> resident{}, quota{};
    std::array<Slot, kMaxCtaSlots> slots{};
    Regions registers, shared;
  };
  struct Kernel {
    SlotState state = SlotState::Free;
    Amounts demand;
    std::uint32_t register_units = 0, shared_units = 0;
    std::uint32_t grid = 0, next = 0;
    std::uint64_t launched_at = 0;  ///< in launch order
    bool finished = false, held = false, evicting = false;
    std::uint32_t evict_left = 0;
  };
  struct Pick {
    std::uint32_t kernel = 0, sm = 0;
  };

  [[nodiscard]] Units units(std::uint32_t capacity) const;
  [[nodiscard]] bool fits_empty(const CtaDispatcherIn& in, std::uint32_t k) const;
  [[nodiscard]] SmSet eligible(std::uint32_t k) const;
  [[nodiscard]] bool may_take(std::uint32_t k) const;
  [[nodiscard]] std::optional<Pick> pick(const CtaDispatcherIn& in) const;
  [[nodiscard]] bool room(const CtaDispatcherIn& in, const Sm& sm, std::uint32_t k) const;
  [[nodiscard]] bool region_room(const CtaDispatcherIn& in, const Sm& sm, std::uint32_t k) const;
  static std::optional<std::uint32_t> first_fit(const Regions& regions, std::uint32_t length, std::uint32_t total);
  static std::uint32_t place(Regions& regions, std::uint32_t length, std::uint32_t total, std::uint32_t slot);
  static void release(Regions& regions, std::uint32_t slot);
  void clock_kernels(const CtaDispatcherIn& in, std::optional<std::uint32_t> taken, std::optional<std::uint32_t> given);
  void launch(const CtaDispatcherIn& in, std::uint32_t k);
  void refresh_outputs(const CtaDispatcherIn& in);

  CtaDispatcherParams params_;
  std::array<Kernel, kMaxKernelSlots> kernels_{};
  std::vector<Sm> sms_;
  std::array<SmSet, kMaxKernelSlots> room_{}, region_room_{};
  bool regions_ = false;  ///< in the cycle before: regions_i changes where nothing can be picked
  SmSet dirty_;
  std::uint32_t next_sm_ = 0, next_dirty_ = 0, next_kernel_ = 0;
  std::uint64_t launches_ = 0;
  // The CTA at the port.
  bool fresh_ = false, with_regions_ = false;
  std::optional<std::uint32_t> check_sm_;  ///< its regions were taken in the cycle before
  CtaDispatcherOut out_;
};

}  // namespace sluice
