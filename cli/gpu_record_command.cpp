// SPDX-License-Identifier: Apache-2.0
// `sluice gpu record` on a GPU.
#ifdef SLUICE_CUDA
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/gpu_actions.h"
#include "cli/gpu_kernel_code.h"
#include "sw/gpu/jobs/gpu_session.h"
#include "sw/gpu/jobs/recording.h"
#include "sw/io/atomic_file.h"
#include "sw/report/table.h"

namespace sluice::cli {

namespace {

nlohmann::json describe(const gpu::LaunchSpec& spec, const gpu::Recording& r, const gpu::JoinResult& joined) {
  nlohmann::json out = describe_join(joined);
  out.update({{"name", spec.label},
              {"ctas", r.kernel.log.ctas},
              {"grid_ctas", spec.blocks()},
              {"log_bytes", r.log_bytes},
              {"native_ms", r.native_seconds * 1e3},
              {"slowdown", r.recorded_seconds / r.native_seconds},
              {"bit_identical", r.bit_identical}});
  return out;
}

}  // namespace

int gpu_record(const GpuRecordOptions& options, const RecordRequest& request) {
  if (!options.command.empty()) return gpu_record_program(options, request);
  const std::filesystem::path folder = options.out, list = folder / "kernelslist.g";
  std::vector<gpu::LaunchSpec> specs = request.launches;
  const gpu::GpuSession session;
  for (std::size_t k = 0; k < options.kernels.size(); ++k)
    read_code(specs[k], {options.includes, options.defines}, options.nvcc, session.context().limits());
  nlohmann::json out = {{"gpu", session.context().limits().name}, {"kernels", nlohmann::json::array()}};
  std::string names;
  bool good = true;
  for (std::size_t k = 0; k < specs.size(); ++k) {
    const gpu::Recording r =
        gpu::record(session.context(), session.compiler(), session.tools(), specs[k], {request.ctas, request.limit});
    const std::string name = fmt::format("kernel-{}.traceg.xz", k + 1);
    const gpu::JoinResult joined = gpu::write_trace(r.kernel, static_cast<std::uint32_t>(k + 1), folder / name);
    names += name + "\n";
    out["kernels"].push_back(describe(specs[k], r, joined));
    good = good && r.bit_identical && joined.missing_pct() <= 1;
    write_file_atomically(list, names);
  }
  if (options.json) {
    fmt::print("{}\n", out.dump());
    return good ? 0 : 1;
  }
  report::Table table({"kernel", "CTAs", "warp instructions", "joined %", "bytes", "times as slow", "bit-identical"});
  for (const nlohmann::json& k : out["kernels"])
    table.row({k["name"].get<std::string>(), k["ctas"].dump(), k["warp_instructions"].dump(),
               fmt::format("{:.2f}", k["joined_pct"].get<double>()), k["bytes"].dump(),
               fmt::format("{:.1f}", k["slowdown"].get<double>()), k["bit_identical"].get<bool>() ? "yes" : "NO"});
  fmt::print("{}", table.text());
  for (const nlohmann::json& k : out["kernels"])
    for (const auto& [reason, count] : k["unjoined"].items())
      fmt::print("  {}: {}: {} warp instructions\n", k["name"].get<std::string>(), reason, count.get<std::uint64_t>());
  return good ? 0 : 1;
}

}  // namespace sluice::cli
#endif
