// SPDX-License-Identifier: Apache-2.0
#include "sw/trace/cta_source.h"

namespace sluice {

std::uint32_t CtaSource::begin_cta(std::uint32_t cta) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(ctas_.size()));
    ctas_.emplace_back();
  }
  const std::uint32_t handle = free_.back();
  table_ = fill(cta, ctas_[handle]);
  free_.pop_back();
  return handle;
}

Instruction CtaSource::next(WarpCursor& cursor) const {
  const TraceWarp& warp = ctas_[cursor.handle][cursor.warp];
  if (cursor.position >= warp.records.size()) return {};
  const std::uint32_t record = warp.records[cursor.position++];
  cursor.lines_begin = cursor.lines_end;
  cursor.lines_end += record >> kTraceRecordIndexBits;
  return table_[record & ((1U << kTraceRecordIndexBits) - 1)];
}

void CtaSource::lines(const WarpCursor& cursor, std::uint32_t, std::vector<LineAccess>& lines) const {
  const TraceWarp& warp = ctas_[cursor.handle][cursor.warp];
  for (std::uint32_t i = cursor.lines_begin; i < cursor.lines_end; ++i)
    lines.push_back({warp.lines[i] & ~std::uint64_t{127}, static_cast<std::uint8_t>(warp.lines[i] & 15)});
}

}  // namespace sluice
