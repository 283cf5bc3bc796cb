// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/jobs/flag_proxy.h"

#include <cstring>

#include "sw/gpu/runtime/embedded.h"

namespace sluice::gpu {

Kernel load_flag_proxy(const Context& context, const Compiler& compiler) {
  const std::string text =
      std::string(embedded_file("runtime/control.h")) + std::string(embedded_file("runtime/proxy_kernel.cuh"));
  return {context, compiler.compile(text, "proxy_kernel.cuh", "flag_proxy").ptx, "flag_proxy"};
}

FlagProxy::FlagProxy(const Kernel& kernel, const PinnedMemory& host, CUdeviceptr device) {
  end_ = allocate_pinned(64, "the proxy's end");
  std::memset(end_.get(), 0, 64);
  stream_ = make_stream(true);
  CUdeviceptr from = device_address(host), end = device_address(end_);
  void* parameters[] = {&from, &device, &end};
  check(driver().cuLaunchKernel(kernel.function(), 1, 1, 1, 32, 1, 1, 0, stream_.get(), parameters, nullptr),
        "launching the proxy");
}

FlagProxy::~FlagProxy() {
  *static_cast<volatile unsigned*>(end_.get()) = 1;
  (void)driver().cuStreamSynchronize(stream_.get());
}

}  // namespace sluice::gpu
