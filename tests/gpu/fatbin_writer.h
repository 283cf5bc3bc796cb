// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <lz4.h>
#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <string>

namespace sluice::gpu {

enum class Packing { None, Lz4, Zstd };

/// Appends the bytes of a number.
template <class T>
void put(std::string& to, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  to.append(bytes, sizeof value);
}

/// An entry as fatbin.h has it, with a name of the file as with -lineinfo.
/// @param kind  1 PTX, 2 ELF
inline std::string fatbin_entry(std::uint16_t kind, std::uint32_t sm, std::string bytes, Packing packing,
                                const std::string& name = "") {
  const std::uint64_t size = packing == Packing::None ? 0 : bytes.size();
  std::string packed = bytes;
  if (packing == Packing::Lz4) {
    packed.resize(LZ4_compressBound(static_cast<int>(bytes.size())));
    packed.resize(
        LZ4_compress_default(bytes.data(), packed.data(), static_cast<int>(bytes.size()), static_cast<int>(packed.size())));
  } else if (packing == Packing::Zstd) {
    packed.resize(ZSTD_compressBound(bytes.size()));
    packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 3));
  }
  const auto compressed = static_cast<std::uint32_t>(packing == Packing::None ? 0 : packed.size());
  packed.resize((packed.size() + 7) / 8 * 8);
  std::string names = name;
  names.resize((names.size() + 7) / 8 * 8);
  std::string out;
  put<std::uint16_t>(out, kind);
  put<std::uint16_t>(out, 0x101);
  put<std::uint32_t>(out, static_cast<std::uint32_t>(64 + names.size()));
  put<std::uint64_t>(out, packed.size());
  put<std::uint32_t>(out, compressed);
  put<std::uint32_t>(out, 0);
  put<std::uint32_t>(out, 0x90000);
  put<std::uint32_t>(out, sm);
  put<std::uint32_t>(out, name.empty() ? 0 : 64);
  put<std::uint32_t>(out, static_cast<std::uint32_t>(name.size()));
  put<std::uint64_t>(out, 0x11 | (packing == Packing::Lz4 ? 0x2000 : 0) | (packing == Packing::Zstd ? 0x8000 : 0));
  put<std::uint64_t>(out, 0);
  put<std::uint64_t>(out, size);
  return out + names + packed;
}

inline std::string fatbin_container(const std::string& entries) {
  std::string out;
  put<std::uint32_t>(out, 0xba55ed50);
  put<std::uint16_t>(out, 1);
  put<std::uint16_t>(out, 16);
  put<std::uint64_t>(out, entries.size());
  return out + entries;
}

}  // namespace sluice::gpu
