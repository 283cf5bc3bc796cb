// SPDX-License-Identifier: Apache-2.0
#include "sw/trace/trace_source.h"

namespace sluice {

const Instruction* TraceSource::fill(std::uint32_t, TraceCta& warps) {
  if (!reader_) reader_ = std::make_unique<TraceReader>(path_, launch_);
  reader_->next_cta(warps);
  if (++ctas_begun_ != reader_->header().ctas()) return reader_->instructions().data();
  TraceCta rest;
  reader_->next_cta(rest);  // checks that the file ends here
  unknown_ = reader_->unknown_opcodes();
  instructions_ = reader_->instructions();
  reader_.reset();
  return instructions_.data();
}

}  // namespace sluice
