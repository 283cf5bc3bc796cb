// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/fatbin/executable.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string_view>

#include "sw/core/errors.h"

namespace sluice::gpu {

namespace {

constexpr std::uint16_t kCudaMachine = 190;

std::span<const std::byte> part(std::span<const std::byte> file, std::uint64_t at, std::uint64_t bytes) {
  if (at > file.size() || bytes > file.size() - at)
    throw InputError(fmt::format("ELF: cut off: {} bytes at {}, the file has {}", bytes, at, file.size()));
  return file.subspan(at, bytes);
}

template <class T>
T read(std::span<const std::byte> file, std::uint64_t at) {
  T value;
  std::memcpy(&value, part(file, at, sizeof value).data(), sizeof value);
  return value;
}

}  // namespace

ElfKind elf_kind(std::span<const std::byte> file) {
  if (file.size() < sizeof(Elf64_Ehdr) || std::memcmp(file.data(), ELFMAG, SELFMAG) != 0) return ElfKind::None;
  return read<Elf64_Ehdr>(file, 0).e_machine == kCudaMachine ? ElfKind::Cubin : ElfKind::Host;
}

std::vector<std::span<const std::byte>> fatbins_of(std::span<const std::byte> file) {
  const auto head = read<Elf64_Ehdr>(file, 0);
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
      head.e_ident[EI_DATA] != ELFDATA2LSB)
    throw InputError("ELF: must be a file of 64 bits, lowest byte first");
  const auto section = [&](std::uint64_t k) { return read<Elf64_Shdr>(file, head.e_shoff + k * sizeof(Elf64_Shdr)); };
  std::vector<std::span<const std::byte>> found;
  if (head.e_shoff == 0) return found;
  if (head.e_shentsize != sizeof(Elf64_Shdr))
    throw InputError(fmt::format("ELF: section headers of {} bytes: must be {}", head.e_shentsize, sizeof(Elf64_Shdr)));
  part(file, head.e_shoff, 0);
  const std::uint64_t sections = head.e_shnum != 0 ? head.e_shnum : section(0).sh_size;  // of many sections
  const std::uint32_t names_in = head.e_shstrndx != SHN_XINDEX ? head.e_shstrndx : section(0).sh_link;
  const Elf64_Shdr strings = section(names_in);
  const std::span<const std::byte> text = part(file, strings.sh_offset, strings.sh_size);
  const std::string_view names(reinterpret_cast<const char*>(text.data()), text.size());
  for (const std::string_view wanted : {".nv_fatbin", "__nv_relfatbin"})
    for (std::uint64_t k = 0; k < sections; ++k) {
      const Elf64_Shdr s = section(k);
      if (s.sh_type == SHT_NOBITS || s.sh_name > names.size()) continue;
      const std::string_view name = names.substr(s.sh_name);
      if (name.substr(0, name.find('\0')) == wanted) found.push_back(part(file, s.sh_offset, s.sh_size));
    }
  return found;
}

}  // namespace sluice::gpu
