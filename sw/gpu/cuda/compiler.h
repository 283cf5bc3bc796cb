#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace sluice::gpu {

struct CompiledKernel {
  std::vector<char> cubin;
  std::string symbol;  ///< name inside the cubin
  bool cached = false;
};

/// Compiles one kernel of `text` with NVRTC for compute capability `arch` (90 = sm_90), or takes it from the cache. The cache is
/// a folder of cubins named by a hash of text, options and NVRTC version; a damaged entry is compiled anew.
class Compiler {
 public:
  /// @param cache  created when needed; empty = no cache
  Compiler(int arch, std::filesystem::path cache) : arch_(arch), cache_(std::move(cache)) {}

  /// @param kernel  as in a host launch ("tile<16>"); an extern "C" name stays itself
  /// @param file    how messages call the text
  /// @throws GpuError with the first error of the compiler's log
  [[nodiscard]] CompiledKernel compile(const std::string& text, const std::string& file, const std::string& kernel) const;

  /// $XDG_CACHE_HOME/sluice, else ~/.cache/sluice, else empty.
  [[nodiscard]] static std::filesystem::path default_cache();

 private:
  int arch_;
  std::filesystem::path cache_;
};

}  // namespace sluice::gpu
