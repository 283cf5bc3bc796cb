// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "sw/gpu/cuda/compiler.h"
#include "sw/gpu/jobs/prepared.h"
#include "sw/gpu/record/sass_trace.h"

namespace sluice::gpu {

struct RecordOptions {
  std::uint64_t ctas = 64;           ///< CTAs to record, from the first; more than the grid has: all
  std::uint64_t limit = 1ULL << 30;  ///< bytes of log at most
};

/// One launch of a kernel, recorded.
struct Recording {
  RecordedKernel kernel;                            ///< its listing is of the code that the native run executed
  double native_seconds = 0, recorded_seconds = 0;  ///< the second of two native launches; the launch that logs
  bool bit_identical = false;                       ///< the outputs of the run that logged are those of the native run
  std::uint64_t log_bytes = 0;
};

/// Runs the kernel as it is, counting the words of its log, and logging.
/// @throws InputError when the log does not fit `limit`, when ptxas or nvdisasm is missing, or the kernel cannot be instrumented
[[nodiscard]] Recording record(const Context& context, const Compiler& compiler, const DeviceTools& tools, const LaunchSpec& spec,
                               const RecordOptions& options);

}  // namespace sluice::gpu
