// SPDX-License-Identifier: Apache-2.0
#pragma once
// Launches that cannot be transformed: as they are, one at a time, or on some SMs (SLUICE_OPAQUE).
#include <cuda.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sluice::interpose {

class Opaque {
 public:
  enum class Mode : std::uint8_t { Native, Hold, Split };
  [[nodiscard]] static Mode mode();  ///< as the environment says

  /// Hold: one launch of the process at a time. @return none runs: the caller may launch, and says so
  [[nodiscard]] bool free() const;
  void enters() { entering_ = true; }  ///< nobody else until entered()
  void entered(CUstream stream);       ///< the launch is in the stream
  void context_ends(CUcontext context);
  [[nodiscard]] bool ended();  ///< the launch that entered has, since the last call

  /// Split: `launch` into a stream on so many SMs of the current context, in the order of `stream`. A multiple of 8 SMs; which
  /// ones, the driver decides. Without green contexts, and where the kernel is of another context, it is an error and nothing has
  /// run.
  template <class Launch>
  [[nodiscard]] CUresult split(CUstream stream, unsigned sms, const Launch& launch) {
    const Part* part = part_of(sms);
    if (part == nullptr || !behind(part->stream, stream, part->before)) return CUDA_ERROR_NOT_SUPPORTED;
    const CUresult result = launch(part->stream);
    if (result == CUDA_SUCCESS) static_cast<void>(behind(stream, part->stream, part->after));
    return result;
  }

 private:
  struct Part {
    CUstream stream = nullptr;
    CUevent before = nullptr, after = nullptr;
  };
  [[nodiscard]] const Part* part_of(unsigned sms);
  [[nodiscard]] static bool behind(CUstream stream, CUstream first, CUevent event);
  std::map<std::pair<CUcontext, unsigned>, Part> parts_;
  CUevent held_ = nullptr;
  CUcontext context_ = nullptr;  ///< of the launch that entered last
  bool under_way_ = false, entering_ = false;
};

}  // namespace sluice::interpose
