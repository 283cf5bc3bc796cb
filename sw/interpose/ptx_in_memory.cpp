// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/ptx_in_memory.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sw/gpu/fatbin/fatbin.h"
#include "sw/gpu/rewrite/ptx.h"

namespace sluice::interpose {

namespace {

std::string best_text(std::span<const std::byte> fat, unsigned sm) {
  const std::vector<gpu::FatbinImage> images = gpu::read_fatbin(fat);
  const gpu::FatbinImage* best = gpu::best_ptx(images, sm);
  return best == nullptr ? "" : best->bytes;
}

/// Of code that was linked: the only part with kernels or variables. Where there are several, one may call or use what another
/// has.
std::string text_of_parts(const std::vector<std::span<const std::byte>>& parts, unsigned sm) {
  std::string only;
  for (const std::span<const std::byte> part : parts) {
    std::string text = part.empty() ? "" : best_text(part, sm);
    if (text.empty() || (text.find(".entry") == std::string::npos && !has_variables(gpu::normalised(text)))) continue;
    if (!only.empty()) return "";
    only = std::move(text);
  }
  return only;
}

}  // namespace

std::string ptx_in_memory(const void* image, unsigned sm) {
  const std::span<const std::byte> fat = gpu::fatbin_in_memory(image);
  if (fat.empty()) {
    std::string text(static_cast<const char*>(image));
    return text.find(".version") == std::string::npos ? "" : text;
  }
  std::string text = best_text(fat, sm);
  return text.empty() ? text_of_parts(gpu::linked_parts_in_memory(image), sm) : text;
}

bool has_variables(const std::string& text) {
  std::unordered_map<std::string_view, unsigned> named;
  for (const std::string_view word : gpu::words_of(text)) ++named[word];
  return std::ranges::any_of(gpu::items_of(text), [&](const gpu::Item& item) {
    return item.kind == gpu::Item::Kind::Variable && named[item.name] > 1 &&
           text.substr(item.begin, item.end - item.begin).find(".shared") == std::string::npos;
  });
}

}  // namespace sluice::interpose
