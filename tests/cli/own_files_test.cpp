// SPDX-License-Identifier: Apache-2.0
// Files of one's own: workloads, curves, scenarios, sweeps, and what each command says before it runs.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <tuple>

#include "tests/cli/sluice_program.h"
#include "tests/support.h"

namespace sluice::test {
namespace {

TEST_F(Sluice, AWorkloadToStartFromIsRightAndIsNotOverwritten) {
  const std::string file = (folder_ / "mine.toml").string();
  EXPECT_EQ(sluice("workload new " + file + " --kernels GEMM,COPY").exit, 0);
  const Outcome checked = sluice("workload check " + file + " --machine " + fermi);
  EXPECT_NE(checked.out.find("COPY: compute, 1000 CTAs of 256 threads, 4 CTAs fit on an SM of "), std::string::npos)
      << checked.out;
  EXPECT_EQ(sluice(partition(fermi, file)).exit, 0);
  refuses("workload new " + file, "mine.toml: exists");
  for (const char* names : {"A_B", "A,A", "''", "A,,B"}) {
    refuses("workload new " + file + "2 --kernels " + names, "--kernels ");
    EXPECT_FALSE(fs::exists(file + "2")) << names;
  }
}

TEST_F(Sluice, AKernelNeedsANameAGridAndResources) {
  const std::string least = "[[kernel]]\nname = 'A'\ngrid_ctas = 64\nblock_threads = 128\nregisters_per_cta = 4096\n";
  std::ofstream(folder_ / "least.toml") << least;
  std::ofstream(folder_ / "bad.toml") << least << "[[kernel]]\nname = 'B'\n[[kernel]]\nname = 'C'\ngrid_cta = 1\n";
  const std::string file = (folder_ / "least.toml").string();
  EXPECT_EQ(sluice("sim --machine " + fermi + " --workload " + file + " --kernels A --policy left_over --window 3000").exit, 0);
  const std::string lacks = "kernel.block_threads, kernel.registers_per_cta: are missing";
  const std::string bad = "workload check " + (folder_ / "bad.toml").string();
  refuses(bad, "bad.toml:6: kernel.grid_ctas, " + lacks + "; ");
  refuses(bad, "bad.toml:10: kernel.grid_cta: unknown key, and kernel.grid_ctas, " + lacks + "; allowed: ");
  refuses(bad, "; nearest: grid_ctas");
}

TEST_F(Sluice, CurvesDecideOnPaperAndByTheCore) {
  const std::string curves = (folder_ / "curves.csv").string();
  std::ofstream(curves) << "\xef\xbb\xbf"
                           "CTAs, DXT,MVP \r\n1,1.0, 1.6\r\n2,2.0,2.0\n3,2.9,1.5\n4,3.6,1.2\n5,4.0,\n6,4.1,\n";
  const std::string of_pair = partition(fermi, table2, "--pairs DXT_MVP --json --curves " + curves);
  nlohmann::json by_core;
  for (const char* partitioner : {"paper", "rtl", "twin"}) {
    const Outcome o = sluice(of_pair + " --partitioner " + partitioner);
    const nlohmann::json rows = nlohmann::json::parse(o.out);
    ASSERT_EQ(rows.size(), 6U) << o.err;
    EXPECT_EQ(rows[4]["policy"], "warped_slicer");
    EXPECT_EQ(rows[4]["ctas"], (std::vector{6, 2})) << partitioner;
    EXPECT_EQ(rows[4]["ctas"], rows[5]["ctas"]) << "solo_curve: the curves have no dips that matter";
  }
  refuses(of_pair + " --policy oracle", "policy oracle: its partition needs a run (sluice sim, sluice eval); here: ");
  refuses(partition(fermi, table2, "--pairs DXT_MVP --partitioner rtl"), "--partitioner: the unit decides over --curves");
  for (const auto& [text, said] : {std::pair{"CTAs,DXT\n", ":1: needs a heading CTAs,A,B with the kernels' names"},
                                   {"CTAs;DXT;MVP\n1;0,4;0,3\n", ", commas between"},
                                   {"CTAs,DXT,DXT\n1,2,3\n", ":1: column 3: DXT comes twice"},
                                   {"CTAs,DXT,\n1,2,3\n", ":1: column 3:  has no name"},
                                   {"CTAs,DXT\n1,0x1\n", ":2: 0x1: must be an IPC"},
                                   {"CTAs,DXT\n1,2\n3,3\n", ":3: 3: the CTA count here must be 2"},
                                   {"CTAs,DXT\n1,-2\n", ":2: -2: must be an IPC, 0 or more"},
                                   {"CTAs,DXT\n1,2,3\n", ":2: 3 fields: the heading has 2"},
                                   {"CTAs,DXT,MVP\n1,2,\n2,2,2\n", ":3: MVP: no IPC with fewer CTAs"},
                                   {"CTAs,DXT\n1,2\n", "kernel MVP: no curve: the heading must have its name"}}) {
    std::ofstream(curves) << text;
    refuses(of_pair, said);
  }
}

TEST_F(Sluice, ASchedulerWithoutTheRatesItDecidesBySaysSo) {
  const std::string schedule = "schedule --scenario " + effisha + " --scheduler ";
  for (const char* name : {"slate", "slate_symmetric", "slate_measured"})
    refuses(schedule + name,
            std::string("scheduler ") + name + ": decides by rates that executor fake does not have: use --executor model");
  for (const char* name : {"kernelet", "kernelet_opt", "monte_carlo"})
    refuses(schedule + name, std::string("scheduler ") + name + ": decides by a table of pairs: give one with --pairs");
}

TEST_F(Sluice, ABoundOfTheNttThatIsNotKeptIsSaid) {
  const std::string schedule = "schedule --scenario " + effisha + " --scheduler arrival,adaptive --max-ntt ";
  EXPECT_NE(sluice(schedule + "1.01").err.find("--max-ntt 1.01: not kept: the NTT of job "), std::string::npos);
  EXPECT_EQ(sluice(schedule + "1e9").err, "");
}

TEST_F(Sluice, SchedulesOnTheModelKeepTheirRuns) {
  std::ofstream(folder_ / "s.toml") << "name = 'S'\n[[job]]\nname = 'A'\nkernel = 'A'\narrival_ms = 0\n";
  std::ofstream(folder_ / "w.toml") << "[[kernel]]\nname = 'A'\ngrid_ctas = 64\nblock_threads = 128\nregisters_per_cta = 4096\n";
  const std::string keep = (folder_ / "kept").string(),
                    schedule = "schedule --executor model --partitioner twin --scheduler arrival --json --machine " + fermi +
                               " --workload " + (folder_ / "w.toml").string() + " --scenario " + (folder_ / "s.toml").string() +
                               " --keep ";
  const Outcome first = sluice(schedule + keep), again = sluice(schedule + keep);
  EXPECT_EQ(first.exit, 0) << first.err;
  EXPECT_EQ(std::distance(fs::directory_iterator(keep), {}), 2) << "alone, and the schedule";
  EXPECT_NE(first.err, "");
  EXPECT_EQ(again.err, "") << "nothing runs";
  EXPECT_EQ(first.out, again.out);
  refuses("schedule --scenario " + effisha + " --scheduler piv --keep " + keep, "--keep: executor fake runs at once");
}

/// Whatever is wrong is said before anything runs: no progress comes before it.
TEST_F(Sluice, ChecksCommandLineAndFilesBeforeTheFirstRun) {
  const std::string out = " --out " + (folder_ / "out").string(), nowhere = (folder_ / "nowhere").string();
  const std::string figures = "report figures --pairs DXT_MVP --window 3000 --partitioner twin" + out;
  refuses(figures + " --only 6,larger_sm --large-machine " + nowhere, "nowhere");
  refuses(figures + " --only 6,monitor --phase-workload " + nowhere, "nowhere");
  refuses(figures + " --only 6,8 --triples DXT_MVP_XX", "XX");
  std::ofstream(folder_ / "kept.json") << "{\"meta\": {}}";
  refuses("report five --keep " + (folder_ / "kept.json").string() + out, "the kept figures");
  refuses("report kernelet --configs " + nowhere + out, "nowhere");
  const std::string schedule = "schedule --executor model --machine " + fermi + " --workload " + table2 +
                               " --scenario configs/scenarios/table2_priorities.toml --scheduler arrival,";
  refuses(schedule + "kernelet", "give one with --pairs");
  refuses(schedule + "slate --flavour software", "scheduler slate: must give the GPU to one job at a time");
}

/// A machine on which nothing starts within the window: its points fail, the others are there, and nothing is run again.
TEST_F(Sluice, ASweepGoesOnAfterAFailureAndSaysSo) {
  std::ofstream(folder_ / "sweep.toml") << "name = 'f'\nworkload = '" SLUICE_SOURCE_DIR
                                           "/configs/workloads/table2.toml'\nmachines = ['" SLUICE_SOURCE_DIR
                                           "/configs/machines/fermi_table1.toml']\nmixes = 'DXT_MVP'\npolicies = ['left_over', "
                                           "'even']\nwindow = 2000\n[parameters]\nnum_sms = [2]\n\"sm.cta_launch_latency\" = "
                                           "[20, 5000]\n";
  const std::string sweep = "sweep " + (folder_ / "sweep.toml").string() + " --jobs 1 --out " + (folder_ / "out").string();
  const Outcome first = sluice(sweep), again = sluice(sweep);
  for (const Outcome& o : {first, again}) {
    EXPECT_EQ(o.exit, 1) << o.out << o.err;
    EXPECT_NE(o.out.find("2 points failed, the first with: kernel DXT: issues nothing within 2000 cycles"), std::string::npos)
        << o.out;
  }
  EXPECT_NE(again.out.find("\n0 runs ("), std::string::npos) << again.out;
  EXPECT_EQ(std::ranges::count(text("out/results.csv"), '\n'), 1 + 2);
  EXPECT_NE(text("out/index.html").find("2 points failed"), std::string::npos);
}

TEST_F(Sluice, ASweepThatIsNotWhatItsAuthorMeantIsRefusedBeforeItRuns) {
  const std::string sweep = "name = 't'\nworkload = '" SLUICE_SOURCE_DIR
                            "/configs/workloads/table2.toml'\nmachines = "
                            "['" SLUICE_SOURCE_DIR
                            "/configs/machines/fermi_table1.toml']\nmixes = 'DXT_MVP'\npolicies = "
                            "['even']\nseeds = [1, 2]\n[parameters]\nnum_sms = [8, 0x10]\n";
  for (const auto& [from, to, said] :
       {std::tuple("['even']", "['even', 'even']", ":5: policies = [ 'even', 'even' ]: \"even\" comes twice"),
        {"[1, 2]", "[1, 1]", ":6: seeds = [ 1, 1 ]: 1 comes twice"},
        {"'DXT_MVP'", "'DXT_MVP,DXT_MVP'", ":4: mixes = 'DXT_MVP,DXT_MVP': \"DXT_MVP\" comes twice"},
        {"'DXT_MVP'", "'DXT_XX'", ":4: mixes = 'DXT_XX': kernel XX: not in workload"},
        {"[8, 0x10]", "[16, 0x10]", ": 16 comes twice"},
        {"[8, 0x10]", "[1979-05-27]", ": num_sms: must be words, numbers, true or false"},
        {"num_sms", "\"sm.threads.x\"", "/fermi_table1.toml has no such table"}}) {
    std::ofstream(folder_ / "sweep.toml") << test::edited(sweep, from, to);
    refuses("sweep " + (folder_ / "sweep.toml").string() + " --out " + (folder_ / "out").string(), said);
  }
}

TEST_F(Sluice, WhatAnOptionHasNoEffectOnIsSaid) {
  const std::string files = " --machine " + fermi + " --workload " + table2;
  refuses("sim --kernels DXT_MVP --policy even --ctas 1,1" + files, "--ctas 1,1: none of the policies takes counts");
  refuses(partition(fermi, table2, "--pairs DXT_MVP --policy even,fcfs --ctas 1,1"), "--ctas 1,1: none of the policies");
  refuses("eval --pairs DXT_MVP --policies even --out ''" + files, "--out: must be a folder");
}

TEST_F(Sluice, RefusesChurnOutOfItsRange) {
  const std::string scenario = "schedule --scenario " + effisha + " --scheduler piv";
  refuses(scenario + " --churn 15", "--churn: executor fake has no partition unit");
  refuses(scenario + " --churn 20", "--churn: Value 20 not in range 0");
}

TEST_F(Sluice, SchedulesEveryPairOfAFileOfPairs) {
  const fs::path file = folder_ / "pairs.toml";
  std::ofstream(file) << "name = 'S'\ntask_us = 100\npair_gap_ms = 1\n[[job]]\nname = 'A'\nalone_ms = 2\n[[job]]\nname = 'B'\n"
                         "alone_ms = 3\n";
  const Outcome o = sluice("schedule --scenario " + file.string() + " --scheduler arrival,piv --json");
  ASSERT_EQ(o.exit, 0) << o.err;
  const nlohmann::json runs = nlohmann::json::parse(o.out).at("runs");
  ASSERT_EQ(runs.size(), 6U) << "three orders, two schedulers";
  EXPECT_EQ(runs[2]["jobs"][0]["name"], "B");
  EXPECT_EQ(runs[2]["jobs"][1]["arrival_ms"], 1.0);
  const Outcome table = sluice("schedule --scenario " + file.string() + " --scheduler arrival,piv");
  for (const char* title : {"A_B\n", "B_A\n", "A_B_together\n"}) EXPECT_NE(table.out.find(title), std::string::npos) << table.out;
}

TEST_F(Sluice, ReportSimRefusesWhatItCannotUse) {
  const std::string report = "report sim --out " + (folder_ / "sim").string();
  refuses(report + " --scenario " + effisha, "effisha_group.toml: pair_gap_ms is missing");
  refuses(report + " --workload " + table2, "sim_pairs.toml: job BO: kernel BO: not in workload table2");
  const std::string last = "[kernel.launch_reference]\ntime_ms = 0.1123\nissue_utilization = 0.348\n";
  refuses(report + " --workload " + edited("configs/workloads/sim.toml", last, ""), "kernel.launch_reference is missing");
  refuses(report + " --equal-ms -1", "--equal-ms");
}

TEST_F(Sluice, CalibrateRefusesAWorkloadOfTwoKindsOfReference) {
  const std::string mixed =
      edited("configs/workloads/sim.toml", "[kernel.launch_reference]\ntime_ms = 0.08821\nissue_utilization = 0.275\n", "");
  refuses("calibrate --machine configs/machines/k40.toml --workload " + mixed, "kernel FD: kernel.launch_reference is missing");
}

}  // namespace
}  // namespace sluice::test
