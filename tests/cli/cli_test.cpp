// SPDX-License-Identifier: Apache-2.0
// The command as a user meets it: exit codes, one clear line for bad input, results that survive an interrupt.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/cli/sluice_program.h"

namespace sluice::test {
namespace {

TEST_F(Sluice, PartitionPrintsTheDocumentedJson) {
  const Outcome o = sluice(partition(fermi, table2, "--pairs DXT_MVP --policy even --json"));
  ASSERT_EQ(o.exit, 0) << o.err;
  EXPECT_EQ(nlohmann::json::parse(o.out),
            nlohmann::json::parse(R"([{"kernels":["DXT","MVP"],"policy":"even","mode":"intra_sm","ctas":[4,4]}])"));
}

/// One line that names what is wrong and where to read on, as for every other bad input.
TEST_F(Sluice, RefusesAWrongCommandLineInOneLine) {
  for (const auto& [arguments, said] :
       {std::pair{"eval --machine x.toml", "error: --workload is required; see `sluice eval --help`\n"},
        std::pair{"report figures", "error: --out is required; see `sluice report figures --help`\n"},
        std::pair{"", "error: A subcommand is required; see `sluice --help`\n"}}) {
    const Outcome o = sluice(arguments);
    EXPECT_EQ(o.exit, 2) << arguments;
    EXPECT_EQ(o.err, said);
    EXPECT_EQ(o.out, "");
  }
}

/// Commands that scripts call without more.
TEST_F(Sluice, FindsWhatTheRepositoryHolds) {
  const Outcome script = sluice("sweep configs/sweeps/profile_length.toml --slurm");
  EXPECT_EQ(script.exit, 0) << script.err;
  EXPECT_NE(script.out.find("/out/profile_length/runs.sqlite' --collect"), std::string::npos) << script.out;
  const Outcome llm = sluice("sweep configs/sweeps/llm.toml --slurm");
  EXPECT_EQ(llm.exit, 0) << llm.err;
  EXPECT_NE(sluice("bench model --traces " + folder_.string()).err.find("kernelslist.g"), std::string::npos);
}

TEST_F(Sluice, PartitionKnowsTheThirtyPairs) {
  EXPECT_EQ(nlohmann::json::parse(sluice(partition(fermi, table2, "--policy even --json")).out).size(), 30U);
}

TEST_F(Sluice, PartitionKnowsTheFortySixTriples) {
  const auto size = [&](const char* mixes) {
    return nlohmann::json::parse(sluice(partition(fermi, table2, std::string("--policy even --json --pairs ") + mixes)).out)
        .size();
  };
  EXPECT_EQ(size("compute_triples"), 46U);
  EXPECT_EQ(size("triples"), 15U);
}

TEST_F(Sluice, RefusesWhatTheUnitOrAKernelCannotHave) {
  refuses("sim --workload " + table2 + " --kernels IMG_NN --monitor 2 --machine " + fermi, "--monitor: Value 2 not in range 0");
  refuses(partition(edited("configs/machines/h200.toml", "hit_latency = 120", "hit_latency = 120\nindex = \"fermi\""), table2),
          "l2.index = 'fermi'");
  refuses(partition(edited(fermi, "registers = 32768", "registers = 2000 "), table2), "one CTA needs");
}

TEST_F(Sluice, WholeGridsMayBeSampled) {
  const std::string sim = "sim --machine " + edited(fermi, "num_sms = 16", "num_sms = 1 ") + " --workload " + table2 +
                          " --kernels BFS --policy left_over --partitioner twin";
  refuses(sim + " --sample 2", "--sample");
  refuses(sim + " --whole --window 5000", "--window");
  refuses(sim + " --whole --sample 0", "--sample: Value 0 not in range 1");
  refuses(sim + " --whole --sample 3 --timeline t.json", "--sample excludes --timeline");
  const Outcome text = sluice(sim + " --whole --sample 3"), json = sluice(sim + " --whole --sample 3 --json");
  EXPECT_NE(text.out.find(" of 1954 CTAs simulated; its end is an estimate, +- "), std::string::npos) << text.out << text.err;
  const nlohmann::json kernel = nlohmann::json::parse(json.out)["per_kernel"][0];
  EXPECT_LE(kernel["sampled"]["ctas"], 1954 / 3);
  EXPECT_EQ(kernel["counters"]["ctas_completed"], 1954);
}

TEST_F(Sluice, FallsBackToSpatialWhereKernelsDoNotFitTogether) {
  const Outcome o =
      sluice(partition(edited(fermi, "cta_slots = 8", "cta_slots = 1"), table2, "--pairs DXT_MVP --policy even --json"));
  ASSERT_EQ(o.exit, 0) << o.err;
  EXPECT_EQ(nlohmann::json::parse(o.out)[0]["mode"], "spatial");
  refuses(partition(edited(fermi, "cta_slots = 8", "cta_slots = 1"), table2, "--pairs DXT_MVP --policy static --ctas 1,1"),
          "do not fit");
}

TEST_F(Sluice, RefusesUnknownNames) {
  refuses(partition(fermi, table2, "--pairs DXT_XYZ"), "kernel XYZ: not in workload table2; it has BLK");
  refuses(partition(fermi, table2, "--policy best"), "policy best: must be one of left_over");
  refuses(partition("nowhere.toml", table2), "nowhere.toml: can't be read");
}

TEST_F(Sluice, SchedulePrintsTheDocumentedJson) {
  const Outcome o = sluice("schedule --scenario " + effisha + " --scheduler piv,dprr --json");
  ASSERT_EQ(o.exit, 0) << o.err;
  const nlohmann::json runs = nlohmann::json::parse(o.out).at("runs");
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[1]["scheduler"], "dprr");
  const nlohmann::json& piv = runs[0];
  EXPECT_EQ(piv["scheduler"], "piv");
  EXPECT_EQ(piv["executor"], "fake");
  EXPECT_EQ(piv["flavour"], "hardware");
  EXPECT_NEAR(piv["antt"], 9.53, 0.01);
  EXPECT_NEAR(piv["stp"], 6.07, 0.01);
  EXPECT_NEAR(piv["makespan_ms"], 81.62, 1e-9);
  EXPECT_EQ(piv["evictions"], 5);
  EXPECT_GE(piv["decisions"], 22);
  ASSERT_EQ(piv["jobs"].size(), 11U);
  const nlohmann::json& scan = piv["jobs"][5];
  EXPECT_EQ(scan.size(), 7U);
  EXPECT_EQ(scan["name"], "Scan");
  EXPECT_EQ(scan["priority"], 5);
  EXPECT_EQ(scan["arrival_ms"], 15.0);
  EXPECT_EQ(scan["alone_ms"], 1.41);
  EXPECT_NEAR(scan["turnaround_ms"].get<double>() / 1.41, scan["ntt"], 1e-9);
  EXPECT_EQ(scan["evictions"], 0);
  EXPECT_EQ(sluice("schedule --scenario " + effisha + " --scheduler piv,dprr --json").out, o.out) << "deterministic";
}

TEST_F(Sluice, SchedulePrintsATable) {
  const Outcome o = sluice("schedule --scenario " + effisha + " --scheduler arrival,piv");
  ASSERT_EQ(o.exit, 0) << o.err;
  EXPECT_NE(o.out.find("Scan                 5      1.41    17.92  38.19"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("ANTT                                10.63   9.53"), std::string::npos) << o.out;
}

TEST_F(Sluice, ScheduleTellsItsDecisionsAndDrawsATimeline) {
  const fs::path decisions = folder_ / "decisions.jsonl", timeline = folder_ / "timeline.json";
  const std::string files = " --decisions " + decisions.string() + " --timeline " + timeline.string();
  for (int again = 0; again < 2; ++again)  // the second time in place of the first
    ASSERT_EQ(sluice("schedule --scenario " + effisha + " --scheduler piv --json" + files).exit, 0);
  std::ifstream lines(decisions);
  std::uint64_t count = 0;
  bool evicted = false;
  for (std::string line; std::getline(lines, line); ++count)
    evicted = evicted || nlohmann::json::parse(line).at("reason") == "job 3 (MD5Hash): priority 5, job 0 has 2";
  EXPECT_TRUE(evicted);
  const Outcome o = sluice("schedule --scenario " + effisha + " --scheduler piv --json");
  EXPECT_EQ(count, nlohmann::json::parse(o.out)["runs"][0]["decisions"]);

  // Every task of the 81.62 ms of work, one at a time, in nanoseconds.
  const nlohmann::json events = nlohmann::json::parse(std::ifstream(timeline));
  std::uint64_t end = 0, work = 0;
  for (const nlohmann::json& e : events) {
    if (e["ph"] != "X") continue;
    EXPECT_GE(e["ts"], end);
    end = e["ts"].get<std::uint64_t>() + e["dur"].get<std::uint64_t>();
    work += e["dur"].get<std::uint64_t>();
  }
  EXPECT_EQ(work, 81620000U);
  refuses("schedule --scenario " + effisha + " --scheduler piv,dprr" + files, "--decisions, --timeline: of one scheduler");
  refuses("schedule --scenario " + effisha + " --scheduler piv --timeline " + (folder_ / "no/such.json").string(),
          "no/such.json");
  const Outcome full = sluice("schedule --scenario " + effisha + " --scheduler piv --decisions /dev/full");
  EXPECT_EQ(full.exit, 3);
  EXPECT_NE(full.err.find("/dev/full: cannot write: No space left on device"), std::string::npos) << full.err;
}

TEST_F(Sluice, FiveSystemsOnTheSameWork) {
  const fs::path out = folder_ / "five";
  std::string report = "report five --pairs IMG_NN --scale 0.004 --out " + out.string();
  if (std::getenv("SLUICE_FULL") == nullptr) {  // three kernels arrive, not ten: each pair of them is measured on five splits
    const fs::path scenario = folder_ / "three.toml";
    std::ofstream(scenario)
        << "name = \"three\"\n[[job]]\nname = \"IMG\"\npriority = 3\n[[job]]\nname = \"NN\"\narrival_ms = 0.002\n"
           "priority = 10\n[[job]]\nname = \"KNN\"\narrival_ms = 0.004\npriority = 20\n";
    report += " --scenario " + scenario.string();
  }
  const Outcome o = sluice(report + " --json");
  ASSERT_EQ(o.exit, 0) << o.err;
  const nlohmann::json figures = nlohmann::json::parse(o.out).at("figures");
  for (const char* id : {"pairs", "arrivals"}) {
    const nlohmann::json& data = figures.at(id).at("data");
    EXPECT_EQ(data.size(), 17U);
    EXPECT_EQ(data.at("arrival").at("makespan"), 1.0);
    EXPECT_EQ(data.at("arrival").at("scenes").begin()->at("evictions"), 0);
    for (const auto& [name, row] : data.items()) {
      EXPECT_GT(row.at("stp"), 0) << name;
      EXPECT_GE(row.at("worst_ntt"), row.at("antt")) << name;
      EXPECT_GE(row.at("stalled"), 0) << name;
      EXPECT_LE(row.at("stalled").get<double>() + row.at("empty").get<double>(), 1) << name;
    }
    EXPECT_LT(data.at("piv").at("antt"), data.at("arrival").at("antt")) << id << ": the shorter job is the more important";
  }
  EXPECT_NE(sluice(report).out.find("0 runs"), std::string::npos) << "finished runs are kept";
}

TEST_F(Sluice, ScheduleRunsKernelsOfAWorkload) {
  const std::string text = edited(effisha, "\"NeuralNet\"", "\"NeuralNet\"\nkernel = \"NN\"");
  refuses("schedule --scenario " + text + " --scheduler piv --machine " + fermi + " --workload " + table2,
          "effisha_group.toml: job Sort: kernel Sort: not in workload table2");
  const fs::path file = folder_ / "two.toml";
  std::ofstream(file) << "name = 'two'\n[[job]]\nname = 'A'\nkernel = 'NN'\nalone_ms = 2\n[[job]]\nname = 'DXT'\nalone_ms = 2\n";
  const Outcome o = sluice("schedule --scenario " + file.string() + " --scheduler arrival,even,spatial --machine " + fermi +
                           " --workload " + table2 + " --json");
  ASSERT_EQ(o.exit, 0) << o.err;
  EXPECT_NEAR(nlohmann::json::parse(o.out)["runs"][0]["makespan_ms"], 4.0, 1e-6);
}

TEST_F(Sluice, ScheduleRefusesWhatItCannotDo) {
  const std::string scenario = "schedule --scenario " + effisha;
  refuses(scenario + " --scheduler piv,best", "--scheduler best: must be one of warped_slicer, ");
  refuses(scenario + " --scheduler ''", "--scheduler : must be one of warped_slicer, ");
  refuses(scenario + " --scheduler piv --executor model", "--executor model: needs --machine and --workload");
  refuses(scenario + " --scheduler piv --flavour software", "--flavour software: executor fake has hardware");
  refuses("report effisha --machine nowhere.toml --out " + (std::filesystem::temp_directory_path() / "sluice_effisha").string(),
          "nowhere.toml: can't be read");
  refuses(scenario + " --scheduler piv --time-scale 0.5", "--time-scale: executor fake takes no longer for long times");
  refuses(scenario + " --scheduler piv --machine " + fermi, "--machine and --workload: give both or neither");
  refuses("schedule --scenario " + effisha + " --scheduler piv --max-ntt 3", "--max-ntt: only scheduler adaptive");
  refuses("schedule --scenario " + effisha + " --scheduler adaptive --max-ntt 0.5", "--max-ntt: Value 0.5 not in range 1");
  refuses("schedule --scenario nowhere.toml --scheduler piv", "nowhere.toml: can't be read");
  refuses(scenario + " --scheduler kernelet --pairs nowhere.json", "nowhere.json: can't be read");
  refuses("schedule --scenario " + edited(effisha, "priority = 11", "priority = 31") + " --scheduler piv",
          "effisha_group.toml:58: job.priority = 31: must be 0..30");
  refuses("schedule --scenario " + edited(effisha, "arrival_ms = 15", "arrival_ms = -15") + " --scheduler piv",
          "job.arrival_ms = -15: must be a number, 0..1000000");
  const fs::path file = folder_ / "one.toml";
  std::ofstream(file) << "name = 'one'\n[[job]]\nname = 'DXT'\nalone_ms = 2\n";
  refuses("schedule --scenario " + file.string() + " --scheduler piv --machine " +
              edited(fermi, "registers = 32768", "registers = 200 ") + " --workload " + table2,
          "one CTA needs");
}

TEST_F(Sluice, RefusesATruncatedCsv) {
  const fs::path cut = folder_ / "cut.csv";
  ASSERT_EQ(shell("head -c 3000 data/h200_torch_ops_ncu.csv > " + cut.string()).exit, 0);
  refuses("import ncu " + cut.string(), "is the file cut off?");
}

TEST_F(Sluice, RefusesAnUnwritableFolder) {
  std::ofstream(folder_ / "file") << "x";
  refuses("eval --machine " + fermi + " --workload " + table2 + " --pairs DXT_MVP --out " + (folder_ / "file/out").string(),
          "file");
}

/// A full disk, and a machine without room for another process: not the user's input.
TEST_F(Sluice, WhatTheSystemRefusesHasACodeOfItsOwn) {
  const Outcome full = sluice(partition(fermi, table2, "--pairs DXT_MVP --policy even >/dev/full"));
  EXPECT_EQ(full.exit, 3) << full.err;
  EXPECT_EQ(full.err, "error: standard output: No space left on device\n");
  const std::string sim = "sim --machine " + fermi + " --workload " + table2 + " --kernels DXT_MVP --policy even --window 2000";
  const Outcome trace = sluice(sim + " --timeline /dev/full");
  EXPECT_EQ(trace.exit, 3) << trace.err;
  EXPECT_NE(trace.err.find("/dev/full: cannot write: No space left on device"), std::string::npos) << trace.err;
#ifndef __SANITIZE_ADDRESS__  // the sanitizers' checks of types open a pipe themselves
  const Outcome crowded = shell("(exec 3>&-; ulimit -n 4; exec '" SLUICE_BINARY "' " + sim + ")");
  EXPECT_EQ(crowded.exit, 3) << crowded.err;
  EXPECT_NE(crowded.err.find("cannot start a simulation process"), std::string::npos) << crowded.err;
#endif
}

/// A waveform is whole or not there, whatever ends its writing.
TEST_F(Sluice, AWaveformThatDoesNotFitIsNamedAndGone) {
  const std::string sim =
      "sim --machine " + fermi + " --workload " + table2 + " --kernels DXT_MVP --policy even --window 2000 --json --fst ";
  fs::create_directories(folder_ / "waves");
  const std::string file = (folder_ / "waves/a.fst").string();
  for (const auto& [limit, target, exit, said] :
       {std::tuple{"", std::string("/dev/full"), 3, "/dev/full: cannot write: No space left on device"},
        {"ulimit -f 1; ", file, 3, "a.fst: can't write the waveform: File too large"},
        {"ulimit -f 100; ", file, 3, "a.fst: can't write the waveform: File too large"},
        {"", (folder_ / "waves").string(), 2, "waves: can't write the waveform: Is a directory"},
        {"", file + " --partitioner twin", 2, "the twin has no waveform: use --partitioner rtl or both"}}) {
    const Outcome o = shell(limit + std::string("'" SLUICE_BINARY "' ") + sim + target);
    EXPECT_EQ(o.exit, exit) << o.err;
    EXPECT_NE(o.err.find(said), std::string::npos) << o.err;
    EXPECT_EQ(std::ranges::count(o.err, '\n'), 1) << o.err;
    EXPECT_TRUE(fs::is_empty(folder_ / "waves")) << limit << target;
  }
  const Outcome timeline = shell("ulimit -f 1; '" SLUICE_BINARY "' " + sim.substr(0, sim.rfind("--fst")) + "--timeline " + file);
  EXPECT_EQ(timeline.err, "error: " + file + ": cannot write: File too large\n");
  EXPECT_TRUE(fs::is_empty(folder_ / "waves"));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  EXPECT_EQ(sluice(sim + file).exit, 0);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "waves"), {}), 1);
  EXPECT_GT(fs::file_size(file), 100000U);
}

/// On a machine without the tools that build the RTL where it is first needed.
TEST_F(Sluice, AUnitThatCannotBeBuiltIsSaidBeforeAnythingRuns) {
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/none", 1);
  const std::string machine = " --machine " + edited(fermi, "num_sms = 16", "num_sms = 5"),
                    files = machine + " --workload " + table2,
                    said = "RTL for 5 SMs of 2 and 4 kernels is built where it is first needed, and can't be: cmake is not there",
                    out = (folder_ / "out").string();
  refuses("eval" + files + " --pairs DXT_MVP --policies left_over,even --window 900000 --out " + out, said);
  refuses("sim" + files + " --kernels DXT_MVP --window 900000", said);
  refuses(
      "schedule --scenario configs/scenarios/effisha_group.toml --scheduler piv --executor model --partitioner rtl --workload "
      "configs/workloads/effisha.toml" +
          machine,
      said);
  std::ofstream(folder_ / "sweep.toml")
      << "name = 't'\nworkload = '" SLUICE_SOURCE_DIR "/configs/workloads/table2.toml'\nmachines = ['" SLUICE_SOURCE_DIR
         "/configs/machines/fermi_table1.toml']\nmixes = 'DXT_MVP'\npolicies = ['even']\npartitioner = 'rtl'\nwindow = "
         "900000\n[parameters]\n\"num_sms\" = [16, 5]\n";
  refuses("sweep " + (folder_ / "sweep.toml").string() + " --out " + out, said);
  EXPECT_TRUE(!fs::exists(out) || fs::is_empty(out));
  ::setenv("PATH", path.c_str(), 1);
}

TEST_F(Sluice, HelpEndsWithTheExitCodes) {
  const std::string help = sluice("--help").out;
  EXPECT_NE(help.find("Exit codes: 0 done; 1 a check fails; 2 bad input; 3 "), std::string::npos) << help;
  EXPECT_TRUE(help.ends_with("130 interrupted.\n")) << help;
}

TEST_F(Sluice, GoesOnAfterCtrlC) {
  const std::string eval =
      "eval --machine " + fermi + " --workload " + table2 +
      " --pairs DXT_MVP --policies left_over,even,warped_slicer --window 150000 --curve-window 20000 --jobs 1 --json --out ";
  const Outcome whole = sluice(eval + (folder_ / "whole").string());
  ASSERT_EQ(whole.exit, 0) << whole.err;

  const std::string cut = (folder_ / "cut").string();
  // Ctrl-C comes once the first run is kept, however fast the machine.
  const Outcome stopped =
      shell("{ '" SLUICE_BINARY "' " + eval + cut + " & pid=$!; until '" SLUICE_BINARY "' report '" + cut +
            "' --sql 'SELECT key FROM runs' 2>/dev/null | grep -q 0; do sleep 0.02; done; kill -INT $pid; wait $pid; }");
  EXPECT_EQ(stopped.exit, 130) << stopped.err;
  EXPECT_NE(stopped.err.find("interrupted"), std::string::npos) << stopped.err;
  EXPECT_FALSE(fs::exists(fs::path(cut) / "results.json"));

  const Outcome resumed = sluice(eval + cut);
  ASSERT_EQ(resumed.exit, 0) << resumed.err;
  EXPECT_EQ(nlohmann::json::parse(resumed.out)["runs"], nlohmann::json::parse(whole.out)["runs"]);
  EXPECT_EQ(nlohmann::json::parse(resumed.out)["summary"], nlohmann::json::parse(whole.out)["summary"]);
}

/// Energy is computed from the counters of a run: another [energy] needs no new run, anything else in a machine file does.
TEST_F(Sluice, KeptRunsOutliveAChangeOfEnergyOnly) {
  const auto eval = [this](const std::string& machine) {
    return sluice("eval --machine " + machine + " --workload " + table2 +
                  " --pairs DXT_MVP --policies left_over --window 20000 --curve-window 2000 --out " + (folder_ / "out").string());
  };
  const Outcome first = eval(fermi);
  EXPECT_NE(first.out.find("(0 kept from before)"), std::string::npos) << first.out << first.err;
  const Outcome hotter = eval(edited(fermi, "sm_clock_watts = 1.953", "sm_clock_watts = 1\ndram_byte = 50"));
  EXPECT_NE(hotter.out.find("\n0 runs ("), std::string::npos) << hotter.out << hotter.err;
  const Outcome other = eval(edited(fermi, "t_wr = 12", "t_wr = 13"));
  EXPECT_NE(other.out.find("(0 kept from before)"), std::string::npos) << other.out << other.err;
}

/// Stopping runs that are already longer than the best must not change which is the best.
TEST_F(Sluice, OracleIsTheBestOfAllPartitionsThatFit) {
  const std::string files = " --machine " + fermi + " --workload " + table2;
  const auto oracle = [&](int search) {
    const Outcome o =
        sluice("eval" + files + " --pairs HOT_DXT --policies left_over,oracle --window 20000 --curve-window 1000 " +
               "--json --oracle-window " + std::to_string(search) + " --out " + (folder_ / std::to_string(search)).string());
    EXPECT_EQ(o.exit, 0) << o.err;
    return nlohmann::json::parse(o.out)["runs"][1];
  };
  double best = 0;
  for (const char* ctas :
       {"1,1", "1,2", "1,3", "1,4", "1,5", "1,6", "1,7", "2,1", "2,2", "2,3", "2,4", "2,5", "2,6", "3,1", "3,2"}) {
    const Outcome o = sluice(std::string("sim") + files +
                             " --kernels HOT_DXT --policy static --window 20000 --partitioner twin --json --ctas " + ctas);
    ASSERT_EQ(o.exit, 0) << o.err;
    best = std::max(best, nlohmann::json::parse(o.out)["ipc"].get<double>());
  }
  const auto exhaustive = oracle(20000);
  EXPECT_EQ(exhaustive["ipc"].get<double>(), best);
  EXPECT_EQ(exhaustive["candidates"], 16);
  const auto searched = oracle(5000);  // a quarter, then the best three whole
  EXPECT_EQ(searched["candidates"], 16);
  EXPECT_EQ(searched["partition"], exhaustive["partition"]);
  EXPECT_EQ(searched["ipc"], exhaustive["ipc"]);
}

/// How many run at a time, and what was kept of another search, may change which runs are stopped, and nothing else.
TEST_F(Sluice, OracleIsTheSameWhateverRanBefore) {
  const auto search = [&](int jobs, int window, const std::string& out) {
    const Outcome o =
        sluice("eval --machine " + fermi + " --workload " + table2 +
               " --pairs HOT_DXT,IMG_NN --policies oracle,left_over --window 8000 --curve-window 1000 --json --oracle-window " +
               std::to_string(window) + " --jobs " + std::to_string(jobs) + " --out " + (folder_ / out).string());
    EXPECT_EQ(o.exit, 0) << o.err;
    return nlohmann::json::parse(o.out)["runs"];
  };
  const nlohmann::json one = search(1, 2000, "one");
  EXPECT_EQ(search(8, 2000, "eight"), one);
  (void)search(2, 8000, "kept");  // every partition over the whole window
  EXPECT_EQ(search(2, 2000, "kept"), one);
  for (const auto& run : one) EXPECT_TRUE(run["stp"].is_number()) << run;

  // Runs kept of another race, stopped early there: taken for whole ones they would win.
  std::ofstream(folder_ / "forge.py") << R"(import sqlite3, sys
store = sqlite3.connect(sys.argv[1])
print(store.execute("UPDATE runs SET result = json_set(result, '$.cycles', 100, '$.kernels[0].finish_cycle', 0, "
                    "'$.kernels[1].finish_cycle', 0) WHERE name LIKE '%-raced'").rowcount)
store.commit()
)";
  const Outcome forged = shell("python3 " + (folder_ / "forge.py").string() + " " + (folder_ / "one/runs.sqlite").string());
  EXPECT_GT(std::stoi("0" + forged.out), 0) << forged.err;
  EXPECT_TRUE(search(1, 2000, "one") == one) << "kept runs of another race were believed";  // both are too long to print
}

/// What `solo_curve` runs is what the golden model decides on the curves of the same results, and Warped-Slicer is judged by it.
TEST_F(Sluice, SoloCurvesAreTheReferenceOfDecisions) {
  const std::string eval = "eval --machine " + fermi + " --workload " + table2 +
                           " --pairs HOT_DXT --window 60000 --jobs 2 --partitioner twin --out " + (folder_ / "out").string();
  const Outcome o = sluice(eval + " --policies left_over,warped_slicer,solo_curve,oracle --json");
  ASSERT_EQ(o.exit, 0) << o.err;
  const nlohmann::json results = nlohmann::json::parse(o.out);
  EXPECT_EQ(results["meta"]["curve_window_cycles"], 30000) << "half of the window";
  std::map<std::string, nlohmann::json> runs;
  for (const auto& run : results["runs"]) runs[run["policy"].get<std::string>()] = run;
  EXPECT_EQ(runs.at("solo_curve")["partition"]["mode"], "intra_sm");
  EXPECT_EQ(results["solo"].size(), 2U);
  EXPECT_EQ(results["decisions"]["warped_slicer"]["mixes"], 1);
  EXPECT_EQ(results["decisions"]["over_solo_curve"]["ratio"].get<double>(),
            runs.at("warped_slicer")["ipc"].get<double>() / runs.at("solo_curve")["ipc"].get<double>());
  // The Oracle is the best of all that ran, and says on what.
  double best = 0;
  for (const auto& [policy, run] : runs) best = std::max(best, run["ipc"].get<double>());
  EXPECT_EQ(runs.at("oracle")["ipc"].get<double>(), best);
  EXPECT_EQ(runs.at("oracle")["partitioner"], "twin");
  const Outcome again = sluice(eval + " --policies left_over,warped_slicer,solo_curve,oracle");
  EXPECT_NE(again.out.find("Warped-Slicer's decision against the solo curves': "), std::string::npos) << again.out;
  refuses("sim --machine " + fermi + " --workload " + table2 + " --kernels HOT_DXT --policy solo_curve", "use sluice eval");
}

/// A second seed repeats the policies and leaves the first one's results as they are; kept runs of both are found again.
TEST_F(Sluice, SeedsRepeatThePolicies) {
  const std::string eval = "eval --machine " + fermi + " --workload " + table2 +
                           " --pairs HOT_DXT --policies left_over,warped_slicer,solo_curve --window 40000 --curve-window 5000 "
                           "--partitioner twin --jobs 2 --out " +
                           (folder_ / "out").string();
  const Outcome one = sluice(eval + " --json");
  ASSERT_EQ(one.exit, 0) << one.err;
  const Outcome two = sluice(eval + " --json --seeds 2");
  ASSERT_EQ(two.exit, 0) << two.err;
  const nlohmann::json results = nlohmann::json::parse(two.out);
  EXPECT_EQ(results["runs"], nlohmann::json::parse(one.out)["runs"]);
  EXPECT_EQ(results["seeds"].size(), 6U);
  const auto& spread = results["spread"]["mixes"][0];
  EXPECT_LT(spread["ipc"]["warped_slicer"]["min"].get<double>(), spread["ipc"]["warped_slicer"]["max"].get<double>());
  EXPECT_EQ(spread["judged"], 2);
  const Outcome again = sluice(eval + " --seeds 1,2");
  EXPECT_NE(again.out.find("\n0 runs ("), std::string::npos) << again.out << again.err;
  EXPECT_NE(again.out.find("of 2 seeds"), std::string::npos) << again.out;
  refuses(eval + " --seeds 1,1", "seed 1 twice");
  refuses(eval + " --seeds two", "--seeds two: must be a number of seeds");
}

/// Left-Over is among what the Oracle tries: its run is that of the hardware asked for, not the search's twin.
TEST_F(Sluice, OracleLeavesTheOthersTheirPartitioner) {
  const auto left_over = [&](const std::string& policies) {
    const fs::path out = folder_ / policies;
    EXPECT_EQ(sluice("eval --machine " + fermi + " --workload " + table2 + " --pairs HOT_DXT --policies " + policies +
                     " --window 4000 --curve-window 1000 --partitioner rtl --out " + out.string())
                  .exit,
              0);
    return sluice("report " + out.string() + " --sql \"SELECT key FROM runs WHERE name = 'HOT_DXT-left_over-3-2'\"").out;
  };
  const std::string key = left_over("oracle,left_over");
  EXPECT_EQ(std::ranges::count(key, '\n'), 2) << key;
  EXPECT_EQ(key, left_over("left_over,oracle"));
}

TEST_F(Sluice, RefusesAnEvaluationOfNothing) {
  const std::string eval = "eval --machine " + fermi + " --workload " + table2 + " --out " + (folder_ / "n").string();
  refuses(eval + " --policies \"\"", "--policies");
  refuses(eval + " --pairs HOT_DXT --policies left_over,oracle --oracle-pairs IMG_XX",
          "--oracle-pairs: IMG_XX is not among the mixes");
  refuses(eval + " --pairs HOT_DXT --policies left_over --oracle-pairs HOT_DXT", "--oracle-pairs: policy oracle is not among");
}

TEST_F(Sluice, SlatesReportRefusesWhatItsTablesAreNotAbout) {
  const std::string report = "report slate --out " + (folder_ / "slate").string();
  refuses(report + " --workload " + table2, "workload table2: kernel BS: is missing");
  refuses(report + " --scenario " + effisha, "job NeuralNet: must be named PAIR.1 or PAIR.2");
  refuses("report slate", "--out is required");
}

}  // namespace
}  // namespace sluice::test
