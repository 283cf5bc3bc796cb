// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes are either a trace that reads to its end, or an InputError with the file's name and a line.
// What is decoded must be in bounds: every record names an instruction, every access has the lines it claims.
#include "fuzz/attempt.h"
#include "sw/trace/trace_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;
  attempt(
      [&] {
        TraceReader reader(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
        (void)describe(reader.header(), 64);
        TraceCta cta;
        while (reader.next_cta(cta)) {
          for (const TraceWarp& warp : cta) {
            std::size_t lines = 0;
            for (const std::uint32_t record : warp.records) {
              if ((record & ((1U << kTraceRecordIndexBits) - 1)) >= reader.instructions().size()) std::abort();
              const Instruction& instruction = reader.instructions()[record & ((1U << kTraceRecordIndexBits) - 1)];
              if (is_global(instruction.op) != (record >> kTraceRecordIndexBits != 0)) std::abort();
              if (instruction.dst != kNoRegister && instruction.dst + instruction.dst_count > 255) std::abort();
              if (instruction.op == OpClass::Shared && instruction.interval == 0) std::abort();
              lines += record >> kTraceRecordIndexBits;
            }
            if (lines != warp.lines.size()) std::abort();
          }
        }
      },
      "fuzz:");
  return 0;
}
