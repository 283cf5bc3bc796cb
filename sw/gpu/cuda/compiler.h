// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>

#include "sw/gpu/source/compile_options.h"

namespace sluice::gpu {

struct CompiledKernel {
  std::string ptx;
  std::string symbol;  ///< name inside the PTX
};

/// Compiles one kernel of `text` with NVRTC for compute capability `arch` (90 = sm_90), or takes it from the cache. The cache is
/// a folder of PTX files named by a hash of text, options and NVRTC version; a damaged entry is compiled anew. The driver turns
/// PTX into machine code, and keeps that in a cache of its own.
class Compiler {
 public:
  /// @param cache  created when needed; empty = no cache
  Compiler(int arch, std::filesystem::path cache) : arch_(arch), cache_(std::move(cache)) {}

  /// @param kernel  as in a host launch ("tile<16>"); an extern "C" name stays itself; what else find_kernel takes, of kernels
  /// that
  ///                are no templates
  /// @param file    how messages call the text
  /// @throws InputError with the first error of the compiler's log, or with the kernels that there are; GpuError
  [[nodiscard]] CompiledKernel compile(const std::string& text, const std::string& file, const std::string& kernel,
                                       const CompileOptions& options = {}) const;

  /// $XDG_CACHE_HOME/sluice, else ~/.cache/sluice, else empty.
  [[nodiscard]] static std::filesystem::path default_cache();

 private:
  /// @param kernel  empty: all kernels that are no templates
  [[nodiscard]] CompiledKernel run(const std::string& text, const std::string& file, const std::string& kernel,
                                   const CompileOptions& more) const;
  int arch_;
  std::filesystem::path cache_;
};

}  // namespace sluice::gpu
