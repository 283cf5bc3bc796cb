// SPDX-License-Identifier: Apache-2.0
#include "sw/trace/trace_source.h"

namespace sluice {

std::uint32_t TraceSource::begin_cta(std::uint32_t) {
  if (!reader_) {
    reader_ = std::make_unique<TraceReader>(path_, launch_, process_);
    ctas_begun_ = 0;
  }
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(ctas_.size()));
    ctas_.emplace_back();
  }
  const std::uint32_t handle = free_.back();
  reader_->next_cta(ctas_[handle]);
  free_.pop_back();
  // Launched again, the file gives each instruction its number again: CTAs of the launch before may still run.
  if (instructions_.empty()) table_ = reader_->instructions().data();
  if (++ctas_begun_ == reader_->header().ctas()) {
    TraceCta rest;
    reader_->next_cta(rest);  // checks that the file ends here
    unknown_ = reader_->unknown_opcodes();
    instructions_ = reader_->instructions();
    table_ = instructions_.data();
    reader_.reset();
  }
  return handle;
}

Instruction TraceSource::next(WarpCursor& cursor) const {
  const TraceWarp& warp = ctas_[cursor.handle][cursor.warp];
  if (cursor.position >= warp.records.size()) return {};
  const std::uint32_t record = warp.records[cursor.position++];
  cursor.lines_begin = cursor.lines_end;
  cursor.lines_end += record >> kTraceRecordIndexBits;
  return table_[record & ((1U << kTraceRecordIndexBits) - 1)];
}

void TraceSource::lines(const WarpCursor& cursor, std::uint32_t, std::vector<LineAccess>& lines) const {
  const TraceWarp& warp = ctas_[cursor.handle][cursor.warp];
  lines.insert(lines.end(), warp.lines.begin() + cursor.lines_begin, warp.lines.begin() + cursor.lines_end);
}

}  // namespace sluice
