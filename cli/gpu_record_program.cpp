// SPDX-License-Identifier: Apache-2.0
// `sluice gpu record -- CMD`: a program as it is, whose kernels the interposer records.
#ifdef SLUICE_CUDA
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/gpu_actions.h"
#include "cli/interposed.h"
#include "sw/gpu/record/assemble.h"
#include "sw/gpu/record/raw_file.h"
#include "sw/gpu/record/sass_trace.h"
#include "sw/gpu/rewrite/instrument.h"
#include "sw/io/atomic_file.h"
#include "sw/report/table.h"

namespace sluice::cli {

namespace {

namespace fs = std::filesystem;

/// @return the program's exit code
int run_recorded(const GpuRecordOptions& options, const RecordRequest& request, const fs::path& raw) {
  const fs::path folder = interposer_folder();
  std::vector<char*> arguments;
  for (const std::string& a : options.command) arguments.push_back(const_cast<char*>(a.c_str()));  // execvp only reads
  arguments.push_back(nullptr);
  const auto before = std::signal(SIGINT, SIG_IGN);  // it is the program's
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGINT, before);
    for (const char* other : {"SLUICE_SOCKET", "SLUICE_QUOTA", "SLUICE_SMS", "SLUICE_QUOTA_FILE"}) unsetenv(other);
    setenv("SLUICE_RECORD", fs::absolute(raw).c_str(), 1);
    setenv("SLUICE_RECORD_CTAS", std::to_string(request.ctas).c_str(), 1);
    setenv("SLUICE_RECORD_LIMIT", std::to_string(request.limit).c_str(), 1);
    setenv("SLUICE_RECORD_TOTAL", std::to_string(request.total).c_str(), 1);
    setenv("SLUICE_RECORD_LAUNCHES", std::to_string(options.launches).c_str(), 1);
    put_interposer_first(folder);
    ::execvp(arguments.front(), arguments.data());
    const int error = errno;
    fmt::print(stderr, "sluice: {}: {}\n", options.command.front(), std::strerror(error));
    ::_exit(error == ENOENT ? 127 : 126);
  }
  int status = 0;
  if (child < 0) throw_errno(options.command.front(), errno);
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw_errno(options.command.front(), errno);
  std::signal(SIGINT, before);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

struct Notes {
  std::map<std::string, double> native_ms;  // by kernel
  nlohmann::json reasons = nlohmann::json::array();
};
Notes read_notes(const fs::path& raw) {
  Notes out;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(raw))
    if (entry.path().extension() == ".notes") files.push_back(entry.path());
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      const nlohmann::json note = nlohmann::json::parse(line, nullptr, false);
      if (note.is_discarded()) continue;
      if (note.contains("native_ms"))
        out.native_ms[note["name"].get<std::string>()] = note["native_ms"].get<double>();
      else
        out.reasons.push_back(note);
    }
  }
  return out;
}

nlohmann::json joined_of(const gpu::RawRecording& r, const gpu::JoinResult& joined, const std::map<std::string, double>& native) {
  nlohmann::json out = describe_join(joined);
  out["name"] = r.symbol;
  out["launch"] = r.launch;
  out["ctas"] = r.log.ctas;
  out["grid_ctas"] = std::uint64_t{r.grid[0]} * r.grid[1] * r.grid[2];
  out["log_bytes"] = r.log.words.size() * 4;
  out["recorded_ms"] = r.recorded_ms;
  const auto ms = native.find(r.symbol);
  out["native_ms"] = ms == native.end() ? nlohmann::json() : nlohmann::json(ms->second);
  out["slowdown"] = ms == native.end() || ms->second <= 0 ? nlohmann::json() : nlohmann::json(r.recorded_ms / ms->second);
  return out;
}

/// @param listing  gets the machine code with its lines; empty: nothing does
gpu::JoinResult join(const gpu::RawRecording& r, std::uint32_t id, const fs::path& file, const fs::path& listing) {
  const gpu::Instrumented instrumented = gpu::instrument(r.ptx, r.symbol);
  gpu::RecordedKernel kernel{r, {}, {}, instrumented.plan};
  kernel.listing = gpu::assemble_with_lines(instrumented.with_lines, r.sm).listing;
  if (!listing.empty()) write_file_atomically(listing, kernel.listing);
  kernel.origin = fmt::format("{}, CUDA {}.{}", r.gpu, r.driver_version / 1000, r.driver_version % 1000 / 10);
  return gpu::write_trace(kernel, id, file);
}

}  // namespace

nlohmann::json describe_join(const gpu::JoinResult& joined) {
  nlohmann::json sectors = nlohmann::json::object();
  for (const auto& [opcode, count] : joined.sectors) sectors[opcode] = {{"requests", count.requests}, {"sectors", count.sectors}};
  return {{"warp_instructions", joined.warp_instructions},
          {"joined_pct", joined.joined_pct()},
          {"unjoined", joined.unjoined},
          {"opcodes", joined.opcodes},
          {"sectors", sectors},
          {"bytes", joined.bytes}};
}

int gpu_record_program(const GpuRecordOptions& options, const RecordRequest& request) {
  const fs::path folder = options.out, raw = folder / "raw";
  fs::remove_all(raw);
  make_folder(raw);
  const int exit = run_recorded(options, request, raw);
  const Notes notes = read_notes(raw);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(raw))
    if (entry.path().extension() == ".raw") files.push_back(entry.path());
  std::ranges::sort(files);  // begin with the time
  nlohmann::json out = {
      {"gpu", nlohmann::json()}, {"exit", exit}, {"kernels", nlohmann::json::array()}, {"not_recorded", notes.reasons}};
  std::string names;
  for (const fs::path& file : files) {
    const std::size_t number = out["kernels"].size() + 1;
    const std::string name = fmt::format("kernel-{}.traceg.xz", number);
    std::string symbol = file.filename();
    try {
      const gpu::RawRecording r = gpu::read_raw(file);
      symbol = r.symbol;
      out["gpu"] = r.gpu;
      const gpu::JoinResult joined = join(r, static_cast<std::uint32_t>(number), folder / name,
                                          options.keep ? fs::path(file).replace_extension(".sass") : fs::path());
      out["kernels"].push_back(joined_of(r, joined, notes.native_ms));
      names += name + "\n";
    } catch (const std::exception& e) {
      out["not_recorded"].push_back({{"name", symbol}, {"reason", e.what()}});
    }
  }
  write_file_atomically(folder / "kernelslist.g", names);
  write_file_atomically(folder / "recorded.json", out.dump(1) + "\n");
  if (!options.keep) fs::remove_all(raw);
  if (options.json) fmt::print("{}\n", out.dump());
  report::Table table({"kernel", "launch", "CTAs", "warp instructions", "joined %", "bytes", "times as slow"});
  for (const nlohmann::json& k : out["kernels"])
    table.row({k["name"].get<std::string>(), k["launch"].dump(), k["ctas"].dump(), k["warp_instructions"].dump(),
               fmt::format("{:.2f}", k["joined_pct"].get<double>()), k["bytes"].dump(),
               k["slowdown"].is_null() ? "-" : fmt::format("{:.1f}", k["slowdown"].get<double>())});
  fmt::print(stderr, "{}", table.text());
  for (const nlohmann::json& k : out["kernels"])
    for (const auto& [reason, count] : k["unjoined"].items())
      fmt::print(stderr, "  {}: {}: {} warp instructions\n", k["name"].get<std::string>(), reason, count.get<std::uint64_t>());
  for (const nlohmann::json& k : out["not_recorded"])
    fmt::print(stderr, "sluice: not recorded: {}: {}\n", k["name"].get<std::string>(), k["reason"].get<std::string>());
  return exit;
}

}  // namespace sluice::cli
#endif
