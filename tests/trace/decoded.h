// SPDX-License-Identifier: Apache-2.0
// What the reader of traces makes of a line, of a text, of files.
#pragma once
#include <string>
#include <vector>

#include "sw/trace/trace_reader.h"
#include "tests/support.h"
#include "tests/trace/sample_traces.h"

namespace sluice::sample {

struct Decoded {
  Instruction instruction;
  std::vector<LineAccess> lines;
};

/// The only instruction of a one-warp kernel.
inline Decoded decode(const std::string& line, const std::string& head = header(1, 32)) {
  const std::string text = head + cta(0, {line});
  TraceReader reader(text, "text");
  TraceCta cta;
  EXPECT_TRUE(reader.next_cta(cta));
  const std::uint32_t record = cta[0].records.at(0);
  Decoded out{reader.instructions().at(record & ((1U << kTraceRecordIndexBits) - 1)), {}};
  EXPECT_EQ(record >> kTraceRecordIndexBits, cta[0].lines.size());
  out.lines = cta[0].lines;
  return out;
}

inline std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

inline void read_to_end(TraceReader&& reader) {
  for (TraceCta cta; reader.next_cta(cta);) continue;
}

inline void refuses(const std::string& text, const std::string& reason) {
  const std::string what = test::refusal([&] { read_to_end(TraceReader(text, "k.traceg")); });
  EXPECT_NE(what.find(reason), std::string::npos) << what << ", should say: " << reason;
  EXPECT_TRUE(what.starts_with("k.traceg:")) << what;
}

/// Two forms of one trace hold the same.
inline void expect_same(TraceReader&& plain, TraceReader&& packed) {
  TraceCta a, b;
  while (plain.next_cta(a)) {
    ASSERT_TRUE(packed.next_cta(b));
    for (std::size_t w = 0; w < a.size(); ++w) {
      EXPECT_EQ(a[w].records, b[w].records);
      EXPECT_EQ(a[w].lines, b[w].lines);
    }
  }
  EXPECT_FALSE(packed.next_cta(b));
  EXPECT_EQ(plain.instructions(), packed.instructions());
}

using TraceFiles = test::Scratch;

}  // namespace sluice::sample
