// SPDX-License-Identifier: Apache-2.0
// fermi_table1, fermi_accelsim and large_sm are one machine but for what their heads name.
#include <gtest/gtest.h>

#include <toml++/toml.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "study/trace_run.h"
#include "sw/workload/machine_file.h"
#include "tests/support.h"
#include "tests/systemc/scripted_kernel.h"
#include "tests/trace/sample_traces.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

fs::path machine_file(const std::string& name) { return fs::path(SLUICE_SOURCE_DIR) / "configs/machines" / (name + ".toml"); }

void flatten(const toml::table& table, const std::string& prefix, std::map<std::string, std::string>& out) {
  for (const auto& [key, value] : table) {
    const std::string name = prefix + std::string(key.str());
    if (const toml::table* inner = value.as_table()) {
      flatten(*inner, name + ".", out);
    } else {
      std::ostringstream text;
      value.visit([&](const auto& v) { text << v; });
      out[name] = text.str();
    }
  }
}

/// Keys that one of two files has and the other has not, or not with that value.
std::set<std::string> differences(const std::string& a, const std::string& b) {
  std::map<std::string, std::string> left, right;
  flatten(toml::parse_file(machine_file(a).string()), "", left);
  flatten(toml::parse_file(machine_file(b).string()), "", right);
  std::set<std::string> keys;
  for (const auto& [key, value] : left)
    if (!right.contains(key) || right[key] != value) keys.insert(key);
  for (const auto& [key, value] : right)
    if (!left.contains(key)) keys.insert(key);
  for (const char* table : {"partitioner.", "energy."})
    std::erase_if(keys, [&](const auto& key) { return key.starts_with(table); });
  return keys;
}

TEST(OneFermi, TableOneDiffersFromThePeersMachineInSectorsAndTheSfuOnly) {
  EXPECT_EQ(differences("fermi_table1", "fermi_accelsim"),
            (std::set<std::string>{"name", "l2.sectored", "sm.sfu_interval", "sm.sfu_latency"}));
}

TEST(OneFermi, TheLargerSmDiffersInItsFourCapacitiesOnly) {
  EXPECT_EQ(differences("fermi_table1", "large_sm"),
            (std::set<std::string>{"name", "sm.cta_slots", "sm.registers", "sm.shared_memory_bytes", "sm.threads"}));
}

class OneFermiOnTraces : public test::Scratch {
 protected:
  /// The kernels of one list, side by side.
  fs::path list(const std::string& name, const std::vector<std::string>& kernels) {
    std::string names;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      names += fmt::format("kernel-{}.traceg\n", i);
      write(fmt::format("{}/kernel-{}.traceg", name, i), kernels[i]);
    }
    return write(name + "/kernelslist.g", names);
  }
  static std::string l1reuse(unsigned ctas, unsigned stream = 0) {  // eight lines a warp, eight times
    std::string text = sample::header(ctas, 128, 5, stream);
    for (unsigned c = 0; c < ctas; ++c) {
      text += fmt::format("\n#BEGIN_TB\n\nthread block = {},0,0\n", c);
      for (unsigned w = 0; w < 4; ++w) {
        std::vector<std::string> lines;
        for (unsigned i = 0; i < 64; ++i) {
          const unsigned long address = 0x7f6000000000 + ((c * 4UL + w) * 8 + i % 8) * 128;
          lines.push_back(fmt::format("{:04x} ffffffff 1 R{} LDG.E 1 R2 4 1 0x{:x} 4 0", 32 * (i % 8), 4 + i % 8, address));
          lines.push_back(fmt::format("{:04x} ffffffff 1 R20 FFMA 3 R20 R{} R21 0 0", 32 * (i % 8) + 16, 4 + i % 8));
        }
        lines.emplace_back("0100 ffffffff 1 R22 MUFU.RCP 1 R20 0 0");
        lines.emplace_back("0110 ffffffff 0 EXIT 0 0 0");
        text += sample::warp(w, lines);
      }
      text += "\n#END_TB\n";
    }
    return text;
  }
};

TEST_F(OneFermiOnTraces, WithTheNamedDifferencesTakenOverEveryTraceTakesTheSameCycles) {
  const MachineConfig peer = read_machine(machine_file("fermi_accelsim"));
  MachineConfig table = read_machine(machine_file("fermi_table1"));
  table.l2.sectored = peer.l2.sectored;
  table.sm.sfu_latency = peer.sm.sfu_latency;
  table.sm.sfu_interval = peer.sm.sfu_interval;
  const std::map<std::string, std::vector<std::string>> traces{
      {"compute", {sample::compute(128, 8, 100)}},
      {"stream", {sample::stream(128, 8, 8)}},
      {"l1reuse", {l1reuse(256)}},
      {"compute+stream", {sample::compute(64, 8, 100, 1), sample::stream(128, 8, 8, 2)}},
      {"compute+l1reuse", {sample::compute(64, 8, 100, 1), l1reuse(128, 2)}}};
  std::vector<RunSpec> specs;
  std::vector<std::string> names;
  for (const auto& [name, kernels] : traces) {
    const fs::path file = list(name, kernels);
    for (const std::uint32_t ctas : {0U, 1U, 2U, 4U, 6U}) {
      if (ctas != 0 && name != "l1reuse") continue;
      TraceRunOptions how;
      how.max_ctas = ctas;
      for (const MachineConfig& machine : {table, peer}) specs.push_back(trace_spec({file}, machine, how));
      names.push_back(fmt::format("{}, {} CTAs an SM", name, ctas));
    }
  }
  const std::vector<RunResult> results = scripted::run(specs);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto ours = static_cast<double>(results[2 * i].cycles.value()),
               theirs = static_cast<double>(results[2 * i + 1].cycles.value());
    EXPECT_NEAR(ours / theirs, 1, 0.01) << names[i];
  }
}

}  // namespace
}  // namespace sluice
