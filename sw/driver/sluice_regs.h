// SPDX-License-Identifier: Apache-2.0
// Generated from rtl/csr/sluice_regs.toml by rtl/csr/generate.py: change it there.
// clang-format off
#pragma once
#include <cstdint>

#include "sw/core/share.h"

namespace sluice::regs {

static_assert(static_cast<std::uint32_t>(Mode::LeftOver) == 0);
static_assert(static_cast<std::uint32_t>(Mode::Fcfs) == 1);
static_assert(static_cast<std::uint32_t>(Mode::Even) == 2);
static_assert(static_cast<std::uint32_t>(Mode::Spatial) == 3);
static_assert(static_cast<std::uint32_t>(Mode::Static) == 4);
static_assert(static_cast<std::uint32_t>(Mode::Dynamic) == 5);
static_assert(static_cast<std::uint32_t>(Mode::Balance) == 6);
enum class SequencerState : std::uint32_t { kIdle = 0, kWarmUp = 1, kProfile = 2, kScale = 3, kAllocate = 4, kDelay = 5, kPlan = 6, kMonitor = 7, kDrain = 8 };
enum class SlotState : std::uint32_t { kFree = 0, kRunning = 1, kDraining = 2 };

/// Bits of a register.
struct Field {
  unsigned lsb, width;
  [[nodiscard]] constexpr std::uint32_t max() const { return width == 32 ? ~0U : (1U << width) - 1; }
  [[nodiscard]] constexpr std::uint32_t get(std::uint32_t word) const { return (word >> lsb) & max(); }
  [[nodiscard]] constexpr std::uint32_t put(std::uint32_t value) const { return (value & max()) << lsb; }
};

inline constexpr std::uint32_t kSlotBase = 0x400;
inline constexpr std::uint32_t kSlotStride = 0x80;
/// Byte address of a kernel slot's register.
constexpr std::uint32_t slot(unsigned kernel, std::uint32_t offset) { return kSlotBase + kernel * kSlotStride + offset; }

// Byte addresses.
inline constexpr std::uint32_t kId = 0x000;  // What this unit is.
inline constexpr Field kIdVersion{0, 8};
inline constexpr Field kIdMagic{8, 24};
inline constexpr std::uint32_t kParams = 0x004;  // Elaboration parameters.
inline constexpr Field kParamsNumSm{0, 9};
inline constexpr Field kParamsMaxKernels{9, 4};
inline constexpr Field kParamsMaxCtas{13, 6};
inline constexpr Field kParamsNumSched{19, 3};
inline constexpr Field kParamsRegionUnits{22, 8};
inline constexpr std::uint32_t kMode = 0x008;  // Sharing mode. A value that does not exist is refused with BAD_MODE, as is BALANCE with FEATURES.BALANCE 0, DYNAMIC with 2. Every accepted write restarts the sequencer.
inline constexpr std::uint32_t kControl = 0x00c;  // Commands to the whole unit.
inline constexpr Field kControlReprofile{0, 1};
inline constexpr Field kControlGo{1, 1};
inline constexpr Field kControlFlushContext{2, 1};
inline constexpr Field kControlFlushAll{3, 1};
inline constexpr Field kControlContext{8, 8};
inline constexpr std::uint32_t kStatus = 0x010;  // State of the sequencer.
inline constexpr Field kStatusSequencer{0, 4};
inline constexpr Field kStatusSpatial{4, 1};
inline constexpr Field kStatusNoFit{5, 1};
inline constexpr Field kStatusDropped{6, 1};
inline constexpr Field kStatusNoProfile{7, 1};
inline constexpr Field kStatusPresent{8, 4};
inline constexpr Field kStatusFellBack{12, 1};
inline constexpr std::uint32_t kDecisions = 0x014;  // Decisions enforced since reset; wraps.
inline constexpr std::uint32_t kError = 0x018;  // Sticky errors; an input that causes one changes nothing else.
inline constexpr Field kErrorBadDone{0, 1};
inline constexpr Field kErrorCannotFit{1, 1};
inline constexpr Field kErrorSlotBusy{2, 1};
inline constexpr Field kErrorBadMode{3, 1};
inline constexpr Field kErrorBadConfig{4, 1};
inline constexpr Field kErrorBadKernel{5, 1};
inline constexpr Field kErrorModeInDecision{6, 1};
inline constexpr Field kErrorPortStuck{7, 1};
inline constexpr std::uint32_t kErrorInfo = 0x01c;  // The first error since ERROR was 0.
inline constexpr Field kErrorInfoKernel{0, 3};
inline constexpr Field kErrorInfoCause{4, 3};
inline constexpr Field kErrorInfoSm{8, 8};
inline constexpr Field kErrorInfoCtaSlot{16, 5};
inline constexpr std::uint32_t kIrqStatus = 0x020;  // Events since they were cleared, one bit a cause.
inline constexpr Field kIrqStatusError{0, 1};
inline constexpr Field kIrqStatusKernelDone{1, 1};
inline constexpr Field kIrqStatusEvictDone{2, 1};
inline constexpr Field kIrqStatusDecision{3, 1};
inline constexpr std::uint32_t kIrqEnable = 0x024;  // irq_o is high while IRQ_STATUS and this have a common bit.
inline constexpr std::uint32_t kKernelDone = 0x028;  // A bit a kernel slot: its kernel ended.
inline constexpr std::uint32_t kEvictDone = 0x02c;  // A bit a kernel slot: its eviction has drained.
inline constexpr std::uint32_t kCapWarps = 0x030;  // Warps of one SM.
inline constexpr std::uint32_t kCapRegisters = 0x034;  // Registers of one SM.
inline constexpr std::uint32_t kCapShared = 0x038;  // Shared memory of one SM.
inline constexpr std::uint32_t kCapSlots = 0x03c;  // CTA slots of one SM.
inline constexpr std::uint32_t kWarmUp = 0x040;  // Cycles in the profile layout before the first window.
inline constexpr std::uint32_t kWindow = 0x044;  // Length of a profile window.
inline constexpr std::uint32_t kDelay = 0x048;  // Cycles from a decision to its enforcement: stands for the paper's algorithm in software.
inline constexpr std::uint32_t kEpsilon = 0x04c;  // Saturation threshold: smallest gain per CTA that water-filling takes, a fraction of the kernel's best. 0: the paper's rule.
inline constexpr std::uint32_t kLossLimit = 0x050;  // A kernel may lose this over the number of present kernels of its own best, else the partition falls back to spatial.
inline constexpr std::uint32_t kMonitor = 0x054;  // Phase monitor.
inline constexpr Field kMonitorEnable{0, 1};
inline constexpr Field kMonitorThreshold{16, 15};
inline constexpr std::uint32_t kMonitorWindow = 0x058;  // Length of a monitor window.
inline constexpr std::uint32_t kMonitorHold = 0x05c;  // Windows in a row that a change must last.
inline constexpr std::uint32_t kRequestShare = 0x060;  // Ceiling of a sample: lines that an SM may exchange with the memory system in a window before its counter stops, its share of the bandwidth. 0: 8,192.
inline constexpr std::uint32_t kDrainLimit = 0x064;  // How long the warm-up waits for SMs that do not hold what the profile layout says; samples of those that still do not are dropped.
inline constexpr std::uint32_t kFeatures = 0x068;  // Options of this unit: elaboration parameters.
inline constexpr Field kFeaturesSmEnable{0, 1};
inline constexpr Field kFeaturesSmReady{1, 1};
inline constexpr Field kFeaturesFlush{2, 1};
inline constexpr Field kFeaturesPriority{3, 1};
inline constexpr Field kFeaturesLaunchQueue{4, 4};
inline constexpr Field kFeaturesPatience{8, 5};
inline constexpr Field kFeaturesTail{13, 1};
inline constexpr Field kFeaturesBalance{14, 2};
inline constexpr Field kFeaturesChurn{16, 5};
inline constexpr std::uint32_t kBalance = 0x0c4;  // Mode BALANCE: what it measures, and when kernels share.
inline constexpr Field kBalanceKeep{0, 18};
inline constexpr Field kBalanceCandidates{24, 4};
inline constexpr std::uint32_t kBalanceStatus = 0x0c8;  // What mode BALANCE has kept. IRQ_STATUS.DECISION tells of it; SLOTk.CTAS is the partition.
inline constexpr Field kBalanceStatusKept{0, 2};
inline constexpr Field kBalanceStatusFloors{2, 1};
inline constexpr Field kBalanceStatusChanged{3, 1};
inline constexpr Field kBalanceStatusRounds{4, 4};
inline constexpr std::uint32_t kBalanceScore = 0x100;  // Entry i of the round scored last, the base first; on all SMs the base, then CTAs in turn. Else 0.
inline constexpr Field kBalanceScoreTime{0, 18};
inline constexpr Field kBalanceScoreMeasured{31, 1};
inline constexpr std::uint32_t kSmEnable = 0x080;  // A bit an SM, 32 a register: it may be given CTAs. What runs on an SM that is disabled ends there. A write restarts the sequencer, as one of MODE does.
inline constexpr std::uint32_t kSmBusy = 0x0a0;  // A bit an SM, 32 a register: it holds a CTA, or one waits for it at the port. A disabled SM that reads 0 gets no other, but may still be stopping flushed CTAs.
inline constexpr std::uint32_t kPortSlots = 0x06c;  // A bit a kernel slot: it is the launch port's. Registers can't launch it, nor write its descriptor: SLOT_BUSY. A launch that waits for GO there is dropped.
inline constexpr std::uint32_t kQueue = 0x070;  // Queue of the launch port.
inline constexpr std::uint32_t kDoneEnable = 0x074;  // A bit a kernel slot: the end of its kernel sets IRQ_STATUS.KERNEL_DONE. Register KERNEL_DONE tells of all.
inline constexpr std::uint32_t kIrqTest = 0x078;  // Sets bits of IRQ_STATUS, as the event would: a test of the interrupt's way to its handler.
inline constexpr std::uint32_t kLock = 0x07c;  // 1: the configuration stays as it is until reset. Writes of CAP_*, WARM_UP to DRAIN_LIMIT, PORT_SLOTS and this are refused, BAD_CONFIG.
inline constexpr std::uint32_t kRevision = 0x0c0;  // Release of the RTL. ID.VERSION is that of this map.
inline constexpr Field kRevisionPatch{0, 8};
inline constexpr Field kRevisionMinor{8, 8};
inline constexpr Field kRevisionMajor{16, 8};

// Offsets in a kernel slot, for slot().
inline constexpr std::uint32_t kSlotWarps = 0x000;  // Descriptor: warps of one CTA.
inline constexpr std::uint32_t kSlotRegisters = 0x004;  // Descriptor: registers of one CTA.
inline constexpr std::uint32_t kSlotShared = 0x008;  // Descriptor: shared memory of one CTA.
inline constexpr std::uint32_t kSlotGrid = 0x00c;  // Descriptor: CTAs of the grid.
inline constexpr std::uint32_t kSlotCtrl = 0x010;  // Commands, one a write: two at once are refused with BAD_CONFIG. Reads REPEAT as taken with the last LAUNCH.
inline constexpr Field kSlotCtrlLaunch{0, 1};
inline constexpr Field kSlotCtrlStop{1, 1};
inline constexpr Field kSlotCtrlEvict{2, 1};
inline constexpr Field kSlotCtrlResume{3, 1};
inline constexpr Field kSlotCtrlRepeat{4, 1};
inline constexpr Field kSlotCtrlWait{5, 1};
inline constexpr Field kSlotCtrlFlush{6, 1};
inline constexpr Field kSlotCtrlEvictCount{16, 16};
inline constexpr std::uint32_t kSlotStatus = 0x014;  // State of the slot.
inline constexpr std::uint32_t kSlotResident = 0x018;  // Its CTAs on all SMs.
inline constexpr std::uint32_t kSlotDispatched = 0x01c;  // CTAs dispatched since LAUNCH; wraps.
inline constexpr std::uint32_t kSlotQuota = 0x020;  // STATIC mode: CTAs on one SM of the mask; MAX_CTAS is no limit.
inline constexpr std::uint32_t kSlotCtas = 0x024;  // Quota in force on each SM that the kernel may use; while a profile runs, the CTAs that fit, with which its levels end. MAX_CTAS: no limit.
inline constexpr std::uint32_t kSlotTags = 0x028;  // What the launch port gave with the kernel; 0 for a kernel that registers launched.
inline constexpr Field kSlotTagsContext{0, 8};
inline constexpr Field kSlotTagsPriority{16, 3};
inline constexpr std::uint32_t kSlotPriority = 0x02c;  // Descriptor: a kernel of higher priority goes first. A launch of the port writes its priority here.
inline constexpr std::uint32_t kSlotWish = 0x030;  // Descriptor: what mode BALANCE is to reach for the kernel. A launch of the port leaves it as it is.
inline constexpr Field kSlotWishFloor{0, 15};
inline constexpr Field kSlotWishWeight{16, 7};
inline constexpr std::uint32_t kSlotMask = 0x040;  // STATIC mode: a bit an SM, 32 a register; SMs that do not exist read 0.

/// Elaboration parameters of the unit (register PARAMS).
struct Parameters {
  std::uint32_t num_sm = 16, max_kernels = 4, max_ctas = 8, num_sched = 2, region_units = 64;
  std::uint32_t sm_enable = 0, sm_ready = 0, launch_queue = 0, flush = 0, patience = 0, priority = 0, churn = 0, tail = 0,
                balance = 0;  ///< options: 0 is off
};

}  // namespace sluice::regs
