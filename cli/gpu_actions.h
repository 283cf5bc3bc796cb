// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sw/policy/names.h"

namespace sluice::cli {

struct GpuProbeOptions {
  bool json = false;
};
/// What is launched.
struct GpuKernels {
  std::vector<std::string> kernels, apps, includes, defines;
  std::string nvcc;  ///< compiler of CUDA text; empty: NVRTC
  bool small = false;
};
struct GpuRunOptions : GpuKernels {
  std::string policy = kEven, quota;
  unsigned passes = 1;
  bool json = false;
};
struct GpuRecordOptions : GpuKernels {
  std::vector<std::string> command;  ///< a program whose kernels are recorded, and its arguments
  std::vector<std::string> only;     ///< of the program's kernels, by the names that a trace has; empty: all
  std::string out, ctas = "all", limit = "1G", total = "8G";
  unsigned launches = 1;  ///< of each kernel of the program
  bool json = false, keep = false, check = false;
};
struct GpuExperimentOptions {
  std::string name, out, apps, scenarios = "configs/scenarios";
  unsigned repetitions = 5;
  double window_ms = 10;
};

// What `sluice gpu ...` does on a GPU. Each returns the exit code.
int gpu_probe(const GpuProbeOptions& options);
int gpu_run(const GpuRunOptions& options);
struct RecordRequest {
  std::uint64_t ctas = 0, limit = 0, total = 0;  ///< the limits in bytes
};
/// Checks the options and makes the folder. @throws InputError naming the option and what it may be
RecordRequest record_request(const GpuRecordOptions& options);
/// @return of a program its own exit code; 1 in place of 0 where a recording is not whole, or none is
int gpu_record(const GpuRecordOptions& options, const RecordRequest& request);
/// Options of `sluice gpu client`.
[[nodiscard]] std::vector<std::string> client_options(const GpuKernels& of);
int gpu_experiment(const GpuExperimentOptions& options);
/// Names; with what each measures. None in a build without CUDA.
std::vector<std::string> gpu_experiments(bool words);
struct GpuClientOptions : GpuKernels {
  unsigned blocks = 0, passes = 1;  ///< of an application
};
int gpu_client(const GpuClientOptions& options);

}  // namespace sluice::cli
