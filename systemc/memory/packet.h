#pragma once
#include <cstdint>
#include <memory>
#include <tlm>
#include <vector>

namespace sluice {

inline constexpr std::uint32_t kLineBytes = 128;  ///< coalescing granule and cache line

inline constexpr std::uint32_t kNoLoad = 0xffffffff;

/// What a memory transaction carries beside the generic payload: who asked.
struct PacketInfo : tlm::tlm_extension<PacketInfo> {
  std::uint32_t sm = 0;
  std::uint32_t kernel = 0;
  std::uint32_t slice = 0;       ///< set by the interconnect
  std::uint32_t load = kNoLoad;  ///< read that bypasses the L1: the SM's load that waits for it
  [[nodiscard]] tlm::tlm_extension_base* clone() const override { return new PacketInfo(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override { *this = static_cast<const PacketInfo&>(other); }
};

/// Pool of one-line transactions. The model carries timing, not data: every payload shares one line buffer.
class PacketPool : public tlm::tlm_mm_interface {
 public:
  tlm::tlm_generic_payload* acquire(std::uint64_t address, bool write, std::uint32_t sm, std::uint32_t kernel);
  void free(tlm::tlm_generic_payload* packet) override { free_.push_back(packet); }
  static PacketInfo& info(tlm::tlm_generic_payload& packet) { return *packet.get_extension<PacketInfo>(); }

 private:
  std::vector<std::unique_ptr<tlm::tlm_generic_payload>> all_;
  std::vector<tlm::tlm_generic_payload*> free_;
  unsigned char line_[kLineBytes] = {};
};

}  // namespace sluice
