// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/ptx_in_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <string>

#include "sw/interpose/cache.h"

namespace sluice::interpose {
namespace {

/// Text that ends where its page ends; behind it nothing can be read.
class AtTheEndOfAPage {
 public:
  explicit AtTheEndOfAPage(const std::string& text) {
    ::mprotect(pages_ + kPage, kPage, PROT_NONE);
    std::memcpy(pages_ + kPage - text.size() - 1, text.c_str(), text.size() + 1);
    at_ = pages_ + kPage - text.size() - 1;
  }
  ~AtTheEndOfAPage() { ::munmap(pages_, 2 * kPage); }
  AtTheEndOfAPage(const AtTheEndOfAPage&) = delete;
  AtTheEndOfAPage& operator=(const AtTheEndOfAPage&) = delete;
  [[nodiscard]] const void* image() const { return at_; }

 private:
  static constexpr std::size_t kPage = 4096;
  char* pages_ = static_cast<char*>(::mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  char* at_ = nullptr;
};

TEST(PtxInMemory, NothingIsReadBehindAShortText) {
  for (const char* text : {"", "\x7f", "P\xed", ".version", ".version 7.0\n"}) {
    const AtTheEndOfAPage page(text);
    EXPECT_EQ(ptx_in_memory(page.image(), 90), std::string(text).starts_with(".version") ? text : "");
    EXPECT_EQ(elf_bytes(page.image()), 0U);
  }
}

}  // namespace
}  // namespace sluice::interpose
