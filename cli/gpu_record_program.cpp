// SPDX-License-Identifier: Apache-2.0
// `sluice gpu record -- CMD`: a program as it is, whose kernels the interposer records.
#ifdef SLUICE_CUDA
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "cli/gpu_actions.h"
#include "cli/interposed.h"
#include "sw/gpu/record/assemble.h"
#include "sw/gpu/record/raw_file.h"
#include "sw/gpu/record/sass_trace.h"
#include "sw/gpu/rewrite/instrument.h"
#include "sw/gpu/source/program.h"
#include "sw/io/atomic_file.h"
#include "sw/io/csv_reader.h"
#include "sw/report/table.h"

namespace sluice::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* kCounter = "smsp__inst_executed.sum";

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
    setenv("SLUICE_RECORD_ONLY", fmt::format("{}", fmt::join(options.only, "\n")).c_str(), 1);
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

/// "^(1|2|3)$"
std::string launch_numbers(unsigned last) {
  std::string out;
  for (unsigned n = 1; n <= last; ++n) out += fmt::format("{}{}", n == 1 ? "^(" : "|", n);
  return out + ")$";
}

/// Warp instructions that Nsight Compute counts in a run of its own: of each kernel, its launches in their order.
using Counted = std::map<std::string, std::vector<double>>;
Counted count_launches(const GpuRecordOptions& options, const fs::path& raw) {
  const fs::path file = raw / "counted.csv", log = raw / "counted.log";
  const std::string which = options.launches == 1 ? "1" : launch_numbers(options.launches);
  std::vector<std::string> words = {
      "--csv",   "--page",      "raw",         "--print-units",   "base", "--kernel-name-base", "mangled", "--print-kernel-base",
      "mangled", "--kernel-id", ":::" + which, "--clock-control", "none", "--metrics",          kCounter,  "--log-file",
      file};
  words.insert(words.end(), options.command.begin(), options.command.end());
  if (!gpu::run_tool("ncu", words, log)) throw SystemError("--check: ncu: not in PATH, $CUDA_HOME/bin or /usr/local/cuda/bin");
  Counted out;
  std::string text = fs::exists(file) ? read_csv_text(file) : "";
  const std::size_t begin = text.find("\"ID\"");
  if (begin == std::string::npos) return out;  // no kernel, or the counters are not to be had
  std::size_t name = 0, count = 0;
  for (const CsvRecord& row : parse_csv(text.substr(begin), file)) {
    const auto column = [&](std::string_view what) {
      return static_cast<std::size_t>(std::ranges::find(row.fields, what) - row.fields.begin());
    };
    if (row.fields[0] == "ID") std::tie(name, count) = std::pair(column("Kernel Name"), column(kCounter));
    if (row.fields.size() <= std::max(name, count) || row.fields[0].empty() || row.fields[0] == "ID") continue;
    std::string number = row.fields[count];
    std::erase(number, ',');
    out[row.fields[name]].push_back(std::strtod(number.c_str(), nullptr));
  }
  return out;
}

/// Why a trace is not whole; empty: it is, as far as is known.
std::string what_is_short(const gpu::JoinResult& joined, std::optional<double> counted) {
  constexpr double kPart = 1;  // of 100
  const auto recorded = static_cast<double>(joined.warp_instructions);
  if (joined.missing_pct() > kPart)
    return fmt::format("{} warp instructions, and no way through the SASS explains {:.1f} % of the threads' statements",
                       joined.warp_instructions, joined.missing_pct());
  if (counted && std::abs(recorded - *counted) > *counted * kPart / 100)
    return fmt::format("{} warp instructions, and Nsight Compute counts {:.0f}", joined.warp_instructions, *counted);
  return {};
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
  const Counted counted = options.check ? count_launches(options, raw) : Counted();
  bool lost = false;
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
      std::optional<double> count;
      if (const auto all = counted.find(r.symbol); all != counted.end() && r.launch <= all->second.size())
        count = all->second[r.launch - 1];
      const bool whole = r.log.ctas == std::uint64_t{r.grid[0]} * r.grid[1] * r.grid[2];
      if (options.check && whole && !count) throw InputError("--check: Nsight Compute has no count of this launch");
      if (const std::string why = what_is_short(joined, whole ? count : std::nullopt); !why.empty()) throw InputError(why);
      out["kernels"].push_back(joined_of(r, joined, notes.native_ms));
      if (options.check) out["kernels"].back()["counted"] = count ? nlohmann::json(*count) : nlohmann::json();
      names += name + "\n";
    } catch (const std::exception& e) {
      fs::remove(folder / name);
      out["not_recorded"].push_back({{"name", symbol}, {"reason", e.what()}, {"lost", true}});
    }
  }
  for (const nlohmann::json& k : out["not_recorded"]) lost = lost || k.value("lost", false);
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
  if (out["kernels"].empty()) fmt::print(stderr, "sluice: nothing is recorded\n");
  return exit == 0 && (lost || out["kernels"].empty()) ? 1 : exit;
}

}  // namespace sluice::cli
#endif
