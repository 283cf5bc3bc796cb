// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>

// Measurements lie in the tree compressed by xz. Whoever asks for FILE gets that one, and where there is none the text of
// FILE.xz.
namespace sluice {

/// FILE or FILE.xz is there.
[[nodiscard]] bool has_packed(const std::filesystem::path& file);

/// @param file  a text, or an .xz file by its own name
/// @throws InputError or SystemError naming the file and the reason
[[nodiscard]] std::string read_packed(const std::filesystem::path& file);

}  // namespace sluice
