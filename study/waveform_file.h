// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>

namespace sluice {

/// An FST waveform that is there as a whole, or not at all. The library that writes it looks at no error: a full disk leaves a
/// file that is cut, or ends the process by a signal. So a run writes to `scratch()`, and `keep()` looks at what came of it.
class WaveformFile {
 public:
  /// @throws InputError or SystemError when nothing can be written at `target`
  explicit WaveformFile(std::filesystem::path target);
  ~WaveformFile();  ///< removes what was not kept
  WaveformFile(const WaveformFile&) = delete;
  WaveformFile& operator=(const WaveformFile&) = delete;

  [[nodiscard]] const std::filesystem::path& scratch() const { return scratch_; }
  /// The run is over. @throws SystemError naming the file and why it is not whole
  void keep();
  /// The run has failed. @throws SystemError when that was for want of room for the waveform
  void explain() const;

 private:
  std::filesystem::path target_, scratch_;
};

}  // namespace sluice
