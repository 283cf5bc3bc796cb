// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/find_ptxas.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace sluice::interpose {

std::string find_ptxas(std::vector<std::string> before, const std::string& not_this) {
  std::vector<std::string> places = std::move(before);
  const char* path = std::getenv("PATH");
  const std::string folders = path == nullptr ? "" : path;
  for (std::size_t at = 0, end = 0; at < folders.size(); at = end + 1) {
    end = std::min(folders.find(':', at), folders.size());
    places.push_back(folders.substr(at, end - at) + "/ptxas");
  }
  places.emplace_back("/usr/local/cuda/bin/ptxas");
  std::error_code none;
  for (const std::string& place : places)
    if (!place.empty() && ::access(place.c_str(), X_OK) == 0 && !std::filesystem::equivalent(place, not_this, none)) return place;
  return "";
}

}  // namespace sluice::interpose
