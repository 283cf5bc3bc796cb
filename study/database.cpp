// SPDX-License-Identifier: Apache-2.0
#include "study/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <memory>
#include <string_view>

#include "sw/core/errors.h"

namespace sluice {

namespace {

nlohmann::json column(sqlite3_stmt* row, int i) {
  switch (sqlite3_column_type(row, i)) {
    case SQLITE_NULL: return nullptr;
    case SQLITE_INTEGER: return static_cast<std::int64_t>(sqlite3_column_int64(row, i));
    case SQLITE_FLOAT: return sqlite3_column_double(row, i);
    default: {
      const auto* text = static_cast<const char*>(sqlite3_column_blob(row, i));
      return std::string(text == nullptr ? "" : text, static_cast<std::size_t>(sqlite3_column_bytes(row, i)));
    }
  }
}

}  // namespace

Database::Database(const std::filesystem::path& file, Access access) : name_(file.string()) {
  // A reader writes as well: it rolls back what a killed writer left half-done.
  const int create = access == Access::Write ? SQLITE_OPEN_CREATE : 0;
  const int code = sqlite3_open_v2(name_.c_str(), &handle_, SQLITE_OPEN_READWRITE | create, nullptr);
  std::unique_ptr<sqlite3, decltype(&sqlite3_close)> failed(handle_, sqlite3_close);
  if (code != SQLITE_OK) fail(code);
  sqlite3_busy_timeout(handle_, 60000);
  (void)query("PRAGMA synchronous = NORMAL");
  (void)query("SELECT count(*) FROM sqlite_master");  // what is no database is found here
  if (access == Access::Read) (void)query("PRAGMA query_only = 1");
  (void)failed.release();
}

Database::~Database() { sqlite3_close(handle_); }

Database::Answer Database::query(const std::string& sql, const nlohmann::json& parameters) {
  sqlite3_stmt* made = nullptr;
  const char* rest = nullptr;
  int code = sqlite3_prepare_v2(handle_, sql.c_str(), -1, &made, &rest);
  const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement(made, sqlite3_finalize);
  if (code != SQLITE_OK) fail(code);
  if (made == nullptr || std::string_view(rest).find_first_not_of(" \t\n;") != std::string_view::npos)
    throw InputError(fmt::format("{}: SQL: must be one statement", name_));
  for (int i = 0; i < static_cast<int>(parameters.size()); ++i) {
    const nlohmann::json& value = parameters[static_cast<std::size_t>(i)];
    if (value.is_number_float()) sqlite3_bind_double(made, i + 1, value.get<double>());
    if (value.is_number_integer()) sqlite3_bind_int64(made, i + 1, value.get<std::int64_t>());
    if (const auto* text = value.get_ptr<const std::string*>())
      sqlite3_bind_text64(made, i + 1, text->data(), text->size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  Answer answer;
  const int width = sqlite3_column_count(made);
  for (int i = 0; i < width; ++i) answer.columns.emplace_back(sqlite3_column_name(made, i));
  while ((code = sqlite3_step(made)) == SQLITE_ROW) {
    nlohmann::json& row = answer.rows.emplace_back(nlohmann::json::array());
    for (int i = 0; i < width; ++i) row.push_back(column(made, i));
  }
  if (code != SQLITE_DONE) fail(code);
  return answer;
}

void Database::fail(int code) const {
  const std::string why = fmt::format("{}: {}", name_, handle_ == nullptr ? "out of memory" : sqlite3_errmsg(handle_));
  if (code == SQLITE_FULL || code == SQLITE_IOERR || code == SQLITE_NOMEM || code == SQLITE_BUSY) throw SystemError(why);
  throw InputError(why);
}

}  // namespace sluice
