// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <verilated.h>

#include <cstdint>
#include <type_traits>

namespace sluice {

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
  const std::uint64_t ones = (std::uint64_t{1} << width) - 1;
  if constexpr (std::is_integral_v<Port>) {
    port = static_cast<Port>((port & ~(ones << lsb)) | ((value & ones) << lsb));
  } else {
    const unsigned word = lsb / 32, shift = lsb % 32;
    port[word] = static_cast<std::uint32_t>((port[word] & ~(ones << shift)) | ((value & ones) << shift));
    if (shift + width > 32) {
      port[word + 1] = static_cast<std::uint32_t>((port[word + 1] & ~(ones >> (32 - shift))) | ((value & ones) >> (32 - shift)));
    }
  }
}

template <class Port>
void clear_port(Port& port) {
  if constexpr (std::is_integral_v<Port>) {
    port = 0;
  } else {
    for (std::size_t w = 0; w < sizeof(port) / sizeof(port[0]); ++w) port[w] = 0;
  }
}

/// Fields of a port that is a packed struct, width and value of each: the last one of the struct comes first.
template <class Port, class Value, class... Rest>
void take_fields(const Port& port, unsigned lsb, unsigned width, Value& value, Rest&&... rest) {
  value = static_cast<Value>(get_field(port, lsb, width));
  if constexpr (sizeof...(rest) != 0) take_fields(port, lsb + width, rest...);
}
template <class Port, class Value, class... Rest>
void put_fields(Port& port, unsigned lsb, unsigned width, Value value, Rest... rest) {
  set_field(port, lsb, width, static_cast<std::uint32_t>(value));
  if constexpr (sizeof...(rest) != 0) put_fields(port, lsb + width, rest...);
}

/// A sluice_pkg::amounts_t at `lsb`: warps, registers, bytes of shared memory.
inline constexpr unsigned kAmountBits = 7 + 17 + 18;
template <class Port>
void set_amounts(Port& port, unsigned lsb, std::uint32_t warps, std::uint32_t registers, std::uint32_t shared) {
  set_field(port, lsb, 7, warps);
  set_field(port, lsb + 7, 17, registers);
  set_field(port, lsb + 24, 18, shared);
}

}  // namespace sluice
