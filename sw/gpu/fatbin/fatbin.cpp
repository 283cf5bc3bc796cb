// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/fatbin/fatbin.h"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <charconv>
#include <cstring>

#include "sw/core/errors.h"

namespace sluice::gpu {

namespace {

constexpr std::uint32_t kWrapperMagic = 0x466243b1, kContainerMagic = 0xba55ed50;
constexpr std::uint64_t kLz4 = 0x2000, kZstd = 0x8000, kMostBytes = std::uint64_t{512} << 20;
constexpr std::uint64_t kMostRatio = 32768;  // zstd: a block of 128 KiB from 4 bytes
constexpr std::uint16_t kPtx = 1, kElf = 2;

struct Wrapper {
  std::uint32_t magic, version;
  std::uint64_t container, list;
};
struct Container {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t entry_bytes;
};
struct Entry {
  std::uint16_t kind, version;
  std::uint32_t header_bytes;
  std::uint64_t payload_bytes;
  std::uint32_t compressed_bytes, options_at;
  std::uint16_t minor, major;
  std::uint32_t sm, name_at, name_bytes;
  std::uint64_t flags, check, bytes;
};
static_assert(sizeof(Wrapper) == 24 && sizeof(Container) == 16 && sizeof(Entry) == 64);

template <class Head>
Head head_of(std::span<const std::byte> from) {
  Head head;
  if (from.size() < sizeof head)
    throw InputError(fmt::format("fatbin: cut off: {} bytes where a header of {} begins", from.size(), sizeof head));
  std::memcpy(&head, from.data(), sizeof head);
  return head;
}

/// @param left  bytes that may still be decompressed
std::string payload_of(const Entry& e, std::span<const std::byte> payload, std::uint64_t& left) {
  const auto* from = reinterpret_cast<const char*>(payload.data());
  if (e.compressed_bytes == 0) return {from, payload.size()};
  if (e.compressed_bytes > payload.size())
    throw InputError(fmt::format("fatbin: {} compressed bytes in a payload of {}", e.compressed_bytes, payload.size()));
  if (e.bytes == 0 || e.bytes > left || e.bytes / kMostRatio > e.compressed_bytes)
    throw InputError(fmt::format("fatbin: {} bytes from {} compressed ones: must be 1..{}", e.bytes, e.compressed_bytes,
                                 std::min<std::uint64_t>(left, e.compressed_bytes * kMostRatio)));
  left -= e.bytes;
  std::string out(e.bytes, '\0');
  bool whole = false;
  if ((e.flags & kZstd) != 0)
    whole = ZSTD_decompress(out.data(), out.size(), from, e.compressed_bytes) == out.size();
  else if ((e.flags & kLz4) != 0)
    whole = LZ4_decompress_safe(from, out.data(), static_cast<int>(e.compressed_bytes), static_cast<int>(out.size())) ==
            static_cast<int>(out.size());
  else
    throw InputError(
        fmt::format("fatbin: flags {:#x} of a compressed image: must have {:#x} (LZ4) or {:#x} (zstd)", e.flags, kLz4, kZstd));
  if (!whole) throw InputError(fmt::format("fatbin: damaged: {} compressed bytes do not become {}", e.compressed_bytes, e.bytes));
  return out;
}

/// Number and suffix of `.target sm_90a`.
struct Target {
  unsigned sm = 0;
  char suffix = '\0';
};
Target target_of(const FatbinImage& ptx) {
  Target t{ptx.sm};
  const std::size_t at = ptx.bytes.find(".target sm_");
  if (at == std::string::npos) return t;
  const char *first = ptx.bytes.data() + at + std::strlen(".target sm_"), *last = ptx.bytes.data() + ptx.bytes.size();
  const auto [end, error] = std::from_chars(first, last, t.sm);
  if (error == std::errc() && end != last && (*end == 'a' || *end == 'f')) t.suffix = *end;
  return t;
}

}  // namespace

bool is_fatbin(std::span<const std::byte> bytes) {
  return bytes.size() >= sizeof(Container) && head_of<Container>(bytes).magic == kContainerMagic;
}

std::vector<std::span<const std::byte>> containers_of(std::span<const std::byte> rest) {
  std::vector<std::span<const std::byte>> found;
  if (rest.empty()) throw InputError("fatbin: empty");
  while (!rest.empty()) {
    const auto head = head_of<Container>(rest);
    if (head.magic != kContainerMagic)
      throw InputError(fmt::format("fatbin: begins with {:#010x}: must be {:#010x}", head.magic, kContainerMagic));
    if (head.version != 1) throw InputError(fmt::format("fatbin: version {}: must be 1", head.version));
    if (head.header_bytes < sizeof head || head.header_bytes > rest.size())
      throw InputError(fmt::format("fatbin: header of {} bytes: must be {}..{}", head.header_bytes, sizeof head, rest.size()));
    if (head.entry_bytes > rest.size() - head.header_bytes)
      throw InputError(
          fmt::format("fatbin: cut off: {} bytes of entries, {} are there", head.entry_bytes, rest.size() - head.header_bytes));
    found.push_back(rest.first(head.header_bytes + head.entry_bytes));
    rest = rest.subspan(found.back().size());
    while (!rest.empty() && rest.front() == std::byte{0}) rest = rest.subspan(1);
  }
  return found;
}

std::vector<FatbinImage> read_fatbin(std::span<const std::byte> bytes) {
  std::vector<FatbinImage> images;
  std::uint64_t left = kMostBytes;
  for (std::span<const std::byte> entries : containers_of(bytes)) {
    entries = entries.subspan(head_of<Container>(entries).header_bytes);
    while (!entries.empty()) {
      const auto e = head_of<Entry>(entries);
      if (e.header_bytes < sizeof e || e.header_bytes > entries.size())
        throw InputError(
            fmt::format("fatbin: entry header of {} bytes: must be {}..{}", e.header_bytes, sizeof e, entries.size()));
      entries = entries.subspan(e.header_bytes);
      if (e.payload_bytes > entries.size())
        throw InputError(fmt::format("fatbin: cut off: a payload of {} bytes, {} are there", e.payload_bytes, entries.size()));
      FatbinImage image{FatbinImage::Kind::Other, e.sm, e.flags, {}};
      if (e.kind == kPtx || e.kind == kElf) {
        image.kind = e.kind == kPtx ? FatbinImage::Kind::Ptx : FatbinImage::Kind::Elf;
        image.bytes = payload_of(e, entries.first(e.payload_bytes), left);
        if (e.kind == kPtx) image.bytes.resize(image.bytes.find_last_not_of('\0') + 1);
      }
      images.push_back(std::move(image));
      entries = entries.subspan(e.payload_bytes);
    }
  }
  return images;
}

namespace {

/// Text may be shorter than a header: what is behind its zero is not read. No magic number has a zero in it.
bool begins_with(const void* image, std::uint32_t magic) {
  return std::strncmp(static_cast<const char*>(image), reinterpret_cast<const char*>(&magic), sizeof magic) == 0;
}

}  // namespace

std::span<const std::byte> fatbin_in_memory(const void* image) {
  if (begins_with(image, kWrapperMagic)) {
    Wrapper wrapper;
    std::memcpy(&wrapper, image, sizeof wrapper);
    std::memcpy(&image, &wrapper.container, sizeof image);
  }
  if (!begins_with(image, kContainerMagic)) return {};
  Container container;
  std::memcpy(&container, image, sizeof container);
  return {static_cast<const std::byte*>(image), container.header_bytes + container.entry_bytes};
}

std::vector<std::span<const std::byte>> linked_parts_in_memory(const void* image) {
  std::vector<std::span<const std::byte>> parts;
  if (!begins_with(image, kWrapperMagic)) return parts;
  Wrapper wrapper;
  std::memcpy(&wrapper, image, sizeof wrapper);
  if (wrapper.version != 2 || wrapper.list == 0) return parts;
  const void* const* list = nullptr;
  for (std::memcpy(&list, &wrapper.list, sizeof list); *list != nullptr; ++list) parts.push_back(fatbin_in_memory(*list));
  return parts;
}

const FatbinImage* best_ptx(std::span<const FatbinImage> images, unsigned sm) {
  const FatbinImage* best = nullptr;
  Target most;
  for (const FatbinImage& image : images) {
    if (image.kind != FatbinImage::Kind::Ptx) continue;
    const Target t = target_of(image);
    const bool runs = t.sm <= sm && (t.suffix != 'a' || t.sm == sm) && (t.suffix != 'f' || t.sm / 10 == sm / 10);
    if (!runs || (best != nullptr && (t.sm < most.sm || (t.sm == most.sm && t.suffix == '\0')))) continue;
    best = &image;
    most = t;
  }
  return best;
}

}  // namespace sluice::gpu
