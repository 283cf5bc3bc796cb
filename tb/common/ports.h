#pragma once
#include <verilated.h>

#include <cstdint>
#include <type_traits>

namespace sluice::tb {

/// Bits of a Verilated port of any width: reads and writes fields of up to 32 bits, as flat vectors pack them.
template <class Port>
std::uint32_t get_field(const Port& port, unsigned lsb, unsigned width) {
  std::uint64_t value = 0;
  if constexpr (std::is_integral_v<Port>) {
    value = static_cast<std::uint64_t>(port) >> lsb;
  } else {
    value = port[lsb / 32] >> (lsb % 32);
    if (lsb % 32 + width > 32) value |= static_cast<std::uint64_t>(port[lsb / 32 + 1]) << (32 - lsb % 32);
  }
  return static_cast<std::uint32_t>(value & ((std::uint64_t{1} << width) - 1));
}

template <class Port>
void set_field(Port& port, unsigned lsb, unsigned width, std::uint32_t value) {
  if constexpr (std::is_integral_v<Port>) {
    const std::uint64_t mask = ((std::uint64_t{1} << width) - 1) << lsb;
    port = static_cast<Port>((port & ~mask) | ((static_cast<std::uint64_t>(value) << lsb) & mask));
  } else {
    for (unsigned b = 0; b < width; ++b) {
      const std::uint32_t bit = 1U << ((lsb + b) % 32);
      port[(lsb + b) / 32] = ((value >> b) & 1U) != 0 ? port[(lsb + b) / 32] | bit : port[(lsb + b) / 32] & ~bit;
    }
  }
}

}  // namespace sluice::tb
