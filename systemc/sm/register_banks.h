// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "sw/core/machine.h"
#include "sw/workload/i_instruction_source.h"

namespace sluice {

/// Banks of each scheduler's register file: register R lies in bank R modulo their number, and a bank is read once a cycle, in
/// the order of issue. Sources that the assembler marked are kept until an instruction has another source in their bank
/// (docs/user/machines.md, "Register banks").
class RegisterBanks {
 public:
  explicit RegisterBanks(const SmConfig& config)
      : banks_(config.sub_core.modelled ? config.sub_core.register_banks : 0),
        slack_(config.sub_core.operand_slack),
        schedulers_(config.schedulers) {}

  [[nodiscard]] bool modelled() const { return banks_ != 0; }
  /// The warp `lane` issues an instruction, whose sources are read. @return cycles for which its scheduler then stands still
  std::uint64_t read(std::uint32_t scheduler, std::uint32_t lane, const Instruction& instruction, std::uint64_t now) {
    if (instruction.banked == 0) return 0;
    Registers& of_scheduler = schedulers_[scheduler];
    Sources sources;
    for (std::uint32_t i = 0; i < std::size(instruction.src); ++i) {
      if ((instruction.banked >> i & 1) == 0) continue;
      const bool kept = (instruction.kept >> i & 1) != 0;
      sources.add(lane << 16 | instruction.src[i], kept);
      if ((instruction.pairs >> i & 1) != 0) sources.add(lane << 16 | (instruction.src[i] + 1U), kept);
    }
    std::array<std::uint8_t, kMaxRegisterBanks> reads{};
    std::uint32_t touched = 0;
    for (std::uint32_t i = 0; i < sources.count; ++i) {
      const std::uint32_t bank = bank_of(sources.tags[i]);
      touched |= 1U << bank;
      if (!of_scheduler.kept.has(sources.tags[i])) ++reads[bank];
    }
    std::uint64_t late = 0;
    for (std::uint32_t b = 0; b < banks_; ++b) {
      if (reads[b] == 0) continue;
      const std::uint64_t begin = std::max(of_scheduler.free[b], now);
      late = std::max(late, begin - now);
      of_scheduler.free[b] = begin + reads[b];
    }
    if ((sources.marked | of_scheduler.kept.count) != 0) keep(of_scheduler.kept, sources, touched);
    return late > slack_ ? late - slack_ : 0;
  }

 private:
  /// Registers of warps, each once.
  struct Sources {
    static constexpr std::uint32_t kMost = 2 * sizeof(Instruction::src);
    std::array<std::uint32_t, kMost> tags;
    std::uint32_t count = 0, marked = 0;  ///< marked: mask of those to be kept
    [[nodiscard]] bool has(std::uint32_t tag) const {
      return std::find(tags.begin(), tags.begin() + count, tag) != tags.begin() + count;
    }
    void add(std::uint32_t tag, bool mark) {
      std::uint32_t at = 0;
      while (at < count && tags[at] != tag) ++at;
      if (at == kMost) return;
      if (at == count) tags[count++] = tag;
      if (mark) marked |= 1U << at;
    }
  };
  struct Registers {
    std::array<std::uint64_t, kMaxRegisterBanks> free{};  ///< cycle from which a bank has nothing to read
    Sources kept;
  };
  [[nodiscard]] std::uint32_t bank_of(std::uint32_t tag) const { return (tag & 0xffff) % banks_; }
  void keep(Sources& kept, const Sources& sources, std::uint32_t touched) const {
    Sources now;
    for (std::uint32_t i = 0; i < sources.count; ++i)
      if ((sources.marked >> i & 1) != 0) now.add(sources.tags[i], false);
    for (std::uint32_t i = 0; i < kept.count; ++i)
      if ((touched >> bank_of(kept.tags[i]) & 1) == 0) now.add(kept.tags[i], false);
    kept = now;
  }

  std::uint32_t banks_, slack_;
  std::vector<Registers> schedulers_;
};

}  // namespace sluice
