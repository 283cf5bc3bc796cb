// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/fatbin/fatbin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

#include "tests/gpu/fatbin_writer.h"
#include "tests/support.h"

using namespace sluice;
using namespace sluice::gpu;

namespace {

std::string ptx_of(const std::string& target) {
  std::string text = ".version 8.0\n.target " + target + "\n.address_size 64\n";
  for (int i = 0; i < 50; ++i) text += "// a line that repeats\n";
  return text + ".visible .entry k() { ret; }\n";
}
std::vector<FatbinImage> read(const std::string& bytes) { return read_fatbin(std::as_bytes(std::span(bytes))); }
std::string refusal(const std::string& bytes) {
  return test::refusal([&] { (void)read(bytes); });
}
template <class T>
std::string with(std::string bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
  return bytes;
}

TEST(Fatbin, AllPackingsGiveTheSameBytes) {
  const std::string ptx = ptx_of("sm_90"), elf =
                                               "\x7f"
                                               "ELF" +
                                               std::string(1004, 'x');
  for (const Packing packing : {Packing::None, Packing::Lz4, Packing::Zstd}) {
    const auto images = read(fatbin_container(fatbin_entry(2, 90, elf, packing) + fatbin_entry(1, 80, ptx, packing, "a.cu")));
    ASSERT_EQ(images.size(), 2U);
    EXPECT_EQ(images[0].kind, FatbinImage::Kind::Elf);
    EXPECT_EQ(images[0].sm, 90U);
    EXPECT_EQ(images[0].bytes, elf);
    EXPECT_EQ(images[1].kind, FatbinImage::Kind::Ptx);
    EXPECT_EQ(images[1].bytes, ptx);
  }
}

TEST(Fatbin, ContainersBehindEachOtherAreOneList) {
  const std::string one = fatbin_container(fatbin_entry(1, 80, ptx_of("sm_80"), Packing::Zstd));
  EXPECT_EQ(read(one + std::string(16, '\0') + one).size(), 2U);
}

TEST(Fatbin, LinkerCodeIsListedAndNotRead) {
  const auto images = read(fatbin_container(fatbin_entry(8, 90, "secret bytes", Packing::None)));
  ASSERT_EQ(images.size(), 1U);
  EXPECT_EQ(images[0].kind, FatbinImage::Kind::Other);
  EXPECT_EQ(images[0].bytes, "");
}

TEST(Fatbin, EveryCutIsRefused) {
  for (const Packing packing : {Packing::None, Packing::Lz4, Packing::Zstd}) {
    const std::string whole = fatbin_container(fatbin_entry(1, 90, ptx_of("sm_90"), packing));
    for (std::size_t n = 0; n < whole.size(); ++n) {
      const std::string why = refusal(whole.substr(0, n));
      EXPECT_TRUE(why.starts_with("fatbin: ")) << n << ": " << why;
    }
  }
}

TEST(Fatbin, AbsurdSizesAreRefusedInOneLine) {
  const std::string good = fatbin_container(fatbin_entry(1, 90, ptx_of("sm_90"), Packing::Zstd));
  EXPECT_EQ(refusal(good), "accepted");
  EXPECT_NE(refusal(with<std::uint32_t>(good, 0, 7)).find("must be 0xba55ed50"), std::string::npos);
  EXPECT_NE(refusal(with<std::uint16_t>(good, 4, 9)).find("version 9: must be 1"), std::string::npos);
  EXPECT_NE(refusal(with<std::uint16_t>(good, 6, 8)).find("header of 8 bytes"), std::string::npos);
  EXPECT_NE(refusal(with<std::uint64_t>(good, 8, ~0ULL)).find("cut off"), std::string::npos);
  EXPECT_NE(refusal(with<std::uint32_t>(good, 16 + 4, 0xffffffff)).find("entry header"), std::string::npos);
  EXPECT_NE(refusal(with<std::uint32_t>(good, 16 + 4, 0)).find("entry header of 0"), std::string::npos);
  EXPECT_NE(refusal(with<std::uint64_t>(good, 16 + 8, ~0ULL - 7)).find("cut off"), std::string::npos);
  EXPECT_NE(refusal(with<std::uint32_t>(good, 16 + 16, 1U << 31)).find("compressed bytes in a payload"), std::string::npos);
  EXPECT_NE(refusal(with<std::uint64_t>(good, 16 + 40, 0x11)).find("must have 0x2000"), std::string::npos);
  EXPECT_NE(refusal(with<std::uint64_t>(good, 16 + 56, 1ULL << 40)).find("must be 1.."), std::string::npos);
  EXPECT_NE(refusal(with<std::uint64_t>(good, 16 + 56, 12)).find("damaged"), std::string::npos);
}

TEST(Fatbin, DecompressedBytesAreLimitedOverAllEntries) {
  std::string entry = fatbin_entry(1, 90, std::string(1 << 20, 'x'), Packing::Zstd);
  std::string entries;
  for (int i = 0; i < 513; ++i) entries += entry;
  EXPECT_NE(refusal(fatbin_container(entries)).find("must be 1..0"), std::string::npos);
}

TEST(Fatbin, InMemoryAWrapperOrAContainerIsFollowed) {
  const std::string container = fatbin_container(fatbin_entry(1, 90, ptx_of("sm_90"), Packing::Lz4));
  std::string wrapper;
  put<std::uint32_t>(wrapper, 0x466243b1);
  put<std::uint32_t>(wrapper, 1);
  put<std::uint64_t>(wrapper, reinterpret_cast<std::uint64_t>(container.data()));
  put<std::uint64_t>(wrapper, 0);
  for (const void* image : {static_cast<const void*>(wrapper.data()), static_cast<const void*>(container.data())}) {
    const auto found = fatbin_in_memory(image);
    EXPECT_EQ(static_cast<const void*>(found.data()), container.data());
    EXPECT_EQ(found.size(), container.size());
  }
  EXPECT_TRUE(fatbin_in_memory(ptx_of("sm_90").data()).empty());
}

TEST(Fatbin, TheListOfLinkedCodeIsFollowed) {
  const std::string linked = fatbin_container(fatbin_entry(2, 90, "elf", Packing::None));
  const std::string a = fatbin_container(fatbin_entry(1, 90, ptx_of("sm_90"), Packing::Lz4)),
                    b = fatbin_container(fatbin_entry(1, 90, "", Packing::None));
  const std::array<const void*, 3> list = {a.data(), b.data(), nullptr};
  const auto wrapper = [&](std::uint32_t version, const void* parts) {
    std::string w;
    put<std::uint32_t>(w, 0x466243b1);
    put<std::uint32_t>(w, version);
    put<std::uint64_t>(w, reinterpret_cast<std::uint64_t>(linked.data()));
    put<std::uint64_t>(w, reinterpret_cast<std::uint64_t>(parts));
    return w;
  };
  const auto parts = linked_parts_in_memory(wrapper(2, list.data()).data());
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(static_cast<const void*>(parts[0].data()), a.data());
  EXPECT_EQ(parts[0].size(), a.size());
  EXPECT_EQ(read_fatbin(parts[0]).front().bytes, ptx_of("sm_90"));
  EXPECT_EQ(static_cast<const void*>(parts[1].data()), b.data());
  EXPECT_TRUE(linked_parts_in_memory(wrapper(1, list.data()).data()).empty()) << "version 1 has no list";
  EXPECT_TRUE(linked_parts_in_memory(wrapper(2, nullptr).data()).empty());
  EXPECT_TRUE(linked_parts_in_memory(linked.data()).empty());
}

TEST(Fatbin, BestPtxIsTheHighestThatTheDeviceTakes) {
  std::string entries = fatbin_entry(2, 90, "elf", Packing::None);
  for (const char* target : {"sm_75", "sm_90a", "sm_80", "sm_90", "sm_100f", "sm_103"})
    entries += fatbin_entry(1, static_cast<std::uint32_t>(std::stoi(target + 3)), ptx_of(target), Packing::Lz4);
  const auto images = read(fatbin_container(entries));
  const auto best = [&](unsigned sm) {
    const FatbinImage* found = best_ptx(images, sm);
    if (found == nullptr) return std::string("none");
    const std::size_t at = found->bytes.find("sm_");
    return found->bytes.substr(at, found->bytes.find('\n', at) - at);
  };
  EXPECT_EQ(best(70), "none");
  EXPECT_EQ(best(75), "sm_75");
  EXPECT_EQ(best(89), "sm_80");
  EXPECT_EQ(best(90), "sm_90a");
  EXPECT_EQ(best(92), "sm_90");
  EXPECT_EQ(best(101), "sm_100f");
  EXPECT_EQ(best(103), "sm_103");
  EXPECT_EQ(best(120), "sm_103");
}

#ifdef SLUICE_PTX_DIR
TEST(Fatbin, WhatNvccWritesIsReadInEveryCompressionMode) {
  for (const char* mode : {"none", "speed", "balance", "size", "all"}) {
    std::ifstream file(std::string(SLUICE_PTX_DIR) + "/fatbin_" + mode + ".fatbin", std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const auto images = read(bytes);
    ASSERT_EQ(images.size(), 3U) << mode;
    EXPECT_EQ(std::ranges::count_if(images,
                                    [](const auto& i) {
                                      return i.bytes.substr(0, 4) ==
                                             "\x7f"
                                             "ELF";
                                    }),
              1)
        << mode;
    const FatbinImage* ptx = best_ptx(images, 89);
    ASSERT_NE(ptx, nullptr) << mode;
    EXPECT_NE(ptx->bytes.find(".target sm_80"), std::string::npos) << mode;
    EXPECT_NE(ptx->bytes.find(".entry"), std::string::npos) << mode;
    EXPECT_EQ(ptx->bytes.find('\0'), std::string::npos) << mode;
  }
}
#endif

}  // namespace
