// SPDX-License-Identifier: Apache-2.0
#include "sw/workload/workload_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "sw/core/errors.h"
#include "sw/core/hash.h"
#include "sw/io/atomic_file.h"
#include "sw/io/toml_reader.h"
#include "sw/workload/source_page.h"

namespace sluice {

namespace {

// One table serves reader and writer: key, member, range.
struct Fraction {
  const char* key;
  double KernelBehaviour::*member;
  double low, high;
};
constexpr Fraction kReal[] = {
    {"sfu_fraction", &KernelBehaviour::sfu_fraction, 0, 1},
    {"load_fraction", &KernelBehaviour::load_fraction, 0, 1},
    {"store_fraction", &KernelBehaviour::store_fraction, 0, 1},
    {"shared_fraction", &KernelBehaviour::shared_fraction, 0, 1},
    {"alu_interval", &KernelBehaviour::alu_interval, 1, 8},
    {"dependency_distance", &KernelBehaviour::dependency_distance, 1, 1000},
    {"transactions", &KernelBehaviour::transactions, 1, 32},
    {"reuse_fraction", &KernelBehaviour::reuse_fraction, 0, 1},
    {"footprint_fraction", &KernelBehaviour::footprint_fraction, 0, 1},
    {"row_locality", &KernelBehaviour::row_locality, 0, 1},
    {"fetch_interval", &KernelBehaviour::fetch_interval, 0, KernelBehaviour::kMaxFetchInterval},
};
struct Count {
  const char* key;
  std::uint32_t KernelBehaviour::*member;
  std::uint32_t low, high;
};
constexpr Count kCounts[] = {
    {"warp_instructions", &KernelBehaviour::warp_instructions, 1, kMaxWarpInstructions},
    {"reuse_lines", &KernelBehaviour::reuse_lines, 0, 1000000},
    {"footprint_lines", &KernelBehaviour::footprint_lines, 0, 100000000},
    {"barrier_interval", &KernelBehaviour::barrier_interval, 0, 1024},
};
constexpr double kMaxFlopsPerThread = 1e9;
struct Published {
  const char* key;
  double SoloReference::*member;
  double low, high;
};
constexpr Published kPublished[] = {
    {"instructions", &SoloReference::instructions, 1, kMaxInstructions},
    {"alu_utilization", &SoloReference::alu_utilization, 0, 1},
    {"sfu_utilization", &SoloReference::sfu_utilization, 0, 1},
    {"ldst_utilization", &SoloReference::ldst_utilization, 0, 1},
    {"l2_mpki", &SoloReference::l2_mpki, 0, kMaxMpki},
};

void read_behaviour(TomlTable& table, KernelBehaviour& b) {
  table.optional();
  for (const Fraction& f : kReal) table.read(f.key, b.*f.member, f.low, f.high);
  for (const Count& c : kCounts) table.read(c.key, b.*c.member, c.low, c.high);
  table.read("code_bytes", b.code_bytes, 0, 1U << 24);
  table.read("sectors", b.sectors, 1, 4);
  table.finish();
  constexpr double kRounding = 1e-6;
  if (b.sfu_fraction + b.load_fraction + b.store_fraction + b.shared_fraction > 1 + kRounding) {
    table.fail("load_fraction", "sfu_, load_, store_ and shared_fraction must sum to at most 1");
  }
  if (b.reuse_fraction + b.footprint_fraction > 1 + kRounding) {
    table.fail("reuse_fraction", "reuse_fraction and footprint_fraction must sum to at most 1");
  }
}

/// Source pages by the name that the workload has for them: a page has all kernels of a run.
using Pages = std::map<std::string, std::vector<KernelProgram>>;

std::shared_ptr<const KernelProgram> read_program(TomlTable& table, const std::filesystem::path& folder, Pages& pages) {
  std::string file;
  std::uint32_t index = 0;
  std::uint64_t hash = 0;
  double l1_misses = 1, l2_misses = 1;
  table.read("file", file);
  table.read("kernel", index, 0);
  table.read("hash", hash, 0, std::numeric_limits<std::int64_t>::max());
  table.read("l1_misses", l1_misses, 0, 1);
  table.read("l2_misses", l2_misses, 0, 1);
  table.finish();
  auto found = pages.find(file);
  if (found == pages.end()) found = pages.emplace(file, read_source_page(folder / file)).first;
  if (index >= found->second.size())
    table.fail("kernel", fmt::format("must be 0..{}: {} has {} kernels", found->second.size() - 1, file, found->second.size()));
  auto program = std::make_shared<KernelProgram>(found->second[index]);
  program->file = file;
  program->l1_misses = l1_misses;
  program->l2_misses = l2_misses;
  if (const std::uint64_t is = program_hash(*program); is != hash)
    table.fail("hash", fmt::format("kernel {} of {} has {}: the page is another one", index, file, is));
  return program;
}

KernelTrace read_trace(TomlTable& table, const std::filesystem::path& folder) {
  KernelTrace trace;
  table.read("file", trace.file);
  table.read("hash", trace.hash, 0, std::numeric_limits<std::int64_t>::max());
  table.optional().read("ctas", trace.ctas, 1);
  table.optional().read("process", trace.process, 0, 15);
  table.finish();
  trace.path = folder / trace.file;
  if (const std::uint64_t is = trace_hash(trace.path); is != trace.hash)
    table.fail("hash", fmt::format("{} has {}: the trace is another one", trace.file, is));
  return trace;
}

KernelDescriptor read_kernel(TomlTable table, const std::filesystem::path& folder, Pages& pages) {
  KernelDescriptor kernel;
  table.read("name", kernel.name);
  // Mixes are written A_B, and files of results are named after their kernels.
  if (!std::ranges::all_of(kernel.name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '.'; }))
    table.fail("name", "must be letters, digits, '-' and '.'");
  table.read("grid_ctas", kernel.grid_ctas, 1);
  table.read("block_threads", kernel.block_threads, 1, 1024);
  table.read("registers_per_cta", kernel.registers_per_cta, 0, kMaxRegistersPerCta);
  table.optional().read("shared_bytes_per_cta", kernel.shared_bytes_per_cta, 0, kMaxSharedBytesPerCta);
  kernel.full_name = kernel.name;
  table.read("full_name", kernel.full_name);
  kernel.type = static_cast<KernelType>(table.read_choice("type", {"compute", "memory", "cache"}));
  if (auto behaviour = table.optional_table("behaviour")) read_behaviour(*behaviour, kernel.behaviour);
  if (auto phase = table.optional_table("phase")) {
    kernel.phase.emplace();
    phase->read("from_cta", kernel.phase->from_cta, 1);
    kernel.phase->behaviour = kernel.behaviour;
    read_behaviour(*phase, kernel.phase->behaviour);
  }
  if (auto reference = table.optional_table("reference")) {
    kernel.reference.emplace();
    for (const Published& p : kPublished) reference->read(p.key, (*kernel.reference).*p.member, p.low, p.high);
    reference->read("cycles", kernel.reference->cycles, 1, kMaxReferenceCycles);
    reference->finish();
  }
  if (auto launch = table.optional_table("launch_reference")) {
    kernel.launch_reference.emplace();
    launch->read("time_ms", kernel.launch_reference->milliseconds, 1e-6, 1e6);
    launch->read("issue_utilization", kernel.launch_reference->issue_utilization, 1e-3, 1);
    launch->finish();
  }
  if (auto program = table.optional_table("program")) kernel.program = read_program(*program, folder, pages);
  if (auto trace = table.optional_table("trace")) {
    if (kernel.program) table.fail("trace", "a kernel has a program or a trace, not both");
    kernel.trace = read_trace(*trace, folder);
  }
  table.read("in_triples", kernel.in_triples);
  table.read("weight", kernel.wish.weight, kLeastWeight, kMostWeight);
  table.read("floor", kernel.wish.floor, 0, 1);
  double flops = -1;
  table.read("flops_per_thread", flops, 0, kMaxFlopsPerThread);
  if (flops >= 0) kernel.flops_per_thread = flops;
  table.finish();
  return kernel;
}

/// A TOML basic string: kernel names of C++ templates may hold quotes and backslashes.
std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (code < 0x20 || code == 0x7f) {
      out += fmt::format("\\u{:04x}", code);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string behaviour_text(const KernelBehaviour& b) {
  std::string out;
  for (const Count& c : kCounts) out += fmt::format("{} = {}\n", c.key, b.*c.member);
  for (const Fraction& f : kReal) out += fmt::format("{} = {:.6f}\n", f.key, b.*f.member);
  if (b.code_bytes != 0) out += fmt::format("code_bytes = {}\n", b.code_bytes);
  if (b.sectors != KernelBehaviour().sectors) out += fmt::format("sectors = {}\n", b.sectors);
  return out;
}

}  // namespace

std::uint64_t trace_hash(const std::filesystem::path& path) { return fnv1a(read_file(path)) >> 1; }

Workload read_workload(const std::filesystem::path& path) {
  const toml::table file = parse_toml(path);
  TomlTable root(path, "", file);
  Workload workload;
  workload.name = path.stem().string();
  std::set<std::string> names;
  std::vector<std::string> faults;  // one of each kernel
  Pages pages;
  for (TomlTable& table : root.array("kernel")) {
    try {
      workload.kernels.push_back(read_kernel(table, path.parent_path(), pages));
      if (!names.insert(workload.kernels.back().name).second) table.fail("name", "another kernel has this name");
    } catch (const InputError& error) {
      faults.emplace_back(error.what());
    }
  }
  if (!faults.empty()) throw InputError(fmt::format("{}", fmt::join(faults, "; ")));
  root.optional().read("name", workload.name);
  root.finish();
  return workload;
}

std::string format_workload(const Workload& workload, const std::string& comment) {
  std::string out;
  std::istringstream lines(comment);
  for (std::string line; std::getline(lines, line);) out += line.empty() ? "#\n" : "# " + line + "\n";
  out += fmt::format("name = {}\n", toml_string(workload.name));
  for (const KernelDescriptor& k : workload.kernels) {
    out += fmt::format(
        "\n[[kernel]]\nname = {}\nfull_name = {}\ntype = \"{}\"\ngrid_ctas = {}\nblock_threads = {}\nregisters_per_cta = "
        "{}\n"
        "shared_bytes_per_cta = {}\n{}[kernel.behaviour]\n",
        toml_string(k.name), toml_string(k.full_name), to_string(k.type), k.grid_ctas, k.block_threads, k.registers_per_cta,
        k.shared_bytes_per_cta,
        (k.in_triples ? "" : "in_triples = false\n") +
            (k.wish == BalanceWish() ? "" : fmt::format("weight = {}\nfloor = {}\n", k.wish.weight, k.wish.floor)) +
            (k.flops_per_thread ? fmt::format("flops_per_thread = {}\n", *k.flops_per_thread) : ""));
    out += behaviour_text(k.behaviour);
    if (k.phase) out += fmt::format("[kernel.phase]\nfrom_cta = {}\n{}", k.phase->from_cta, behaviour_text(k.phase->behaviour));
    if (k.launch_reference)
      out += fmt::format("[kernel.launch_reference]\ntime_ms = {:.6g}\nissue_utilization = {:.6g}\n",
                         k.launch_reference->milliseconds, k.launch_reference->issue_utilization);
    if (const auto& p = k.program)
      out += fmt::format("[kernel.program]\nfile = {}\nkernel = {}\nhash = {}\nl1_misses = {:.6f}\nl2_misses = {:.6f}\n",
                         toml_string(p->file), p->kernel, program_hash(*p), p->l1_misses, p->l2_misses);
    if (k.trace)
      out += fmt::format("[kernel.trace]\nfile = {}\nhash = {}\n{}", toml_string(k.trace->file), k.trace->hash,
                         k.trace->ctas == 0 ? "" : fmt::format("ctas = {}\n", k.trace->ctas)) +
             (k.trace->process == 0 ? "" : fmt::format("process = {}\n", k.trace->process));
    if (!k.reference) continue;
    out += fmt::format("[kernel.reference]\ncycles = {}\n", k.reference->cycles);
    for (const Published& p : kPublished) out += fmt::format("{} = {:.6g}\n", p.key, (*k.reference).*p.member);
  }
  return out;
}

}  // namespace sluice
