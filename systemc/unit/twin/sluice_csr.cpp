// SPDX-License-Identifier: Apache-2.0
#include "systemc/unit/twin/sluice_csr.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace sluice {

namespace {

constexpr std::uint32_t kMasks = 8;   // registers with a bit an SM
constexpr std::uint8_t kNone = 0xff;  // no register at an address

bool is_slot(std::uint32_t address) { return address >= regs::kSlotBase; }
std::uint8_t slot_of(std::uint32_t address) {
  return static_cast<std::uint8_t>(is_slot(address) ? (address - regs::kSlotBase) / regs::kSlotStride : 0);
}
std::uint32_t offset_of(std::uint32_t address) { return (address - regs::kSlotBase) % regs::kSlotStride; }
bool is_sm_enable(std::uint32_t address) { return address >= regs::kSmEnable && address < regs::kSmEnable + 4 * kMasks; }
bool is_sm_busy(std::uint32_t address) { return address >= regs::kSmBusy && address < regs::kSmBusy + 4 * kMasks; }
bool is_mask(std::uint32_t address) { return is_slot(address) && offset_of(address) >= regs::kSlotMask; }

bool is_free(const SluiceCsrStatus& status, unsigned kernel) {
  return status.slot_state[kernel] == static_cast<std::uint8_t>(regs::SlotState::kFree);
}
bool deciding(const SluiceCsrStatus& status) {
  return status.sequencer_state != static_cast<std::uint8_t>(regs::SequencerState::kIdle) &&
         status.sequencer_state != static_cast<std::uint8_t>(regs::SequencerState::kMonitor);
}

}  // namespace

SluiceCsrTwin::SluiceCsrTwin(const regs::Parameters& parameters, bool has_balance)
    : parameters_(parameters), has_balance_(has_balance || parameters.balance != 0), registers_(regs::registers(parameters)) {
  index_.fill(kNone);
  for (std::size_t i = 0; i < registers_.size(); ++i) index_[registers_[i].address / 4] = static_cast<std::uint8_t>(i);
  reset();
}

void SluiceCsrTwin::reset() {
  for (const regs::RegisterInfo& info : registers_) {
    word(info.address) = 0;
    for (const regs::FieldInfo& field : info.fields) word(info.address) |= field.bits.put(field.reset);
    if (info.sms) word(info.address) &= existing_sms(info.address);
  }
  word(regs::kDoneEnable) &= existing_slots();
  held_address_.reset();
  held_data_.reset();
  reading_.reset();
  purged_.reset();
  judged_ = false;
  waiting_ = {};
  out_ = {};
  update_config();
  update_handshakes();
}

const regs::RegisterInfo* SluiceCsrTwin::find(std::uint32_t address) const {
  const std::uint8_t index = address % 4 == 0 ? index_[address / 4] : kNone;
  return index == kNone ? nullptr : &registers_[index];
}

std::uint32_t SluiceCsrTwin::existing_sms(std::uint32_t address) const {
  const std::uint32_t first = 32 * (address / 4 % 8);  // such registers come in aligned groups of eight
  if (first >= parameters_.num_sm) return 0;
  const std::uint32_t count = parameters_.num_sm - first;
  return count >= 32 ? ~0U : (1U << count) - 1;
}

bool SluiceCsrTwin::idle() const {
  const auto any = [](const PerKernel<bool>& bits) { return std::ranges::any_of(bits, [](bool bit) { return bit; }); };
  const SluiceConfig& config = out_.config;
  const bool pulses = config.mode_write || config.static_write || config.reprofile || config.enable_write || any(config.launch) ||
                      any(config.stop) || any(config.evict) || any(config.resume) || any(config.flush);
  return !pulses && !held_address_ && !held_data_ && !out_.axi.bvalid && !reading_ && !out_.axi.rvalid;
}

std::optional<SluiceCsrPurge> SluiceCsrTwin::purges() const {
  const bool acts = judged_ && !out_.axi.bvalid && held_full_strobe_ && held_address_ == regs::kControl;
  if (!acts || parameters_.flush == 0) return std::nullopt;
  const bool all = regs::kControlFlushAll.get(*held_data_) != 0;
  if (!all && regs::kControlFlushContext.get(*held_data_) == 0) return std::nullopt;
  return SluiceCsrPurge{all, regs::kControlContext.get(*held_data_)};
}

SluiceCsrOut SluiceCsrTwin::cycle(const SluiceCsrIn& in) {
  if (!in.rst_n) reset();
  const SluiceCsrOut before = out_;
  clock(in);
  return before;
}

void SluiceCsrTwin::clock(const SluiceCsrIn& in) {
  if (!in.rst_n) {
    reset();
    return;
  }
  const AxiLiteOut shown = out_.axi;
  const bool mode_in_decision = out_.config.mode_write && deciding(in.status);
  const std::uint32_t done_enable = word(regs::kDoneEnable);  // before a write of this cycle

  // A read sees the registers of the cycle after its address was taken.
  if (shown.rvalid && in.axi.rready) out_.axi.rvalid = false;
  if (reading_) {
    const std::optional<std::uint32_t> data = read(*reading_, in.status);
    out_.axi.rvalid = true;
    out_.axi.rdata = data.value_or(0);
    out_.axi.rresp = data ? AxiResponse::kOkay : AxiResponse::kSlvErr;
    reading_.reset();
  }
  if (in.axi.arvalid && shown.arready) reading_ = in.axi.araddr;

  for (unsigned k = 0; k < parameters_.max_kernels; ++k) waiting_[k] = waiting_[k] && !is_ports(k);
  // A command lasts one cycle.
  SluiceConfig& config = out_.config;
  config.mode_write = config.static_write = config.reprofile = config.enable_write = false;
  launching_ = config.launch;
  config.launch = config.stop = config.evict = config.resume = config.flush = {};
  for (unsigned k = 0; purged_ && k < parameters_.max_kernels; ++k) {
    const bool meets =
        purged_->all || (parameters_.launch_queue != 0 && purged_->meets(regs::kSlotTagsContext.get(in.status.tags[k])));
    config.flush[k] = meets && !is_free(in.status, k);
  }
  purged_ = purges();
  if (shown.bvalid && in.axi.bready) out_.axi.bvalid = false;
  std::optional<Refusal> refusal;
  const bool judged = held_address_ && held_data_;
  if (judged_ && !shown.bvalid) {
    const bool done = held_full_strobe_ && write(*held_address_, *held_data_, in.status, refusal);
    out_.axi.bvalid = true;
    out_.axi.bresp = done ? AxiResponse::kOkay : AxiResponse::kSlvErr;
    held_address_.reset();
    held_data_.reset();
    judged_ = false;
  } else {
    judged_ = judged;
  }
  if (in.take) take(*in.take);
  if (in.axi.awvalid && shown.awready) held_address_ = in.axi.awaddr;
  if (in.axi.wvalid && shown.wready) {
    held_data_ = in.axi.wdata;
    held_full_strobe_ = in.axi.wstrb == 0xf;
  }

  record(in.status, refusal, mode_in_decision, done_enable);
  update_handshakes();
}

std::optional<std::uint32_t> SluiceCsrTwin::read(std::uint32_t address, const SluiceCsrStatus& status) const {
  if (find(address) == nullptr) return std::nullopt;
  if (address == regs::kStatus) {
    return regs::kStatusSequencer.put(status.sequencer_state) | regs::kStatusSpatial.put(status.spatial) |
           regs::kStatusNoFit.put(status.no_fit) | regs::kStatusDropped.put(status.dropped) |
           regs::kStatusNoProfile.put(status.no_profile) | regs::kStatusPresent.put(status.num_present) |
           regs::kStatusFellBack.put(status.fell_back);
  }
  if (is_sm_busy(address)) {
    std::uint32_t bits = 0;
    for (std::uint32_t b = 0; b < 32; ++b) bits |= status.sm_busy[32 * (address / 4 % 8) + b] ? 1U << b : 0;
    return bits & existing_sms(address);
  }
  if (address == regs::kQueue) return status.queue;
  if (address == regs::kBalanceStatus) return status.balance;
  if (address >= regs::kBalanceScore && address < regs::kBalanceScore + 4 * status.scores.size())
    return status.scores[(address - regs::kBalanceScore) / 4];
  if (is_slot(address)) {
    const unsigned k = slot_of(address);
    switch (offset_of(address)) {
      case regs::kSlotStatus: return status.slot_state[k];
      case regs::kSlotResident: return status.resident[k];
      case regs::kSlotDispatched: return status.dispatched[k];
      case regs::kSlotCtas: return status.ctas[k];
      case regs::kSlotTags: return status.tags[k];
      default: break;
    }
  }
  return word(address);
}

bool SluiceCsrTwin::write(std::uint32_t address, std::uint32_t data, const SluiceCsrStatus& status,
                          std::optional<Refusal>& refusal) {
  if (find(address) == nullptr) return false;
  const regs::RegisterInfo& info = *find(address);
  if (info.fields.front().access == regs::Access::Ro) return false;
  refusal = refuse(info, data, status);
  if (!refusal) {
    act(address, data, status);
    update_config();
  }
  return true;
}

std::optional<SluiceCsrTwin::Refusal> SluiceCsrTwin::refuse(const regs::RegisterInfo& info, std::uint32_t data,
                                                            const SluiceCsrStatus& status) const {
  const std::uint8_t kernel = slot_of(info.address);
  const Refusal bad_config{regs::kErrorBadConfig.lsb, kernel};
  if (is_slot(info.address) && offset_of(info.address) == regs::kSlotCtrl && std::popcount(commands(data)) > 1) return bad_config;
  if (is_slot(info.address) && offset_of(info.address) == regs::kSlotCtrl && regs::kSlotCtrlLaunch.get(data) != 0 &&
      is_ports(kernel))
    return Refusal{regs::kErrorSlotBusy.lsb, kernel};
  if (info.fields.front().access != regs::Access::Rw) return std::nullopt;
  std::uint32_t outside = data;
  bool in_range = true;
  for (const regs::FieldInfo& field : info.fields) {
    const std::uint32_t value = field.bits.get(data);
    outside &= ~field.bits.put(field.bits.max());
    in_range &= value >= field.min && value <= field.max;
  }
  if (info.address == regs::kMode && has_balance_) in_range |= data == static_cast<std::uint32_t>(Mode::Balance);
  if (info.address == regs::kMode && alone()) in_range &= data != static_cast<std::uint32_t>(Mode::Dynamic);
  if (info.locks && word(regs::kLock) != 0) return bad_config;
  if (outside != 0 || !in_range) return info.address == regs::kMode ? Refusal{regs::kErrorBadMode.lsb, 0} : bad_config;
  if (info.needs == regs::Needs::AllFree) {
    for (unsigned k = 0; k < parameters_.max_kernels; ++k) {
      if (!is_free(status, k) || (parameters_.launch_queue != 0 && launching_[k])) return bad_config;
    }
  }
  if (info.needs == regs::Needs::Undecided && deciding(status)) return bad_config;
  if (info.needs == regs::Needs::SlotFree && (!is_free(status, kernel) || is_ports(kernel)))
    return Refusal{regs::kErrorSlotBusy.lsb, kernel};
  return std::nullopt;
}

void SluiceCsrTwin::act(std::uint32_t address, std::uint32_t data, const SluiceCsrStatus& status) {
  SluiceConfig& config = out_.config;
  if (alone() && (address == regs::kEpsilon || address == regs::kLossLimit || address == regs::kRequestShare)) return;
  switch (find(address)->fields.front().access) {
    case regs::Access::W1c: word(address) &= ~data; return;
    case regs::Access::Rw: word(address) = data; break;
    default: break;
  }
  if (address == regs::kMode) config.mode_write = true;
  if (address == regs::kControl) {
    config.reprofile = regs::kControlReprofile.get(data) != 0;
    if (regs::kControlGo.get(data) != 0) config.launch = std::exchange(waiting_, {});
  }
  if (address == regs::kIrqTest) word(regs::kIrqStatus) |= data & 0xfU;
  if (find(address)->sms) word(address) &= existing_sms(address);
  if (is_sm_enable(address)) config.enable_write = true;
  if (address == regs::kPortSlots || address == regs::kDoneEnable) word(address) &= existing_slots();
  if (!is_slot(address)) return;
  const unsigned k = slot_of(address);
  config.static_write = is_mask(address) || offset_of(address) == regs::kSlotQuota;
  if (offset_of(address) == regs::kSlotCtrl) {
    const bool launch = regs::kSlotCtrlLaunch.get(data) != 0, waits = regs::kSlotCtrlWait.get(data) != 0;
    if (launch) waiting_[k] = waits && is_free(status, k);
    config.launch[k] = launch && !waiting_[k];
    config.stop[k] = regs::kSlotCtrlStop.get(data) != 0;
    config.evict[k] = regs::kSlotCtrlEvict.get(data) != 0;
    config.resume[k] = regs::kSlotCtrlResume.get(data) != 0;
    config.flush[k] = parameters_.flush != 0 && regs::kSlotCtrlFlush.get(data) != 0;
    config.evict_count = static_cast<std::uint16_t>(regs::kSlotCtrlEvictCount.get(data));
    if (launch && is_free(status, k)) word(address) = regs::kSlotCtrlRepeat.put(regs::kSlotCtrlRepeat.get(data));
  }
}

void SluiceCsrTwin::record(const SluiceCsrStatus& status, const std::optional<Refusal>& refusal, bool mode_in_decision,
                           std::uint32_t done_enable) {
  // Where error_i's bits are in ERROR.
  constexpr std::array<unsigned, 5> kReported{regs::kErrorBadDone.lsb, regs::kErrorCannotFit.lsb, regs::kErrorSlotBusy.lsb,
                                              regs::kErrorBadKernel.lsb, regs::kErrorPortStuck.lsb};
  std::uint32_t errors = 0;
  std::optional<unsigned> first;
  for (unsigned i = 0; i < kReported.size(); ++i) {
    if (((status.error >> i) & 1U) == 0) continue;
    errors |= 1U << kReported[i];
    if (!first) first = kReported[i];
  }
  const bool reported = first.has_value();
  if (refusal) errors |= 1U << refusal->bit;
  if (mode_in_decision) errors |= 1U << regs::kErrorModeInDecision.lsb;
  if (errors != 0 && word(regs::kError) == 0) {
    if (!first) first = refusal ? refusal->bit : regs::kErrorModeInDecision.lsb;
    const std::uint32_t kernel = reported ? status.error_kernel : refusal ? refusal->kernel : 0;
    word(regs::kErrorInfo) = regs::kErrorInfoKernel.put(kernel) | regs::kErrorInfoCause.put(*first) |
                             regs::kErrorInfoSm.put(reported ? status.error_sm : 0) |
                             regs::kErrorInfoCtaSlot.put(reported ? status.error_slot : 0);
  }
  word(regs::kError) |= errors;

  bool any_done = false, any_evicted = false;
  for (unsigned k = 0; k < parameters_.max_kernels; ++k) {
    if (status.kernel_done[k]) word(regs::kKernelDone) |= 1U << k;
    if (status.evict_done[k]) word(regs::kEvictDone) |= 1U << k;
    any_done |= status.kernel_done[k] && (done_enable >> k & 1U) != 0;
    any_evicted |= status.evict_done[k];
  }
  word(regs::kIrqStatus) |= regs::kIrqStatusError.put(errors != 0) | regs::kIrqStatusKernelDone.put(any_done) |
                            regs::kIrqStatusEvictDone.put(any_evicted) | regs::kIrqStatusDecision.put(status.decision);
  if (status.decision) ++word(regs::kDecisions);
}

void SluiceCsrTwin::take(const SluiceCsrTake& take) {
  word(regs::slot(take.slot, regs::kSlotWarps)) = take.warps;
  word(regs::slot(take.slot, regs::kSlotRegisters)) = take.registers;
  word(regs::slot(take.slot, regs::kSlotShared)) = take.shared_bytes;
  word(regs::slot(take.slot, regs::kSlotGrid)) = take.ctas;
  word(regs::slot(take.slot, regs::kSlotCtrl)) = 0;
  if (parameters_.priority != 0) word(regs::slot(take.slot, regs::kSlotPriority)) = take.priority;
  update_config();
  out_.config.launch[take.slot] = true;
}

void SluiceCsrTwin::update_handshakes() {
  out_.axi.awready = !held_address_;
  out_.axi.wready = !held_data_;
  out_.axi.arready = !out_.axi.rvalid && !reading_;
  out_.irq = (word(regs::kIrqStatus) & word(regs::kIrqEnable)) != 0;
}

void SluiceCsrTwin::update_config() {
  SluiceConfig& config = out_.config;
  config.mode = static_cast<std::uint8_t>(word(regs::kMode));
  config.capacity_warps = word(regs::kCapWarps);
  config.capacity_registers = word(regs::kCapRegisters);
  config.capacity_shared = word(regs::kCapShared);
  config.capacity_slots = word(regs::kCapSlots);
  config.warm_up = word(regs::kWarmUp);
  config.window = word(regs::kWindow);
  config.delay = word(regs::kDelay);
  config.epsilon = word(regs::kEpsilon);
  config.loss_limit = word(regs::kLossLimit);
  config.request_share = word(regs::kRequestShare);
  config.drain_limit = word(regs::kDrainLimit);
  config.monitor_enable = regs::kMonitorEnable.get(word(regs::kMonitor)) != 0;
  config.monitor_threshold = regs::kMonitorThreshold.get(word(regs::kMonitor));
  config.monitor_window = word(regs::kMonitorWindow);
  config.monitor_hold = word(regs::kMonitorHold);
  if (parameters_.launch_queue != 0) config.port_slots = static_cast<std::uint8_t>(word(regs::kPortSlots));
  for (unsigned m = 0; parameters_.sm_enable != 0 && m < parameters_.num_sm; ++m)
    config.sm_enable[m] = (word(regs::kSmEnable + 4 * (m / 32)) >> m % 32 & 1U) != 0;
  if (parameters_.balance != 0) config.balance = word(regs::kBalance);
  for (unsigned k = 0; k < parameters_.max_kernels; ++k) {
    if (parameters_.balance != 0) config.wish[k] = word(regs::slot(k, regs::kSlotWish));
    config.demand_warps[k] = word(regs::slot(k, regs::kSlotWarps));
    config.demand_registers[k] = word(regs::slot(k, regs::kSlotRegisters));
    config.demand_shared[k] = word(regs::slot(k, regs::kSlotShared));
    config.grid[k] = word(regs::slot(k, regs::kSlotGrid));
    if (parameters_.priority != 0) config.priority[k] = static_cast<std::uint8_t>(word(regs::slot(k, regs::kSlotPriority)));
    config.repeat[k] = regs::kSlotCtrlRepeat.get(word(regs::slot(k, regs::kSlotCtrl))) != 0;
    config.quota[k] = static_cast<std::uint8_t>(word(regs::slot(k, regs::kSlotQuota)));
    for (unsigned m = 0; m < kMasks; ++m) config.mask[k][m] = word(regs::slot(k, regs::kSlotMask + 4 * m));
  }
}

}  // namespace sluice
