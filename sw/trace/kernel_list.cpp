// SPDX-License-Identifier: Apache-2.0
#include "sw/trace/kernel_list.h"

#include <fmt/format.h>

#include <map>

#include "sw/core/errors.h"

namespace sluice {

std::vector<ListedKernel> read_kernel_list(const std::filesystem::path& path) {
  LineReader lines(path);
  std::vector<ListedKernel> kernels;
  std::map<std::uint64_t, std::size_t> last_of_stream;
  std::string_view line;
  while (lines.next(line)) {
    if (const auto end = line.find_last_not_of(" \t"); end != std::string_view::npos) line = line.substr(0, end + 1);
    if (!line.starts_with("kernel")) continue;
    const std::filesystem::path file = path.parent_path() / std::string(line);
    if (file.extension() != ".traceg" && file.extension() != ".xz" && file.extension() != ".tracez")
      lines.fail(fmt::format("{}: must end in .traceg, .xz or .tracez", line));
    if (!std::filesystem::exists(file)) lines.fail(fmt::format("{}: no such file in the list's folder", line));
    ListedKernel kernel{file, TraceReader(file).header(), std::nullopt};
    if (const auto found = last_of_stream.find(kernel.header.stream); found != last_of_stream.end()) kernel.after = found->second;
    last_of_stream[kernel.header.stream] = kernels.size();
    kernels.push_back(std::move(kernel));
  }
  if (kernels.empty()) throw InputError(fmt::format("{}: names no kernel", path.string()));
  return kernels;
}

}  // namespace sluice
