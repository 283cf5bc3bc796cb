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

/// Reads a kernelslist.g and the header of every trace it names. Copies, comments and blank lines are passed over.
/// @throws InputError `file:line: why` on any other line, a file that is not there, a bad header, a trace in place of a list
[[nodiscard]] std::vector<ListedKernel> read_kernel_list(const std::filesystem::path& path);

}  // namespace sluice
