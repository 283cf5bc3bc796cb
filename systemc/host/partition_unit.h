// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <systemc>
#include <utility>
#include <vector>

#include "sw/core/counters.h"
#include "sw/core/machine.h"
#include "sw/core/profile.h"
#include "systemc/sim/sim_clock.h"
#include "systemc/sm/streaming_multiprocessor.h"
#include "systemc/unit/ports/i_sluice_top.h"
#include "systemc/unit/ports/register_socket.h"

namespace sluice {

/// Where CTAs come and go, for a timeline. Cycles are core cycles.
class ICtaObserver {
 public:
  virtual ~ICtaObserver() = default;
  virtual void cta_ended(SmId sm, std::uint32_t slot, KernelId kernel, std::uint32_t cta, Cycles begin, Cycles end) = 0;
};

/// sluice_top between its neighbours in the GPU: the SMs, which it gives CTAs and which report ended CTAs, issued instructions
/// and stalls, and the host's register socket. Clocked once a core cycle after the SMs, but not in cycles in which nothing can
/// change.
class PartitionUnit : public sc_core::sc_module, public ISmListener {
 public:
  SC_HAS_PROCESS(PartitionUnit);
  PartitionUnit(const sc_core::sc_module_name& name, const MachineConfig& machine, SimClock clock,
                const std::vector<RunningKernel>& kernels, std::vector<KernelCounters>& counters,
                std::unique_ptr<ISluiceTop> top);

  RegisterSocket registers;  ///< of the unit: an access takes as many cycles as AXI4-Lite does

  void connect(std::vector<StreamingMultiprocessor*> sms) { sms_ = std::move(sms); }
  void observe(ICtaObserver* observer) { observer_ = observer; }
  /// What runs in a kernel slot from the next launch there on.
  void bind_slot(unsigned slot, KernelId kernel);
  /// Who is present from now on, oldest first: whom samples are of.
  void set_present(std::vector<KernelId> kernels) { present_ = std::move(kernels); }

  sc_core::sc_event irq_raised;
  sc_core::sc_event target_met;           ///< a kernel reached its target and has no CTA left on any SM
  sc_core::sc_event last_cta_dispatched;  ///< a kernel that runs once has no CTA left to dispatch
  [[nodiscard]] std::vector<KernelId> take_met();
  [[nodiscard]] std::vector<KernelId> take_issued() { return std::exchange(issued_, {}); }
  [[nodiscard]] bool any_issued() const { return !issued_.empty(); }
  [[nodiscard]] const std::vector<std::uint64_t>& began() const { return began_; }  ///< of each kernel: its first CTA, core cycle
  /// CTAs of the kernel's own grid that have begun, and that have ended.
  [[nodiscard]] std::uint64_t dispatched(KernelId kernel) const;
  [[nodiscard]] std::uint64_t completed(KernelId kernel) const;
  /// The source of a kernel that runs as persistent CTAs; null: an ordinary kernel.
  [[nodiscard]] PersistentSource* workers(KernelId kernel) const { return kernels_[kernel.value()].workers; }
  [[nodiscard]] bool any_met() const { return !met_.empty(); }
  [[nodiscard]] bool over(KernelId kernel) const { return over_[kernel.value()]; }
  [[nodiscard]] std::uint64_t ended(KernelId kernel) const { return counters_[kernel.value()].finish_cycle; }  ///< core cycle
  [[nodiscard]] bool irq() const { return irq_; }
  [[nodiscard]] bool done() const { return unfinished_ == 0; }

  /// What was last written to the performance table: scaled IPC of each present kernel, oldest first, at 1..n CTAs.
  [[nodiscard]] std::vector<Profile> profiles() const;
  /// The present kernels have not changed since the table and the interrupt: what the unit decided is about them.
  [[nodiscard]] bool decided_for_present() const { return decided_for_ == present_; }
  /// What the SMs did and held in the windows of that table, from the events at the unit's ports, in order of time.
  [[nodiscard]] const std::vector<ProfileSample>& samples() const { return samples_; }
  [[nodiscard]] std::uint64_t sampled_at() const { return sampled_at_; }  ///< end of the last profile window, core cycles
  [[nodiscard]] std::uint64_t irq_at() const { return irq_at_; }

  [[nodiscard]] const BalanceReport* balance() const { return top_->balance(); }

  void settle(std::uint64_t now);  ///< brings the residency integrals up to `now`
  std::uint64_t thread_cycles = 0, register_cycles = 0, shared_byte_cycles = 0;

  // ISmListener
  void cta_completed(SmId sm, KernelId kernel, std::uint32_t slot) override;
  void target_reached(KernelId kernel) override;
  void stores_acknowledged(KernelId kernel) override;

 private:
  struct ResidentCta {
    bool used = false;
    std::uint32_t kernel = 0, cta = 0;
    std::uint64_t begin = 0;
    std::uint8_t kernel_slot = 0, tag = 0;  ///< as dispatched
  };
  /// One SM in a profile window, by kernel.
  struct Watched {
    std::vector<std::uint32_t> resident, least, most;  ///< CTAs: now; fewest and most in the window
    std::vector<std::uint64_t> instructions;
    std::uint64_t stall_cycles = 0, requests = 0;
  };
  static constexpr std::uint32_t kNoKernel = ~0U;
  struct Ended {
    std::uint8_t sm = 0, slot = 0, kernel_slot = 0, tag = 0;
  };

  void arm();   ///< SC_METHOD: the unit's cycle comes after the SMs'
  void tick();  ///< SC_METHOD: one clock cycle of the unit
  void wake();  ///< SC_METHOD too: an access to the registers begins
  void end_met_kernels();
  void grid_completed(KernelId kernel);  ///< is the kernel over, or are its stores on their way?
  void worker_left(KernelId kernel);     ///< when its kernel has no CTA left to begin
  void dispatch(const SluiceTopOut& out);
  void trace_profile(const SluiceTopOut& out);
  void gather_activity(bool window);
  void begin_window();
  void move_resident(std::uint32_t sm, std::uint32_t kernel, int change);
  [[nodiscard]] std::optional<ProfileSample> sample(const SluiceTopOut& out) const;
  void end_cta(std::uint32_t sm, std::uint32_t slot);

  MachineConfig machine_;
  SimClock clock_;
  const std::vector<RunningKernel>& kernels_;
  std::vector<KernelCounters>& counters_;
  std::unique_ptr<ISluiceTop> top_;
  std::vector<StreamingMultiprocessor*> sms_;
  std::array<std::uint32_t, 8> slot_kernel_;        ///< kNoKernel: never bound, or its kernel went to another slot
  std::vector<std::vector<ResidentCta>> resident_;  ///< [SM][slot]
  std::vector<bool> over_, all_issued_;             ///< all_issued: of kernels that run as workers
  std::vector<bool> storing_;                       ///< CTAs are completed, stores are on their way
  std::vector<std::uint64_t> began_;
  std::vector<KernelId> reached_, met_, issued_;
  std::deque<Ended> ended_;
  std::uint32_t unfinished_;
  SluiceTopIn in_;
  std::uint64_t next_cycle_ = 0;  ///< the first the unit has not been clocked for
  bool irq_ = false;
  std::uint64_t irq_at_ = 0, sampled_at_ = 0;
  std::vector<Profile> profiles_;  ///< by kernel
  std::vector<KernelId> present_, decided_for_;
  std::vector<Watched> watched_;  ///< [SM]
  double next_begin_ = 0;         ///< cycle from which another CTA can begin
  bool in_window_ = false;
  std::vector<ProfileSample> samples_;
  std::uint64_t samples_from_ = 0;  ///< end of the first window of their profile
  SmResources in_use_total_;
  std::uint64_t settled_ = 0;
  sc_core::sc_event timer_, late_;
  ICtaObserver* observer_ = nullptr;
};

}  // namespace sluice
