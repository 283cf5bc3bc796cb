// SPDX-License-Identifier: Apache-2.0
// Compressed traces: any bytes are either a .tracez that reads to its end, or an InputError of one line with the file's name.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <string_view>

#include "sw/core/errors.h"
#include "sw/trace/trace_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;
  static const std::string path = "/dev/shm/sluice_fuzz_" + std::to_string(std::random_device{}()) + ".tracez";
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    TraceReader reader{std::filesystem::path(path)};
    TraceCta cta;
    for (int ctas = 0; ctas < 64 && reader.next_cta(cta); ++ctas) continue;
  } catch (const InputError& e) {
    const std::string_view what = e.what();
    if (!what.starts_with(path) || what.find('\n') != std::string_view::npos) std::abort();
  }
  return 0;
}
