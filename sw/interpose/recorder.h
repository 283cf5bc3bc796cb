// SPDX-License-Identifier: Apache-2.0
#pragma once
// Records the first launches of each kernel of the program, for `sluice gpu record -- CMD`. The kernel that logs is launched in
// the place of the program's; everything else is as it is. Raw recordings and notes go to a folder.
#include <cuda.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sw/gpu/record/raw_file.h"
#include "sw/interpose/program.h"

namespace sluice::interpose {

class Recorder {
 public:
  /// Null where SLUICE_RECORD names no folder. Lives as long as the process.
  [[nodiscard]] static Recorder* instance();
  /// What becomes of an image.
  struct Image {
    std::shared_ptr<const std::string> ptx;  ///< normalised; null: nothing is recorded, for the reason
    std::string in_place;                    ///< load this PTX instead; empty: the image itself
    std::string why;
  };
  [[nodiscard]] Image image(const void* image);
  void module(void* handle, Image image);  ///< it was loaded; or unloaded (empty)
  void kernel(void* handle, void* module, const char* name, bool library);
  void same_kernel(void* handle, void* known);
  using As = std::function<CUresult(CUfunction, void**)>;  ///< the launch with another function and other arguments
  [[nodiscard]] CUresult launch(const ProgramLaunch& launch, const Program::Native& as_it_is, const As& with);

 private:
  Recorder();
  struct Kernel {
    std::string name, why;
    void *own = nullptr, *module = nullptr;
    bool library = false, in_place = false, timed = false;
    std::shared_ptr<const std::string> ptx;
    std::string alone, entry;                                     ///< PTX with this kernel alone; the name of the one that logs
    std::vector<std::pair<std::size_t, std::size_t>> parameters;  ///< offset and bytes
    std::uint32_t launches = 0;
    std::optional<gpu::LaunchFacts> facts;    ///< of the last launch recorded
    std::map<CUcontext, CUfunction> logging;  ///< null: the driver refuses
  };
  struct Device;  // of a context
  [[nodiscard]] CUfunction logging(Kernel& kernel);
  [[nodiscard]] Device* device(const std::string& ptx);
  [[nodiscard]] std::optional<CUresult> record(Kernel& kernel, std::uint32_t number, const ProgramLaunch& launch, const As& with);
  [[nodiscard]] CUresult timed(const Kernel& kernel, const ProgramLaunch& launch, const Program::Native& as_it_is);
  void note(const std::string& kernel, const std::string& reason, bool lost = false);  ///< lost: it had begun
  void write_note(const std::string& line);

  const std::filesystem::path folder_;
  std::set<std::string> only_;  // kernels; empty: all
  std::uint64_t ctas_ = 0, limit_ = 0, total_ = 0, launches_ = 0;
  std::mutex lock_;  // of the maps
  std::mutex one_;   // one recording at a time
  std::uint64_t written_ = 0;
  std::unordered_map<void*, Image> modules_;
  std::unordered_map<void*, std::shared_ptr<Kernel>> kernels_;
  std::map<std::pair<std::string, std::string>, bool> noted_;
  std::map<CUcontext, std::unique_ptr<Device>> devices_;
};

}  // namespace sluice::interpose
