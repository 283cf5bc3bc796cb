// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sluice::gpu {

// Fat binaries, by what nvcc 13.0 writes. All numbers are little-endian.
//
// Wrapper (24 bytes; a program hands its address to the runtime):
//   0 u32 0x466243b1   4 u32 version: 1, or 2 with relocatable code   8 u64 address of a container   16 u64 version 2: address of
//   a list of addresses, 0 at its end: containers of the parts that were linked, which hold the PTX; version 1: 0
// Container:
//   0 u32 0xba55ed50   4 u16 version 1   6 u16 bytes of this header: 16   8 u64 bytes of all entries; then the entries
// Entry:
//    0 u16 kind: 1 PTX, 2 ELF, others are code for the linker      2 u16 version 0x101    4 u32 bytes of this header, names
//    included 8 u64 bytes of the payload, padded to 8   16 u32 bytes of it when compressed, else 0 20 u32 place of the options,
//    or 0
//   24 u16 u16 version of the code: minor, major                  28 u32 sm, as 90       32 u32 u32 place and length of the
//   file's name 40 u64 flags: 0x2000 LZ4, 0x8000 zstd, others are of no matter here                  48 u64 a check of linker
//   code 56 u64 bytes when decompressed, where compressed; then names, then the payload

/// Code for one architecture.
struct FatbinImage {
  enum class Kind : std::uint8_t { Ptx, Elf, Other };
  Kind kind = Kind::Other;
  unsigned sm = 0;          ///< 90 for sm_90
  std::uint64_t flags = 0;  ///< as they stand
  std::string bytes;        ///< decompressed; PTX without padding; empty for Other
};

[[nodiscard]] bool is_fatbin(std::span<const std::byte> bytes);  ///< begins with a container

/// Containers behind each other, with zeros between them, as in a section of an executable. Each is a module.
/// @throws InputError for what is no container, or is cut off
[[nodiscard]] std::vector<std::span<const std::byte>> containers_of(std::span<const std::byte> section);

/// Images of one container, or of several behind each other, in order. Nothing outside `container` is read.
/// @throws InputError for what is no container, is cut off, or says sizes that cannot be; at most 512 MiB decompressed in all
[[nodiscard]] std::vector<FatbinImage> read_fatbin(std::span<const std::byte> container);

/// The container that a program of this process hands over: a wrapper or the container itself, as long as it says that it is.
/// @pre `image` is one of the two, or text that ends with a zero. @return empty when it is neither
[[nodiscard]] std::span<const std::byte> fatbin_in_memory(const void* image);

/// Where code was linked from parts (nvcc -rdc=true): their containers. The linked container has machine code alone.
/// @pre as for fatbin_in_memory. @return empty when `image` is no wrapper of such code
[[nodiscard]] std::vector<std::span<const std::byte>> linked_parts_in_memory(const void* image);

/// The PTX with the highest target that the device takes: sm_80 runs on 80 and above, sm_90a on 90 alone, sm_100f on 100..109.
/// @param sm  of the device. @return null when there is none
[[nodiscard]] const FatbinImage* best_ptx(std::span<const FatbinImage> images, unsigned sm);

}  // namespace sluice::gpu
