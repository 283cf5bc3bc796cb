// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/jobs/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "sw/gpu/record/assemble.h"
#include "sw/gpu/rewrite/ptx.h"

namespace sluice::gpu {

namespace {

/// Where the windows of shared and local memory begin among generic addresses.
std::pair<std::uint64_t, std::uint64_t> windows(const Context& context, const std::string& ptx) {
  const Kernel kernel(context, windows_module(ptx), kWindowsEntry);
  const DeviceMemory out = allocate(16, "two addresses");
  CUdeviceptr address = out.get();
  void* parameters[] = {&address};
  check(driver().cuLaunchKernel(kernel.function(), 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), "reading the windows");
  std::uint64_t found[2] = {};
  check(driver().cuMemcpyDtoH(found, address, sizeof found), "reading the windows");
  return {found[0], found[1]};
}

void copy_from(void* to, const DeviceMemory& memory, std::size_t bytes) {
  if (bytes > 0) check(driver().cuMemcpyDtoH(to, memory.get(), bytes), "reading the log");
}

}  // namespace

Recording record(const Context& context, const Compiler& compiler, const DeviceTools& tools, const LaunchSpec& spec,
                 const RecordOptions& options) {
  const CompiledKernel compiled = spec.symbol.empty() ? compiler.compile(spec.text, spec.file, spec.kernel, spec.options)
                                                      : CompiledKernel{spec.text, spec.symbol};
  const std::string ptx = only_kernel(normalised(compiled.ptx), compiled.symbol);
  const Instrumented instrumented = instrument(ptx, compiled.symbol);
  const DeviceLimits& limits = context.limits();
  const auto sm = static_cast<std::uint32_t>(limits.compute_major * 10 + limits.compute_minor);
  const auto [cubin, listing] = assemble_with_lines(instrumented.with_lines, sm);
  const PreparedKernel prepared(context, compiler, tools, spec);
  const Kernel native(context, cubin, compiled.symbol), logging(context, instrumented.ptx, instrumented.entry);
  native.configure(spec.shared_bytes, -1);
  logging.configure(spec.shared_bytes, -1);
  if (spec.block_threads() > logging.max_threads())
    throw GpuError(fmt::format("{}: instrumented, it can have {} threads a CTA", spec.label, logging.max_threads()));

  Recording out;
  RecordedKernel& kernel = out.kernel;
  kernel.symbol = compiled.symbol;
  kernel.listing = listing;
  kernel.grid = spec.grid;
  kernel.block = spec.block;
  kernel.registers = native.registers();
  kernel.shared_bytes = native.static_shared() + spec.shared_bytes;
  kernel.sm = sm;
  kernel.origin = fmt::format("{}, CUDA {}.{}", limits.name, limits.driver_version / 1000, limits.driver_version % 1000 / 10);
  kernel.plan = instrumented.plan;
  std::tie(kernel.shared_window, kernel.local_window) = windows(context, ptx);
  RecordedLog& log = kernel.log;

  const StreamHandle stream = make_stream();
  RecordJob job;
  std::vector<void*> parameters = prepared.parameters();
  parameters.push_back(&job);
  const auto launch = [&](const Kernel& code) {
    return timed(stream.get(), spec.label, [&] {
      check(driver().cuLaunchKernel(code.function(), spec.grid[0], spec.grid[1], spec.grid[2], spec.block[0], spec.block[1],
                                    spec.block[2], spec.shared_bytes, stream.get(), parameters.data(), nullptr),
            spec.label + ": launch");
    });
  };
  prepared.reset_buffers();
  out.native_seconds = launch(native);  // the first launch of a module is slower
  prepared.reset_buffers();
  out.native_seconds = std::min(out.native_seconds, launch(native));
  const std::vector<std::uint64_t> prints = prepared.fingerprints();

  log.ctas = static_cast<std::uint32_t>(std::min(options.ctas, spec.blocks()));
  log.threads = spec.block_threads();
  const std::size_t warps = std::size_t{log.ctas} * log.warps();
  log.starts.assign(warps + 1, 0);
  log.counts.assign(warps * 32, 0);
  const DeviceMemory starts = allocate((warps + 1) * 4, "the log's index"), counts = allocate(warps * 32 * 4, "the log's counts");
  const auto run = [&](CUdeviceptr rows) {
    check(driver().cuMemcpyHtoD(starts.get(), log.starts.data(), log.starts.size() * 4), "the log's index");
    check(driver().cuMemsetD8(counts.get(), 0, warps * 32 * 4), "the log's counts");
    job = {rows, starts.get(), counts.get(), log.ctas, log.warps()};
    prepared.reset_buffers();
    const double seconds = launch(logging);
    copy_from(log.counts.data(), counts, log.counts.size() * 4);
    return seconds;
  };
  (void)run(0);
  std::uint64_t rows = 0;
  for (std::size_t w = 0; w < warps; ++w) {
    log.starts[w] = static_cast<std::uint32_t>(rows);
    rows += *std::max_element(&log.counts[w * 32], &log.counts[w * 32] + 32) + 1;  // one row more: a pair of words ends there
  }
  out.log_bytes = rows * 128;
  if (out.log_bytes > options.limit || rows >= 1ULL << 32)
    throw InputError(fmt::format("{}: --limit {}: the log of {} CTAs has {} bytes: allow that many, or record fewer with --ctas",
                                 spec.label, options.limit, log.ctas, out.log_bytes));
  log.starts[warps] = static_cast<std::uint32_t>(rows);
  const DeviceMemory memory = allocate(out.log_bytes, fmt::format("a log of {} bytes", out.log_bytes));
  out.recorded_seconds = run(memory.get());
  for (std::size_t i = 0; i < log.counts.size(); ++i) log.counts[i] -= std::min(log.counts[i], log.starts[i / 32]);
  out.bit_identical = prepared.fingerprints() == prints;
  log.words.resize(rows * 32);
  copy_from(log.words.data(), memory, out.log_bytes);
  return out;
}

}  // namespace sluice::gpu
