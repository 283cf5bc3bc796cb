// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "sw/io/atomic_file.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"
#include "tests/support.h"

namespace sluice {
namespace {

/// One edit of a shipped file and what the one line that refuses it must say.
struct Refusal {
  const char* claim;
  const char* line;  ///< beginning of the first line to replace
  const char* text;  ///< what stands there instead; empty removes the line
  std::vector<const char*> says;
  bool at_line = true;  ///< the message gives the number of that line
};

/// Names the case in a failure; GoogleTest prints bytes otherwise.
void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.claim; }

class ConfigRefusal : public test::Scratch, public ::testing::WithParamInterface<Refusal> {
 protected:
  template <class Read>
  void check(const char* shipped, Read read) {
    const Refusal& refusal = GetParam();
    std::string text = read_file(std::filesystem::path(SLUICE_SOURCE_DIR) / shipped);
    const std::size_t begin = text.find(std::string("\n") + refusal.line) + 1;
    ASSERT_NE(begin, 0U) << shipped << " has no line " << refusal.line;
    const auto number = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
    text.replace(begin, text.find('\n', begin) - begin, refusal.text);
    const std::filesystem::path file = write("a.toml", text);
    const std::string what = test::refusal([&] { read(file); });
    EXPECT_TRUE(what.starts_with(file.string() + (refusal.at_line ? ":" + std::to_string(number) + ": " : ":"))) << what;
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    for (const char* part : refusal.says) EXPECT_NE(what.find(part), std::string::npos) << what << " lacks " << part;
  }
};

class MachineRefusal : public ConfigRefusal {};
TEST_P(MachineRefusal, IsOneLineThatNamesFileLineAndKey) {
  check("configs/machines/fermi_table1.toml", [](const auto& path) { (void)read_machine(path); });
}
INSTANTIATE_TEST_SUITE_P(
    , MachineRefusal,
    ::testing::Values(
        Refusal{"BelowRange", "registers = ", "registers = 0", {"sm.registers = 0: must be 1..65536"}},
        Refusal{"AboveRange", "cta_slots = ", "cta_slots = 33", {"sm.cta_slots = 33: must be 1..32"}},
        Refusal{"Negative", "num_sms = ", "num_sms = -1", {"num_sms = -1: must be 1..256"}},
        Refusal{"Unit", "bytes = ", "bytes = \"16KB\"", {"sm.l1.bytes = '16KB'", "whole number"}},
        Refusal{"Fraction", "num_sms = ", "num_sms = 16.5", {"num_sms = 16.5", "whole number"}},
        Refusal{"Schedulers", "schedulers = ", "schedulers = 5", {"sm.schedulers = 5: must be 1..4"}},
        Refusal{"LossLimit", "loss_limit = ", "loss_limit = 4.0", {"loss_limit = 4.0: must be a number, 0..3.99"}},
        Refusal{"Churn", "epsilon = ", "churn = 20", {"partitioner.churn = 20: must be 0..19"}},
        Refusal{"Threshold", "epsilon = ", "monitor_threshold = 2.0", {"monitor_threshold = 2.0"}},
        Refusal{"Window", "epsilon = ", "monitor_window = 8", {"monitor_window = 8"}},
        Refusal{"WholeFraction", "num_sms = ", "num_sms = 16.0", {"num_sms = 16.0: must be a whole number"}},
        Refusal{"OtherTable",
                "[interconnect]",
                "[interconect]",
                {"interconnect: is missing: must be a table; nearest: interconect"},
                false},
        Refusal{"NotANumber", "clock_mhz = ", "clock_mhz = nan", {"dram.clock_mhz = nan", "must be a number"}},
        Refusal{"NumberForText", "name = ", "name = 3", {"name = 3", "string"}},
        Refusal{"Choice", "scheduler = ", "scheduler = \"fifo\"", {"sm.scheduler = 'fifo'", "gto, lrr, two_level, oldest_cta"}},
        Refusal{"OddThreads", "threads = ", "threads = 1500", {"sm.threads = 1500", "multiple of 32"}},
        Refusal{"PartialSet", "bytes = ", "bytes = 16400", {"sm.l1.bytes = 16400", "multiple of ways", "512"}},
        Refusal{"SlicesPerChannel", "l2_slices = ", "l2_slices = 7", {"l2_slices = 7", "multiple of dram.channels"}},
        Refusal{
            "EndlessRefresh", "[dram]", "[dram]\nt_refi = 500\nt_rfc = 500", {"t_rfc = 500", "less than t_refi = 500"}, false},
        Refusal{"PartialRow", "row_bytes = ", "row_bytes = 200", {"row_bytes = 200", "multiple of access_bytes"}},
        Refusal{"Misspelt", "alu_pipes = ", "alu_pipe = 2", {"sm.alu_pipe: unknown key, and sm.alu_pipes: is missing"}},
        Refusal{"Unknown",
                "header_bytes = ",
                "header_bytes = 8\nheader_bits = 8",
                {"interconnect.header_bits", "unknown key", "allowed: ", "header_bytes"},
                false},
        Refusal{
            "NoRead", "[partitioner]", "[host]\npcie_reads = 0\n[partitioner]", {"host.pcie_reads = 0: must be 1..65536"}, false},
        Refusal{"MissingKey", "store_credits = ", "", {"sm.store_credits", "is missing"}, false},
        Refusal{"MissingTable", "[interconnect]", "[interconect]", {"interconnect", "is missing"}, false},
        Refusal{"Twice", "ways = ", "ways = 4\nways = 4", {"ways"}, false}, Refusal{"Syntax", "banks = ", "banks = ", {}}),
    [](const auto& refusal) { return std::string(refusal.param.claim); });

class WorkloadRefusal : public ConfigRefusal {};
TEST_P(WorkloadRefusal, IsOneLineThatNamesFileLineAndKey) {
  check("configs/workloads/table2.toml", [](const auto& path) { (void)read_workload(path); });
}
INSTANTIATE_TEST_SUITE_P(
    , WorkloadRefusal,
    ::testing::Values(
        Refusal{"SharesOverOne", "load_fraction = ", "load_fraction = 0.99", {"load_fraction = 0.99", "sum to at most 1"}},
        Refusal{"LinesOverOne", "reuse_fraction = ", "reuse_fraction = 0.96", {"reuse_fraction = 0.9", "sum to at most 1"}},
        Refusal{"NegativeShare", "sfu_fraction = ", "sfu_fraction = -0.5", {"sfu_fraction = -0.5", "0..1"}},
        Refusal{"DuplicateName", "name = \"BFS\"", "name = \"BLK\"", {"kernel.name = 'BLK'", "another kernel"}},
        Refusal{"NameOfAMix", "name = \"BFS\"", "name = \"B_FS\"", {"kernel.name = 'B_FS'", "letters, digits"}},
        Refusal{"NameOfAPath", "name = \"BFS\"", "name = \"../B\"", {"kernel.name = '../B'", "letters, digits"}},
        Refusal{"Type", "type = ", "type = \"latency\"", {"kernel.type = 'latency'", "compute, memory, cache"}},
        Refusal{"Block", "block_threads = ", "block_threads = 1025", {"kernel.block_threads = 1025: must be 1..1024"}},
        Refusal{"NoCtas", "grid_ctas = ", "grid_ctas = 0", {"kernel.grid_ctas = 0: must be 1..4294967295"}},
        Refusal{"Transactions", "transactions = ", "transactions = 33", {"transactions = 33", "1..32"}},
        Refusal{"NoSector", "transactions = ", "transactions = 1\nsectors = 0", {"sectors = 0: must be 1..4"}, false},
        Refusal{"Sectors", "transactions = ", "transactions = 1\nsectors = 5", {"sectors = 5: must be 1..4"}, false},
        Refusal{"Operations", "grid_ctas = ", "grid_ctas = 9\nflops_per_thread = -1", {"flops_per_thread = -1"}, false},
        Refusal{"Utilization", "alu_utilization = ", "alu_utilization = 48", {"kernel.reference.alu_utilization = 48", "0..1"}},
        Refusal{"LaunchTime",
                "[kernel.reference]",
                "[kernel.launch_reference]\ntime_ms = 0\nissue_utilization = 0.5\n[kernel.reference]",
                {"kernel.launch_reference.time_ms = 0", "1e-06..1000000"},
                false},
        Refusal{"Unknown",
                "barrier_interval = ",
                "barrier_interval = 0\nbarier = 1",
                {"behaviour.barier", "unknown key", "barrier_interval"},
                false},
        Refusal{"MissingKey", "grid_ctas = ", "", {"kernel.grid_ctas", "is missing"}, false},
        Refusal{"MissingTable",
                "[kernel.behaviour]",
                "[kernel.behavior]",
                {"kernel.behavior: unknown key", "nearest: behaviour"},
                false},
        Refusal{"Syntax", "full_name = ", "full_name = \"Black", {}}),
    [](const auto& refusal) { return std::string(refusal.param.claim); });

TEST(ConfigRefusal, AMissingFileIsNamed) {
  for (const std::string& said : {test::refusal([] { (void)read_machine("no/such/file.toml"); }),
                                  test::refusal([] { (void)read_workload("no/such/file.toml"); })})
    EXPECT_TRUE(said.starts_with("no/such/file.toml: ")) << said;
}

using MachineFile = test::Scratch;

TEST_F(MachineFile, MayBeAPipe) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string text = read_file(std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/machines/fermi_table1.toml");
  ASSERT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(ends[1]);
  EXPECT_EQ(read_machine("/dev/fd/" + std::to_string(ends[0])).num_sms, 16U);
  ::close(ends[0]);
}

TEST_F(MachineFile, ThePartitionerTableMayBeLeftOut) {
  const std::string text = read_file(std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/machines/fermi_table1.toml");
  const MachineConfig machine = read_machine(write("a.toml", text.substr(0, text.find("\n[partitioner]"))));
  EXPECT_EQ(machine.partitioner.warm_up_cycles, PartitionerConfig{}.warm_up_cycles);
  EXPECT_EQ(machine.partitioner.loss_limit, PartitionerConfig{}.loss_limit);
}

/// What table I and section V of the paper publish; a slip in the file would shift every result.
TEST_F(MachineFile, TheFermiMachineIsTableOne) {
  const MachineConfig m = read_machine(std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/machines/fermi_table1.toml");
  EXPECT_EQ(m.num_sms, 16U);
  EXPECT_EQ(m.sm.capacity, (SmResources{1536, 32768, 49152, 8}));
  EXPECT_EQ(m.sm.schedulers, 2U);
  EXPECT_EQ(m.sm.scheduler, WarpSchedulerKind::Gto);
  EXPECT_EQ(m.sm.l1.bytes, 16384U);
  EXPECT_EQ(m.sm.l1.ways, 4U);
  EXPECT_EQ(m.l2.bytes * m.l2_slices, 786432U);
  EXPECT_EQ(m.dram.channels, 6U);
  EXPECT_EQ(m.dram.clock_mhz, 924);
  EXPECT_EQ(m.dram.t_rc, 40U);
  EXPECT_EQ(m.dram.t_rrd, 6U);
  EXPECT_EQ(m.partitioner.loss_limit, 1.2);
}

}  // namespace
}  // namespace sluice
