// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes as a fat binary and as an executable are read or refused with one line.
#include <span>

#include "fuzz/attempt.h"
#include "sw/gpu/fatbin/executable.h"
#include "sw/gpu/fatbin/fatbin.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  attempt([&] {
    for (const std::span<const std::byte> section : gpu::fatbins_of(bytes)) (void)gpu::read_fatbin(section);
  });
  attempt([&] {
    const std::vector<gpu::FatbinImage> images = gpu::read_fatbin(bytes);
    const gpu::FatbinImage* best = gpu::best_ptx(images, 90);
    if (best != nullptr && best->kind != gpu::FatbinImage::Kind::Ptx) std::abort();
  });
  return 0;
}
