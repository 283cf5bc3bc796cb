// SPDX-License-Identifier: Apache-2.0
#include "sw/trace/repeated_trace.h"

#include <fmt/format.h>

#include "sw/core/errors.h"
#include "sw/trace/trace_fields.h"
#include "sw/trace/trace_source.h"

namespace sluice {

void TraceReader::read_step(std::string_view pc, Fields& bytes) {
  constexpr std::int64_t kMost = 1LL << 40;
  Fields at{lines_, pc.data(), pc.data() + pc.size()};
  auto& step = header_.steps[at.number<std::uint32_t>("PC", 16, 0, ControlTable::kEnd - 1)];
  for (std::int64_t& n : step) {
    n = bytes.number<std::int64_t>("step", 10, -kMost, kMost);
    if (n % std::int64_t{kLineBytes} != 0) lines_.fail(fmt::format("step = {}: must be a multiple of {}", n, kLineBytes));
  }
  if (!bytes.done()) lines_.fail("step: must be three numbers");
}

void RepeatedTrace::read() {
  TraceReader reader(path_, launch_, process_);
  header_ = reader.header();
  block_.resize(header_.ctas());
  for (TraceCta& cta : block_) reader.next_cta(cta);
  TraceCta rest;
  reader.next_cta(rest);  // checks that the file ends here
  instructions_ = reader.instructions();
  unknown_ = reader.unknown_opcodes();
  steps_ = {header_.steps.begin(), header_.steps.end()};
}

std::uint32_t RepeatedTrace::begin_cta(std::uint32_t cta) {
  if (block_.empty()) read();
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(live_.size()));
    live_.emplace_back();
  }
  const std::uint32_t handle = free_.back();
  free_.pop_back();
  Live& live = live_[handle];
  live.in_block = 0;
  std::uint32_t rest = cta % header_.launched_ctas(), stride = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::uint32_t at = rest % header_.launched[d];
    rest /= header_.launched[d];
    live.blocks[d] = at / header_.grid[d];
    live.in_block += at % header_.grid[d] * stride;
    stride *= header_.grid[d];
  }
  return handle;
}

Instruction RepeatedTrace::next(WarpCursor& cursor) const {
  const TraceWarp& warp = block_[live_[cursor.handle].in_block][cursor.warp];
  if (cursor.position >= warp.records.size()) return {};
  const std::uint32_t record = warp.records[cursor.position++];
  cursor.lines_begin = cursor.lines_end;
  cursor.lines_end += record >> kTraceRecordIndexBits;
  return instructions_[record & ((1U << kTraceRecordIndexBits) - 1)];
}

void RepeatedTrace::lines(const WarpCursor& cursor, std::uint32_t position, std::vector<LineAccess>& lines) const {
  const Live& live = live_[cursor.handle];
  const TraceWarp& warp = block_[live.in_block][cursor.warp];
  const auto& access = instructions_[warp.records[position] & ((1U << kTraceRecordIndexBits) - 1)];
  std::int64_t further = 0;
  if (const auto step = steps_.find(access.pc); step != steps_.end())
    for (std::size_t d = 0; d < 3; ++d) further += live.blocks[d] * step->second[d];
  for (std::uint32_t i = cursor.lines_begin; i < cursor.lines_end; ++i) {
    lines.push_back(warp.lines[i]);
    lines.back().address += static_cast<std::uint64_t>(further);
  }
}

std::unique_ptr<IInstructionSource> trace_source(const std::filesystem::path& path, std::uint32_t launch, std::uint32_t process) {
  if (TraceReader(path).header().repeats()) return std::make_unique<RepeatedTrace>(path, launch, process);
  return std::make_unique<TraceSource>(path, launch, process);
}

std::unique_ptr<IInstructionSource> trace_source(const KernelDescriptor& kernel, std::uint32_t launch) {
  const std::filesystem::path& path = kernel.trace->path;
  const TraceHeader header = TraceReader(path, launch).header();
  const std::uint32_t ctas = kernel.trace->ctas == 0 ? kernel.grid_ctas : kernel.trace->ctas;
  if (header.grid_ctas() != ctas || header.threads() != kernel.block_threads)
    throw InputError(fmt::format("{}: {} CTAs of {} threads, but kernel {} of the workload has {} of {}", path.string(),
                                 header.grid_ctas(), header.threads(), kernel.name, ctas, kernel.block_threads));
  return trace_source(path, launch, kernel.trace->process);
}

}  // namespace sluice
