// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <toml++/toml.h>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
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

  template <std::integral T>
  void read(std::string_view key, T& value, std::type_identity_t<T> low,
            std::type_identity_t<T> high = std::numeric_limits<T>::max()) {
    std::int64_t given = 0;
    if (whole(key, given, static_cast<std::int64_t>(low), static_cast<std::int64_t>(high))) value = static_cast<T>(given);
  }
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
  /// @return whether the key is there
  bool whole(std::string_view key, std::int64_t& value, std::int64_t low, std::int64_t high);
  [[nodiscard]] double number(std::string_view key, const toml::node& node, double low, double high, const char* what) const;
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
