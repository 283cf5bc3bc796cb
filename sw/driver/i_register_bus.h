// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

namespace sluice {

/// 32-bit registers somewhere: behind AXI4-Lite pins, a TLM socket, a mapped file. Addresses are bytes, multiples of 4.
class IRegisterBus {
 public:
  virtual ~IRegisterBus() = default;
  /// @return the register, nullopt when the bus reports an error (no such address)
  [[nodiscard]] virtual std::optional<std::uint32_t> read32(std::uint32_t address) = 0;
  /// @return false when the bus reports an error (no such address, read-only)
  [[nodiscard]] virtual bool write32(std::uint32_t address, std::uint32_t value) = 0;
};

}  // namespace sluice
