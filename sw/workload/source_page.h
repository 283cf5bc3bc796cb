// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "sw/core/program.h"

namespace sluice {

/// Reads the source page of an Nsight Compute export in its SASS view (`ncu --page source --csv`): the kernels in its order.
/// Other columns than those of `format_source_page` are passed over, and so are units behind the names of columns.
/// @throws InputError naming file, line and column on a text that is not such a page, is cut off, lacks a column, or has a figure
///         that cannot be
[[nodiscard]] std::vector<KernelProgram> read_source_page(const std::filesystem::path& path);
[[nodiscard]] std::vector<KernelProgram> parse_source_page(const std::string& text, const std::string& source);

/// A page that `read_source_page` reads back, with the columns that it uses and the instructions that were executed.
[[nodiscard]] std::string format_source_page(const std::vector<KernelProgram>& kernels);

/// Tells a program from another one of the same name; below 2^63, as a TOML file holds it.
[[nodiscard]] std::uint64_t program_hash(const KernelProgram& program);

}  // namespace sluice
