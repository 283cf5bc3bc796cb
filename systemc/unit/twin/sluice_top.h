// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <vector>

#include "systemc/unit/ports/i_sluice_top.h"
#include "systemc/unit/twin/balance_mode.h"
#include "systemc/unit/twin/cta_dispatcher.h"
#include "systemc/unit/twin/cta_spacing.h"
#include "systemc/unit/twin/launch_queue.h"
#include "systemc/unit/twin/partition_core.h"
#include "systemc/unit/twin/partition_sequencer.h"
#include "systemc/unit/twin/phase_monitor.h"
#include "systemc/unit/twin/sluice_csr.h"

namespace sluice {

/// The twin of rtl/sluice_top.sv: the twins of its blocks, wired as docs/reference/blocks/sluice_top.md says.
class SluiceTopTwin : public ISluiceTop {
 public:
  explicit SluiceTopTwin(const regs::Parameters& parameters, const std::optional<BalanceConfig>& balance = std::nullopt)
      : parameters_(parameters),
        balance_(balance),
        csr_(parameters, balance.has_value()),
        dispatcher_(dispatcher_params(parameters)),
        spacing_(dispatcher_params(parameters), balance.value_or(BalanceConfig()).spacing),
        sequencer_(parameters, balance),
        balance_unit_(parameters),
        monitor_(parameters.max_kernels),
        counters_(parameters.num_sm),
        queue_(parameters.launch_queue) {
    refresh();
  }

  [[nodiscard]] const SluiceTopOut& outputs() const override { return out_; }

  void clock(const SluiceTopIn& in) override {
    if (!in.rst_n) {
      CtaDispatcherTwin dispatcher = dispatcher_;  // its tags may outlive the reset
      *this = SluiceTopTwin(parameters_, balance_);
      to_dispatcher_.rst_n = false;
      to_dispatcher_.keep_tags = in.keep_tags;
      dispatcher.clock(to_dispatcher_);
      dispatcher_ = dispatcher;
      to_dispatcher_ = {};
      return;
    }
    const SluiceConfig config = csr_.out().config;
    const CtaDispatcherOut dispatched = dispatcher_.outputs();
    const SluiceConfig* of_sequencer = &config;
    SluiceConfig changed;
    if (parameters_.balance != 0) {
      changed = config;
      if (config.mode == static_cast<std::uint8_t>(Mode::Balance)) changed.mode = static_cast<std::uint8_t>(Mode::Dynamic);
      changed.reprofile = config.reprofile && !balance_unit_.measures();
      of_sequencer = &changed;
    }
    const SequencerOut by_sequencer = sequencer_.out(*of_sequencer);
    const SequencerOut sequenced = replaced(by_sequencer, config);

    SequencerIn to_sequencer;
    to_sequencer.age = dispatched.age;
    to_sequencer.num_present = dispatched.num_present;
    to_sequencer.change = dispatched.change;
    to_sequencer.monitor_request = monitor_.request() && !balance_unit_.measures();
    to_sequencer.spent = dispatched.spent;
    to_sequencer.settled = dispatched.settled;
    const bool restarts = sequencer_.restarts(*of_sequencer, to_sequencer);
    const std::uint32_t offered = sample_;
    to_sequencer.core = clock_core(by_sequencer, restarts);
    if (to_sequencer.core.done) decided_ = to_sequencer.core;

    clock_counters(in, config, sequenced);
    if (const auto sm = balance_unit_.active() ? balance_unit_.reads(config, dispatched.settled) : sequencer_.reads())
      to_sequencer.counted = sample_ = counters_[*sm].insts;
    clock_monitor(in, config, sequenced);
    to_dispatcher_ = dispatcher_inputs(in, config, sequenced);
    spacing_.clock(sequencer_.one_by_one(*of_sequencer), dispatched, to_dispatcher_);
    const bool rests = rests_ && !in.axi.awvalid && !in.axi.wvalid && !in.axi.arvalid && !in.done_valid &&
                       !dispatcher_.ready_changes(to_dispatcher_) && !(parameters_.launch_queue != 0 && in.launch.valid);
    const SluiceCsrStatus reported = status(dispatched, sequenced);
    const auto takes = clock_launches(in, config, dispatched);
    dispatcher_.clock(to_dispatcher_);
    csr_.clock({true, in.axi, reported, takes});
    if (parameters_.balance != 0) {
      SequencerIn to_balance = to_sequencer;
      to_balance.core = decided_;
      balance_unit_.clock(config, by_sequencer, to_balance, restarts, offered);
    }
    sequencer_.clock(*of_sequencer, to_sequencer);
    refresh();
    out_.idle = rests;
  }

  void skip(std::uint64_t cycles) override { spacing_.skip(cycles); }  // nothing else there could notice
  [[nodiscard]] bool counts_activity() const override { return counting_; }
  void wish(unsigned slot, const BalanceWish& wish) override { sequencer_.wish(slot, wish); }
  [[nodiscard]] const BalanceReport* balance() const override { return sequencer_.balance(); }

  // What happens inside, for scoreboards: as it stands in this cycle.
  [[nodiscard]] const SluiceConfig& config() const { return csr_.out().config; }
  [[nodiscard]] const CtaDispatcherOut& dispatcher() const { return dispatcher_.outputs(); }
  [[nodiscard]] SequencerOut sequencer() const { return replaced(sequencer_.out(csr_.out().config), csr_.out().config); }
  [[nodiscard]] std::uint32_t quota(std::uint32_t sm, std::uint32_t kernel) const {
    return balance_unit_.active() ? balance_unit_.quota(sm, kernel) : sequencer_.quota(csr_.out().config, sm, kernel);
  }
  [[nodiscard]] static CtaDispatcherParams dispatcher_params(const regs::Parameters& p) {
    return {p.num_sm,        p.max_kernels, p.max_ctas, p.region_units,  p.sm_enable != 0,
            p.sm_ready != 0, p.flush,       p.patience, p.priority != 0, p.tail != 0};
  }
  /// What the dispatcher was given in the last clock().
  [[nodiscard]] const CtaDispatcherIn& dispatcher_in() const { return to_dispatcher_; }

 private:
  using State = regs::SequencerState;

  /// With mode Balance in the unit: another block may say what the sequencer would.
  [[nodiscard]] SequencerOut replaced(SequencerOut out, const SluiceConfig& config) const {
    if (parameters_.balance != 0) balance_unit_.replace(out, config);
    return out;
  }

  static std::uint8_t mask_of(const PerKernel<bool>& bits) {
    unsigned mask = 0;
    for (unsigned k = 0; k < bits.size(); ++k) mask |= static_cast<unsigned>(bits[k]) << k;
    return static_cast<std::uint8_t>(mask);
  }
  [[nodiscard]] bool dispatcher_settled() const {
    const SluiceConfig& config = csr_.out().config;
    return dispatcher_.quiet(dispatcher_inputs(SluiceTopIn(), config, sequencer()));
  }

  static constexpr std::uint32_t kMaxShare = 8192;  ///< lines, of REQUEST_SHARE = 0
  /// docs/reference/blocks/profile_counters.md
  struct Counters {
    std::uint32_t insts = 0;     ///< of the SM's owner, while it is within its ceiling
    std::uint32_t requests = 0;  ///< so far
    bool open = true;
  };

  PartitionCoreOut clock_core(const SequencerOut& sequenced, bool abort) {
    if (parameters_.balance == 2) return sequencer_.even();
    const auto state = static_cast<State>(sequenced.state);
    const bool listened_to =
        state == State::kProfile || state == State::kScale || state == State::kAllocate || state == State::kDelay;
    if (!listened_to && !sequenced.core.start && !abort && core_.settled()) return {};
    PartitionCoreIn in = sequenced.core;
    in.abort = abort;
    if (in.sample_valid && !sequenced.drop) in.sample_warp_insts = sample_;
    return core_.cycle(in);
  }

  void clock_counters(const SluiceTopIn& in, const SluiceConfig& config, const SequencerOut& sequenced) {
    if (sequenced.profile_clear) std::ranges::fill(counters_, Counters());
    if (!sequenced.profile_enable || in.sms.empty()) return;
    const bool most = config.request_share == 0 || (sequenced.on_all && parameters_.balance != 0);
    const std::uint32_t share = most ? kMaxShare : config.request_share;
    for (std::size_t m = 0; m < counters_.size(); ++m) {
      Counters& counters = counters_[m];
      const auto sm = static_cast<std::uint32_t>(m);
      const auto owner = balance_unit_.active() ? balance_unit_.owner(sm) : sequencer_.owner(sm);
      for (unsigned s = 0; counters.open && s < parameters_.num_sched; ++s)
        counters.insts += ((in.sms[m].issue_valid >> s) & 1U) != 0 && owner && in.sms[m].issue_kernel[s] == *owner ? 1U : 0U;
      if (parameters_.balance != 2 && in.sms[m].request && ++counters.requests == share && !(sequenced.on_all && balance_))
        counters.open = false;
    }
  }

  void clock_monitor(const SluiceTopIn& in, const SluiceConfig& config, const SequencerOut& sequenced) {
    PerKernel<unsigned> issued{};
    const bool active = sequenced.monitoring && config.monitor_enable;
    for (unsigned k = 0; active && !in.sms.empty() && k < parameters_.max_kernels; ++k) {
      if (!sequenced.watch[k]) continue;
      const SmActivity& sm = in.sms[sequenced.watch_sm[k]];
      for (unsigned s = 0; s < parameters_.num_sched; ++s)
        issued[k] += ((sm.issue_valid >> s) & 1U) != 0 && sm.issue_kernel[s] == k ? 1 : 0;
    }
    monitor_.clock(config, active, watched_);
    watched_ = issued;
  }

  CtaDispatcherIn dispatcher_inputs(const SluiceTopIn& in, const SluiceConfig& config, const SequencerOut& sequenced) const {
    CtaDispatcherIn to;
    to.capacity_warps = config.capacity_warps;
    to.capacity_registers = config.capacity_registers;
    to.capacity_shared_bytes = config.capacity_shared;
    to.capacity_slots = config.capacity_slots;
    to.demand_warps = config.demand_warps;
    to.demand_registers = config.demand_registers;
    to.demand_shared_bytes = config.demand_shared;
    to.grid = config.grid;
    to.priority = config.priority;
    to.repeat = mask_of(config.repeat);
    to.launch = mask_of(config.launch);
    to.stop = mask_of(config.stop);
    to.evict = mask_of(config.evict);
    to.resume = mask_of(config.resume);
    to.flush = mask_of(config.flush);
    to.evict_count = config.evict_count;
    to.round_robin = sequenced.round_robin;
    to.in_order = sequenced.in_order;
    to.regions = sequenced.regions;
    to.quota_changed = sequenced.quota_changed;
    to.profiling = sequenced.profiling;
    for (unsigned k = 0; k < parameters_.max_kernels; ++k) {
      to.quota[k] = static_cast<std::uint8_t>(quota(dispatcher_.outputs().query_sm, k));
      to.port_quota[k] = static_cast<std::uint8_t>(quota(dispatcher_.outputs().dispatch_sm, k));
    }
    for (unsigned k = 0; spacing_.any() && k < parameters_.max_kernels; ++k) to.waits[k] = spacing_.waits(k);
    to.sm_enable = config.sm_enable;
    to.sm_ready = in.sm_ready;
    to.dispatch_ready = in.dispatch_ready;
    to.done_valid = in.done_valid;
    to.done_sm = in.done_sm;
    to.done_slot = in.done_slot;
    to.done_kernel = in.done_kernel;
    to.done_tag = in.done_tag;
    return to;
  }

  /// Kernel slots to which a launch of the port may go.
  [[nodiscard]] std::uint32_t free_port_slots() const {
    std::uint32_t free = csr_.out().config.port_slots;
    for (unsigned k = 0; k < parameters_.max_kernels; ++k)
      if (dispatcher_.outputs().state[k] != regs::SlotState::kFree) free &= ~(1U << k);
    return free;
  }
  /// The launch that goes to a slot in this cycle; and slots that the host launches have no launch of the port any more.
  std::optional<SluiceCsrTake> clock_launches(const SluiceTopIn& in, const SluiceConfig& config,
                                              const CtaDispatcherOut& dispatched) {
    for (unsigned k = 0; k < parameters_.max_kernels; ++k)
      if (config.launch[k] && dispatched.state[k] == regs::SlotState::kFree && queue_.taken() != k) walker_.launch_of_the_host(k);
    const auto purge = csr_.purges();
    const auto taken = queue_.take(in.launch, free_port_slots(), purge);
    queue_.clock(in.launch, taken, purge);
    if (!taken) return std::nullopt;
    walker_.take(*taken);
    const LaunchRequest& l = taken->launch;
    return SluiceCsrTake{taken->slot, l.warps, l.registers, l.shared_bytes, l.ctas, l.priority};
  }

  SluiceCsrStatus status(const CtaDispatcherOut& dispatched, const SequencerOut& sequenced) const {
    SluiceCsrStatus status;
    for (unsigned k = 0; k < kMaxKernelSlots; ++k) {
      status.tags[k] = walker_.tags(k);
      status.slot_state[k] = static_cast<std::uint8_t>(dispatched.state[k]);
      status.evict_done[k] = ((dispatched.evict_done >> k) & 1U) != 0;
      status.kernel_done[k] = ((dispatched.kernel_done >> k) & 1U) != 0;
    }
    status.resident = dispatched.resident;
    status.dispatched = dispatched.dispatched;
    status.num_present = dispatched.num_present;
    status.ctas = sequenced.ctas;
    status.sm_busy = dispatched.sm_busy;
    status.queue = queue_.waiting();
    status.sequencer_state = sequenced.state;
    status.decision = sequenced.decision;
    status.spatial = sequenced.spatial;
    status.no_fit = sequenced.no_fit;
    status.dropped = sequenced.dropped;
    status.no_profile = sequenced.no_profile;
    status.error = static_cast<std::uint8_t>((dispatched.bad_done ? 1 : 0) | (dispatched.cannot_fit ? 2 : 0) |
                                             (dispatched.slot_busy ? 4 : 0) | (dispatched.bad_kernel ? 8 : 0) |
                                             (dispatched.port_stuck ? 16 : 0));
    status.error_kernel = dispatched.error_kernel;
    status.error_sm = dispatched.error_sm;
    status.error_slot = dispatched.error_slot;
    if (parameters_.balance != 0) {
      status.balance = balance_unit_.status();
      for (std::uint32_t e = 0; e < status.scores.size(); ++e) status.scores[e] = balance_unit_.score(e);
    }
    status.fell_back = sequenced.regions && csr_.out().config.mode > static_cast<std::uint8_t>(Mode::Fcfs);
    return status;
  }

  void refresh() {
    const SluiceCsrOut& csr = csr_.out();
    const CtaDispatcherOut& dispatched = dispatcher_.outputs();
    const SequencerOut sequenced = sequencer();
    out_.axi = csr.axi;
    out_.irq = csr.irq;
    out_.dispatch_valid = dispatched.dispatch_valid;
    out_.dispatch_sm = dispatched.dispatch_sm;
    out_.dispatch_kernel = dispatched.dispatch_kernel;
    out_.dispatch_slot = dispatched.dispatch_slot;
    out_.dispatch_cta = dispatched.dispatch_cta;
    out_.dispatch_register_base = dispatched.dispatch_register_base;
    out_.dispatch_shared_base = dispatched.dispatch_shared_base;
    out_.dispatch_region_valid = dispatched.dispatch_region_valid;
    out_.dispatch_place =
        parameters_.launch_queue != 0 ? walker_.place(dispatched.dispatch_kernel, dispatched.dispatch_cta) : GridPlace();
    out_.dispatch_tag = dispatched.dispatch_tag;
    out_.flush_valid = dispatched.flush_valid;
    out_.flush_kernel = dispatched.flush_kernel;
    out_.flush_tag = dispatched.flush_tag;
    out_.launch_ready = queue_.ready();
    out_.launched_valid = queue_.told() || queue_.back_told();
    out_.launched_flushed = queue_.back_told();
    out_.launched_kernel = static_cast<std::uint8_t>(queue_.told().value_or(0));
    out_.launched_refused = queue_.told() && dispatched.state[*queue_.told()] == regs::SlotState::kFree;
    out_.kernel_done = dispatched.kernel_done;
    out_.profile_window = sequenced.profile_enable;
    const PartitionCoreTwin::Scaled* writing = core_.writing();
    out_.profile_valid = writing != nullptr;
    if (writing != nullptr) {
      out_.profile_kernel = static_cast<std::uint8_t>(writing->kernel);
      out_.profile_ctas = static_cast<std::uint8_t>(writing->ctas);
      out_.profile_scaled = static_cast<std::uint32_t>(writing->value);
    }
    const bool monitors = sequenced.monitoring && csr.config.monitor_enable;
    rests_ = csr_.idle() && !queue_.stirs(free_port_slots()) && dispatcher_settled() && sequenced.idle && core_.settled() &&
             !monitors && !spacing_.any();
    counting_ = sequenced.profile_enable || monitors;
  }

  regs::Parameters parameters_;
  std::optional<BalanceConfig> balance_;
  SluiceCsrTwin csr_;
  CtaDispatcherTwin dispatcher_;
  CtaSpacing spacing_;
  PartitionSequencerTwin sequencer_;
  BalanceModeTwin balance_unit_;
  PartitionCoreOut decided_;  ///< what the core said last
  PartitionCoreTwin core_;
  PhaseMonitorTwin monitor_;
  std::vector<Counters> counters_;
  LaunchQueueTwin queue_;
  GridWalkerTwin walker_;
  std::uint32_t sample_ = 0;       ///< instructions of the sample that the core is offered
  PerKernel<unsigned> watched_{};  ///< what each kernel issued in the cycle before
  bool rests_ = true;              ///< no block changes anything in this cycle without an input
  CtaDispatcherIn to_dispatcher_;
  bool counting_ = false;
  SluiceTopOut out_;
};

}  // namespace sluice
