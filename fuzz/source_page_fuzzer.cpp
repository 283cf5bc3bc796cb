// SPDX-License-Identifier: Apache-2.0
// Source pages: any text is read or refused with one line, and a kernel that was read runs its first warps.
#include <memory>

#include "fuzz/attempt.h"
#include "sw/trace/program_source.h"
#include "sw/workload/source_page.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;
  attempt(
      [&] {
        for (const KernelProgram& program : parse_source_page(text_of(data, size), "fuzz")) {
          KernelDescriptor kernel;
          kernel.grid_ctas = 4;
          kernel.block_threads = 64;
          kernel.program = std::make_shared<KernelProgram>(program);
          ProgramSource source(kernel, 0);
          // The length of a way is bounded by the counts, which may be large.
          if (program.instructions.front().warps > 1000) continue;
          WarpCursor cursor{0, 0, 0, source.begin_cta(0), 0, 0};
          std::vector<LineAccess> lines;
          for (int i = 0; i < 1000; ++i) {
            const Instruction instruction = source.next(cursor);
            if (instruction.op == OpClass::Exit) break;
            if (is_global(instruction.op)) source.lines(cursor, cursor.position - 1, lines);
            if (lines.size() > 100000) std::abort();
          }
        }
      },
      "fuzz");
  return 0;
}
