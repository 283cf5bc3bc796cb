// SPDX-License-Identifier: Apache-2.0
// `sluice gpu run` and experiments, whose programs run in front of a driver for tests.
#include "tests/interpose/run.h"
#ifdef SLUICE_FAKE_CUDA

namespace sluice::test {
namespace {

class GpuRun : public Run {
 protected:
  void SetUp() override {
    Run::SetUp();
    fs::create_directories(folder_ / "driver");
    fs::create_symlink(SLUICE_FAKE_CUDA, folder_ / "driver/libcuda.so.1");
    std::ofstream kernels(folder_ / "k.ptx");
    kernels << ".version 8.0\n.target sm_90\n.address_size 64\n";
    for (const char* name : {"scale", "other", "traps"})
      kernels << ".visible .entry " << name
              << "(.param .u64 p0, .param .u64 p1)\n{\n\t.reg .b32 %r1;\n\tmov.u32 %r1, %ctaid.x;\n\tret;\n}\n";
  }
  Outcome gpu(const std::string& words, const std::string& before = "") {
    return run(
        before + " LD_LIBRARY_PATH='" + (folder_ / "driver").string() + "' XDG_CACHE_HOME='" + (folder_ / "xdg").string() + "'",
        10000, SLUICE_BINARY " gpu " + words);
  }
  [[nodiscard]] std::string kernel(const std::string& name) const {
    return " --kernel '" + (folder_ / "k.ptx").string() + ":" + name + ",grid=100,block=64,args=out:u32:6400;u64:3'";
  }
  [[nodiscard]] nlohmann::json line(const std::string& experiment) const {
    return nlohmann::json::parse(text("out/" + experiment + ".jsonl"));
  }
};

TEST_F(GpuRun, ComparesAKernelsProgramWithItselfUnderAQuota) {
  const Outcome o = gpu("run --json --policy static --quota 2" + kernel("scale"));
  ASSERT_EQ(o.exit, 0) << o.out << o.err;
  const auto out = nlohmann::json::parse(o.out);
  EXPECT_EQ(out["kernels"][0]["bit_identical"], true);
  EXPECT_EQ(out["kernels"][0]["sms_by_most_ctas"], (nlohmann::json{{"2", 4}}));
  EXPECT_EQ(out["quota_violations"], 0);
  EXPECT_EQ(out["kernels"][0]["wrong_blocks"], 0);
  has(text("books"), "launch scale__sluice", "under the quota");
  has(text("books"), "quota 2 wanted 8 blocks 100 wrong 0");
}

TEST_F(GpuRun, SeesABlockThatDidNotRun) {
  const Outcome o = gpu("run --json --policy static --quota 2" + kernel("scale"), "FAKE_CUDA_SKIPS=7");
  ASSERT_EQ(o.exit, 1) << o.out << o.err;
  EXPECT_EQ(nlohmann::json::parse(o.out)["kernels"][0]["wrong_blocks"], 1);
}

TEST_F(GpuRun, PutsAMixUnderAServiceOfItsOwn) {
  const Outcome o = gpu("run --json --policy even --passes 30" + kernel("scale") + kernel("other"), "FAKE_CUDA_TASK_US=2000");
  ASSERT_EQ(o.exit, 0) << o.out << o.err;
  const auto out = nlohmann::json::parse(o.out);
  EXPECT_EQ(out["shares"].size(), 2U) << o.out;
  for (const char* name : {"launch scale__sluice", "launch other__sluice"}) has(text("books"), name);
}

TEST_F(GpuRun, SaysInOneLineWhatIsWrong) {
  for (const auto& [words, exit, said] : {std::tuple("--policy static --quota 99" + kernel("scale"), 2, "99 CTAs of"),
                                          {"--policy even --quota 1" + kernel("scale"), 2, "--policy static"},
                                          {kernel("absent"), 2, "absent"},
                                          {kernel("traps"), 3, "failed on the GPU"}}) {
    const Outcome o = gpu("run " + words);
    EXPECT_EQ(o.exit, exit) << words << o.err;
    has(o.err, said);
    EXPECT_EQ(std::ranges::count(o.err, '\n'), 1) << o.err;
  }
}

TEST_F(GpuRun, ExperimentsMeasureProgramsUnderSluiceRun) {
  for (const char* name : {"verify", "curves", "overhead", "preemption"}) {
    const Outcome o = gpu("experiment " + std::string(name) + " --apps SFU --repetitions 1 --window-ms 1 --out '" +
                          (folder_ / "out").string() + "'");
    ASSERT_EQ(o.exit, 0) << name << o.out << o.err;
  }
  const auto verify = line("verify"), changed = verify["exactly_once"][0];
  EXPECT_EQ(verify["small_bit_identical"], true);
  EXPECT_EQ(changed["wrong_blocks"], 0) << changed;
  EXPECT_EQ(changed["done"], changed["tasks"]);
  EXPECT_EQ(changed["bit_identical"], true);
  for (const auto& full : verify["full"]) EXPECT_EQ(full["violations"], 0) << full;
  EXPECT_EQ(verify["full"][2]["sms_exact"], 4) << "one CTA on each";
  EXPECT_EQ(line("curves")["blocks_per_second"][0].size(), 8U) << "CTAs";
  EXPECT_EQ(line("overhead")["variants"]["default"]["seconds"].size(), 3U);
  EXPECT_GT(line("preemption")["last_cta_us"].size(), 0U);
}

}  // namespace
}  // namespace sluice::test
#endif
