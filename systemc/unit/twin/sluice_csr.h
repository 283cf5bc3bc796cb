// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <register_table.h>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sw/driver/axi_lite.h"
#include "systemc/unit/ports/i_cta_dispatcher.h"

namespace sluice {

/// A field a kernel slot; those beyond MAX_KERNELS stay 0.
template <class T>
using PerKernel = std::array<T, kMaxKernelSlots>;

/// A bit an SM, 32 a word.
using SmMask = std::array<std::uint32_t, kMaxSms / 32>;

/// What the other blocks report to sluice_csr in one cycle.
struct SluiceCsrStatus {
  PerKernel<std::uint8_t> slot_state{};  ///< regs::SlotState
  PerKernel<std::uint16_t> resident{};
  PerKernel<std::uint32_t> dispatched{};
  PerKernel<bool> evict_done{};   ///< level: the last EVICT has drained
  PerKernel<bool> kernel_done{};  ///< pulses
  std::uint8_t num_present = 0;
  PerKernel<std::uint8_t> ctas{};   ///< quotas in force
  PerKernel<std::uint32_t> tags{};  ///< as register TAGS has them
  SmBits sm_busy;                   ///< SMs that hold a CTA
  std::uint32_t queue = 0;          ///< launches that wait
  std::uint8_t sequencer_state = 0;
  bool decision = false;  ///< pulse
  bool spatial = false, no_fit = false, dropped = false, no_profile = false;
  std::uint8_t error = 0;  ///< pulses: BAD_DONE 1, CANNOT_FIT 2, SLOT_BUSY 4, BAD_KERNEL 8, PORT_STUCK 16
  std::uint8_t error_kernel = 0;
  std::uint8_t error_sm = 0, error_slot = 0;
  bool fell_back = false;                  ///< a mode that would have SM ranges has none to give
  std::uint32_t balance = 0;               ///< as register BALANCE_STATUS has it,
  std::array<std::uint32_t, 16> scores{};  ///< and BALANCE_SCORE
};

/// A launch of the port goes to a kernel slot.
struct SluiceCsrTake {
  std::uint32_t slot = 0, warps = 0, registers = 0, shared_bytes = 0, ctas = 0, priority = 0;
};

/// A flush of a context, or of all.
struct SluiceCsrPurge {
  bool all = false;
  std::uint32_t context = 0;
  [[nodiscard]] bool meets(std::uint32_t other) const { return all || context == other; }
};

/// Input ports of sluice_csr.
struct SluiceCsrIn {
  bool rst_n = true;
  AxiLiteIn axi;
  SluiceCsrStatus status;
  std::optional<SluiceCsrTake> take = std::nullopt;
};

/// Configuration and commands that sluice_csr gives the other blocks.
struct SluiceConfig {
  std::uint8_t mode = 0;
  bool mode_write = false;
  std::uint32_t capacity_warps = 0, capacity_registers = 0, capacity_shared = 0, capacity_slots = 0;
  PerKernel<std::uint32_t> demand_warps{}, demand_registers{}, demand_shared{}, grid{};
  PerKernel<std::uint8_t> priority{};  ///< 0 without the option
  PerKernel<bool> repeat{}, launch{}, stop{}, evict{}, resume{}, flush{};
  std::uint16_t evict_count = 0;
  PerKernel<std::uint8_t> quota{};
  PerKernel<SmMask> mask{};
  bool static_write = false;
  std::uint32_t warm_up = 0, window = 0, delay = 0, epsilon = 0, loss_limit = 0;
  std::uint32_t request_share = 0, drain_limit = 0;
  bool monitor_enable = false;
  std::uint32_t monitor_threshold = 0, monitor_window = 0, monitor_hold = 0;
  bool reprofile = false;
  SmBits sm_enable = all_sms();  ///< all without the option
  bool enable_write = false;
  std::uint8_t port_slots = 0;      ///< mask of the launch port's kernel slots
  std::uint32_t balance = 0;        ///< registers BALANCE
  PerKernel<std::uint32_t> wish{};  ///< and WISH; 0 without the option
  bool operator==(const SluiceConfig&) const = default;
};

/// Output ports of sluice_csr.
struct SluiceCsrOut {
  AxiLiteOut axi;
  bool irq = false;
  SluiceConfig config;
  bool operator==(const SluiceCsrOut&) const = default;
};

/// twin of rtl/csr/sluice_csr.sv, cycle-exact at every port, written from docs/reference/blocks/sluice_csr.md and the
/// register map. Every output is registered: out() holds before the inputs of the cycle are known, clock() is the rising edge.
class SluiceCsrTwin {
 public:
  explicit SluiceCsrTwin(const regs::Parameters& parameters, bool has_balance = false);

  [[nodiscard]] const SluiceCsrOut& out() const { return out_; }
  /// Nothing changes without an input (idle_o).
  [[nodiscard]] bool idle() const;
  /// Low rst_n resets, as the asynchronous reset does.
  void clock(const SluiceCsrIn& in);
  /// What a write that acts in this cycle purges from the queue of the launch port (combinational in the RTL).
  [[nodiscard]] std::optional<SluiceCsrPurge> purges() const;
  /// Ports in, ports out as they stand just before the rising edge, then the edge.
  SluiceCsrOut cycle(const SluiceCsrIn& in);

 private:
  /// Who reports an error, for ERROR_INFO.
  struct Refusal {
    unsigned bit;  ///< in ERROR
    std::uint8_t kernel;
  };

  void reset();
  [[nodiscard]] std::optional<std::uint32_t> read(std::uint32_t address, const SluiceCsrStatus& status) const;
  /// Performs a complete write. @return whether the address can be written; `refusal` is set when the value is refused
  bool write(std::uint32_t address, std::uint32_t data, const SluiceCsrStatus& status, std::optional<Refusal>& refusal);
  [[nodiscard]] std::optional<Refusal> refuse(const regs::RegisterInfo& info, std::uint32_t data,
                                              const SluiceCsrStatus& status) const;
  void act(std::uint32_t address, std::uint32_t data, const SluiceCsrStatus& status);
  void record(const SluiceCsrStatus& status, const std::optional<Refusal>& refusal, bool mode_in_decision,
              std::uint32_t done_enable);
  void update_handshakes();
  void update_config();
  void take(const SluiceCsrTake& take);
  /// Command bits of a write to CTRL.
  [[nodiscard]] std::uint32_t commands(std::uint32_t data) const {
    return data & (0xfU | (parameters_.flush != 0 ? regs::kSlotCtrlFlush.put(1) : 0));
  }
  [[nodiscard]] bool is_ports(unsigned kernel) const { return (out_.config.port_slots >> kernel & 1U) != 0; }
  [[nodiscard]] const regs::RegisterInfo* find(std::uint32_t address) const;
  /// Bits of a register with a bit a kernel slot that stand for slots.
  [[nodiscard]] std::uint32_t existing_slots() const { return (1U << parameters_.max_kernels) - 1; }
  /// Bits of a register with a bit an SM that stand for SMs.
  [[nodiscard]] std::uint32_t existing_sms(std::uint32_t address) const;

  [[nodiscard]] std::uint32_t& word(std::uint32_t address) { return words_[address / 4]; }
  [[nodiscard]] std::uint32_t word(std::uint32_t address) const { return words_[address / 4]; }

  regs::Parameters parameters_;
  bool has_balance_;                                                     ///< MODE may be Balance
  [[nodiscard]] bool alone() const { return parameters_.balance == 2; }  ///< and not Dynamic
  std::vector<regs::RegisterInfo> registers_;
  std::array<std::uint8_t, 1024> index_{};   ///< into registers_, by address / 4
  std::array<std::uint32_t, 1024> words_{};  ///< contents by address / 4

  std::optional<std::uint32_t> held_address_;
  std::optional<std::uint32_t> held_data_;
  bool held_full_strobe_ = false;
  PerKernel<bool> launching_{};           ///< launched in this cycle
  PerKernel<bool> waiting_{};             ///< launches that wait for CONTROL.GO
  std::optional<SluiceCsrPurge> purged_;  ///< in the cycle before: kernels are flushed in this one
  bool judged_ = false;                   ///< the held write was looked at: it acts when no response waits
  std::optional<std::uint32_t> reading_;  ///< address of the read that is answered with the next edge
  SluiceCsrOut out_;
};

}  // namespace sluice
