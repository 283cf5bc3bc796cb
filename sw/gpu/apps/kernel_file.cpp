// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/apps/kernel_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "sw/core/errors.h"
#include "sw/gpu/fatbin/executable.h"
#include "sw/gpu/fatbin/fatbin.h"
#include "sw/gpu/rewrite/kernel_name.h"
#include "sw/gpu/rewrite/ptx.h"
#include "sw/io/atomic_file.h"

namespace sluice::gpu {

namespace {

/// Behind comment lines, PTX begins with its version.
bool is_ptx_text(const std::string& text) {
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    const std::size_t first = std::min(text.find_first_not_of(" \t\r", at), end);
    if (first == end || text.compare(first, 2, "//") == 0) continue;
    return text.compare(first, 8, ".version") == 0;
  }
  return false;
}

KernelFile in_fatbins(const std::vector<std::span<const std::byte>>& fatbins, const std::string& kernel, unsigned sm,
                      const std::string& path) {
  // Each container is a module: of one its best PTX is taken, of several the one that has the kernel.
  std::map<std::string, std::size_t> module_of;
  std::vector<std::string> symbols, modules;
  std::set<std::string> has;
  for (const std::span<const std::byte> section : fatbins)
    for (const std::span<const std::byte> container : containers_of(section)) {
      const std::vector<FatbinImage> images = read_fatbin(container);
      for (const FatbinImage& image : images)
        if (image.kind != FatbinImage::Kind::Other)
          has.insert(fmt::format("{} sm_{}", image.kind == FatbinImage::Kind::Ptx ? "PTX" : "machine code", image.sm));
      if (const FatbinImage* best = best_ptx(images, sm)) modules.push_back(best->bytes);
    }
  if (modules.empty())
    throw InputError(fmt::format("{}: no PTX for sm_{} or older: it has {}", path, sm,
                                 has.empty() ? "no code" : fmt::format("{}", fmt::join(has, ", "))));
  for (std::size_t m = 0; m < modules.size(); ++m)
    for (const std::string& symbol : kernels_of(normalised(modules[m])))
      if (module_of.emplace(symbol, m).second) symbols.push_back(symbol);
  std::string symbol = find_kernel(symbols, kernel, path);
  return {true, std::move(modules[module_of.at(symbol)]), std::move(symbol)};
}

}  // namespace

KernelFile kernel_in_ptx(std::string ptx, const std::string& kernel, const std::string& where) {
  std::string symbol = find_kernel(kernels_of(normalised(ptx)), kernel, where);
  return {true, std::move(ptx), std::move(symbol)};
}

KernelFile read_kernel_file(const std::string& path, const std::string& kernel, unsigned sm) {
  std::string text = read_file(path);
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  try {
    switch (elf_kind(bytes)) {
      case ElfKind::Cubin: throw InputError("no PTX: a cubin has machine code alone");
      case ElfKind::Host: {
        const auto fatbins = fatbins_of(bytes);
        if (fatbins.empty()) throw InputError("no PTX: the file has no section .nv_fatbin");
        return in_fatbins(fatbins, kernel, sm, path);
      }
      case ElfKind::None: break;
    }
    if (is_fatbin(bytes)) return in_fatbins({bytes}, kernel, sm, path);
  } catch (const InputError& e) {
    const std::string why = e.what();
    throw InputError(why.starts_with(path) ? why : fmt::format("{}: {}", path, why));
  }
  if (path.ends_with(".ptx") || is_ptx_text(text)) return kernel_in_ptx(std::move(text), kernel, path);
  return {false, std::move(text), {}};
}

}  // namespace sluice::gpu
