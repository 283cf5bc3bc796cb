// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "sw/core/errors.h"
#include "sw/io/atomic_file.h"
#include "sw/io/csv_reader.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/ncu_import.h"
#include "sw/workload/synthetic_source.h"
#include "sw/workload/workload_file.h"

namespace sluice {
namespace {

const std::filesystem::path kRoot = SLUICE_SOURCE_DIR;

class Readers : public ::testing::Test {
 protected:
  std::filesystem::path scratch_ =
      std::filesystem::temp_directory_path() /
      ("sluice_reader_" + std::to_string(getpid()) + "_" + ::testing::UnitTest::GetInstance()->current_test_info()->name());
  void TearDown() override { std::filesystem::remove(scratch_); }
  std::filesystem::path write(const std::string& text) {
    std::ofstream(scratch_, std::ios::binary) << text;
    return scratch_;
  }
};

TEST_F(Readers, EveryShippedFileIsRead) {
  for (const char* name : {"fermi_table1", "large_sm", "h200", "k40"})
    EXPECT_EQ(read_machine(kRoot / "configs/machines" / (std::string(name) + ".toml")).name, name);
  EXPECT_EQ(read_workload(kRoot / "configs/workloads/table2.toml").kernels.size(), 10U);
  EXPECT_EQ(read_workload(kRoot / "configs/workloads/h200_torch_ops.toml").kernels.size(), 9U);
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

TEST_F(Readers, AWorkloadSurvivesTheRoundTrip) {
  const Workload workload = read_workload(kRoot / "configs/workloads/table2.toml");
  const std::string text = format_workload(workload, "");
  EXPECT_EQ(format_workload(read_workload(write(text)), ""), text);
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
void survives_damage(const std::string& text, Read read) {
  std::mt19937 random(7);
  for (int i = 0; i < 400; ++i) {
    std::string damaged = text;
    if (i % 2 == 0) {
      damaged.resize(random() % damaged.size());
    } else {
      for (int n = 0; n < 3; ++n) damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    try {
      read(damaged);
    } catch (const InputError& e) {
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
    }
  }
}

TEST_F(Readers, DamagedMachineFilesAreReadOrRefused) {
  survives_damage(read_file(kRoot / "configs/machines/fermi_table1.toml"),
                  [&](const std::string& text) { (void)read_machine(write(text)); });
}

TEST_F(Readers, DamagedWorkloadFilesAreReadOrRefused) {
  survives_damage(read_file(kRoot / "configs/workloads/table2.toml"),
                  [&](const std::string& text) { (void)read_workload(write(text)); });
}

TEST_F(Readers, DamagedProfilesAreReadOrRefused) {
  survives_damage(read_file(kRoot / "data/h200_torch_ops_ncu.csv"),
                  [&](const std::string& text) { (void)import_ncu(write(text)); });
}

TEST_F(Readers, CsvFieldsHoldCommasQuotesAndLineBreaks) {
  const auto records = parse_csv("a,\"b,\"\"c\"\"\nd\",e\r\n1,2,3\n", "t.csv");
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].fields, (std::vector<std::string>{"a", "b,\"c\"\nd", "e"}));
  EXPECT_EQ(records[1].line, 3U);
}

TEST_F(Readers, FractionsThatSumOverOneAreRefused) {
  std::string text = read_file(kRoot / "configs/workloads/table2.toml");
  const auto at = text.find("load_fraction = ");
  text.replace(at, text.find('\n', at) - at, "load_fraction = 0.99");
  try {
    (void)read_workload(write(text));
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("must sum to at most 1"), std::string::npos) << e.what();
  }
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
