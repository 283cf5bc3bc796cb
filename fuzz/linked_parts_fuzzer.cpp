// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: code as a program of this process hands it over (nvcc -rdc=true), with any bytes as the entries of its
// containers, or any text. The input is a byte of how, and parts with two bytes of length each. The first is the linked
// container; the headers around them are right, as a container in memory is as long as it says.
#include <algorithm>
#include <cstring>
#include <vector>

#include "fuzz/attempt.h"
#include "sw/gpu/fatbin/fatbin.h"
#include "sw/gpu/rewrite/ptx.h"
#include "sw/interpose/ptx_in_memory.h"

namespace {

constexpr std::uint32_t kContainer = 0xba55ed50, kWrapper = 0x466243b1;

template <class T>
void put(std::vector<std::byte>& to, T value) {
  const std::size_t at = to.size();
  to.resize(at + sizeof value);
  std::memcpy(to.data() + at, &value, sizeof value);
}

/// All that the interposer does with a text before the transformation.
void read(const void* image) {
  attempt([&] {
    const std::string text = sluice::interpose::ptx_in_memory(image, 90);
    if (!text.empty()) (void)sluice::interpose::has_variables(sluice::gpu::normalised(text));
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t how = *data++;
  --size;
  if ((how & 1U) != 0) {  // exactly as long as its text and the zero: what is read behind it is seen
    std::vector<char> text(data, data + size);
    text.push_back('\0');
    // What begins as a wrapper or a container is one, and its addresses and lengths are those of the program.
    for (const std::uint32_t magic : {kContainer, kWrapper})
      if (text.size() > sizeof magic && std::memcmp(text.data(), &magic, sizeof magic) == 0) return 0;
    read(text.data());
    return 0;
  }
  std::vector<std::vector<std::byte>> parts;
  while (size >= 2 && parts.size() < 8) {
    const std::size_t length = std::min<std::size_t>(data[0] | data[1] << 8U, size - 2);
    std::vector<std::byte>& part = parts.emplace_back();
    put(part, kContainer);
    put(part, std::uint16_t{1});
    put(part, std::uint16_t{16});
    put(part, std::uint64_t{length});
    part.resize(16 + length);
    if (length > 0) std::memcpy(part.data() + 16, data + 2, length);
    data += 2 + length;
    size -= 2 + length;
  }
  if (parts.empty()) return 0;
  std::vector<const void*> list;
  for (std::size_t k = 1; k < parts.size(); ++k) list.push_back(parts[k].data());
  list.push_back(nullptr);
  std::vector<std::byte> wrapper;
  put(wrapper, kWrapper);
  put(wrapper, std::uint32_t{2});
  put(wrapper, static_cast<const void*>(parts[0].data()));
  put(wrapper, static_cast<const void*>(list.data()));
  const auto found = sluice::gpu::linked_parts_in_memory(wrapper.data());
  if (found.size() + 1 != parts.size()) std::abort();
  for (std::size_t k = 0; k < found.size(); ++k)
    if (found[k].data() != parts[k + 1].data() || found[k].size() != parts[k + 1].size()) std::abort();
  read(wrapper.data());
  return 0;
}
