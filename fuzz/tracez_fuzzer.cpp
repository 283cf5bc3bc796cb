// SPDX-License-Identifier: Apache-2.0
// Compressed traces: any bytes are either a .tracez that reads to its end, or an InputError of one line with the file's name.
#include "fuzz/attempt.h"
#include "sw/trace/trace_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string& path = as_file(data, size, ".tracez");
  attempt(
      [&] {
        sluice::TraceReader reader{std::filesystem::path(path)};
        sluice::TraceCta cta;
        for (int ctas = 0; ctas < 64 && reader.next_cta(cta); ++ctas) continue;
      },
      path);
  return 0;
}
