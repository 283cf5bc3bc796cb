// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstdint>
#include <memory>
#include <tlm>
#include <vector>

#include "sw/workload/i_instruction_source.h"

namespace sluice {

inline constexpr std::uint32_t kSectorBytes = 32;  ///< a quarter of it
inline constexpr std::uint8_t kAllSectors = 0xf;

[[nodiscard]] inline std::uint32_t sector_bytes(std::uint8_t sectors) {
  return static_cast<std::uint32_t>(std::popcount(sectors)) * kSectorBytes;
}

/// Who waits for the answer to a read: the L1 line's MSHR, one load that bypasses the L1, or the instruction cache.
inline constexpr std::uint32_t kForL1 = 0xffffffff, kForInstructions = 0xfffffffe;

/// What a memory transaction carries beside the generic payload: who asked, and for which sectors of the line.
struct PacketInfo {
  std::uint32_t sm = 0;
  std::uint32_t kernel = 0;
  std::uint32_t slice = 0;        ///< set by the interconnect
  std::uint32_t waiter = kForL1;  ///< kForL1, kForInstructions, or the SM's index of a load; with `write_back` an MSHR of the L2
  std::uint8_t sectors = kAllSectors;
  std::uint8_t whole = kAllSectors, part_bytes = 0;  ///< of a write, as in LineAccess
  std::uint8_t write_back = 0;  ///< of a read by the L2: it completes these sectors, which then leave for DRAM
  bool atomic = false;          ///< read-modify-write at L2: the request carries operands
  bool no_result = false;       ///< an atomic without a destination: the answer is a header
};

/// Pool of one-line transactions. The model carries timing, not data: every payload shares one line buffer. Every payload of the
/// memory system is one of a pool, with its PacketInfo behind it: to look for a TLM extension took 12 % of a matrix product's
/// run.
class PacketPool : public tlm::tlm_mm_interface {
 public:
  tlm::tlm_generic_payload* acquire(std::uint64_t address, bool write, std::uint8_t sectors, std::uint32_t sm,
                                    std::uint32_t kernel);
  void free(tlm::tlm_generic_payload* packet) override { free_.push_back(packet); }
  static PacketInfo& info(tlm::tlm_generic_payload& packet) { return static_cast<Packet&>(packet).info; }

 private:
  struct Packet : tlm::tlm_generic_payload {
    using tlm_generic_payload::tlm_generic_payload;
    PacketInfo info;
  };
  std::vector<std::unique_ptr<Packet>> all_;
  std::vector<tlm::tlm_generic_payload*> free_;
  unsigned char line_[kLineBytes] = {};
};

}  // namespace sluice
