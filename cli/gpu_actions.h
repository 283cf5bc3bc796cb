// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sw/gpu/apps/launch_spec.h"
#include "sw/policy/names.h"

namespace sluice::cli {

struct GpuProbeOptions {
  bool json = false;
};
struct GpuRunOptions {
  std::vector<std::string> kernels, apps;
  std::vector<std::string> includes, defines;
  std::string nvcc;  ///< compiler of CUDA text; empty: NVRTC
  std::string policy = kEven, quota;
  unsigned passes = 1, group = 0;
  double epsilon = 0;
  bool small = false, together = false, json = false;
};
struct GpuRecordOptions {
  std::vector<std::string> kernels, apps, includes, defines;
  std::string nvcc, out, ctas = "64", limit = "1G";
  bool small = false, json = false;
};
struct GpuExperimentOptions {
  std::string name, out, apps, profiles, scenarios = "configs/scenarios";
  unsigned plans = 1000;
  unsigned repetitions = 5;
  double window_ms = 10;
};

// What `sluice gpu ...` does on a GPU. Each returns the exit code.
int gpu_probe(const GpuProbeOptions& options);
int gpu_run(const GpuRunOptions& options);
struct RecordRequest {
  std::vector<gpu::LaunchSpec> launches;  ///< of --kernel, then of --app
  std::uint64_t ctas = 0, limit = 0;      ///< limit in bytes
};
/// Checks the options and makes the folder. @throws InputError naming the option and what it may be
RecordRequest record_request(const GpuRecordOptions& options);
int gpu_record(const GpuRecordOptions& options, const RecordRequest& request);
int gpu_experiment(const GpuExperimentOptions& options);
int gpu_mps_client(const std::string& app);
struct GpuClientOptions {
  std::string app;
  unsigned blocks = 0, passes = 1;
};
int gpu_scenario_client(const GpuClientOptions& options);

}  // namespace sluice::cli
