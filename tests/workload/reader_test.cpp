// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <sstream>
#include <tuple>

#include "sw/io/atomic_file.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/ncu_import.h"
#include "sw/workload/synthetic_source.h"
#include "sw/workload/task_source.h"
#include "sw/workload/workload_file.h"
#include "tests/support.h"

namespace sluice {
namespace {

const std::filesystem::path kRoot = SLUICE_SOURCE_DIR;

using Readers = test::Scratch;

TEST_F(Readers, EveryShippedFileIsRead) {
  for (const char* name : {"fermi_table1", "large_sm", "h200", "k40", "titan_xp"})
    EXPECT_EQ(read_machine(kRoot / "configs/machines" / (std::string(name) + ".toml")).name, name);
  EXPECT_EQ(read_workload(kRoot / "configs/workloads/table2.toml").kernels.size(), 10U);
  EXPECT_EQ(read_workload(kRoot / "configs/workloads/h200_torch_ops.toml").kernels.size(), 9U);
  EXPECT_EQ(read_workload(kRoot / "configs/workloads/slate.toml").kernels.size(), 6U);
}

/// SiM's table 2, and the peaks that NVIDIA gives.
TEST_F(Readers, TheK40IsTheOneOfThePapers) {
  const MachineConfig k40 = read_machine(kRoot / "configs/machines/k40.toml");
  EXPECT_EQ(k40.sm.capacity, (SmResources{64 * kWarpSize, 65536, 48 * 1024, 16}));
  EXPECT_EQ(k40.num_sms * k40.sm.alu_pipes * kWarpSize, 2880U) << "cores";
  EXPECT_NEAR(k40.dram.channels * k40.dram.bytes_per_cycle * k40.dram.clock_mhz, 288e3, 1e3) << "MB/s";
  EXPECT_EQ(k40.l2_slices * k40.l2.bytes, 1536U * 1024);
  EXPECT_EQ(k40.sm.l1.bytes + k40.sm.capacity.shared_memory_bytes, 64U * 1024);
}

/// Slate's section V, and the peaks that NVIDIA gives.
TEST_F(Readers, TheTitanXpIsTheOneOfThePaper) {
  const MachineConfig xp = read_machine(kRoot / "configs/machines/titan_xp.toml");
  EXPECT_EQ(xp.num_sms, 30U);
  EXPECT_EQ(xp.sm.capacity, (SmResources{64 * kWarpSize, 65536, 96 * 1024, 32}));
  EXPECT_EQ(xp.num_sms * xp.sm.alu_pipes * kWarpSize, 3840U) << "cores";
  EXPECT_NEAR(2 * 3840 * xp.core_mhz, 12.15e6, 0.01e6) << "MFLOP/s";
  EXPECT_NEAR(xp.dram.channels * xp.dram.bytes_per_cycle * xp.dram.clock_mhz, 547.6e3, 1e2) << "MB/s";
  EXPECT_EQ(xp.l2_slices * xp.l2.bytes, 3U * 1024 * 1024);
}

/// Whoever writes a workload by the page alone is told nothing new by the reader.
TEST_F(Readers, ThePageNamesEveryKeyOfAWorkload) {
  const std::string page = read_file(kRoot / "docs/user/workloads.md");
  for (const char* name : {"table2.toml", "sim.toml", "slate.toml", "phases.toml"}) {
    std::istringstream lines(format_workload(read_workload(kRoot / "configs/workloads" / name), ""));
    for (std::string line; std::getline(lines, line);) {
      const std::size_t end = line.find(" = ");
      const bool named = end == std::string::npos || page.find('`' + line.substr(0, end) + '`') != std::string::npos;
      EXPECT_TRUE(named) << line;
    }
  }
}

TEST_F(Readers, AWorkloadSurvivesTheRoundTrip) {
  for (const char* name : {"table2.toml", "sim.toml", "slate.toml"}) {
    const Workload workload = read_workload(kRoot / "configs/workloads" / name);
    const std::string text = format_workload(workload, "");
    const Workload again = read_workload(write("a", text));
    EXPECT_EQ(format_workload(again, ""), text);
    for (std::size_t k = 0; k < workload.kernels.size(); ++k) {
      EXPECT_EQ(again.kernels[k].flops_per_thread, workload.kernels[k].flops_per_thread);
      EXPECT_EQ(again.kernels[k].behaviour.sectors, workload.kernels[k].behaviour.sectors);
    }
  }
}

/// SiM's table 3: CTAs that fit an SM of the K40, and the share of table 3's times that the file takes.
TEST_F(Readers, SimsKernelsAreThoseOfTableThree) {
  const MachineConfig k40 = read_machine(kRoot / "configs/machines/k40.toml");
  const std::map<std::string, std::tuple<unsigned, double, double>> table{
      {"BO", {16, 5.476, 73.6}}, {"FD", {2, 8.821, 27.5}},   {"LM", {6, 8.958, 87.3}}, {"MD", {5, 71.475, 97.4}},
      {"NB", {4, 39.155, 89.1}}, {"PF", {16, 43.105, 48.6}}, {"TP", {3, 11.23, 34.8}}};
  const Workload sim = read_workload(kRoot / "configs/workloads/sim.toml");
  EXPECT_EQ(sim.kernels.size(), table.size());
  for (const KernelDescriptor& k : sim.kernels) {
    const auto& [ctas, time, issue] = table.at(k.name);
    EXPECT_EQ(occupancy(k.demand(), k40.sm.capacity).value(), ctas) << k.name;
    EXPECT_NEAR(k.launch_reference.value().milliseconds, time / 100, 1e-6) << k.name;
    EXPECT_NEAR(k.launch_reference.value().issue_utilization, issue / 100, 1e-6) << k.name;
  }
}

/// A task runs its blocks one after the other, each as the kernel's own CTA would.
TEST(TaskSource, ATaskIsItsBlocksInOrder) {
  KernelDescriptor kernel = read_workload(kRoot / "configs/workloads/slate.toml").kernels.at(1);
  kernel.grid_ctas = 23;
  const SyntheticSource blocks(kernel, 0, 960, 1);
  const TaskSource tasks(kernel, 10, 0, 960, 1);
  EXPECT_EQ(in_tasks(kernel, 10).grid_ctas, 3U);
  std::uint32_t block = 0;
  for (std::uint32_t t = 0; t < 3; ++t) {
    WarpCursor at{t, 0};
    for (const std::uint32_t last = std::min(block + 10, 23U); block < last; ++block) {
      WarpCursor alone{block, 0};
      for (std::uint32_t i = 0; i < kernel.behaviour.warp_instructions; ++i) {
        const std::uint32_t position = at.position;
        const Instruction instruction = tasks.next(at);
        ASSERT_EQ(instruction, blocks.next(alone)) << "block " << block << ", instruction " << i;
        if (!is_global(instruction.op)) continue;
        std::vector<LineAccess> ours, theirs;
        tasks.lines(at, position, ours);
        blocks.lines(alone, i, theirs);
        ASSERT_EQ(ours, theirs) << "block " << block << ", instruction " << i;
        ASSERT_EQ(ours.front().sectors, 1U) << "one sector of four";
      }
    }
    EXPECT_EQ(tasks.next(at).op, OpClass::Exit);
  }
  EXPECT_EQ(block, 23U);
}

/// phases.toml says that its kernels are table2.toml's, before or after they change.
TEST_F(Readers, TheKernelsThatChangeAreThoseOfTableTwo) {
  const Workload table = read_workload(kRoot / "configs/workloads/table2.toml");
  const auto behaviour = [&](const std::string& name) {
    return std::find_if(table.kernels.begin(), table.kernels.end(), [&](const auto& k) { return k.name == name; })->behaviour;
  };
  for (const KernelDescriptor& k : read_workload(kRoot / "configs/workloads/phases.toml").kernels) {
    if (k.name == "IMGLOAD") {
      EXPECT_EQ(k.behaviour, behaviour("IMG"));
    } else if (k.name == "LOADDXT") {
      EXPECT_EQ(k.phase.value().behaviour, behaviour("DXT"));
    } else {
      EXPECT_EQ(k.behaviour, behaviour(k.name)) << k.name;
    }
  }
}

TEST_F(Readers, ImportGivesTheShippedWorkload) {
  const Workload imported = import_ncu(kRoot / "data/h200_torch_ops_ncu.csv");
  Workload shipped = read_workload(kRoot / "configs/workloads/h200_torch_ops.toml");
  shipped.name = imported.name;
  EXPECT_EQ(format_workload(imported, ""), format_workload(shipped, ""));
}

/// Damaged input is read or refused with one line; it never crashes and never hangs.
template <class Read>
void survives_damage(const std::string& file, Read read) {
  const std::string text = read_file(kRoot / file);
  std::mt19937 random(7);
  for (int i = 0; i < 400; ++i) {
    std::string damaged = text;
    if (i % 2 == 0) {
      damaged.resize(random() % damaged.size());
    } else {
      for (int n = 0; n < 3; ++n) damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    const std::string said = test::refusal([&] { read(damaged); });
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
}

TEST_F(Readers, DamagedMachineFilesAreReadOrRefused) {
  survives_damage("configs/machines/fermi_table1.toml", [&](const std::string& text) { (void)read_machine(write("a", text)); });
}

TEST_F(Readers, DamagedWorkloadFilesAreReadOrRefused) {
  survives_damage("configs/workloads/table2.toml", [&](const std::string& text) { (void)read_workload(write("a", text)); });
}

TEST_F(Readers, DamagedProfilesAreReadOrRefused) {
  survives_damage("data/h200_torch_ops_ncu.csv", [&](const std::string& text) { (void)import_ncu(write("a", text)); });
}

TEST(SyntheticSource, GivesTheStatedMix) {
  KernelDescriptor kernel;
  kernel.behaviour.warp_instructions = 10240;
  kernel.behaviour.load_fraction = 0.25;
  kernel.behaviour.sfu_fraction = 0.125;
  kernel.behaviour.alu_interval = 1.5;
  const SyntheticSource source(kernel, 0, 128, 1);
  WarpCursor cursor{3, 0, 0};
  unsigned loads = 0, sfus = 0, alus = 0, alu_cycles = 0;
  for (Instruction i = source.next(cursor); i.op != OpClass::Exit; i = source.next(cursor)) {
    loads += i.op == OpClass::Load ? 1 : 0;
    sfus += i.op == OpClass::Sfu ? 1 : 0;
    if (i.op == OpClass::Alu) {
      ++alus;
      alu_cycles += i.interval;
    }
  }
  EXPECT_EQ(loads, 2560U);
  EXPECT_EQ(sfus, 1280U);
  EXPECT_NEAR(static_cast<double>(alu_cycles) / alus, 1.5, 0.02);
}

TEST(SyntheticSource, IsAFunctionOfTheCursorAlone) {
  KernelDescriptor kernel;
  kernel.behaviour.load_fraction = 0.5;
  kernel.behaviour.transactions = 2.5;
  const SyntheticSource a(kernel, 0, 128, 1), b(kernel, 0, 128, 1), elsewhere(kernel, 1, 128, 1);
  std::vector<LineAccess> first, again, other;
  const WarpCursor cursor{5, 0, 0};
  for (std::uint32_t p = 0; p < 50; ++p) a.lines(cursor, p, first);
  for (std::uint32_t p = 50; p-- > 0;) {
    std::vector<LineAccess> one;
    b.lines(cursor, p, one);
    again.insert(again.begin(), one.begin(), one.end());
    elsewhere.lines(cursor, p, other);
  }
  EXPECT_EQ(first, again);
  for (const LineAccess& line : other) EXPECT_EQ(std::ranges::count(first, line), 0);  // kernels share no data
}

}  // namespace
}  // namespace sluice
