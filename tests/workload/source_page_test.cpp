// SPDX-License-Identifier: Apache-2.0
// The source page of Nsight Compute: what is read from it, and what is said of a damaged one.
#include "sw/workload/source_page.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support.h"

namespace sluice {
namespace {

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
