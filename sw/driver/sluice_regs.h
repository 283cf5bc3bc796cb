// SPDX-License-Identifier: Apache-2.0
// Generated from rtl/csr/sluice_regs.toml by rtl/csr/generate.py: change it there.
// clang-format off
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sw/core/share.h"

namespace sluice::regs {

static_assert(static_cast<std::uint32_t>(Mode::LeftOver) == 0);
static_assert(static_cast<std::uint32_t>(Mode::Fcfs) == 1);
static_assert(static_cast<std::uint32_t>(Mode::Even) == 2);
static_assert(static_cast<std::uint32_t>(Mode::Spatial) == 3);
static_assert(static_cast<std::uint32_t>(Mode::Static) == 4);
static_assert(static_cast<std::uint32_t>(Mode::Dynamic) == 5);
enum class SequencerState : std::uint32_t { kIdle = 0, kWarmUp = 1, kProfile = 2, kScale = 3, kAllocate = 4, kDelay = 5, kPlan = 6, kMonitor = 7, kDrain = 8 };
enum class SlotState : std::uint32_t { kFree = 0, kRunning = 1, kDraining = 2 };
enum class ParityTable : std::uint32_t { kSmSlots = 0, kSmAmounts = 1, kRoom = 2, kKernel = 3, kGrid = 4, kDescriptor = 5, kConfig = 6 };

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
inline constexpr std::uint32_t kMode = 0x008;  // Sharing mode. A value that does not exist is refused with BAD_MODE. Every accepted write restarts the sequencer.
inline constexpr std::uint32_t kControl = 0x00c;  // Commands to the whole unit.
inline constexpr Field kControlReprofile{0, 1};
inline constexpr Field kControlGo{1, 1};
inline constexpr Field kControlFlushContext{2, 1};
inline constexpr Field kControlContext{8, 8};
inline constexpr std::uint32_t kStatus = 0x010;  // State of the sequencer.
inline constexpr Field kStatusSequencer{0, 4};
inline constexpr Field kStatusSpatial{4, 1};
inline constexpr Field kStatusNoFit{5, 1};
inline constexpr Field kStatusDropped{6, 1};
inline constexpr Field kStatusNoProfile{7, 1};
inline constexpr Field kStatusPresent{8, 4};
inline constexpr std::uint32_t kDecisions = 0x014;  // Decisions enforced since reset; wraps.
inline constexpr std::uint32_t kError = 0x018;  // Sticky errors; an input that causes one changes nothing else.
inline constexpr Field kErrorBadDone{0, 1};
inline constexpr Field kErrorCannotFit{1, 1};
inline constexpr Field kErrorSlotBusy{2, 1};
inline constexpr Field kErrorBadMode{3, 1};
inline constexpr Field kErrorBadConfig{4, 1};
inline constexpr Field kErrorBadKernel{5, 1};
inline constexpr Field kErrorModeInDecision{6, 1};
inline constexpr Field kErrorParity{7, 1};
inline constexpr std::uint32_t kErrorInfo = 0x01c;  // The first error since ERROR was 0.
inline constexpr Field kErrorInfoKernel{0, 3};
inline constexpr Field kErrorInfoCause{4, 3};
inline constexpr Field kErrorInfoSm{8, 8};
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
inline constexpr Field kFeaturesChurn{16, 5};
inline constexpr Field kFeaturesParity{21, 1};
inline constexpr std::uint32_t kSmEnable = 0x080;  // A bit an SM, 32 a register: it may be given CTAs. What runs on an SM that is disabled ends there. A write restarts the sequencer, as one of MODE does.
inline constexpr std::uint32_t kSmBusy = 0x0a0;  // A bit an SM, 32 a register: it holds a CTA, or one waits for it at the dispatch port. A disabled SM that reads 0 stays empty.
inline constexpr std::uint32_t kPortSlots = 0x06c;  // A bit a kernel slot: it is the launch port's. Registers can't launch it, nor write its descriptor: SLOT_BUSY. A launch that waits for GO there is dropped.
inline constexpr std::uint32_t kParity = 0x070;  // The first bit of a table that turned over. Nothing but a reset of the unit clears it and lets dispatch go on.
inline constexpr Field kParityHalted{0, 1};
inline constexpr Field kParityTable{4, 4};
inline constexpr Field kParityEntry{8, 8};
inline constexpr Field kParityCount{16, 8};

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
inline constexpr std::uint32_t kSlotMask = 0x040;  // STATIC mode: a bit an SM, 32 a register; SMs that do not exist read 0.

/// Elaboration parameters of the unit (register PARAMS).
struct Parameters {
  std::uint32_t num_sm = 16, max_kernels = 4, max_ctas = 8, num_sched = 2, region_units = 64;
  std::uint32_t sm_enable = 0, sm_ready = 0, launch_queue = 0, flush = 0, patience = 0, priority = 0, churn = 0, parity = 0;  ///< options: 0 is off
};

/// As in sluice_regs.toml.
enum class Access { Ro, Rw, W1c, W1s, Wo, Level };
enum class Needs { Nothing, AllFree, SlotFree, Undecided };
struct FieldInfo {
  std::string name;
  Field bits;
  Access access;
  std::uint32_t reset, min, max;
};
struct RegisterInfo {
  std::string name;  ///< a kernel slot's as "SLOT2.WARPS"
  std::uint32_t address;
  Needs needs;
  std::vector<FieldInfo> fields;
  bool sms;  ///< a bit an SM
};

/// Every register of a unit with these parameters.
inline std::vector<RegisterInfo> registers(const Parameters& p) {
  std::vector<RegisterInfo> all;
  all.push_back({"ID", 0x000, Needs::Nothing, {
       {"VERSION", {0, 8}, Access::Ro, 3U, 0U, 255U},
       {"MAGIC", {8, 24}, Access::Ro, 5459011U, 0U, 16777215U}}, false});
  all.push_back({"PARAMS", 0x004, Needs::Nothing, {
       {"NUM_SM", {0, 9}, Access::Ro, p.num_sm, 0U, 511U},
       {"MAX_KERNELS", {9, 4}, Access::Ro, p.max_kernels, 0U, 15U},
       {"MAX_CTAS", {13, 6}, Access::Ro, p.max_ctas, 0U, 63U},
       {"NUM_SCHED", {19, 3}, Access::Ro, p.num_sched, 0U, 7U},
       {"REGION_UNITS", {22, 8}, Access::Ro, p.region_units, 0U, 255U}}, false});
  all.push_back({"MODE", 0x008, Needs::Nothing, {
       {"MODE", {0, 3}, Access::Rw, 0U, 0U, 5U}}, false});
  all.push_back({"CONTROL", 0x00c, Needs::Nothing, {
       {"REPROFILE", {0, 1}, Access::W1s, 0U, 0U, 1U},
       {"GO", {1, 1}, Access::W1s, 0U, 0U, 1U},
       {"FLUSH_CONTEXT", {2, 1}, Access::W1s, 0U, 0U, 1U},
       {"CONTEXT", {8, 8}, Access::Wo, 0U, 0U, 255U}}, false});
  all.push_back({"STATUS", 0x010, Needs::Nothing, {
       {"SEQUENCER", {0, 4}, Access::Ro, 0U, 0U, 15U},
       {"SPATIAL", {4, 1}, Access::Ro, 0U, 0U, 1U},
       {"NO_FIT", {5, 1}, Access::Ro, 0U, 0U, 1U},
       {"DROPPED", {6, 1}, Access::Ro, 0U, 0U, 1U},
       {"NO_PROFILE", {7, 1}, Access::Ro, 0U, 0U, 1U},
       {"PRESENT", {8, 4}, Access::Ro, 0U, 0U, 15U}}, false});
  all.push_back({"DECISIONS", 0x014, Needs::Nothing, {
       {"COUNT", {0, 32}, Access::Ro, 0U, 0U, 4294967295U}}, false});
  all.push_back({"ERROR", 0x018, Needs::Nothing, {
       {"BAD_DONE", {0, 1}, Access::W1c, 0U, 0U, 1U},
       {"CANNOT_FIT", {1, 1}, Access::W1c, 0U, 0U, 1U},
       {"SLOT_BUSY", {2, 1}, Access::W1c, 0U, 0U, 1U},
       {"BAD_MODE", {3, 1}, Access::W1c, 0U, 0U, 1U},
       {"BAD_CONFIG", {4, 1}, Access::W1c, 0U, 0U, 1U},
       {"BAD_KERNEL", {5, 1}, Access::W1c, 0U, 0U, 1U},
       {"MODE_IN_DECISION", {6, 1}, Access::W1c, 0U, 0U, 1U},
       {"PARITY", {7, 1}, Access::W1c, 0U, 0U, 1U}}, false});
  all.push_back({"ERROR_INFO", 0x01c, Needs::Nothing, {
       {"KERNEL", {0, 3}, Access::Ro, 0U, 0U, 7U},
       {"CAUSE", {4, 3}, Access::Ro, 0U, 0U, 7U},
       {"SM", {8, 8}, Access::Ro, 0U, 0U, 255U}}, false});
  all.push_back({"IRQ_STATUS", 0x020, Needs::Nothing, {
       {"ERROR", {0, 1}, Access::W1c, 0U, 0U, 1U},
       {"KERNEL_DONE", {1, 1}, Access::W1c, 0U, 0U, 1U},
       {"EVICT_DONE", {2, 1}, Access::W1c, 0U, 0U, 1U},
       {"DECISION", {3, 1}, Access::W1c, 0U, 0U, 1U}}, false});
  all.push_back({"IRQ_ENABLE", 0x024, Needs::Nothing, {
       {"ENABLE", {0, 4}, Access::Rw, 0U, 0U, 15U}}, false});
  all.push_back({"KERNEL_DONE", 0x028, Needs::Nothing, {
       {"DONE", {0, 8}, Access::W1c, 0U, 0U, 255U}}, false});
  all.push_back({"EVICT_DONE", 0x02c, Needs::Nothing, {
       {"DONE", {0, 8}, Access::W1c, 0U, 0U, 255U}}, false});
  all.push_back({"CAP_WARPS", 0x030, Needs::AllFree, {
       {"VALUE", {0, 7}, Access::Rw, 48U, 1U, 127U}}, false});
  all.push_back({"CAP_REGISTERS", 0x034, Needs::AllFree, {
       {"VALUE", {0, 17}, Access::Rw, 32768U, 1U, 131071U}}, false});
  all.push_back({"CAP_SHARED", 0x038, Needs::AllFree, {
       {"VALUE", {0, 18}, Access::Rw, 49152U, 0U, 262143U}}, false});
  all.push_back({"CAP_SLOTS", 0x03c, Needs::AllFree, {
       {"VALUE", {0, 6}, Access::Rw, p.max_ctas, 1U, p.max_ctas}}, false});
  all.push_back({"WARM_UP", 0x040, Needs::Nothing, {
       {"VALUE", {0, 20}, Access::Rw, 20000U, 0U, 1048575U}}, false});
  all.push_back({"WINDOW", 0x044, Needs::Undecided, {
       {"VALUE", {0, 16}, Access::Rw, 5120U, 1024U, 65535U}}, false});
  all.push_back({"DELAY", 0x048, Needs::Nothing, {
       {"VALUE", {0, 16}, Access::Rw, 0U, 0U, 65535U}}, false});
  all.push_back({"EPSILON", 0x04c, Needs::Undecided, {
       {"VALUE", {0, 15}, Access::Rw, 0U, 0U, 16384U}}, false});
  all.push_back({"LOSS_LIMIT", 0x050, Needs::Undecided, {
       {"VALUE", {0, 16}, Access::Rw, 19661U, 0U, 65535U}}, false});
  all.push_back({"MONITOR", 0x054, Needs::Nothing, {
       {"ENABLE", {0, 1}, Access::Rw, 0U, 0U, 1U},
       {"THRESHOLD", {16, 15}, Access::Rw, 4096U, 0U, 32767U}}, false});
  all.push_back({"MONITOR_WINDOW", 0x058, Needs::Nothing, {
       {"VALUE", {0, 16}, Access::Rw, 5120U, 16U, 65535U}}, false});
  all.push_back({"MONITOR_HOLD", 0x05c, Needs::Nothing, {
       {"VALUE", {0, 8}, Access::Rw, 2U, 1U, 255U}}, false});
  all.push_back({"REQUEST_SHARE", 0x060, Needs::Undecided, {
       {"VALUE", {0, 13}, Access::Rw, 0U, 0U, 8191U}}, false});
  all.push_back({"DRAIN_LIMIT", 0x064, Needs::Nothing, {
       {"VALUE", {0, 8}, Access::Rw, 255U, 0U, 255U}}, false});
  all.push_back({"FEATURES", 0x068, Needs::Nothing, {
       {"SM_ENABLE", {0, 1}, Access::Ro, p.sm_enable, 0U, 1U},
       {"SM_READY", {1, 1}, Access::Ro, p.sm_ready, 0U, 1U},
       {"FLUSH", {2, 1}, Access::Ro, p.flush, 0U, 1U},
       {"PRIORITY", {3, 1}, Access::Ro, p.priority, 0U, 1U},
       {"LAUNCH_QUEUE", {4, 4}, Access::Ro, p.launch_queue, 0U, 15U},
       {"PATIENCE", {8, 5}, Access::Ro, p.patience, 0U, 31U},
       {"CHURN", {16, 5}, Access::Ro, p.churn, 0U, 31U},
       {"PARITY", {21, 1}, Access::Ro, p.parity, 0U, 1U}}, false});
  if (p.sm_enable != 0) all.push_back({"SM_ENABLE0", 0x080, Needs::Nothing, {
       {"SMS", {0, 32}, Access::Rw, 4294967295U, 0U, 4294967295U}}, true});
  if (p.sm_enable != 0) all.push_back({"SM_ENABLE1", 0x084, Needs::Nothing, {
       {"SMS", {0, 32}, Access::Rw, 4294967295U, 0U, 4294967295U}}, true});
  if (p.sm_enable != 0) all.push_back({"SM_ENABLE2", 0x088, Needs::Nothing, {
       {"SMS", {0, 32}, Access::Rw, 4294967295U, 0U, 4294967295U}}, true});
  if (p.sm_enable != 0) all.push_back({"SM_ENABLE3", 0x08c, Needs::Nothing, {
       {"SMS", {0, 32}, Access::Rw, 4294967295U, 0U, 4294967295U}}, true});
  if (p.sm_enable != 0) all.push_back({"SM_ENABLE4", 0x090, Needs::Nothing, {
       {"SMS", {0, 32}, Access::Rw, 4294967295U, 0U, 4294967295U}}, true});
  if (p.sm_enable != 0) all.push_back({"SM_ENABLE5", 0x094, Needs::Nothing, {
       {"SMS", {0, 32}, Access::Rw, 4294967295U, 0U, 4294967295U}}, true});
  if (p.sm_enable != 0) all.push_back({"SM_ENABLE6", 0x098, Needs::Nothing, {
       {"SMS", {0, 32}, Access::Rw, 4294967295U, 0U, 4294967295U}}, true});
  if (p.sm_enable != 0) all.push_back({"SM_ENABLE7", 0x09c, Needs::Nothing, {
       {"SMS", {0, 32}, Access::Rw, 4294967295U, 0U, 4294967295U}}, true});
  if (p.sm_enable != 0) all.push_back({"SM_BUSY0", 0x0a0, Needs::Nothing, {
       {"SMS", {0, 32}, Access::Ro, 0U, 0U, 4294967295U}}, true});
  if (p.sm_enable != 0) all.push_back({"SM_BUSY1", 0x0a4, Needs::Nothing, {
       {"SMS", {0, 32}, Access::Ro, 0U, 0U, 4294967295U}}, true});
  if (p.sm_enable != 0) all.push_back({"SM_BUSY2", 0x0a8, Needs::Nothing, {
       {"SMS", {0, 32}, Access::Ro, 0U, 0U, 4294967295U}}, true});
  if (p.sm_enable != 0) all.push_back({"SM_BUSY3", 0x0ac, Needs::Nothing, {
       {"SMS", {0, 32}, Access::Ro, 0U, 0U, 4294967295U}}, true});
  if (p.sm_enable != 0) all.push_back({"SM_BUSY4", 0x0b0, Needs::Nothing, {
       {"SMS", {0, 32}, Access::Ro, 0U, 0U, 4294967295U}}, true});
  if (p.sm_enable != 0) all.push_back({"SM_BUSY5", 0x0b4, Needs::Nothing, {
       {"SMS", {0, 32}, Access::Ro, 0U, 0U, 4294967295U}}, true});
  if (p.sm_enable != 0) all.push_back({"SM_BUSY6", 0x0b8, Needs::Nothing, {
       {"SMS", {0, 32}, Access::Ro, 0U, 0U, 4294967295U}}, true});
  if (p.sm_enable != 0) all.push_back({"SM_BUSY7", 0x0bc, Needs::Nothing, {
       {"SMS", {0, 32}, Access::Ro, 0U, 0U, 4294967295U}}, true});
  if (p.launch_queue != 0) all.push_back({"PORT_SLOTS", 0x06c, Needs::Nothing, {
       {"SLOTS", {0, 8}, Access::Rw, 0U, 0U, 255U}}, false});
  if (p.parity != 0) all.push_back({"PARITY", 0x070, Needs::Nothing, {
       {"HALTED", {0, 1}, Access::Ro, 0U, 0U, 1U},
       {"TABLE", {4, 4}, Access::Ro, 0U, 0U, 15U},
       {"ENTRY", {8, 8}, Access::Ro, 0U, 0U, 255U},
       {"COUNT", {16, 8}, Access::Ro, 0U, 0U, 255U}}, false});
  for (unsigned k = 0; k < p.max_kernels; ++k) {
    const std::string prefix = "SLOT" + std::to_string(k) + ".";
    all.push_back({prefix + "WARPS", slot(k, 0x00), Needs::SlotFree, {
         {"VALUE", {0, 7}, Access::Rw, 0U, 0U, 127U}}, false});
    all.push_back({prefix + "REGISTERS", slot(k, 0x04), Needs::SlotFree, {
         {"VALUE", {0, 17}, Access::Rw, 0U, 0U, 131071U}}, false});
    all.push_back({prefix + "SHARED", slot(k, 0x08), Needs::SlotFree, {
         {"VALUE", {0, 18}, Access::Rw, 0U, 0U, 262143U}}, false});
    all.push_back({prefix + "GRID", slot(k, 0x0c), Needs::SlotFree, {
         {"VALUE", {0, 32}, Access::Rw, 0U, 0U, 4294967295U}}, false});
    all.push_back({prefix + "CTRL", slot(k, 0x10), Needs::Nothing, {
         {"LAUNCH", {0, 1}, Access::W1s, 0U, 0U, 1U},
         {"STOP", {1, 1}, Access::W1s, 0U, 0U, 1U},
         {"EVICT", {2, 1}, Access::W1s, 0U, 0U, 1U},
         {"RESUME", {3, 1}, Access::W1s, 0U, 0U, 1U},
         {"REPEAT", {4, 1}, Access::Level, 0U, 0U, 1U},
         {"WAIT", {5, 1}, Access::Wo, 0U, 0U, 1U},
         {"FLUSH", {6, 1}, Access::W1s, 0U, 0U, 1U},
         {"EVICT_COUNT", {16, 16}, Access::Wo, 0U, 0U, 65535U}}, false});
    all.push_back({prefix + "STATUS", slot(k, 0x14), Needs::Nothing, {
         {"STATE", {0, 2}, Access::Ro, 0U, 0U, 3U}}, false});
    all.push_back({prefix + "RESIDENT", slot(k, 0x18), Needs::Nothing, {
         {"COUNT", {0, 16}, Access::Ro, 0U, 0U, 65535U}}, false});
    all.push_back({prefix + "DISPATCHED", slot(k, 0x1c), Needs::Nothing, {
         {"COUNT", {0, 32}, Access::Ro, 0U, 0U, 4294967295U}}, false});
    all.push_back({prefix + "QUOTA", slot(k, 0x20), Needs::Nothing, {
         {"VALUE", {0, 6}, Access::Rw, p.max_ctas, 0U, p.max_ctas}}, false});
    all.push_back({prefix + "CTAS", slot(k, 0x24), Needs::Nothing, {
         {"COUNT", {0, 6}, Access::Ro, 0U, 0U, 63U}}, false});
    if (p.launch_queue != 0) all.push_back({prefix + "TAGS", slot(k, 0x28), Needs::Nothing, {
         {"CONTEXT", {0, 8}, Access::Ro, 0U, 0U, 255U},
         {"PRIORITY", {16, 3}, Access::Ro, 0U, 0U, 7U}}, false});
    if (p.priority != 0) all.push_back({prefix + "PRIORITY", slot(k, 0x2c), Needs::SlotFree, {
         {"VALUE", {0, 3}, Access::Rw, 0U, 0U, 7U}}, false});
    all.push_back({prefix + "MASK0", slot(k, 0x40), Needs::Nothing, {
         {"SMS", {0, 32}, Access::Rw, 4294967295U, 0U, 4294967295U}}, true});
    all.push_back({prefix + "MASK1", slot(k, 0x44), Needs::Nothing, {
         {"SMS", {0, 32}, Access::Rw, 4294967295U, 0U, 4294967295U}}, true});
    all.push_back({prefix + "MASK2", slot(k, 0x48), Needs::Nothing, {
         {"SMS", {0, 32}, Access::Rw, 4294967295U, 0U, 4294967295U}}, true});
    all.push_back({prefix + "MASK3", slot(k, 0x4c), Needs::Nothing, {
         {"SMS", {0, 32}, Access::Rw, 4294967295U, 0U, 4294967295U}}, true});
    all.push_back({prefix + "MASK4", slot(k, 0x50), Needs::Nothing, {
         {"SMS", {0, 32}, Access::Rw, 4294967295U, 0U, 4294967295U}}, true});
    all.push_back({prefix + "MASK5", slot(k, 0x54), Needs::Nothing, {
         {"SMS", {0, 32}, Access::Rw, 4294967295U, 0U, 4294967295U}}, true});
    all.push_back({prefix + "MASK6", slot(k, 0x58), Needs::Nothing, {
         {"SMS", {0, 32}, Access::Rw, 4294967295U, 0U, 4294967295U}}, true});
    all.push_back({prefix + "MASK7", slot(k, 0x5c), Needs::Nothing, {
         {"SMS", {0, 32}, Access::Rw, 4294967295U, 0U, 4294967295U}}, true});
  }
  return all;
}

}  // namespace sluice::regs
