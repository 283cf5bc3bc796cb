// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/source/nvcc.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <vector>

#include "sw/core/errors.h"
#include "sw/gpu/source/first_error.h"
#include "sw/gpu/source/program.h"
#include "sw/io/atomic_file.h"

namespace sluice::gpu {

std::string ptx_by_nvcc(const std::string& nvcc, const std::string& file, unsigned sm, const CompileOptions& options) {
  const Scratch scratch;
  const std::filesystem::path out = scratch.path() / "out.ptx", log = scratch.path() / "log";
  std::vector<std::string> words = {"-ptx", "-x", "cu", fmt::format("-arch=compute_{}", sm), "-o", out.string()};
  for (const std::string& folder : options.includes) words.push_back("-I" + folder);
  for (const std::string& define : options.defines) words.push_back("-D" + define);
  words.push_back(file);
  std::string used;
  const std::optional<int> status = run_tool(nvcc, words, log, &used);
  if (!status) throw InputError(fmt::format("--nvcc {}: there is no such program", nvcc));
  if (*status != 0) throw InputError(fmt::format("{} does not compile with {}: {}", file, used, first_error(read_file(log))));
  return read_file(out);
}

}  // namespace sluice::gpu
