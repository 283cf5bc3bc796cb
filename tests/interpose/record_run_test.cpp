// SPDX-License-Identifier: Apache-2.0
// `sluice gpu record -- CMD` in front of a driver for tests, with stand-ins for ptxas and nvdisasm.
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "sw/gpu/rewrite/instrument.h"
#include "tests/cli/sluice_program.h"
#ifdef SLUICE_FAKE_CUDA

namespace sluice::test {
namespace {

constexpr const char* kData = SLUICE_SOURCE_DIR "/tests/gpu/data/";

class RecordRun : public Sluice {
 protected:
  void SetUp() override {
    Sluice::SetUp();
    fs::create_directories(folder_ / "bin");
    tool("ptxas", "while [ \"$1\" != -o ]; do shift; done; echo cubin > \"$2\"");
    tool("nvdisasm", "cat " + std::string(kData) + "sum.sass");
    write_log();
  }
  void tool(const std::string& name, const std::string& body) {
    std::ofstream(folder_ / "bin" / name) << "#!/bin/sh\n" << body << "\n";
    fs::permissions(folder_ / "bin" / name, fs::perms::owner_all);
  }
  /// One warp of sum.ptx whose threads go around the loop twice. @param lost  threads that are in the loop and nowhere else
  void write_log(std::uint32_t lost = 0) {
    std::ofstream out(folder_ / "log", std::ios::binary);
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      const std::uint32_t tag = gpu::kBlockTag;
      if (lane < lost) {
        const std::uint32_t only[] = {3, tag | 1, 0x1000, 0x7f00};  // words, then the words
        out.write(reinterpret_cast<const char*>(only), sizeof only);
        continue;
      }
      std::vector<std::uint32_t> w = {tag,    tag | 1, 0x1000 + lane * 4, 0x7f00, tag | 1, 0x1080 + lane * 4,
                                      0x7f00, tag | 2, lane * 4};
      if (lane < 16) w.insert(w.end(), {tag | 3, lane * 4 + 64, 0x9000 + lane * 4, 0x7f00});
      w.push_back(tag | 4);
      const auto words = static_cast<std::uint32_t>(w.size());
      out.write(reinterpret_cast<const char*>(&words), 4).write(reinterpret_cast<const char*>(w.data()), words * 4);
    }
  }
  Outcome record(const std::string& options, const std::string& before = "") {
    return shell(before + " PATH='" + (folder_ / "bin").string() + "':$PATH FAKE_CUDA_LOG='" + (folder_ / "log").string() +
                 "' FAKE_CUDA_BOOKS='" + (folder_ / "books").string() +
                 "' SLUICE_REAL_LIBCUDA='" SLUICE_FAKE_CUDA "' " SLUICE_BINARY " gpu record --out '" +
                 (folder_ / "out").string() + "' " + options + " -- " SLUICE_FAKE_RECORDS " " + kData + "sum.ptx");
  }
  static std::string reason(const nlohmann::json& out, const std::string& kernel) {
    std::string all;
    for (const nlohmann::json& k : out["not_recorded"])
      if (k["name"] == kernel) all += k["reason"].get<std::string>() + "\n";
    return all;
  }
};

TEST_F(RecordRun, TheFirstLaunchesOfEachKernelAreInTheFolderAndTheProgramIsAsItWas) {
  const Outcome o = record("--launches 2 --ctas 2 --json", "CLIENT_EXIT=3");
  EXPECT_EQ(o.exit, 3) << "the program's\n" << o.out << o.err;
  ASSERT_TRUE(o.out.starts_with("what the program prints\n{")) << o.out;
  const nlohmann::json out = nlohmann::json::parse(o.out.substr(o.out.find('{')));
  ASSERT_EQ(out["kernels"].size(), 2) << out;
  for (std::uint32_t i = 0; i < 2; ++i) {
    const nlohmann::json& k = out["kernels"][i];
    EXPECT_EQ(k["name"], "sum");
    EXPECT_EQ(k["launch"], i + 1);
    EXPECT_EQ(k["ctas"], 2);
    EXPECT_EQ(k["grid_ctas"], 3);
    EXPECT_EQ(k["joined_pct"], 100.0) << k;
    EXPECT_EQ(k["sectors"]["LDG"]["requests"], 4) << "two turns of two warps\n" << k;
    EXPECT_GT(k["slowdown"], 0.0) << "the launch behind the recorded ones is timed as it is";
  }
  EXPECT_EQ(text("out/kernelslist.g"), "kernel-1.traceg.xz\nkernel-2.traceg.xz\n");
  EXPECT_EQ(nlohmann::json::parse(text("out/recorded.json")), out);
  EXPECT_FALSE(fs::exists(folder_ / "out/raw")) << "what the GPU logged is in the traces";
  const std::string books = text("books");
  EXPECT_EQ(count(books, "launch sum__sluice_record 3x1 arg 7 arg 9 arg 64\n"), 2) << books;
  EXPECT_EQ(count(books, "launch sum 3x1 arg 7 arg 9 arg 64\n"), 2) << "as many launches as the program made\n" << books;
  const Outcome replay =
      sluice("trace '" + (folder_ / "out/kernelslist.g").string() + "' --machine configs/machines/h200_sm90.toml --json");
  EXPECT_EQ(replay.exit, 0) << replay.err;
}

TEST_F(RecordRun, WhatIsNotRecordedIsToldWithItsReason) {
  const Outcome o = record("--json --keep");
  EXPECT_EQ(o.exit, 0) << o.out << o.err;
  const nlohmann::json out = nlohmann::json::parse(o.out.substr(o.out.find('{')));
  EXPECT_NE(reason(out, "calls").find("calls f: only kernels whose functions are all inlined are recorded"), std::string::npos)
      << out;
  EXPECT_EQ(reason(out, "own"), "the kernel that logs can have 512 threads a CTA, the launch has 1024\n") << out;
  EXPECT_EQ(reason(out, "sum"), "a launch that is captured into a graph is not recorded\n") << out;
  EXPECT_NE(o.err.find("sluice: not recorded: own: the kernel that logs can have 512 threads"), std::string::npos) << o.err;
  EXPECT_EQ(count(text("books"), "load 3 kernels\n"), 1) << "a module with a variable is loaded once, with own's logging kernel\n"
                                                         << text("books");
  std::size_t kept = 0;
  for (const auto& entry : fs::directory_iterator(folder_ / "out/raw")) kept += entry.path().extension() == ".raw" ? 1 : 0;
  EXPECT_EQ(kept, 1);
}

TEST_F(RecordRun, BoundsOfSizeLeaveAWholeLaunchOrAnError) {
  const auto run = [&](const std::string& options) {
    const Outcome o = record(options + " --json");
    EXPECT_EQ(o.exit, 1) << "nothing is recorded\n" << o.err;
    return nlohmann::json::parse(o.out.substr(o.out.find('{')));
  };
  nlohmann::json out = run("--limit 3K");  // eight rows for each of three warps, and 14 are needed
  EXPECT_EQ(out["kernels"].size(), 0) << out;
  EXPECT_NE(reason(out, "sum").find("--limit 3072: launch 1: a warp has 1792 bytes of log, and room for 1024"), std::string::npos)
      << out;
  out = run("--total 1K");
  EXPECT_EQ(out["kernels"].size(), 0) << out;
  EXPECT_NE(reason(out, "sum").find("--total 1024: "), std::string::npos) << out;
  EXPECT_EQ(text("out/kernelslist.g"), "");
}

TEST_F(RecordRun, ThreadsThatNoWayExplainsAreAnErrorAndNoTrace) {
  for (const std::uint32_t lost : {1U, 32U}) {
    write_log(lost);
    const Outcome o = record("--json");
    EXPECT_EQ(o.exit, 1) << o.err;
    const nlohmann::json out = nlohmann::json::parse(o.out.substr(o.out.find('{')));
    EXPECT_EQ(out["kernels"].size(), 0) << out;
    EXPECT_NE(reason(out, "sum").find("no way through the SASS explains "), std::string::npos) << out;
    EXPECT_EQ(text("out/kernelslist.g"), "");
    EXPECT_FALSE(fs::exists(folder_ / "out/kernel-1.traceg.xz"));
  }
  EXPECT_EQ(record("--json", "CLIENT_EXIT=3").exit, 3) << "a program that fails has its own exit code";
}

TEST_F(RecordRun, CheckedTracesHaveTheInstructionsThatAreCounted) {
  const auto run = [&](const std::string& counted) {
    tool("ncu",
         "while [ \"$1\" != --log-file ]; do shift; done\n"
         "printf '==PROF== Connected\\n\"ID\",\"Kernel Name\",\"smsp__inst_executed.sum\"\\n\"\",\"\",\"inst\"\\n" +
             counted + "' > \"$2\"");
    return record("--json --check");
  };
  const auto kernels = [](const Outcome& o) { return nlohmann::json::parse(o.out.substr(o.out.find('{')))["kernels"]; };
  const std::uint64_t own = kernels(record("--json"))[0]["warp_instructions"];
  ASSERT_GE(own, 50);
  Outcome o = run("\"0\",\"sum\",\"" + std::to_string(own) + "\"\\n");
  EXPECT_EQ(o.exit, 0) << o.err;
  EXPECT_EQ(kernels(o)[0]["counted"], own);
  o = run("\"0\",\"sum\",\"1,000,000\"\\n");
  EXPECT_EQ(o.exit, 1);
  EXPECT_EQ(kernels(o).size(), 0);
  EXPECT_NE(o.err.find("warp instructions, and Nsight Compute counts 1000000"), std::string::npos) << o.err;
  o = run("\"0\",\"other\",\"12\"\\n");
  EXPECT_EQ(o.exit, 1);
  EXPECT_NE(o.err.find("Nsight Compute has no count of this launch"), std::string::npos) << o.err;
}

TEST_F(RecordRun, OnlyTheKernelsThatAreNamedAreRecorded) {
  const Outcome o = record("--json --only none");
  EXPECT_EQ(o.exit, 1) << o.err;
  const nlohmann::json out = nlohmann::json::parse(o.out.substr(o.out.find('{')));
  EXPECT_EQ(out["kernels"].size() + out["not_recorded"].size(), 0) << out;
  EXPECT_EQ(record("--json --only sum").exit, 0);
  EXPECT_EQ(text("out/kernelslist.g"), "kernel-1.traceg.xz\n");
}

TEST_F(RecordRun, AToolThatIsMissingOrFailsIsToldAndTheProgramHasRun) {
  tool("nvdisasm", "echo 'nvdisasm error: bad input'; exit 1");
  const Outcome o = record("--json");
  EXPECT_EQ(o.exit, 1) << o.err;
  EXPECT_TRUE(o.out.starts_with("what the program prints\n")) << o.out;
  const nlohmann::json out = nlohmann::json::parse(o.out.substr(o.out.find('{')));
  EXPECT_EQ(out["kernels"].size(), 0) << out;
  EXPECT_NE(reason(out, "sum").find("nvdisasm: nvdisasm error: bad input\n"), std::string::npos) << out;
}

TEST_F(RecordRun, AKernelOfAFileIsRecordedInAProgramOfItsOwn) {
  fs::create_directories(folder_ / "driver");
  fs::create_symlink(SLUICE_FAKE_CUDA, folder_ / "driver/libcuda.so.1");
  const auto record_file = [&](const std::string& before) {
    return shell(before + " LD_LIBRARY_PATH='" + (folder_ / "driver").string() + "' PATH='" + (folder_ / "bin").string() +
                 "':$PATH FAKE_CUDA_LOG='" + (folder_ / "log").string() + "' FAKE_CUDA_BOOKS='" + (folder_ / "books").string() +
                 "' SLUICE_REAL_LIBCUDA='" SLUICE_FAKE_CUDA "' " SLUICE_BINARY " gpu record --json --ctas 2 --out '" +
                 (folder_ / "out").string() + "' --kernel '" + kData +
                 "sum.ptx:sum,grid=3,block=64,args=in:f32:64:uniform:-1:1:1;out:f32:32;u64:64'");
  };
  const Outcome o = record_file("");
  ASSERT_EQ(o.exit, 0) << o.out << o.err << text("books");
  const nlohmann::json out = nlohmann::json::parse(o.out);
  ASSERT_EQ(out["kernels"].size(), 1U) << out;
  const nlohmann::json& k = out["kernels"][0];
  EXPECT_EQ(k["bit_identical"], true);
  EXPECT_EQ(k["ctas"], 2);
  EXPECT_EQ(k["grid_ctas"], 3);
  EXPECT_GT(k["slowdown"], 0.0);
  EXPECT_EQ(text("out/kernelslist.g"), "kernel-1.traceg.xz\n");
  EXPECT_EQ(count(text("books"), "launch sum__sluice_record 3x1"), 1) << text("books");
  write_log(3);
  const Outcome lost = record_file("");
  EXPECT_EQ(lost.exit, 1) << lost.out << lost.err;
  EXPECT_NE(lost.err.find("sluice: not recorded: sum: "), std::string::npos) << lost.err;
}

TEST_F(RecordRun, AProgramThatIsNotThereHasItsExitCode) {
  const Outcome o = sluice("gpu record --out '" + (folder_ / "out").string() + "' -- /absent/program");
  EXPECT_EQ(o.exit, 127) << o.err;
  EXPECT_NE(o.err.find("sluice: /absent/program: No such file"), std::string::npos) << o.err;
  refuses("gpu record --out '" + (folder_ / "out").string() + "' --app HOT -- true", "do not go with a program behind --");
  refuses("gpu record --out '" + (folder_ / "out").string() + "'", "--kernel, --app or a program behind -- must be given");
}

}  // namespace
}  // namespace sluice::test
#endif
