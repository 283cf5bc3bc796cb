// SPDX-License-Identifier: Apache-2.0
// `sluice gpu record`: programs whose kernels the interposer records, users' as they are and our own kernels.
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

#include "cli/common.h"
#include "cli/gpu_actions.h"
#include "cli/interposed.h"
#include "sw/gpu/experiments/clients.h"
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

/// Settings of a program that is to be recorded, as NAME=VALUE. @param launches  of each kernel
std::vector<std::string> recorded_environment(const RecordRequest& request, const fs::path& raw, unsigned launches,
                                              const std::vector<std::string>& only) {
  std::vector<std::string> all = interposer_first(interposer_folder());
  all.push_back("SLUICE_RECORD=" + fs::absolute(raw).string());
  all.push_back(fmt::format("SLUICE_RECORD_CTAS={}", request.ctas));
  all.push_back(fmt::format("SLUICE_RECORD_LIMIT={}", request.limit));
  all.push_back(fmt::format("SLUICE_RECORD_TOTAL={}", request.total));
  all.push_back(fmt::format("SLUICE_RECORD_LAUNCHES={}", launches));
  all.push_back(fmt::format("SLUICE_RECORD_ONLY={}", fmt::join(only, "\n")));
  return all;
}

/// @return the program's exit code
int run_recorded(const GpuRecordOptions& options, const RecordRequest& request, const fs::path& raw) {
  std::vector<std::string> environment = recorded_environment(request, raw, options.launches, options.only);
  std::vector<char*> arguments;
  for (const std::string& a : options.command) arguments.push_back(const_cast<char*>(a.c_str()));  // execvp only reads
  arguments.push_back(nullptr);
  const auto before = std::signal(SIGINT, SIG_IGN);  // it is the program's
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGINT, before);
    for (const char* other : {"SLUICE_SOCKET", "SLUICE_QUOTA", "SLUICE_SMS", "SLUICE_QUOTA_FILE"}) unsetenv(other);
    for (std::string& each : environment) ::putenv(each.data());
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

/// Makes traces of the logs in `raw` and adds to `out` what they are. @param names  gets a line for each
void collect(const GpuRecordOptions& options, const fs::path& raw, const Counted& counted, nlohmann::json& out,
             std::string& names) {
  const fs::path folder = options.out;
  const Notes notes = read_notes(raw);
  for (const nlohmann::json& reason : notes.reasons) out["not_recorded"].push_back(reason);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(raw))
    if (entry.path().extension() == ".raw") files.push_back(entry.path());
  std::ranges::sort(files);  // begin with the time
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
  write_file_atomically(folder / "kernelslist.g", names);
}

void print(FILE* to, const nlohmann::json& out) {
  report::Table table({"kernel", "launch", "CTAs", "warp instructions", "joined %", "bytes", "times as slow"});
  for (const nlohmann::json& k : out["kernels"])
    table.row({k["name"].get<std::string>(), k["launch"].dump(), k["ctas"].dump(), k["warp_instructions"].dump(),
               fmt::format("{:.2f}", k["joined_pct"].get<double>()), k["bytes"].dump(),
               k["slowdown"].is_null() ? "-" : fmt::format("{:.1f}", k["slowdown"].get<double>())});
  fmt::print(to, "{}", table.text());
  for (const nlohmann::json& k : out["kernels"])
    for (const auto& [reason, count] : k["unjoined"].items())
      fmt::print(to, "  {}: {}: {} warp instructions\n", k["name"].get<std::string>(), reason, count.get<std::uint64_t>());
  for (const nlohmann::json& k : out["not_recorded"])
    fmt::print(to, "sluice: not recorded: {}: {}\n", k["name"].get<std::string>(), k["reason"].get<std::string>());
}

bool lost(const nlohmann::json& out) {
  return std::ranges::any_of(out["not_recorded"], [](const auto& k) { return k.value("lost", false); });
}

/// One of our own kernels, in a program of its own, from buffers as before its first run.
void record_kernel(const GpuKernels& kernel, const GpuRecordOptions& options, const RecordRequest& request, nlohmann::json& out,
                   std::string& names) {
  const fs::path raw = fs::path(options.out) / "raw";
  fs::remove_all(raw);
  make_folder(raw);
  const std::vector<std::string> words = client_options(kernel);
  nlohmann::json ready, native;
  {
    const auto as_it_is = gpu::start_kernels(own_path(), "the kernel as it is", words);
    ready = as_it_is->receive();
    native = as_it_is->ask("fingerprints 0");
  }
  const std::string symbol = ready["kernels"][0]["symbol"];
  const auto logs =
      gpu::start_kernels(own_path(), "the kernel that logs", words, {}, {}, recorded_environment(request, raw, 1, {symbol}));
  static_cast<void>(logs->receive());
  const bool same = logs->ask("fingerprints 0") == native;
  static_cast<void>(logs->ask("run 1"));  // as it is: how long it takes
  logs->end();
  const std::size_t before = out["kernels"].size();
  out["gpu"] = ready["gpu"];
  collect(options, raw, {}, out, names);
  if (out["kernels"].size() == before && !lost(out))
    out["not_recorded"].push_back({{"name", symbol}, {"reason", "it was not launched"}, {"lost", true}});
  if (out["kernels"].size() == before) return;
  out["kernels"].back()["name"] = ready["kernels"][0]["name"];
  out["kernels"].back()["bit_identical"] = same;
}

int record_program(const GpuRecordOptions& options, const RecordRequest& request) {
  const fs::path folder = options.out, raw = folder / "raw";
  fs::remove_all(raw);
  make_folder(raw);
  const int exit = run_recorded(options, request, raw);
  nlohmann::json out = {
      {"gpu", nlohmann::json()}, {"exit", exit}, {"kernels", nlohmann::json::array()}, {"not_recorded", nlohmann::json::array()}};
  std::string names;
  collect(options, raw, options.check ? count_launches(options, raw) : Counted(), out, names);
  write_file_atomically(folder / "recorded.json", out.dump(1) + "\n");
  if (!options.keep) fs::remove_all(raw);
  if (options.json) fmt::print("{}\n", out.dump());
  print(stderr, out);
  if (out["kernels"].empty()) fmt::print(stderr, "sluice: nothing is recorded\n");
  return exit == 0 && (lost(out) || out["kernels"].empty()) ? 1 : exit;
}

}  // namespace

int gpu_record(const GpuRecordOptions& options, const RecordRequest& request) {
  if (!options.command.empty()) return record_program(options, request);
  nlohmann::json out = {
      {"gpu", nlohmann::json()}, {"kernels", nlohmann::json::array()}, {"not_recorded", nlohmann::json::array()}};
  std::string names;
  const auto record = [&](std::vector<std::string> GpuKernels::*which) {
    for (const std::string& each : options.*which) {
      GpuKernels kernel = options;
      kernel.kernels.clear();
      kernel.apps.clear();
      (kernel.*which) = {each};
      record_kernel(kernel, options, request, out, names);
    }
  };
  record(&GpuKernels::kernels);
  record(&GpuKernels::apps);
  if (!options.keep) fs::remove_all(fs::path(options.out) / "raw");
  if (options.json) fmt::print("{}\n", out.dump());
  print(options.json ? stderr : stdout, out);
  const bool same = std::ranges::all_of(out["kernels"], [](const auto& k) { return k["bit_identical"].template get<bool>(); });
  if (!same) fmt::print(stderr, "sluice: outputs differ from those of the kernel as it is\n");
  return same && !lost(out) ? 0 : 1;
}

}  // namespace sluice::cli
#endif
