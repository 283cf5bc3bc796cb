// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace sluice {

/// Replaces `path` as a whole: writes a temporary file in the same folder, syncs it to disk and renames it. A reader sees the old
/// contents or the new, never half of them; on failure the temporary is removed and the old file stays.
/// @throws one line naming the file and the system's reason: InputError (no such folder, no permission), SystemError (disk full)
void write_file_atomically(const std::filesystem::path& path, std::string_view contents);

/// Creates the folder and its parents. @throws InputError or SystemError naming it and the reason
void make_folder(const std::filesystem::path& folder);

/// @throws InputError or SystemError naming the file and the reason
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

}  // namespace sluice
