// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace sluice::gpu {

/// The first line of a compiler's log that says "error", else the first line.
[[nodiscard]] inline std::string first_error(const std::string& log) {
  std::size_t at = log.find("error");
  if (at == std::string::npos) at = 0;
  const std::size_t before = log.rfind('\n', at), begin = before == std::string::npos ? 0 : before + 1;
  return log.substr(begin, log.find('\n', at) - begin);
}

}  // namespace sluice::gpu
