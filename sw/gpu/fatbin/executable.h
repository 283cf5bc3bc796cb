// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace sluice::gpu {

/// What an ELF file is for: the GPU itself (a cubin), or a host program, object or library, of this machine's byte order.
enum class ElfKind : unsigned char { None, Cubin, Host };
[[nodiscard]] ElfKind elf_kind(std::span<const std::byte> file);

/// Fat binaries in an ELF file of 64 bits: sections .nv_fatbin (code that is complete) and __nv_relfatbin (for the linker).
/// @return none when the file has no such section. @throws InputError for a file that is cut off or is no ELF file of 64 bits
[[nodiscard]] std::vector<std::span<const std::byte>> fatbins_of(std::span<const std::byte> file);

}  // namespace sluice::gpu
