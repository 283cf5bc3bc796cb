// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <string_view>

#include "sw/core/errors.h"

/// `read` reads, or says in an InputError of one line that begins with `file` why not.
template <class Read>
void attempt(const Read& read, std::string_view file = {}) {
  try {
    read();
  } catch (const sluice::InputError& e) {
    const std::string_view what = e.what();
    if (!what.starts_with(file) || what.find('\n') != std::string_view::npos) std::abort();
  }
}

inline std::string text_of(const std::uint8_t* data, std::size_t size) { return {reinterpret_cast<const char*>(data), size}; }

/// The bytes as a file of this process, whose name ends so.
inline const std::string& as_file(const std::uint8_t* data, std::size_t size, const char* end) {
  static const std::string path = "/dev/shm/sluice_fuzz_" + std::to_string(std::random_device{}()) + end;
  std::ofstream(path, std::ios::binary) << text_of(data, size);
  return path;
}
