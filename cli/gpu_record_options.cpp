// SPDX-License-Identifier: Apache-2.0
// What `sluice gpu record` is asked for, checked before a GPU is.
#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "cli/gpu_actions.h"
#include "sw/core/errors.h"
#include "sw/gpu/apps/apps.h"
#include "sw/gpu/apps/kernel_file.h"
#include "sw/io/atomic_file.h"

namespace sluice::cli {

namespace {

std::uint64_t number_of(const std::string& option, std::string_view text, bool sizes, const char* allowed) {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(stop, static_cast<std::size_t>(text.data() + text.size() - stop));
  std::uint64_t factor = unit.empty() ? 1 : 0;
  for (const auto& [name, bytes] : {std::pair("K", 1ULL << 10), {"M", 1ULL << 20}, {"G", 1ULL << 30}})
    if (sizes && unit == name) factor = bytes;
  if (error != std::errc{} || factor == 0 || value == 0 || value > (1ULL << 50) / factor)
    throw InputError(fmt::format("{} {}: must be {}", option, text, allowed));
  return value * factor;
}

}  // namespace

RecordRequest record_request(const GpuRecordOptions& options) {
  const bool ours = !options.kernels.empty() || !options.apps.empty();
  if (!ours && options.command.empty())
    throw InputError("sluice gpu record: --kernel, --app or a program behind -- must be given at least once");
  if (ours && !options.command.empty())
    throw InputError("sluice gpu record: --kernel and --app do not go with a program behind --");
  RecordRequest request;
  request.ctas =
      options.ctas == "all" ? ~std::uint64_t{0} : number_of("--ctas", options.ctas, false, "a whole number from 1, or all");
  request.limit = number_of("--limit", options.limit, true, "a number of bytes from 1, or of K, M or G");
  request.total = number_of("--total", options.total, true, "a number of bytes from 1, or of K, M or G");
  for (const std::string& k : options.kernels) {
    const gpu::LaunchSpec spec = gpu::parse_launch(k);
    if (!std::filesystem::exists(spec.file)) throw InputError(spec.file + ": no such file");
    constexpr unsigned kHopper = 90;
    if (spec.file.ends_with(".ptx")) (void)gpu::read_kernel_file(spec.file, spec.kernel, kHopper);  // says what it has instead
  }
  for (const std::string& a : options.apps) static_cast<void>(gpu::make_app(a, gpu::AppScale::Small));
  make_folder(options.out);
  write_file_atomically(std::filesystem::path(options.out) / "kernelslist.g", "");
  return request;
}

}  // namespace sluice::cli
