// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

struct sqlite3;

namespace sluice {

/// A SQLite file. What a statement wrote outlives a process that is killed at any moment.
/// @throws from everything: InputError for a file that is no database and for wrong SQL, SystemError for a full disk
class Database {
 public:
  enum class Access { Read, Write };  ///< Write: the file is made where there is none

  Database(const std::filesystem::path& file, Access access);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  struct Answer {
    std::vector<std::string> columns;
    std::vector<nlohmann::json> rows;  ///< arrays of null, numbers and strings
  };
  /// One statement. @param parameters  an array as a row, one for each `?`; what is not a number becomes null
  Answer query(const std::string& sql, const nlohmann::json& parameters = nlohmann::json::array());

 private:
  [[noreturn]] void fail(int code) const;

  std::string name_;
  sqlite3* handle_ = nullptr;
};

}  // namespace sluice
