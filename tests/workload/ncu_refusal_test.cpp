// SPDX-License-Identifier: Apache-2.0
// What `import ncu` says of a damaged profile, and that what it writes can be read.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "sw/io/atomic_file.h"
#include "sw/io/csv_reader.h"
#include "sw/workload/ncu_import.h"
#include "sw/workload/source_page.h"
#include "sw/workload/workload_file.h"
#include "tests/support.h"

namespace sluice {
namespace {

const std::filesystem::path kRoot = SLUICE_SOURCE_DIR;
const std::filesystem::path kWorkload = kRoot / "configs/workloads/table2.toml";
const std::filesystem::path kProfile = kRoot / "data/h200_torch_ops_ncu.csv";

class NcuRefusal : public test::Scratch {
 protected:
  const std::string scratch_ = folder_ / "a.csv";
  /// The message for a copy of the profile in which the first `from` became `to`.
  std::string message(const std::string& from, const std::string& to) {
    return test::refusal([&] { (void)import_ncu(write("a.csv", test::edited(read_file(kProfile), from, to))); });
  }
};

TEST_F(NcuRefusal, AProfileInScaledUnitsIsRefused) {
  const std::string got = message("\"byte\",\"byte\"", "\"Mbyte\",\"byte\"");
  EXPECT_EQ(got, scratch_ + ":2: dram__bytes_read.sum is in \"Mbyte\": must be \"byte\" (export with ncu --print-units base)");
}

TEST_F(NcuRefusal, AUnitWithALineBreakLeavesTheMessageOnOneLine) {
  const std::string got = message("\"byte\",\"byte\"", "\"by\nte\",\"byte\"");
  EXPECT_NE(got.find(":2: dram__bytes_read.sum is in \"by"), std::string::npos) << got;
  EXPECT_EQ(got.find('\n'), std::string::npos) << got;
}

TEST_F(NcuRefusal, AProfileWithAFigureThatCannotBeIsRefused) {
  EXPECT_EQ(message("\"132\",\"512\"", "\"132\",\"n/a\""),
            scratch_ + ":3: launch__grid_size = \"n/a\": must be a number, 0..1e+18");
  EXPECT_EQ(message("\"5,305,460\"", "\"0\""), scratch_ + ":3: sm__cycles_elapsed.max = \"0\": must be 1..1000000000000");
  EXPECT_TRUE(message("\"2,428,305,408\"", "\"9e17\"")
                  .starts_with(scratch_ + ":3: smsp__inst_executed.sum = \"9e17\": must be at least 1, and at most"));
}

/// A page of one kernel in three columns that count and one of percents; the others are 0.
class NcuForms : public test::Scratch {
 protected:
  using Row = std::vector<std::string>;
  /// grid, instructions, cycles, L1 hit rate
  static std::string page(const Row& cells, const std::string& name = "void scale<float>(float *)") {
    const std::vector<CsvRecord> shipped = parse_csv(read_file(kProfile), "page");
    Row row(shipped[0].fields.size(), "0");
    for (const auto& [column, cell] : {std::pair<std::string, std::string>{"Kernel Name", name},
                                       {"device__attribute_multiprocessor_count", "132"},
                                       {"launch__block_size", "64"},
                                       {"launch__registers_per_thread_allocated", "32"},
                                       {"launch__grid_size", cells[0]},
                                       {"smsp__inst_executed.sum", cells[1]},
                                       {"sm__cycles_elapsed.max", cells[2]},
                                       {"l1tex__t_sector_hit_rate.pct", cells[3]}})
      row[static_cast<std::size_t>(std::ranges::find(shipped[0].fields, column) - shipped[0].fields.begin())] = cell;
    return format_csv(shipped[0].fields) + format_csv(shipped[1].fields) + format_csv(row);
  }
  /// What the page says: "grid cycles hit rate", or why not.
  std::string read(const std::string& text) {
    std::string said;
    const std::filesystem::path file = write("a.csv", text);
    const std::string refusal = test::refusal([&] {
      const KernelDescriptor kernel = import_ncu(file).kernels.at(0);
      said = fmt::format("{} {} {}", kernel.grid_ctas, kernel.reference->cycles, kernel.behaviour.reuse_fraction);
    });
    return said.empty() ? refusal.substr(std::min(refusal.size(), file.string().size())) : said;
  }
};

TEST_F(NcuForms, DecimalSignsAreThoseOfThePage) {
  for (const auto& [cells, what] : {
           std::pair{Row{"1,024", "819,200", "12,345", "33.25"}, "1024 12345 0.3325"},
           {{"1024", "819200", "12345", "33.25"}, "1024 12345 0.3325"},
           {{"1.024", "819.200", "12.345", "33,25"}, "1024 12345 0.3325"},
           {{"1024", "819200", "12345", "33,25"}, "1024 12345 0.3325"},
           {{"1.024", "1.819.200", "12.345", "33"}, "1024 12345 0.33"},
           {{"1024", "819200", "12345", "33,250"}, "1024 12345 0.3325"},  // a percent has no thousands
           {{"1,024", "819,200", "12,345", "33"}, "1024 12345 0.33"},     // as Nsight Compute writes
           {{"1.024e+03", "8192e2", "12345", "33"}, "1024 12345 0.33"},
           {{"1024.0", "819200.0", "12345.0", "33"}, "1024 12345 0.33"},
           {{"1.024", "819200", "12345", "33"}, ":3: launch__grid_size = \"1.024\": thousands or decimals?"},
           {{"1.024", "819200", "12345", "33.25"}, ":3: launch__grid_size = \"1.024\": must be a whole number"},
           {{"1024.5", "819200", "12345", "33"}, ":3: launch__grid_size = \"1024.5\": must be a whole number"},
           {{"1,024", "819200", "12345", "33,25"}, ":3: launch__grid_size = \"1,024\": must be a whole number"},
           {{"1,819,200", "819200", "12345", "33,25"},
            ":3: l1tex__t_sector_hit_rate.pct = \"33,25\": has another decimal sign than the cells before"},
           {{"1024", "8,19,200", "12345", "33"}, ":3: smsp__inst_executed.sum = \"8,19,200\": must be a number"},
           {{"1024", "1,8192,000", "12345", "33"}, ":3: smsp__inst_executed.sum = \"1,8192,000\": must be a number"},
           {{"1024", "1,,456789", "12345", "33"}, ":3: smsp__inst_executed.sum = \"1,,456789\": must be a number"},
           {{"1'024", "819200", "12345", "33"}, ":3: launch__grid_size = \"1'024\": must be a number"},
           {{"1024", "819200", "12345", "100.25"}, ":3: l1tex__t_sector_hit_rate.pct = \"100.25\": must be a number, 0..100"},
           {{"1024", "819200", "12345", "-1"}, ":3: l1tex__t_sector_hit_rate.pct = \"-1\": must be a number, 0..100"},
       })
    EXPECT_TRUE(read(page(cells)).starts_with(what)) << read(page(cells)) << ", should be: " << what;
}

TEST_F(NcuForms, PagesComeAsProgramsSaveThem) {
  const std::string plain = page({"1024", "819200", "12345", "33"}), result = "1024 12345 0.33";
  std::string unquoted = page({"1024", "819200", "12345", "33"}, "scale"), semicolons = unquoted, wide;
  std::erase(unquoted, '"');
  std::ranges::replace(semicolons, ',', ';');
  for (const char c : plain) wide += {c, '\0'};
  std::string crlf = plain;
  for (std::size_t at = 0; (at = crlf.find('\n', at)) != std::string::npos; at += 2) crlf.insert(at, 1, '\r');
  for (const std::string& text :
       {plain, "\xef\xbb\xbf" + plain, unquoted, crlf, "==PROF== Connected\nID of it: 7, done\n" + unquoted,
        plain + "==PROF== Disconnected, at last\n"})
    EXPECT_EQ(read(text), result) << text.substr(0, 60);
  for (const auto& [text, what] :
       {std::pair{"\xff\xfe" + wide, ":1: is UTF-16: save it as UTF-8"},
        {wide, ":1: is UTF-16"},
        {"==PROF== a\n" + semicolons, ":2: the fields are separated by semicolons: must be commas"},
        {std::string("\"ID\",\"Section Name\",\"Metric Name\",\"Metric Value\"\n0,a,b,1\n"),
         ":1: is the details page: export the raw page"},
        {std::string("\"Kernel Name\",\"scale\"\n"), ":1: is the source page"},
        {page({"1024", "819200", "12345", "33"}, ""), ":3: Kernel Name = \"\": must not be empty"},
        {page({"1024", "819200", "12345", "33"}, "  "), ":3: Kernel Name = \"  \": must not be empty"}})
    EXPECT_TRUE(read(text).starts_with(what)) << read(text) << ", should be: " << what;
}

TEST_F(NcuRefusal, WhatImportWritesCanBeRead) {
  const std::string text = read_file(kProfile);
  std::mt19937 random(11);
  unsigned imported = 0;
  for (int i = 0; i < 600; ++i) {
    std::string damaged = text;
    // Digits against digits and anything in names: damage that leaves the page whole.
    const std::size_t at = random() % damaged.size();
    if (damaged[at] == '"' || damaged[at] == ',' || damaged[at] == '\n') continue;
    damaged[at] = i % 2 == 0 ? static_cast<char>('0' + random() % 10) : static_cast<char>(random());
    Workload made;
    try {
      made = import_ncu(write("a.csv", damaged));
    } catch (const InputError&) {
      continue;
    }
    ++imported;
    const std::string written = format_workload(made, "");
    ASSERT_EQ(format_workload(read_workload(write("a.toml", written)), ""), written) << "seed 11, case " << i;
  }
  EXPECT_GT(imported, 150U);
}

TEST_F(NcuRefusal, AnyTextSurvivesTheRoundTripOfAName) {
  Workload made = read_workload(kWorkload);
  made.name = "a \"quoted\" \\ back\nslash\x7f \xc3\xa9";
  made.kernels[0].full_name = made.name;
  const Workload again = read_workload(write("a.toml", format_workload(made, "two\nlines")));
  EXPECT_EQ(again.name, made.name);
  EXPECT_EQ(again.kernels[0].full_name, made.name);
}

// The source page of Nsight Compute: what is read from it, and what is said of a damaged one.

const std::string kHeader =
    "\"Address\",\"Source\",\"Warp Stall Sampling (All Cycles)\",\"Instructions Executed\",\"# Samples\",\"Instructions "
    "Executed\",\"Thread Instructions Executed\",\"Predicated-On Thread Instructions Executed\",\"Divergent "
    "Branches\",\"Address Space\",\"L1 Tag Requests Global\",\"L1 Wavefronts Shared Excessive\",\"L1 Wavefronts "
    "Shared\",\"L2 Theoretical Sectors Global Excessive\",\"L2 Theoretical Sectors Global\"\n";
const std::string kPage =
    "==PROF== Connected to process 1\n\"Kernel Name\",\"void f<int>(int *, int)\"\n" + kHeader +
    "\"0x7fc48541d900\",\"      IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] "
    "\",\"42\",\"3,632\",\"42\",\"3,632\",\"116224\",\"116,224\",\"0\",\"-\",\"0\",\"0\",\"0\",\"0\",\"0\"\n"
    "\"0x7fc48541d910\",\"@P0   LDG.E R2, [R4.64] "
    "\",\"4\",\"3632\",\"4\",\"3632\",\"116224\",\"58112\",\"0\",\"Global\",\"7264\",\"0\",\"0\",\"0\",\"14528\"\n";

/// The message for the page in which the first `from` became `to`.
std::string message(const std::string& from, const std::string& to) {
  return test::refusal([&] { (void)parse_source_page(test::edited(kPage, from, to), "p.csv"); });
}

TEST(SourcePage, CountsOfEachInstructionAreRead) {
  const std::vector<KernelProgram> kernels = parse_source_page(kPage, "p.csv");
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].name, "void f<int>(int *, int)");
  ASSERT_EQ(kernels[0].instructions.size(), 2u);
  EXPECT_EQ(kernels[0].instructions[0].text, "IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28]");
  EXPECT_EQ(kernels[0].instructions[0].threads, 116224u);
  const ProgramInstruction load{0x7fc48541d910, "@P0   LDG.E R2, [R4.64]", 3632, 58112, 0, 7264, 14528, 0};
  EXPECT_EQ(kernels[0].instructions[1], load);
}

TEST(SourcePage, UnitsBehindTheNamesOfColumnsAreNoMatter) {
  EXPECT_EQ(message("\"Divergent Branches\"", "\"Divergent Branches [inst]\""), "accepted");
  EXPECT_EQ(message("\"L2 Theoretical Sectors Global\"", "\"L2 Theoretical Sectors Global (sector)\""), "accepted");
}

TEST(SourcePage, WhatIsWrittenCanBeRead) {
  const std::vector<KernelProgram> kernels = parse_source_page(kPage + kPage.substr(kPage.find("\"Kernel")), "p.csv");
  ASSERT_EQ(kernels.size(), 2u);
  const std::vector<KernelProgram> again = parse_source_page(format_source_page(kernels), "q.csv");
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[1].kernel, 1u);
  EXPECT_EQ(again[1].name, kernels[1].name);
  EXPECT_EQ(again[1].instructions, kernels[1].instructions);
}

TEST(SourcePage, ADamagedPageIsRefusedWithLineAndColumn) {
  EXPECT_EQ(message("\"14528\"\n", "\"x\"\n"),
            "p.csv:5: L2 Theoretical Sectors Global = \"x\": must be a whole number, 0..1000000000000");
  EXPECT_EQ(message("\"58112\"", "\"999999\""),
            "p.csv:5: Predicated-On Thread Instructions Executed = 999999: more than 32 for each of 3632 warps");
  EXPECT_EQ(message("0x7fc48541d910", "0x7fc48541d900"),
            "p.csv:5: Address = \"0x7fc48541d900\": must be at least 16 above that of the row before");
  EXPECT_EQ(message("\"0x7fc48541d900\"", "\"here\""), "p.csv:4: Address = \"here\": must be a hexadecimal number");
  EXPECT_EQ(message("\"0\",\"14528\"\n", "\"0\"\n"), "p.csv:5: 14 fields, the header has 15: is the file cut off?");
  EXPECT_NE(message("L1 Tag Requests Global", "Tags").find("p.csv:3: column L1 Tag Requests Global is missing"),
            std::string::npos);
  EXPECT_EQ(message("\"Kernel Name\"", "\"Kernel\""),
            "p.csv: no row that begins with \"Kernel Name\": not a source page of Nsight Compute");
  EXPECT_EQ(message(kPage.substr(kPage.find("\"Address\"")), ""),
            "p.csv:2: the file ends behind the kernel's name: is it cut off?");
  EXPECT_EQ(message(kPage.substr(kPage.find("\"0x7fc48541d900")), ""), "p.csv:3: kernel 1 has no instruction that was executed");
}

TEST(SourcePage, AMessageStaysOnOneLineWhateverTheFieldHolds) {
  EXPECT_EQ(message("\"14528\"\n", "\"1\n\t\x01x\"\n"),
            "p.csv:5: L2 Theoretical Sectors Global = \"1???x\": must be a whole number, 0..1000000000000");
}

}  // namespace
}  // namespace sluice
