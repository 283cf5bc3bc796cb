// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "sw/core/resources.h"
#include "sw/partition/region_allocator.h"

namespace sluice {

/// How one resource of an SM is divided for contiguous regions (docs/reference/blocks/region_allocator.md).
struct RegionUnits {
  std::uint32_t unit = 1;   ///< registers or bytes; a power of two
  std::uint32_t total = 0;  ///< whole units of the capacity

  [[nodiscard]] std::uint32_t of(std::uint32_t amount) const { return amount / unit + (amount % unit != 0 ? 1 : 0); }
};
/// The smallest power of two of which at most `max_units` make up `capacity`. @pre max_units > 0
[[nodiscard]] RegionUnits region_units(std::uint32_t capacity, std::uint32_t max_units);

/// What the CTA dispatcher may do, without time: kernel slots and their grids, admission on all four resources and a quota,
/// regions, eviction. The golden model of rtl/dispatch/cta_dispatcher.sv (docs/reference/blocks/cta_dispatcher.md): it does not
/// choose, it judges.
class DispatchModel {
 public:
  enum class State { Free, Running, Draining };
  enum class Verdict { Taken, SlotBusy, CannotFit, BadKernel };
  struct Launch {
    SmResources demand;  ///< of one CTA
    std::uint32_t grid = 0;
    std::uint32_t priority = 0;  ///< the highest goes first
  };
  struct Bases {
    std::uint32_t registers = 0, shared_bytes = 0;  ///< 0 without a region
  };

  /// @param max_region_units units that a resource is divided into for regions; 0: counts only
  /// @param tail a kernel is Draining as soon as its grid is issued
  DispatchModel(std::uint32_t num_sms, const SmResources& capacity, std::size_t kernel_slots, std::uint32_t max_region_units,
                bool tail = false);

  /// Another kind of SM. @pre every kernel slot is free
  void set_capacity(const SmResources& capacity);
  Verdict launch(std::size_t kernel, const Launch& launch);
  Verdict stop(std::size_t kernel);
  Verdict evict(std::size_t kernel, std::uint32_t count);
  void resume(std::size_t kernel);

  /// SMs that are not available are given no CTA; at first all are.
  void set_available(std::uint32_t sm, bool available) { sms_[sm].available = available; }

  /// No kernel of higher priority, or as high and launched before it, still has CTAs to issue: in order it is this one's turn
  /// (Left-Over).
  [[nodiscard]] bool in_turn(std::size_t kernel) const;
  /// The same among the kernels of its priority.
  [[nodiscard]] bool in_turn_of_its_priority(std::size_t kernel) const;
  [[nodiscard]] bool older(std::size_t kernel, std::size_t than) const { return kernels_[kernel].order < kernels_[than].order; }
  [[nodiscard]] std::uint32_t priority(std::size_t kernel) const { return kernels_[kernel].launch.priority; }
  /// One more CTA of the kernel is allowed on that SM. @param regions a contiguous region of each resource must be free, and
  /// every CTA there must have one
  [[nodiscard]] bool admissible(std::size_t kernel, std::uint32_t sm, CtaCount quota, bool regions) const {
    return sms_[sm].available && has_room(kernel, sm, quota, regions);
  }
  /// The same, were the SM available.
  [[nodiscard]] bool has_room(std::size_t kernel, std::uint32_t sm, CtaCount quota, bool regions) const;
  /// Takes the counts. @pre admissible. @param repeat the grid starts again behind its last CTA. @return the CTA's index in the
  /// grid. @param in_order a grid that starts again stands in line behind the other kernels
  std::uint32_t admit(std::size_t kernel, std::uint32_t sm, bool repeat, bool in_order);
  /// Takes a CTA slot for an admitted CTA: the lowest free one. @return it
  std::uint32_t seat(std::size_t kernel, std::uint32_t sm);
  /// Takes the regions of a seated CTA: the lowest gaps. @return nullopt when they do not fit
  std::optional<Bases> place(std::uint32_t sm, std::uint32_t slot);
  /// A CTA ended: its resources are free. @return its kernel; nullopt when that slot holds none
  std::optional<std::size_t> done(std::uint32_t sm, std::uint32_t slot);
  /// Its slot and regions may be taken again. @pre done
  void leave(std::uint32_t sm, std::uint32_t slot);
  /// Its kernel has one CTA less, and an eviction one less to wait for. @pre done
  void count_end(std::size_t kernel);

  /// Nothing of the kernel is resident and nothing will be: its slot becomes free with end().
  [[nodiscard]] bool ending(std::size_t kernel) const;
  void end(std::size_t kernel);
  /// An eviction is to be reported: enough CTAs have ended, or none is left.
  [[nodiscard]] bool evicted(std::size_t kernel) const;
  void report_eviction(std::size_t kernel);

  [[nodiscard]] State state(std::size_t kernel) const { return kernels_[kernel].state; }
  [[nodiscard]] bool evicting(std::size_t kernel) const { return kernels_[kernel].evicting; }
  [[nodiscard]] std::uint32_t resident(std::size_t kernel) const { return kernels_[kernel].resident; }
  [[nodiscard]] CtaCount resident(std::size_t kernel, std::uint32_t sm) const { return sms_[sm].resident[kernel]; }
  [[nodiscard]] std::uint32_t dispatched(std::size_t kernel) const { return kernels_[kernel].dispatched; }
  [[nodiscard]] bool holds(std::uint32_t sm, std::uint32_t slot) const {
    return sms_[sm].slots[slot].has_value() && !sms_[sm].slots[slot]->ended;
  }
  /// A CTA has one of its slots, or has had it until its end is known.
  [[nodiscard]] bool occupied(std::uint32_t sm) const;
  /// Whose CTA it is. @pre holds
  [[nodiscard]] std::size_t kernel(std::uint32_t sm, std::uint32_t slot) const { return sms_[sm].slots[slot]->kernel; }
  [[nodiscard]] const SmResources& free(std::uint32_t sm) const { return sms_[sm].free; }
  [[nodiscard]] const RegionAllocator& registers(std::uint32_t sm) const { return sms_[sm].registers; }
  [[nodiscard]] const RegionAllocator& shared(std::uint32_t sm) const { return sms_[sm].shared; }
  /// RUNNING kernels in launch order.
  [[nodiscard]] std::vector<std::size_t> present() const;

 private:
  struct Cta {
    std::size_t kernel = 0;
    bool placed = false, ended = false;
    std::uint32_t register_base = 0, shared_base = 0;  ///< as the allocators name them
  };
  struct Sm {
    SmResources free;
    std::vector<CtaCount> resident;
    std::vector<std::optional<Cta>> slots;
    RegionAllocator registers, shared;
    bool available = true;
  };
  struct Kernel {
    State state = State::Free;
    Launch launch;
    std::uint32_t next = 0, dispatched = 0, resident = 0;
    bool finished = false, held = false, evicting = false;
    std::uint32_t to_evict = 0;
    std::uint64_t order = 0;
  };

  [[nodiscard]] bool fits_empty(const SmResources& demand) const;
  [[nodiscard]] bool may_issue(const Kernel& kernel) const {
    return kernel.state == State::Running && !kernel.held && !kernel.finished;
  }

  SmResources capacity_;
  std::uint32_t num_sms_, max_region_units_;
  bool with_regions_, tail_;
  RegionUnits register_units_, shared_units_;
  std::vector<Kernel> kernels_;
  std::vector<Sm> sms_;
  std::uint64_t launches_ = 0;
};

}  // namespace sluice
