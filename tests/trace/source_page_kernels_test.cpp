// SPDX-License-Identifier: Apache-2.0
// The profiled kernels of results/model_vs_h200/source_page: pages of a real run, joined, and walked.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "sw/trace/program_source.h"
#include "sw/trace/program_walk.h"
#include "sw/workload/ncu_import.h"
#include "tests/support.h"

namespace sluice {
namespace {

class SourcePageKernels : public test::Scratch {
 protected:
  Workload read(const std::string& page) const {
    const std::filesystem::path folder = std::filesystem::path(SLUICE_SOURCE_DIR) / "results/model_vs_h200/source_page";
    for (const char* kind : {".raw.csv", ".source.csv"}) {
      const std::string command =
          "gzip -dc '" + (folder / (page + kind + ".gz")).string() + "' > '" + (folder_ / (page + kind)).string() + "'";
      EXPECT_EQ(std::system(command.c_str()), 0) << command;
    }
    return import_ncu(folder_ / (page + ".raw.csv"), folder_ / (page + ".source.csv"));
  }
};

TEST_F(SourcePageKernels, InstructionsAreWalkedAsOftenAsCounted) {
  unsigned exact = 0, walked = 0;
  for (const char* page : {"unseen", "seen"}) {
    for (const KernelDescriptor& kernel : read(page).kernels) {
      std::uint64_t counted = 0, off = 0;
      for (const ProgramInstruction& i : kernel.program->instructions) counted += i.warps;
      if (counted > 100'000'000) continue;  // the time it takes
      ProgramWalk walk(*kernel.program);
      std::vector<std::uint64_t> visits(walk.blocks().size(), 0);
      for (std::uint64_t w = 0; w < std::uint64_t{kernel.grid_ctas} * kernel.warps_per_cta(); ++w)
        for (const ProgramWalk::Visit& visit : walk.next_warp()) ++visits[visit.block];
      for (std::size_t b = 0; b < visits.size(); ++b) {
        const ProgramWalk::Block& block = walk.blocks()[b];
        off += (std::max(visits[b], block.warps) - std::min(visits[b], block.warps)) * (block.end - block.begin);
      }
      EXPECT_LT(static_cast<double>(off), 0.003 * static_cast<double>(counted)) << kernel.name;
      exact += off == 0 ? 1 : 0;
      ++walked;
    }
  }
  EXPECT_EQ(walked, 21U);
  EXPECT_GE(exact, 18U);
}

TEST_F(SourcePageKernels, CopiesOfTheEngineBringWhatNoOtherInstructionDoes) {
  const Workload unseen = read("unseen");
  const KernelProgram& gemm = *unseen.kernels[4].program;
  std::uint64_t loaded = 0, stored = 0;
  for (const ProgramInstruction& i : gemm.instructions) {
    if (i.text.find("UTMALDG") != std::string::npos) loaded += i.sectors;
    if (i.text.find("UTMASTG") != std::string::npos) stored += i.sectors;
  }
  EXPECT_NEAR(static_cast<double>(loaded), 2414652 + 394356, 10);  // L2 lookups of the raw page; its loads have no sector
  EXPECT_NEAR(static_cast<double>(stored), 262144, 10);
  for (const ProgramInstruction& i : unseen.kernels[0].program->instructions) {
    EXPECT_EQ(i.text.find("UTMA"), std::string::npos);
  }
}

}  // namespace
}  // namespace sluice
