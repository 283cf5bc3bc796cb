// SPDX-License-Identifier: Apache-2.0
#include <elf.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <vector>

#include "sw/interpose/table.h"

namespace sluice::interpose {

namespace {

constexpr const char* kName = "/libcuda.so.1";

/// Paths in the loader's cache: strings that end with a zero.
void add_cached(std::vector<std::string>& places) {
  std::ifstream in("/etc/ld.so.cache", std::ios::binary);
  const std::string cache(std::istreambuf_iterator<char>(in), {});
  const std::string name = std::string(kName) + '\0';
  for (std::size_t at = cache.find(name); at != std::string::npos; at = cache.find(name, at + 1)) {
    const std::size_t begin = cache.rfind('\0', at) + 1;
    places.push_back(cache.substr(begin, at + name.size() - 1 - begin));
  }
}

bool for_this_machine(const std::string& path) {  // ELF of 64 bits
  std::ifstream in(path, std::ios::binary);
  char magic[5] = {};
  return in.read(magic, sizeof magic) && std::string(magic, 5) == "\177ELF\2";
}

}  // namespace

std::string find_driver(const std::string& own) {
  if (const char* named = std::getenv("SLUICE_REAL_LIBCUDA"); named != nullptr && *named != '\0') return named;
  std::vector<std::string> places;
  if (const char* path = std::getenv("LD_LIBRARY_PATH"); path != nullptr) {
    std::istringstream in(path);
    for (std::string folder; std::getline(in, folder, ':');) places.push_back((folder.empty() ? "." : folder) + kName);
  }
  add_cached(places);
  for (const char* folder : {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/usr/lib",
                             "/usr/local/nvidia/lib64", "/usr/lib/wsl/lib"})
    places.push_back(std::string(folder) + kName);
  std::error_code none;
  for (const std::string& place : places)
    if (std::filesystem::exists(place, none) && for_this_machine(place) && !std::filesystem::equivalent(place, own, none))
      return place;
  return "";
}

std::set<std::string> exports_of(const std::string& library) {
  std::ifstream in(library, std::ios::binary);
  const auto read = [&](std::uint64_t at, auto& to) {
    in.seekg(static_cast<std::streamoff>(at));
    in.read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(to.size() * sizeof to[0]));
  };
  std::vector<Elf64_Ehdr> header(1);
  read(0, header);
  std::vector<Elf64_Shdr> sections(header[0].e_shnum);
  read(header[0].e_shoff, sections);
  std::set<std::string> names;
  constexpr std::uint64_t kMost = 16U << 20U;
  for (const Elf64_Shdr& table : sections) {
    if (!in || table.sh_type != SHT_DYNSYM || table.sh_link >= sections.size()) continue;
    const Elf64_Shdr& text = sections[table.sh_link];
    if (table.sh_size > kMost || text.sh_size > kMost) continue;
    std::vector<Elf64_Sym> symbols(table.sh_size / sizeof(Elf64_Sym));
    std::string strings(text.sh_size, '\0');
    read(table.sh_offset, symbols);
    read(text.sh_offset, strings);
    for (const Elf64_Sym& s : symbols)
      if (s.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(s.st_info) == STT_FUNC && s.st_name < strings.size() &&
          std::string_view(&strings[s.st_name]).starts_with("cu"))
        names.insert(&strings[s.st_name]);
  }
  return names;
}

}  // namespace sluice::interpose
