// SPDX-License-Identifier: Apache-2.0
#include "sw/io/raw_store.h"

#include <fmt/format.h>

#include <cerrno>

#include "sw/core/errors.h"
#include "sw/io/atomic_file.h"
#include "sw/io/packed_file.h"

namespace sluice::gpu {

RawStore::RawStore(const std::filesystem::path& file) : file_(file) {
  if (file.has_parent_path()) make_folder(file.parent_path());
  std::string kept;
  for (const nlohmann::json& line : read(file)) {
    keys_.insert(line["key"].get<std::string>());
    kept += line.dump() + "\n";
  }
  write_file_atomically(file, kept);
  out_.open(file, std::ios::app);
  if (!out_) throw_errno(fmt::format("{}: cannot write", file.string()), errno);
}

void RawStore::add(const std::string& key, nlohmann::json measurement) {
  measurement["key"] = key;
  out_ << measurement.dump() << "\n" << std::flush;
  if (!out_) throw_errno(fmt::format("{}: cannot write", file_.string()), errno);
  keys_.insert(key);
}

std::vector<nlohmann::json> RawStore::read(const std::filesystem::path& file) {
  std::vector<nlohmann::json> lines;
  if (!has_packed(file)) return lines;
  const std::string text = read_packed(file);
  unsigned number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    ++number;
    const nlohmann::json line = nlohmann::json::parse(text.substr(at, end - at), nullptr, false);
    const bool good = line.is_object() && line.contains("key") && line["key"].is_string();
    if (end == std::string::npos) {
      if (good) lines.push_back(line);
      break;
    }
    if (!good) throw InputError(fmt::format("{}:{}: must be a JSON object with a \"key\"", file.string(), number));
    lines.push_back(line);
    at = end + 1;
  }
  return lines;
}

}  // namespace sluice::gpu
