// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/cache.h"

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

namespace sluice::interpose {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMagic = "sluice01";
constexpr std::size_t kDigest = 32;

std::uint64_t mixed(std::uint64_t x) {  // Murmur3's finaliser
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ x >> 33;
}

}  // namespace

std::string digest(std::span<const std::byte> bytes) {
  std::uint64_t a = 0x9e3779b97f4a7c15ULL + bytes.size(), b = 0xd6e8feb86659fd93ULL;
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
    a = mixed(a ^ word);
    b = std::rotl(b ^ mixed(word + b), 31) * 0x9fb21c651e98df25ULL;
  }
  return fmt::format("{:016x}{:016x}", a, mixed(b));
}
std::string digest(std::string_view text) { return digest(std::as_bytes(std::span(text))); }

std::size_t elf_bytes(const void* image) {
  if (std::strncmp(static_cast<const char*>(image), ELFMAG, SELFMAG) != 0) return 0;  // text may be shorter than a header
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return 0;
  std::uint64_t end = std::max(header.e_shoff + std::uint64_t{header.e_shnum} * header.e_shentsize,
                               header.e_phoff + std::uint64_t{header.e_phnum} * header.e_phentsize);
  for (unsigned i = 0; i < header.e_shnum && header.e_shentsize == sizeof(Elf64_Shdr); ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, static_cast<const char*>(image) + header.e_shoff + std::uint64_t{i} * sizeof section, sizeof section);
    if (section.sh_type != SHT_NOBITS) end = std::max(end, section.sh_offset + section.sh_size);
  }
  return end;
}

Cache Cache::of_user() {
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (set("SLUICE_CACHE_DISABLE") == "1") return Cache("");
  if (const std::string own = set("SLUICE_CACHE_DIR"); !own.empty()) return Cache(own);
  if (const std::string all = set("XDG_CACHE_HOME"); !all.empty()) return Cache(fs::path(all) / "sluice");
  const std::string context_state = set("HOME");
  return Cache(context_state.empty() ? fs::path() : fs::path(context_state) / ".cache/sluice");
}

std::optional<std::string> Cache::load(const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  const fs::path path = folder_ / key;
  std::error_code none;
  const std::uintmax_t bytes = fs::file_size(path, none);
  std::ifstream in(path, std::ios::binary);
  if (none || !in) return std::nullopt;
  std::string file(bytes, '\0');
  in.read(file.data(), static_cast<std::streamsize>(bytes));  // one that is cut meanwhile has another digest
  if (file.size() < kMagic.size() + kDigest || !file.starts_with(kMagic) ||
      file.substr(kMagic.size(), kDigest) != digest(std::string_view(file).substr(kMagic.size() + kDigest))) {
    fs::remove(path, none);
    return std::nullopt;
  }
  fs::last_write_time(path, fs::file_time_type::clock::now(), none);  // it was used
  return file.substr(kMagic.size() + kDigest);
}

void Cache::store(const std::string& key, std::string_view content) const {
  if (folder_.empty()) return;
  std::error_code failed;
  fs::create_directories(folder_, failed);
  static std::atomic<unsigned> next{0};  // threads store, too
  const fs::path path = folder_ / key, fresh = folder_ / fmt::format("{}.{}.{}.new", key, ::getpid(), next++);
  {
    std::ofstream out(fresh, std::ios::binary);
    out << kMagic << digest(content) << content;
    out.close();
    if (!out) failed = std::make_error_code(std::errc::io_error);
  }
  if (!failed) fs::rename(fresh, path, failed);
  if (failed) {
    fs::remove(fresh, failed);
    return;
  }
  keep_within_bounds();
}

void Cache::keep_within_bounds() const {
  struct File {
    fs::file_time_type used;
    std::uintmax_t bytes;
    fs::path path;
  };
  std::vector<File> files;
  std::uintmax_t all = 0;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, none)) {
    if (!entry.is_regular_file(none)) continue;
    files.push_back({entry.last_write_time(none), entry.file_size(none), entry.path()});
    all += files.back().bytes;
  }
  std::ranges::sort(files, {}, &File::used);
  for (const File& file : files) {
    if (all <= most_) break;
    if (fs::remove(file.path, none)) all -= file.bytes;
  }
}

}  // namespace sluice::interpose
