// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/jobs/gpu_session.h"

namespace sluice::gpu {

GpuSession::GpuSession()
    : compiler_(context_.limits().compute_major * 10 + context_.limits().compute_minor, Compiler::default_cache()),
      tools_(context_, compiler_) {}

const PreparedKernel& GpuSession::app(const std::string& name, const AppSize& size) {
  auto& slot = apps_[{name, size.blocks, size.passes}];
  if (!slot) slot = std::make_unique<PreparedKernel>(context_, compiler_, tools_, make_app(name, size).launch);
  return *slot;
}

double launch_seconds(const PreparedKernel& kernel, CUstream stream) {
  return timed(stream, kernel.spec().label, [&] { kernel.launch(stream); });
}

}  // namespace sluice::gpu
