// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files that outlive the process: modules that were rewritten and assembled, and the PTX of machine code that has none.
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sluice::interpose {

/// 128 bits of what was hashed, as 32 hexadecimal digits. Not for secrets.
[[nodiscard]] std::string digest(std::span<const std::byte> bytes);
[[nodiscard]] std::string digest(std::string_view text);

/// Bytes of a 64-bit ELF image in memory, as its headers say. @pre it is one, or text that ends with a zero. @return 0: it is
/// none
[[nodiscard]] std::size_t elf_bytes(const void* image);

/// One folder of files by key. Writers replace whole files at once; a file that is damaged counts as missing, and is removed.
class Cache {
 public:
  /// @param folder  empty: nothing is kept. @param most  bytes of all files; the longest unused go first
  explicit Cache(std::filesystem::path folder, std::uintmax_t most = std::uintmax_t{256} << 20)
      : folder_(std::move(folder)), most_(most) {}
  /// SLUICE_CACHE_DIR, else sluice/ in XDG_CACHE_HOME or ~/.cache; SLUICE_CACHE_DISABLE=1: nothing is kept.
  [[nodiscard]] static Cache of_user();
  [[nodiscard]] std::optional<std::string> load(const std::string& key) const;
  void store(const std::string& key, std::string_view content) const;  ///< what fails is not kept
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  void keep_within_bounds() const;
  std::filesystem::path folder_;
  std::uintmax_t most_;
};

}  // namespace sluice::interpose
