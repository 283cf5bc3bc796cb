// SPDX-License-Identifier: Apache-2.0
#include "sw/driver/sluice_driver.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace sluice {

namespace {

constexpr std::uint32_t kMagic = 0x534C43, kVersion = 3;
constexpr std::uint32_t kDrainUnit = 4096;  // cycles, of DRAIN_LIMIT
constexpr double kOne = 16384;              // fractions are in units of 2**-14
constexpr std::array<const char*, 8> kErrorNames{"BAD_DONE",   "CANNOT_FIT", "SLOT_BUSY",        "BAD_MODE",
                                                 "BAD_CONFIG", "BAD_KERNEL", "MODE_IN_DECISION", "PORT_STUCK"};

void in_range(const char* what, std::uint64_t value, std::uint64_t low, std::uint64_t high) {
  if (value < low || value > high) throw InputError(fmt::format("{} = {}: must be {}..{}", what, value, low, high));
}

std::uint32_t fraction(const char* what, double value, double high) {
  if (!(value >= 0 && value <= high)) throw InputError(fmt::format("{} = {}: must be 0..{}", what, value, high));
  return static_cast<std::uint32_t>(std::lround(value * kOne));
}

std::uint32_t warps(const SmResources& resources) {
  return resources.threads / kWarpSize + (resources.threads % kWarpSize != 0 ? 1 : 0);
}

}  // namespace

SluiceDriver::SluiceDriver(IRegisterBus& bus) : bus_(bus) {
  const std::uint32_t id = read(regs::kId);
  if (regs::kIdMagic.get(id) != kMagic || regs::kIdVersion.get(id) != kVersion) {
    throw DeviceError(fmt::format("ID = {:#010x}: not a Sluice with register map version {}", id, kVersion));
  }
  const std::uint32_t params = read(regs::kParams);
  parameters_ = {regs::kParamsNumSm.get(params), regs::kParamsMaxKernels.get(params), regs::kParamsMaxCtas.get(params),
                 regs::kParamsNumSched.get(params), regs::kParamsRegionUnits.get(params)};
}

void SluiceDriver::configure_machine(const SmResources& sm) {
  in_range("SM warps", warps(sm), 1, 127);
  in_range("SM registers", sm.registers, 1, 131071);
  in_range("SM shared memory bytes", sm.shared_memory_bytes, 0, 262143);
  in_range("SM CTA slots", sm.cta_slots, 1, parameters_.max_ctas);
  for (unsigned slot = 0; slot < parameters_.max_kernels; ++slot) require_free(slot);
  write(regs::kCapWarps, warps(sm));
  write(regs::kCapRegisters, sm.registers);
  write(regs::kCapShared, sm.shared_memory_bytes);
  write(regs::kCapSlots, sm.cta_slots);
}

void SluiceDriver::set_mode(Mode mode) {
  in_range("mode", static_cast<std::uint32_t>(mode), 0, static_cast<std::uint32_t>(Mode::Balance));
  write(regs::kMode, static_cast<std::uint32_t>(mode));
}

void SluiceDriver::configure_sequencer(const SequencerSettings& settings) {
  in_range("warm-up cycles", settings.warm_up_cycles, 0, 1048575);
  in_range("window cycles", settings.window_cycles, 1024, 65535);
  in_range("delay cycles", settings.delay_cycles, 0, 65535);
  in_range("request share", settings.request_share, 0, 8191);
  in_range("drain cycles", settings.drain_cycles, 0, std::uint64_t{255} * kDrainUnit);
  const std::uint32_t epsilon = fraction("epsilon", settings.epsilon, 1);
  const std::uint32_t loss_limit = fraction("loss limit", settings.loss_limit, 3.99);
  write(regs::kWarmUp, settings.warm_up_cycles);
  write(regs::kWindow, settings.window_cycles);
  write(regs::kDelay, settings.delay_cycles);
  write(regs::kEpsilon, epsilon);
  write(regs::kLossLimit, loss_limit);
  write(regs::kRequestShare, settings.request_share);
  write(regs::kDrainLimit, (settings.drain_cycles + kDrainUnit - 1) / kDrainUnit);
}

void SluiceDriver::configure_monitor(bool enable, double threshold, std::uint32_t window_cycles, std::uint32_t hold_windows) {
  const std::uint32_t limit = fraction("monitor threshold", threshold, 1.99);
  in_range("monitor window cycles", window_cycles, 16, 65535);
  in_range("monitor hold windows", hold_windows, 1, 255);
  write(regs::kMonitorWindow, window_cycles);
  write(regs::kMonitorHold, hold_windows);
  write(regs::kMonitor, regs::kMonitorEnable.put(enable) | regs::kMonitorThreshold.put(limit));
}

void SluiceDriver::configure_balance(double keep, std::uint32_t candidates) {
  in_range("candidates", candidates, 0, 15);
  const std::uint32_t least = 2 * fraction("keep", keep, 7.99);
  write(regs::kBalance, regs::kBalanceKeep.put(least) | regs::kBalanceCandidates.put(candidates));
}

void SluiceDriver::lock_configuration() { write(regs::kLock, 1); }

void SluiceDriver::reprofile() { write(regs::kControl, regs::kControlReprofile.put(1)); }

void SluiceDriver::launch(unsigned slot, const SlotLaunch& kernel) {
  check_slot(slot);
  in_range("CTA warps", warps(kernel.cta), 1, read(regs::kCapWarps));
  in_range("CTA registers", kernel.cta.registers, 0, read(regs::kCapRegisters));
  in_range("CTA shared memory bytes", kernel.cta.shared_memory_bytes, 0, read(regs::kCapShared));
  in_range("grid CTAs", kernel.grid_ctas, 1, ~0U);
  if (kernel.wish) in_range("weight", kernel.wish->weight, 1, 127);
  require_free(slot);
  write(regs::slot(slot, regs::kSlotWarps), warps(kernel.cta));
  write(regs::slot(slot, regs::kSlotRegisters), kernel.cta.registers);
  write(regs::slot(slot, regs::kSlotShared), kernel.cta.shared_memory_bytes);
  write(regs::slot(slot, regs::kSlotGrid), kernel.grid_ctas);
  if (kernel.priority) write(regs::slot(slot, regs::kSlotPriority), *kernel.priority);
  if (kernel.wish)
    write(regs::slot(slot, regs::kSlotWish), regs::kSlotWishWeight.put(kernel.wish->weight) |
                                                 regs::kSlotWishFloor.put(fraction("floor", kernel.wish->floor, 3.99) / 2));
  write(regs::slot(slot, regs::kSlotCtrl),
        regs::kSlotCtrlLaunch.put(1) | regs::kSlotCtrlRepeat.put(kernel.repeat) | regs::kSlotCtrlWait.put(kernel.wait));
}

void SluiceDriver::go() { write(regs::kControl, regs::kControlGo.put(1)); }

void SluiceDriver::stop(unsigned slot) {
  check_slot(slot);
  write(regs::slot(slot, regs::kSlotCtrl), regs::kSlotCtrlStop.put(1));
}

void SluiceDriver::evict(unsigned slot, std::uint32_t ctas) {
  check_slot(slot);
  in_range("CTAs to evict", ctas, 0, regs::kSlotCtrlEvictCount.max());
  write(regs::kEvictDone, 1U << slot);  // what an earlier one left
  write(regs::slot(slot, regs::kSlotCtrl), regs::kSlotCtrlEvict.put(1) | regs::kSlotCtrlEvictCount.put(ctas));
}

bool SluiceDriver::evicted(unsigned slot) {
  check_slot(slot);
  return (read(regs::kEvictDone) >> slot & 1) != 0;
}

void SluiceDriver::resume(unsigned slot) {
  check_slot(slot);
  write(regs::slot(slot, regs::kSlotCtrl), regs::kSlotCtrlResume.put(1));
}

void SluiceDriver::set_quota(unsigned slot, std::uint32_t ctas) {
  check_slot(slot);
  in_range("quota", ctas, 0, parameters_.max_ctas);
  write(regs::slot(slot, regs::kSlotQuota), ctas);
}

void SluiceDriver::set_mask(unsigned slot, std::span<const unsigned> sms) {
  check_slot(slot);
  std::vector<std::uint32_t> words((parameters_.num_sm + 31) / 32);
  for (const unsigned sm : sms) {
    in_range("SM", sm, 0, parameters_.num_sm - 1);
    words[sm / 32] |= 1U << (sm % 32);
  }
  for (unsigned i = 0; i < words.size(); ++i) write(regs::slot(slot, regs::kSlotMask + 4 * i), words[i]);
}

SlotReport SluiceDriver::slot_report(unsigned slot) {
  check_slot(slot);
  return {static_cast<regs::SlotState>(read(regs::slot(slot, regs::kSlotStatus))), read(regs::slot(slot, regs::kSlotResident)),
          read(regs::slot(slot, regs::kSlotDispatched)), read(regs::slot(slot, regs::kSlotCtas))};
}

regs::SequencerState SluiceDriver::sequencer_state() {
  return static_cast<regs::SequencerState>(regs::kStatusSequencer.get(read(regs::kStatus)));
}

DecisionReport SluiceDriver::last_decision() {
  const std::uint32_t status = read(regs::kStatus);
  DecisionReport report{read(regs::kDecisions),
                        regs::kStatusSpatial.get(status) != 0,
                        regs::kStatusNoFit.get(status) != 0,
                        regs::kStatusDropped.get(status) != 0,
                        regs::kStatusNoProfile.get(status) != 0,
                        {}};
  for (unsigned slot = 0; slot < parameters_.max_kernels; ++slot) report.ctas.push_back(read(regs::slot(slot, regs::kSlotCtas)));
  return report;
}

BalanceUnitReport SluiceDriver::balance_report() {
  constexpr double kTimeUnits = 128;
  const std::uint32_t status = read(regs::kBalanceStatus);
  BalanceUnitReport report{static_cast<BalanceUnitReport::Kept>(regs::kBalanceStatusKept.get(status)),
                           regs::kBalanceStatusFloors.get(status) != 0};
  const std::uint32_t score = read(regs::kBalanceScore + (report.kept == BalanceUnitReport::Kept::InTurn ? 4 : 0));
  report.measured = regs::kBalanceScoreMeasured.get(score) != 0;
  report.time = regs::kBalanceScoreTime.get(score) / kTimeUnits;
  return report;
}

ErrorReport SluiceDriver::errors() {
  ErrorReport report;
  report.bits = read(regs::kError);
  if (report.bits == 0) return report;
  const std::uint32_t info = read(regs::kErrorInfo);
  const std::uint32_t cause = regs::kErrorInfoCause.get(info);
  report.first = cause < kErrorNames.size() ? kErrorNames[cause] : "UNKNOWN";
  report.kernel = regs::kErrorInfoKernel.get(info);
  report.sm = regs::kErrorInfoSm.get(info);
  return report;
}

void SluiceDriver::clear_errors() { write(regs::kError, ~0U); }

void SluiceDriver::require_no_error() {
  const ErrorReport report = errors();
  if (report.bits == 0) return;
  throw DeviceError(fmt::format("the unit reports {} (kernel slot {}, SM {}), ERROR = {:#x}", report.first, report.kernel,
                                report.sm, report.bits));
}

void SluiceDriver::enable_interrupts(std::uint32_t events) {
  in_range("interrupt events", events, 0, 15);
  write(regs::kIrqEnable, events);
}

void SluiceDriver::test_interrupts(std::uint32_t events) {
  in_range("interrupt events", events, 0, 15);
  write(regs::kIrqTest, events);
}

std::uint32_t SluiceDriver::take_interrupts() {
  const std::uint32_t events = read(regs::kIrqStatus);
  write(regs::kIrqStatus, events);
  return events;
}

std::uint32_t SluiceDriver::take_finished() {
  const std::uint32_t slots = read(regs::kKernelDone);
  write(regs::kKernelDone, slots);
  return slots;
}

std::uint32_t SluiceDriver::read(std::uint32_t address) {
  const std::optional<std::uint32_t> value = bus_.read32(address);
  if (!value) throw DeviceError(fmt::format("read of register {:#05x}: bus error", address));
  return *value;
}

void SluiceDriver::write(std::uint32_t address, std::uint32_t value) {
  if (!bus_.write32(address, value)) throw DeviceError(fmt::format("write of register {:#05x}: bus error", address));
}

void SluiceDriver::check_slot(unsigned slot) const { in_range("kernel slot", slot, 0, parameters_.max_kernels - 1); }

void SluiceDriver::require_free(unsigned slot) {
  if (read(regs::slot(slot, regs::kSlotStatus)) != static_cast<std::uint32_t>(regs::SlotState::kFree)) {
    throw DeviceError(fmt::format("kernel slot {} is not free", slot));
  }
}

}  // namespace sluice
