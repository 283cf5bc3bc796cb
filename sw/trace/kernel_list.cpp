// SPDX-License-Identifier: Apache-2.0
#include "sw/trace/kernel_list.h"

#include <fmt/format.h>

#include <map>

#include "sw/core/errors.h"
#include "sw/io/csv_reader.h"
#include "sw/trace/sass_text.h"

namespace sluice {

std::vector<ListedKernel> read_kernel_list(const std::filesystem::path& path) {
  LineReader lines(path);
  std::vector<ListedKernel> kernels;
  std::map<std::uint64_t, std::size_t> last_of_stream;
  std::string_view line;
  while (lines.next(line)) {
    line = trimmed(line);
    if (line.starts_with("-") || line.starts_with("#traces format") || line.starts_with("#BEGIN_TB"))
      lines.fail("is a kernel's trace, not a list: give a text file with the names of traces (kernelslist.g)");
    if (line.empty() || line.starts_with("#") || line.starts_with("//") || line.starts_with("Memcpy")) continue;
    const std::filesystem::path file = path.parent_path() / std::string(line);
    if (file.extension() != ".traceg" && file.extension() != ".xz" && file.extension() != ".tracez")
      lines.fail(fmt::format(
          "\"{}\": must be a kernel (a file that ends in .traceg, .xz or .tracez), a copy (Memcpy...), a comment (#) or blank",
          shown(line)));
    if (std::error_code error; !std::filesystem::is_regular_file(file, error))
      lines.fail(fmt::format("{}: no such file, seen from the list's folder", shown(line)));
    ListedKernel kernel{file, TraceReader(file).header(), std::nullopt};
    if (const auto found = last_of_stream.find(kernel.header.stream); found != last_of_stream.end()) kernel.after = found->second;
    last_of_stream[kernel.header.stream] = kernels.size();
    kernels.push_back(std::move(kernel));
  }
  if (kernels.empty()) throw InputError(fmt::format("{}: names no kernel", path.string()));
  return kernels;
}

}  // namespace sluice
