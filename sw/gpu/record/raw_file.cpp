// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/record/raw_file.h"

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "sw/core/errors.h"

namespace sluice::gpu {

namespace {

constexpr std::uint64_t kMagic = 0x31636572'63756c73;  // "slucrec1"
constexpr std::uint64_t kMostHeader = 1ULL << 30;

void put(std::ofstream& out, const void* from, std::size_t bytes) {
  out.write(static_cast<const char*>(from), static_cast<std::streamsize>(bytes));
}
bool get(std::ifstream& in, void* to, std::size_t bytes) {
  return static_cast<bool>(in.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes)));
}

}  // namespace

// NOLINTNEXTLINE(misc-use-internal-linkage): found by the type
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RawRecording, ptx, symbol, grid, block, registers, shared_bytes, sm, shared_window,
                                   local_window, gpu, driver_version, launch, recorded_ms)

void write_raw(const std::filesystem::path& file, const RawRecording& r) {
  nlohmann::json header = r;
  header.update({{"ctas", r.log.ctas}, {"threads", r.log.threads}});
  const std::string text = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const std::uint64_t sizes[] = {kMagic, text.size(), r.log.starts.size(), r.log.counts.size(), r.log.words.size()};
  std::ofstream out(file, std::ios::binary);
  put(out, sizes, sizeof sizes);
  put(out, text.data(), text.size());
  for (const std::vector<std::uint32_t>* words : {&r.log.starts, &r.log.counts, &r.log.words})
    put(out, words->data(), words->size() * 4);
  out.close();
  if (!out) throw SystemError(file.string() + ": cannot be written");
}

RawRecording read_raw(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::uint64_t sizes[5] = {};
  const auto refuse = [&] { return InputError(file.string() + ": not a recording of this version, or cut off"); };
  if (!in) throw InputError(file.string() + ": cannot be read");
  if (!get(in, sizes, sizeof sizes) || sizes[0] != kMagic || sizes[1] > kMostHeader) throw refuse();
  const std::uint64_t whole = std::filesystem::file_size(file), fixed = sizeof sizes + sizes[1];
  if (whole < fixed || sizes[2] > whole || sizes[3] > whole || sizes[4] > whole ||
      (sizes[2] + sizes[3] + sizes[4]) * 4 != whole - fixed)
    throw refuse();
  std::string text(sizes[1], '\0');
  RawRecording r;
  RecordedLog& log = r.log;
  log.starts.resize(sizes[2]);
  log.counts.resize(sizes[3]);
  log.words.resize(sizes[4]);
  if (!get(in, text.data(), text.size())) throw refuse();
  for (std::vector<std::uint32_t>* words : {&log.starts, &log.counts, &log.words})
    if (!get(in, words->data(), words->size() * 4)) throw refuse();
  try {
    const nlohmann::json header = nlohmann::json::parse(text);
    header.get_to(r);
    header.at("ctas").get_to(log.ctas);
    header.at("threads").get_to(log.threads);
  } catch (const nlohmann::json::exception&) {
    throw refuse();
  }
  const std::uint64_t warps = std::uint64_t{log.ctas} * log.warps();
  if (log.starts.size() != warps + 1 || log.counts.size() != warps * 32 ||
      log.words.size() != std::uint64_t{log.starts.back()} * 32)
    throw refuse();
  for (std::size_t w = 0; w < warps; ++w)
    for (std::size_t lane = 0; lane < 32; ++lane)
      if (log.starts[w] > log.starts[w + 1] || log.counts[w * 32 + lane] > log.starts[w + 1] - log.starts[w]) throw refuse();
  return r;
}

}  // namespace sluice::gpu
