// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <toml++/toml.h>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Reads a TOML file. @throws InputError `path:line: what` on a syntax error, `path: why` when it can't be read, be it a pipe
[[nodiscard]] toml::table parse_toml(const std::filesystem::path& path);

/// One table of a configuration file. Each `read` names a key with its allowed range; `finish` rejects the keys nobody asked for
/// and the required ones that are not there. Every error is one line: `path:line: table.key = value: must be 1..262144`.
class TomlTable {
 public:
  /// @param name  dotted name for messages, empty for the root
  TomlTable(const std::filesystem::path& path, std::string name, const toml::table& table);

  void read(std::string_view key, std::uint32_t& value, std::uint32_t low,
            std::uint32_t high = std::numeric_limits<std::uint32_t>::max());
  void read(std::string_view key, std::uint64_t& value, std::uint64_t low, std::uint64_t high);
  void read(std::string_view key, std::int32_t& value, std::int32_t low, std::int32_t high);
  void read(std::string_view key, double& value, double low, double high);
  void read(std::string_view key, std::vector<double>& values, double low, double high);  ///< a number, or a list of some
  void read(std::string_view key, bool& value);
  void read(std::string_view key, std::string& value);
  /// Index of the string among `choices`; 0 when an optional key is not there.
  std::size_t read_choice(std::string_view key, const std::vector<std::string>& choices);
  void allow(std::string_view key) { known_.emplace(key); }  ///< a key that the caller reads by itself
  /// Missing keys keep the value they have.
  TomlTable& optional() {
    required_ = false;
    return *this;
  }
  [[nodiscard]] TomlTable table(std::string_view key);
  [[nodiscard]] std::optional<TomlTable> optional_table(std::string_view key);
  [[nodiscard]] std::vector<TomlTable> array(std::string_view key);
  /// Call it before checks that compare keys: until then a missing key still has the value it came with.
  /// @throws InputError for an unknown key first (a misspelt key is both unknown and missing), with the key it may be meant for;
  /// then for all that are missing
  void finish() const;
  /// An error about `key` that a single range can't express.
  [[noreturn]] void fail(std::string_view key, const std::string& what) const;

 private:
  const toml::node* find(std::string_view key);
  [[nodiscard]] std::string where(const toml::node* node) const;
  [[nodiscard]] std::string must_be(const std::string& what, const toml::node* node, std::string_view key) const;
  [[nodiscard]] std::string full_name(std::string_view key) const;

  std::filesystem::path path_;
  std::string name_;
  const toml::table* table_;
  std::set<std::string, std::less<>> known_;
  std::vector<std::string> missing_;  ///< required keys that are not there
  bool required_ = true;
};

}  // namespace sluice
