// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>
#include <vector>

#include "sw/trace/trace_reader.h"

namespace sluice {

/// One kernel of a list.
struct ListedKernel {
  std::filesystem::path file;
  TraceHeader header;
  std::optional<std::size_t> after;  ///< index of the kernel before it in its stream
};

/// Reads a kernelslist.g and the header of every trace it names. Copies and unknown commands are passed over.
/// @throws InputError `file:line: why` on a list without kernels, a file that is neither .traceg nor .xz, a bad header
[[nodiscard]] std::vector<ListedKernel> read_kernel_list(const std::filesystem::path& path);

}  // namespace sluice
