#pragma once
#include <cstdint>
#include <memory>
#include <systemc>
#include <vector>

#include "sw/core/machine.h"
#include "sw/device/i_device.h"
#include "sw/partition/region_allocator.h"
#include "systemc/sim_clock.h"
#include "systemc/sm/streaming_multiprocessor.h"

namespace sluice {

/// Where CTAs come and go, for a timeline. Cycles are core cycles.
class ICtaObserver {
 public:
  virtual ~ICtaObserver() = default;
  virtual void cta_ended(SmId sm, std::uint32_t slot, KernelId kernel, std::uint32_t cta, Cycles begin, Cycles end) = 0;
};

/// Gives CTAs to SMs, one a cycle, round robin over the SMs with room: admission on all four resources, quotas per SM and kernel.
/// A quota that shrinks drains, one that grows fills as others drain; nothing is killed but a kernel that is over.
/// Without quotas (Left-Over, FCFS) registers and shared memory are contiguous regions, first fit, and can fragment
/// (Warped-Slicer figure 2); quotas give every kernel its own regions, so that counting is exact.
class CtaDispatcher : public sc_core::sc_module, public ISmListener {
 public:
  SC_HAS_PROCESS(CtaDispatcher);
  CtaDispatcher(const sc_core::sc_module_name& name, const MachineConfig& machine, SimClock clock, DispatchMode mode,
                const std::vector<RunningKernel>& kernels, std::vector<KernelCounters>& counters, std::size_t num_kernels);

  void connect(std::vector<StreamingMultiprocessor*> sms) { sms_ = std::move(sms); }
  void observe(ICtaObserver* observer) { observer_ = observer; }

  void arrive(KernelId kernel);
  void set_quota(SmId sm, KernelId kernel, CtaCount quota);
  /// Every SM, no quota but the resources: for a kernel that is alone.
  void lift_quotas(KernelId kernel);
  [[nodiscard]] std::vector<KernelId> present() const;  ///< arrived, not over; in launch order
  [[nodiscard]] CtaCount resident(SmId sm, KernelId kernel) const { return per_sm_[sm.value()].resident[kernel.value()]; }
  [[nodiscard]] bool done() const { return unfinished_ == 0; }

  sc_core::sc_event kernels_changed;                                ///< a kernel arrived or ended
  [[nodiscard]] std::uint64_t changes() const { return changes_; }  ///< how many times that happened

  void settle(std::uint64_t now);  ///< brings the residency integrals up to `now`
  std::uint64_t thread_cycles = 0, register_cycles = 0, shared_byte_cycles = 0;

  // ISmListener
  void cta_completed(SmId sm, KernelId kernel, std::uint32_t slot) override;
  void target_reached(KernelId kernel) override;

 private:
  struct ResidentCta {
    bool used = false;
    std::uint32_t kernel = 0, cta = 0;
    std::uint64_t begin = 0;
    std::uint32_t register_base = 0, shared_base = 0;
  };
  struct PerSm {
    SmResources free;
    std::vector<CtaCount> resident, quota;
    std::vector<ResidentCta> slots;
    RegionAllocator registers, shared;
  };
  struct PerKernel {
    bool arrived = false, over = false;
    std::uint32_t next_cta = 0;
  };

  void dispatch();     ///< SC_METHOD: one CTA a cycle while something fits
  void end_kernels();  ///< SC_METHOD: kernels whose target was reached leave with all their CTAs
  bool dispatch_one();
  bool try_launch(SmId sm, KernelId kernel);
  void release(PerSm& sm, std::uint32_t slot, SmId id);
  [[nodiscard]] std::vector<KernelId> service_order() const;
  void wake() { wake_.notify(clock_.cycles(1)); }
  void announce_change();

  MachineConfig machine_;
  SimClock clock_;
  DispatchMode mode_;
  bool contiguous_;
  const std::vector<RunningKernel>& kernels_;
  std::vector<KernelCounters>& counters_;
  std::vector<StreamingMultiprocessor*> sms_;
  std::vector<PerSm> per_sm_;
  std::vector<PerKernel> per_kernel_;
  std::vector<KernelId> reached_;
  std::uint32_t next_sm_ = 0;
  std::uint32_t unfinished_ = 0;
  std::uint64_t settled_ = 0, changes_ = 0;
  SmResources in_use_total_;
  sc_core::sc_event wake_, end_;
  ICtaObserver* observer_ = nullptr;
};

}  // namespace sluice
