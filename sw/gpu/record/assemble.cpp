// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/record/assemble.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <vector>

#include "sw/core/errors.h"
#include "sw/gpu/source/first_error.h"
#include "sw/gpu/source/program.h"
#include "sw/io/atomic_file.h"

namespace sluice::gpu {

namespace {

void tool(const std::string& name, const std::vector<std::string>& words, const std::filesystem::path& log) {
  const std::optional<int> status = run_tool(name, words, log);
  if (!status)
    throw InputError(
        fmt::format("{}: not in PATH, $CUDA_HOME/bin or /usr/local/cuda/bin: recording needs the CUDA toolkit", name));
  if (*status != 0) throw InputError(fmt::format("{}: {}", name, first_error(read_file(log))));
}

}  // namespace

WithLines assemble_with_lines(const std::string& ptx, std::uint32_t sm) {
  const Scratch scratch;
  const std::filesystem::path text = scratch.path() / "kernel.ptx", cubin = scratch.path() / "kernel.cubin",
                              log = scratch.path() / "log";
  write_file_atomically(text, ptx);
  const bool alone = ptx.find(fmt::format("sm_{}a", sm)) != std::string::npos;
  tool("ptxas", {fmt::format("-arch=sm_{}{}", sm, alone ? "a" : ""), "-lineinfo", "-o", cubin.string(), text.string()}, log);
  tool("nvdisasm", {"-g", "-c", "-hex", cubin.string()}, log);
  return {read_file(cubin), read_file(log)};
}

}  // namespace sluice::gpu
