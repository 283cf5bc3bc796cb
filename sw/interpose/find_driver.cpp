// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "sw/interpose/table.h"

namespace sluice::interpose {

namespace {

constexpr const char* kName = "/libcuda.so.1";

/// Paths in the loader's cache: strings that end with a zero.
void add_cached(std::vector<std::string>& places) {
  std::ifstream in("/etc/ld.so.cache", std::ios::binary);
  const std::string cache(std::istreambuf_iterator<char>(in), {});
  const std::string name = std::string(kName) + '\0';
  for (std::size_t at = cache.find(name); at != std::string::npos; at = cache.find(name, at + 1)) {
    const std::size_t begin = cache.rfind('\0', at) + 1;
    places.push_back(cache.substr(begin, at + name.size() - 1 - begin));
  }
}

bool for_this_machine(const std::string& path) {  // ELF of 64 bits
  std::ifstream in(path, std::ios::binary);
  char magic[5] = {};
  return in.read(magic, sizeof magic) && std::string(magic, 5) == "\177ELF\2";
}

}  // namespace

std::string find_driver(const std::string& own) {
  if (const char* named = std::getenv("SLUICE_REAL_LIBCUDA"); named != nullptr && *named != '\0') return named;
  std::vector<std::string> places;
  if (const char* path = std::getenv("LD_LIBRARY_PATH"); path != nullptr) {
    std::istringstream in(path);
    for (std::string folder; std::getline(in, folder, ':');) places.push_back((folder.empty() ? "." : folder) + kName);
  }
  add_cached(places);
  for (const char* folder : {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/usr/lib",
                             "/usr/local/nvidia/lib64", "/usr/lib/wsl/lib"})
    places.push_back(std::string(folder) + kName);
  std::error_code none;
  for (const std::string& place : places)
    if (std::filesystem::exists(place, none) && for_this_machine(place) && !std::filesystem::equivalent(place, own, none))
      return place;
  return "";
}

}  // namespace sluice::interpose
