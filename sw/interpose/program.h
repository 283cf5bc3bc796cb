// SPDX-License-Identifier: Apache-2.0
#pragma once
// The program that runs under `sluice run`: its modules, its kernels, its launches.
#include <cuda.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sw/gpu/rewrite/gate.h"
#include "sw/interpose/coverage.h"

namespace sluice::interpose {

[[nodiscard]] const char* runtime_text();

/// SLUICE_QUOTA=N, or SLUICE_SMS=A-B: all CTAs there and none elsewhere. Neither: everything runs natively.
struct FixedQuota {
  std::uint32_t ctas = 0;               ///< of one kernel on an SM; 0: no quota
  std::uint32_t first = 0, last = ~0U;  ///< SMs
  [[nodiscard]] static FixedQuota from_environment();
};

/// A module as the driver gets it: machine code of the kernels as they are with the transformed ones beside them.
struct Code {
  std::vector<char> cubin;
  gpu::RewrittenModule rewritten;
};
/// @param image  as cuModuleLoadData takes it: PTX, a fat binary, or a cubin. @param why  gets the reason when there is no code
[[nodiscard]] std::shared_ptr<const Code> code_of(const void* image, std::string& why);

/// One launch, as the program asked for it.
struct Launch {
  CUfunction function = nullptr;
  CUstream stream = nullptr;
  gpu::LaunchFacts facts;
  void** parameters = nullptr;
  void** extra = nullptr;
};

class Program {
 public:
  static Program& instance();  ///< lives as long as the process
  /// A module or library was loaded, or was unloaded (`code` null, `why` empty).
  void module(void* handle, std::shared_ptr<const Code> code, std::string why);
  /// The program has a kernel's handle. @param module  it comes from; @param library  `module` is a CUlibrary
  void kernel(void* handle, void* module, const char* name, bool library);
  void same_kernel(void* handle, void* known);  ///< a CUfunction of a CUkernel
  void attribute(void* handle, CUfunction_attribute which, int value);
  /// What to launch in place of it. @return nothing: as it is
  struct Transformed {
    CUfunction function = nullptr;
    unsigned grid[3] = {1, 1, 1}, shared = 0;
    std::vector<void*> parameters;
    gpu::LaunchFacts facts;
    std::shared_ptr<void> keep;  ///< what `parameters` point to
  };
  /// Puts the job's state for the launch into its stream. The caller holds `order()` until it has launched.
  [[nodiscard]] std::optional<Transformed> transform(const Launch& launch);
  void stream_ends(CUstream stream);
  [[nodiscard]] std::recursive_mutex& order() { return order_; }
  [[nodiscard]] Coverage& coverage() { return coverage_; }
  [[nodiscard]] const FixedQuota& quota() const { return quota_; }

 private:
  struct Module {
    std::shared_ptr<const Code> code;
    std::string why;
  };
  struct Shape {
    unsigned native = 0, transformed = 0, shared_left = 0;
  };
  struct Kernel {
    std::string name, why;
    void* module = nullptr;
    const gpu::ModuleKernel* form = nullptr;
    CUfunction function = nullptr;  ///< transformed
    std::shared_ptr<const Code> code;
    std::vector<std::pair<std::size_t, std::size_t>> parameters;  ///< offset and bytes
    std::map<std::pair<unsigned, unsigned>, Shape> shapes;        ///< by threads and dynamic shared memory
  };
  struct Control {
    CUdeviceptr memory = 0;
    std::uint32_t wanted = 0;
    CUevent free = nullptr;  ///< of a stream that has ended: when its last job has
  };
  using StreamId = std::pair<unsigned long long, unsigned long long>;  // of its context, and its own: never used again
  [[nodiscard]] std::optional<std::string> prepare(Kernel& kernel, const Launch& launch, Transformed& out);
  [[nodiscard]] const Shape& shape(Kernel& kernel, CUfunction native, const gpu::LaunchFacts& facts);
  [[nodiscard]] Control* control(CUstream stream);
  [[nodiscard]] bool begin(Control& control, CUstream stream, std::uint32_t ctas) const;
  std::recursive_mutex order_;
  FixedQuota quota_ = FixedQuota::from_environment();
  std::unordered_map<void*, Module> modules_;
  std::unordered_map<void*, Kernel> kernels_;
  std::map<StreamId, Control> controls_;
  std::vector<std::pair<unsigned long long, Control>> retired_;
  std::uint32_t sms_ = 0;
  Coverage coverage_;
};

}  // namespace sluice::interpose
