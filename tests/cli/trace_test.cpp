// SPDX-License-Identifier: Apache-2.0
// `sluice trace` and `sluice bench model` as a user meets them, on small traces written here.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/sluice_program.h"
#include "tests/support.h"
#include "tests/trace/sample_traces.h"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using namespace sluice;

class TraceCommand : public test::Sluice {
 protected:
  fs::path list(const std::string& name, const std::vector<std::string>& traces) {
    fs::create_directories(folder_ / name);
    std::ofstream out(folder_ / name / "kernelslist.g");
    for (std::size_t i = 0; i < traces.size(); ++i) {
      const std::string file = "kernel-" + std::to_string(i + 1) + ".traceg";
      std::ofstream(folder_ / name / file) << traces[i];
      out << file << "\n";
    }
    return folder_ / name / "kernelslist.g";
  }
  std::pair<int, std::string> shell(const std::string& arguments, bool errors = false) {
    const test::Outcome outcome = sluice(arguments);
    return {outcome.exit, errors ? outcome.err : outcome.out};
  }
  json run(const fs::path& list, const std::string& rest = "") {
    const auto [code, out] = shell("trace " + list.string() + " --machine configs/machines/fermi_table1.toml --json " + rest);
    EXPECT_EQ(code, 0);
    return code == 0 ? json::parse(out) : json();
  }
};

TEST_F(TraceCommand, WarpsWithoutInstructionsEndAtOnce) {
  const std::vector<std::string> work{"0000 ffffffff 1 R8 FADD 2 R8 R4 0 0", "0010 ffffffff 0 EXIT 0 0 0"}, none;
  for (const auto& [first, second] : {std::pair{none, work}, std::pair{work, none}, std::pair{none, none}}) {
    const std::string cta =
        "\n#BEGIN_TB\n\nthread block = 0,0,0\n" + sample::warp(0, first) + sample::warp(1, second) + "\n#END_TB\n";
    const json out = run(list("empty", {sample::header(1, 64) + cta}));
    EXPECT_EQ(out["warp_instructions"], first.size() + second.size());
    EXPECT_EQ(out["kernels"][0]["ctas"], 1);
  }
}

TEST_F(TraceCommand, APartOfALaunchIsToldWithItsCycles) {
  const std::string cta =
      "\n#BEGIN_TB\n\nthread block = 0,0,0\n" + sample::warp(0, {"0010 ffffffff 0 EXIT 0 0 0"}) + "\n#END_TB\n";
  for (const std::string launched : {"(1,1,1)", "(3,2,1)"}) {
    const fs::path part = list("part", {"-recorded grid = " + launched + "\n" + sample::header(1, 32) + cta});
    const test::Outcome o = sluice("trace " + part.string() + " --machine configs/machines/fermi_table1.toml --json");
    ASSERT_EQ(o.exit, 0) << o.err;
    EXPECT_EQ(json::parse(o.out)["kernels"][0]["grid_ctas"], launched == "(3,2,1)" ? 6 : 1);
    EXPECT_EQ(o.err.find("1 of the launch's 6 CTAs were recorded: the cycles are not the launch's") != std::string::npos,
              launched == "(3,2,1)")
        << o.err;
  }
}

TEST_F(TraceCommand, UntilOneEndsWithTheFirstListThatIsDone) {
  const auto kernel = [](unsigned instructions) {
    std::vector<std::string> work(instructions, "0000 ffffffff 1 R8 MUFU.RCP 1 R8 0 0");
    work.push_back("0010 ffffffff 0 EXIT 0 0 0");
    return sample::header(1, 32) + sample::cta(0, work);
  };
  const fs::path shorter = list("shorter", {kernel(20)}), longer = list("longer", {kernel(10), kernel(2000), kernel(10)});
  const json out = run(shorter.string() + " " + longer.string(), "--until-one --policy even"), &kernels = out["kernels"];
  EXPECT_EQ(kernels[0]["finish_cycle"], out["cycles"]);
  EXPECT_EQ(kernels[0]["warp_instructions"], 21);
  EXPECT_EQ(kernels[3]["finish_cycle"], 0);
  EXPECT_EQ(kernels[3]["warp_instructions"], 0);
  EXPECT_EQ(run(longer, "--window 3000")["cycles"], 3000);
  EXPECT_GT(run(shorter.string() + " " + longer.string(), "--policy even")["kernels"][3]["finish_cycle"], out["cycles"]);
}

TEST_F(TraceCommand, ALongGridMayBeSampledAndAShortOneIsToldToBeWhole) {
  std::string kernel = sample::header(16384, 32);
  for (unsigned c = 0; c < 16384; ++c)
    kernel += sample::cta(
        c, {"0000 ffffffff 1 R8 MUFU.RCP 1 R8 0 0", "0010 ffffffff 1 R8 MUFU.RCP 1 R8 0 0", "0020 ffffffff 0 EXIT 0 0 0"});
  const fs::path both = list("sampled", {kernel, sample::header(1, 32) + sample::cta(0, {"0010 ffffffff 0 EXIT 0 0 0"})});
  const json whole = run(both), part = run(both, "--sample 4");
  EXPECT_FALSE(whole["kernels"][0].contains("sampled"));
  EXPECT_LE(part["kernels"][0]["sampled"]["ctas"], 16384 / 2);
  EXPECT_EQ(part["kernels"][1]["sampled"]["ctas"], 0);
  EXPECT_EQ(part["warp_instructions"], whole["warp_instructions"]);
  EXPECT_NEAR(part["cycles"].get<double>(), whole["cycles"].get<double>(), 0.02 * whole["cycles"].get<double>());
  const auto [code, out] = shell("trace " + both.string() + " --machine configs/machines/fermi_table1.toml --sample 4");
  EXPECT_NE(out.find("all 1 CTAs simulated: too few to be sampled"), std::string::npos) << out;
}

/// A request for a line on its way that may not wait with the others comes back after the fill, and hits.
TEST_F(TraceCommand, AnMshrOfTheL2HoldsAsManyRequestsAsItMay) {
  std::vector<std::string> loads;
  for (unsigned i = 0; i < 32; ++i)
    loads.push_back(fmt::format("0000 ffffffff 1 R{} LDG.E 1 R2 4 1 0x{:x} 4 0", 4 + i, 0x7f5000000000 + i * 128));
  loads.emplace_back("0010 ffffffff 0 EXIT 0 0 0");
  std::string kernel = sample::header(16, 32);  // one CTA an SM: all ask for the same lines
  for (unsigned c = 0; c < 16; ++c) kernel += sample::cta(c, loads);
  const fs::path all = list("all", {kernel});
  const auto misses = [&](const std::string& merges) {
    std::ifstream in(SLUICE_SOURCE_DIR "/configs/machines/fermi_table1.toml");
    std::string machine(std::istreambuf_iterator<char>(in), {});
    machine.replace(machine.rfind("mshr_merges = 4"), 15, "mshr_merges = " + merges);
    std::ofstream(folder_ / "machine.toml") << machine;
    const auto [code, out] =
        shell("trace " + all.string() + " --max-ctas 1 --machine " + (folder_ / "machine.toml").string() + " --json");
    EXPECT_EQ(code, 0);
    return json::parse(out)["l2_miss_rate"].get<double>();
  };
  EXPECT_NEAR(misses("1"), 1.0 / 16, 0.01);  // of the 16 that ask for a line one misses
  EXPECT_GT(misses("16"), 0.5);
}

TEST_F(TraceCommand, LaunchesShareNoLocalMemory) {
  std::vector<std::string> loads;
  for (unsigned i = 0; i < 16; ++i)
    loads.push_back(fmt::format("0000 ffffffff 1 R4 LDL 1 R2 4 1 0x{:x} 0 0", 0x7f0100000000 + i * 512));
  loads.emplace_back("0010 ffffffff 0 EXIT 0 0 0");
  const auto kernel = [&](unsigned stream) { return sample::header(1, 32, 5, stream) + sample::cta(0, loads); };
  const json alone = run(list("one", {kernel(0)})), both = run(list("two", {kernel(0), kernel(1)}));
  EXPECT_GT(alone["dram_bytes"], 0);
  EXPECT_EQ(both["dram_bytes"], 2 * alone["dram_bytes"].get<int>());
}

TEST_F(TraceCommand, PrintsTheDocumentedFields) {
  const json out = run(list("a", {sample::compute(40, 4, 50)}));
  for (const char* key : {"cycles", "core_mhz", "warp_instructions", "thread_instructions", "l1_miss_rate", "l2_miss_rate",
                          "dram_bytes", "cpu_seconds", "peak_rss_mib", "stalls", "kernels"})
    EXPECT_TRUE(out.contains(key)) << key;
  EXPECT_EQ(out["warp_instructions"], 40 * 4 * 52);
  EXPECT_EQ(out["thread_instructions"], 40 * 4 * 52 * 32);
  EXPECT_EQ(out["kernels"].size(), 1U);
  EXPECT_EQ(out["kernels"][0]["ctas"], 40);
  EXPECT_GT(out["cycles"], 0);
}

TEST_F(TraceCommand, KernelsOfAStreamFollowEachOtherAndStreamsRunTogether) {
  const json one = run(list("one", {sample::stream(32, 2, 10)}));
  const json queued = run(list("queued", {sample::stream(32, 2, 10), sample::stream(32, 2, 10)}));
  const json together = run(list("together", {sample::stream(32, 2, 10, 1), sample::stream(32, 2, 10, 2)}));
  EXPECT_LE(queued["kernels"][0]["finish_cycle"], queued["kernels"][1]["finish_cycle"]);
  EXPECT_GT(queued["cycles"], one["cycles"]);
  EXPECT_LT(together["cycles"], queued["cycles"]);
}

TEST_F(TraceCommand, DramBytesFollowTheFetchGranularityOfTheMachine) {
  const fs::path l = list("s", {sample::stream(64, 4, 10)});
  const std::uint64_t lines = 64 * 4 * 10 * 128;
  const auto bytes = [&](const char* machine) {
    const auto [code, out] = shell("trace " + l.string() + " --machine configs/machines/" + machine + ".toml --json");
    EXPECT_EQ(code, 0);
    return json::parse(out)["dram_bytes"].get<std::uint64_t>();
  };
  EXPECT_EQ(bytes("fermi_table1"), lines + 128);                     // a 128-byte burst a line, and one of code
  EXPECT_GE(bytes("fermi_accelsim"), 2 * lines);                     // a 64-byte burst for each sector of 32
  EXPECT_LE(bytes("fermi_accelsim"), 2 * lines + 16 * 3 * 2 * 128);  // and the code
}

TEST_F(TraceCommand, SweepsRunTaskByTaskAndCollect) {
  std::ofstream(folder_ / "sweep.toml")
      << "name = \"t\"\nworkload = \"" SLUICE_SOURCE_DIR "/configs/workloads/table2.toml\"\nmachines = [\"" SLUICE_SOURCE_DIR
         "/configs/machines/fermi_table1.toml\"]\nmixes = \"DXT_MVP,IMG_NN\"\npolicies = [\"left_over\", \"even\"]\nwindow = "
         "20000\n[parameters]\n\"sm.scheduler\" = [\"gto\", \"lrr\"]\n";
  const std::string sweep = "sweep " + (folder_ / "sweep.toml").string() + " --out " + (folder_ / "out").string();
  EXPECT_EQ(shell(sweep + " --task 1").first, 0);
  const auto [part, some] = shell(sweep + " --collect --json");
  EXPECT_EQ(part, 1);
  EXPECT_EQ(json::parse(some)["missing"], json::parse("[0,2,3]"));
  EXPECT_EQ(shell(sweep + " --task 1-9 --jobs 2").first, 0);
  EXPECT_NE(shell(sweep + " --jobs 2").second.find("\n4 runs (12 kept from before)"), std::string::npos);
  const std::string csv = text("out/results.csv");
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + 4 * 2);
  EXPECT_NE(csv.find("sm.scheduler='lrr'"), std::string::npos) << csv;
  const auto [code, script] = shell(sweep + " --slurm");
  EXPECT_EQ(code, 0);
  EXPECT_NE(script.find("#SBATCH --array=0-3"), std::string::npos) << script;
  const auto [code_of_other, other] = shell(sweep + " --machine configs/machines/fermi_accelsim.toml --slurm");
  EXPECT_EQ(code_of_other, 0);
  EXPECT_NE(other.find("--machine '" SLUICE_SOURCE_DIR "/configs/machines/fermi_accelsim.toml' --task"), std::string::npos);
  for (const char* none : {"4", "2-1", "-1", "x", "1-"}) EXPECT_EQ(shell(sweep + " --task " + none).first, 2) << none;

  // A sweep of equal machines under another name, with the same store, runs nothing; each has its page.
  const std::string store = (folder_ / "out/runs.sqlite").string();
  std::ofstream(folder_ / "same.toml") << test::edited(text("sweep.toml"), "\"t\"", "\"u\"");
  const std::string same =
      "sweep " + (folder_ / "same.toml").string() + " --out " + (folder_ / "same").string() + " --store " + store;
  EXPECT_NE(shell(same).second.find("\n0 runs (16 kept from before)"), std::string::npos);
  const std::string html = text("same/index.html");
  for (const char* heading : {"Pareto front", "STP by sm.scheduler", "Highest throughput"})
    EXPECT_NE(html.find(heading), std::string::npos) << heading;
  EXPECT_EQ(shell("report " + (folder_ / "out").string()).first, 0);
  const json best = json::parse(shell("report " + store +
                                      " --json --sql \"SELECT json_extract(parameters, '$.\\\"sm.scheduler\\\"') AS s, count(*) "
                                      "AS n FROM points WHERE sweep = 't' GROUP BY s\"")
                                    .second);
  EXPECT_EQ(best, json::parse(R"([{"s": "gto", "n": 4}, {"s": "lrr", "n": 4}])"));
  const auto [wrong, why] = shell("report " + store + " --sql 'DELETE FROM runs'", true);
  EXPECT_EQ(wrong, 2);
  EXPECT_NE(why.find("readonly"), std::string::npos) << why;

  // The description is edited: what is there was another sweep's.
  std::ofstream(folder_ / "sweep.toml", std::ios::app) << "\n";
  EXPECT_EQ(shell(sweep + " --collect").first, 0);  // a blank line changes nothing
  const std::string longer = test::edited(text("sweep.toml"), "20000", "21000");
  std::ofstream(folder_ / "sweep.toml") << longer;
  const auto [stale, old] = shell(sweep + " --collect --json");
  EXPECT_EQ(stale, 1);
  EXPECT_EQ(json::parse(old)["missing"], json::parse("[0,1,2,3]"));
}

TEST_F(TraceCommand, ADamagedByteIsNamedWithFileAndLine) {
  const fs::path bad = list("bad", {sample::one_warp({"0000 ff\xfe\xff 1 R8 FADD 2 R8 R4 0 0", "0010 ffffffff 0 EXIT 0 0 0"})});
  const auto [code, error] = shell("trace " + bad.string() + " --machine configs/machines/fermi_table1.toml", true);
  EXPECT_EQ(code, 2);
  EXPECT_NE(error.find("kernel-1.traceg:"), std::string::npos) << error;
  EXPECT_EQ(error.find("json.exception"), std::string::npos) << error;
  const json unknown =
      run(list("odd", {sample::one_warp({"0000 ffffffff 1 R8 FOO\xfe 2 R8 R4 0 0", "0010 ffffffff 0 EXIT 0 0 0"})}));
  EXPECT_EQ(unknown["unknown_opcodes"].size(), 1U);
}

TEST_F(TraceCommand, AReferenceThatCannotBeIsRefused) {
  const std::string header = "trace,max_ctas,cycles,core_mhz,cpu_seconds_low,cpu_seconds_high\n";
  for (const auto& [row, what] : {std::pair{"a,0,0,700,,", ":2: cycles = 0: must be more than 0"},
                                  std::pair{"a,4.7,9,700,,", ":2: max_ctas = 4.7: must be a whole number, 0..32"},
                                  std::pair{"a,0,9,700,1,", ":2: cpu_seconds_high = : must be given with cpu_seconds_low"}}) {
    std::ofstream(folder_ / "reference.csv") << header << row << "\n";
    (void)list("a", {sample::compute(1, 1, 4)});
    const auto [code, error] =
        shell("bench model --traces " + folder_.string() + " --reference " + (folder_ / "reference.csv").string(), true);
    EXPECT_EQ(code, 2);
    EXPECT_NE(error.find(what), std::string::npos) << error;
  }
}

TEST_F(TraceCommand, FiguresDrawWhatIsAskedFor) {
  const std::string figures =
      "report figures --pairs DXT_MVP,IMG_NN --window 60000 --partitioner twin --only 1,6,7b,energy --json --out " +
      (folder_ / "f").string();
  const auto [code, out] = shell(figures);
  ASSERT_EQ(code, 0);
  const json result = json::parse(out);
  for (const char* id : {"1", "6", "7b", "energy"})
    EXPECT_FALSE(result["figures"][id]["measured"].get<std::string>().empty()) << id;
  EXPECT_FALSE(result["figures"].contains("8"));
  EXPECT_FALSE(result["figures"]["6"]["data"].contains("oracle_over_left_over"));
  EXPECT_FALSE(result["figures"]["6"]["data"].contains("balance_over_left_over"));
  EXPECT_TRUE(fs::exists(folder_ / "f/index.html"));
  EXPECT_EQ(shell("report figures --only 99 --out " + (folder_ / "g").string()).first, 2);
}

/// What a figure changes in the partitioner only does not change kernels that run alone, and one scheduler is the pairs' own.
TEST_F(TraceCommand, FiguresShareTheRunsThatAreTheSame) {
  const fs::path out = folder_ / "f";
  const auto [code, text] =
      shell("report figures --pairs DXT_HOT --window 12000 --partitioner twin --only 10a,10b --jobs 2 --out " + out.string());
  ASSERT_EQ(code, 0);
  EXPECT_NE(text.find("(0 kept from before)"), std::string::npos) << text;
  const json runs =
      json::parse(shell("report " + out.string() + " --json --sql 'SELECT name, count(*) AS n FROM runs GROUP BY name'").second);
  const auto of = [&](const char* name) {
    for (const json& row : runs)
      if (row["name"] == name) return row["n"].get<int>();
    return 0;
  };
  EXPECT_EQ(of("solo-HOT"), 3) << "one each of three warp schedulers; gto is the machine's own: " << runs;
  EXPECT_EQ(of("DXT_HOT-dynamic_mode-twin"), 8) << "and of five settings of the partitioner: " << runs;
  std::ifstream in(out / "figures.json");
  EXPECT_TRUE(json::parse(in)["meta"].contains("host_cpu_seconds"));
  EXPECT_EQ(shell("report figures --only 6 --oracle-window 5000 --out " + out.string()).first, 2);
}

/// Even is one of the partitions that the Oracle tries.
TEST_F(TraceCommand, FigureOfTriplesHasTheBestPartitionWhereAskedFor) {
  const auto [code, out] = shell(
      "report figures --triples MVP_DXT_IMG --window 2000 --partitioner twin --only 8,guard --oracle --balance --json --out " +
      (folder_ / "f").string());
  ASSERT_EQ(code, 0);
  const json figures = json::parse(out)["figures"], data = figures["8"]["data"];
  EXPECT_GT(figures["guard"]["data"]["over_even"]["ipc"].get<double>(), 0);
  const json runs =
      json::parse(shell("eval --machine configs/machines/fermi_table1.toml --workload configs/workloads/table2.toml "
                        "--pairs MVP_DXT_IMG --policies left_over,even --window 2000 --partitioner twin --json --out " +
                        (folder_ / "e").string())
                      .second)["runs"];
  EXPECT_GT(data["balance_over_left_over"].get<double>(), 0);
  EXPECT_GE(data["oracle_over_left_over"].get<double>(), runs[1]["ipc"].get<double>() / runs[0]["ipc"].get<double>());
}

TEST_F(TraceCommand, MaxCtasLimitsResidency) {
  const fs::path l = list("a", {sample::compute(64, 2, 100)});
  EXPECT_GT(run(l, "--max-ctas 1")["cycles"], run(l)["cycles"]);
}

TEST_F(TraceCommand, EveryPolicyRunsEveryInstruction) {
  const fs::path l = list("pair", {sample::compute(40, 4, 50, 1), sample::stream(40, 4, 10, 2)});
  for (const char* policy : {"left_over", "fcfs", "even", "spatial", "warped_slicer"})
    EXPECT_EQ(run(l, std::string("--policy ") + policy)["warp_instructions"], 40 * 4 * (52 + 21)) << policy;
}

TEST_F(TraceCommand, ABrokenTraceIsRefusedInTheMiddleOfARun) {
  std::string text = sample::compute(40, 4, 50);
  text.resize(text.size() * 3 / 4);
  const fs::path l = list("cut", {text});
  const auto [code, err] = shell("trace " + l.string() + " --machine configs/machines/fermi_table1.toml --json", true);
  EXPECT_EQ(code, 2);
  EXPECT_NE(err.find("kernel-1.traceg:"), std::string::npos) << err;
  EXPECT_EQ(std::ranges::count(err, '\n'), 1) << err;
}

TEST_F(TraceCommand, AnUnknownOpcodeIsNamedOnceAndCounted) {
  const fs::path l = list("frob", {sample::one_warp({"0000 ffffffff 0 FROB 0 0 0", "0000 ffffffff 0 FROB 0 0 0"})});
  EXPECT_EQ(run(l)["unknown_opcodes"]["FROB"], 2);
  const auto [code, err] = shell("trace " + l.string() + " --machine configs/machines/fermi_table1.toml", true);
  EXPECT_EQ(code, 0);
  EXPECT_NE(err.find("FROB is not known: 2 instructions"), std::string::npos) << err;
  EXPECT_EQ(std::ranges::count(err, '\n'), 1) << err;
}

TEST_F(TraceCommand, BenchReportsEveryFolderAndItsReference) {
  list("a", {sample::compute(40, 4, 50)});
  list("b", {sample::stream(40, 4, 10)});
  std::ofstream(folder_ / "ref.csv")
      << "trace,max_ctas,cycles,core_mhz,cpu_seconds_low,cpu_seconds_high\na,0,1000,700,1,2\na,1,2000,700,,\n";
  const auto [code, out] =
      shell("bench model --traces " + folder_.string() + " --machine configs/machines/fermi_table1.toml --reference " +
            (folder_ / "ref.csv").string() + " --json");
  ASSERT_EQ(code, 0);
  const json result = json::parse(out);
  EXPECT_EQ(result["runs"].size(), 3U);
  EXPECT_GT(result["suite"]["cpu_seconds"], 0);
  EXPECT_NEAR(result["runs"][0]["reference"]["cycle_error"].get<double>(), result["runs"][0]["cycles"].get<double>() / 1000 - 1,
              1e-9);
}

}  // namespace
