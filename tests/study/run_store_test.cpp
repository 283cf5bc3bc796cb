// SPDX-License-Identifier: Apache-2.0
// Kept runs: found by what they depend on, failures among them, and taken in from others.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "study/run_cache.h"
#include "study/run_specs.h"
#include "sw/io/atomic_file.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"
#include "tests/support.h"

namespace sluice {
namespace {

const std::filesystem::path kRoot = SLUICE_SOURCE_DIR;

class Runs : public test::Scratch {
 protected:
  /// @param fail  in the process of the run
  static NamedRun named(const std::string& name, void (*fail)() = nullptr) {
    NamedRun run{name, "text", solo_spec(machine(), read_workload(kRoot / "configs/workloads/table2.toml").kernels[0], 2000, 1)};
    if (fail != nullptr)
      run.spec.make_scheduler = [fail]() -> std::unique_ptr<IScheduler> {
        fail();
        return {};
      };
    return run;
  }
  static MachineConfig machine() {
    MachineConfig machine = read_machine(kRoot / "configs/machines/fermi_table1.toml");
    machine.num_sms = 1;
    return machine;
  }
  /// Of a batch that has made what is missing. @return the error of one that failed
  std::string outcome(RunBatch& batch, const NamedRun& run) {
    try {
      const std::vector<RunResult> results = batch.find({run});
      return results.at(0).total.warp_instructions > 0 ? "done" : "empty";
    } catch (const RunBatch::Missing&) {
      return "missing";
    } catch (const CheckFailed& e) {
      return e.what();
    }
  }
  const std::filesystem::path store_ = folder_ / "runs.sqlite";
};

TEST_F(Runs, AFailureStaysAndTheOthersGoOn) {
  const NamedRun good = named("good"), bad = named("bad", [] { throw CheckFailed("differs"); }),
                 lost = named("lost", [] { std::raise(SIGKILL); });
  {
    RunStore store(store_);
    RunBatch batch(store, true);
    EXPECT_THROW((void)batch.find({bad, lost, good, good}), RunBatch::Missing);
    const std::size_t before = host_totals().runs;
    EXPECT_TRUE(batch.make(2, "test"));
    EXPECT_EQ(host_totals().runs, before + 3) << "one that is asked for twice is made once";
    EXPECT_EQ(outcome(batch, good), "done");
    EXPECT_EQ(outcome(batch, bad), "bad: differs");
    EXPECT_NE(outcome(batch, lost).find("lost: a simulation process ended without a result (signal 9)"), std::string::npos);
    EXPECT_FALSE(batch.make(2, "test"));
  }
  RunStore store(store_);
  RunBatch batch(store, true);
  EXPECT_EQ(outcome(batch, good), "done");
  EXPECT_EQ(outcome(batch, bad), "bad: differs");
  EXPECT_EQ(outcome(batch, lost), "missing") << "what the system refused may pass now";
  NamedRun other = good;
  other.fingerprint = "another text";
  EXPECT_EQ(outcome(batch, other), "missing");
  RunBatch strict(store, false);
  EXPECT_EQ(outcome(strict, bad), "missing") << "an evaluation tries again";
  EXPECT_THROW(strict.make(1, "test"), CheckFailed);
}

TEST_F(Runs, AreTakenInFromHelpersOnce) {
  for (const char* name : {"a", "b"}) {
    RunStore helper(store_, RunStore::Role::Helper);
    RunBatch batch(helper, true);
    EXPECT_EQ(outcome(batch, named("a")), *name == 'a' ? "missing" : "done");
    EXPECT_EQ(outcome(batch, named(name)), "missing");
    EXPECT_TRUE(batch.make(1, "test"));
    EXPECT_EQ(outcome(batch, named(name)), "done");
  }
  EXPECT_FALSE(std::filesystem::exists(store_));
  write("inbox/torn.json", "[1, 2");
  RunStore store(store_);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "inbox"));
  RunBatch batch(store, true);
  EXPECT_EQ(outcome(batch, named("a")), "done");
  EXPECT_EQ(outcome(batch, named("b")), "done");
  RunStore helper(store_, RunStore::Role::Helper);
  RunBatch other(helper, true);
  EXPECT_EQ(outcome(other, named("a")), "done") << "a helper reads what its owner has";
}

TEST_F(Runs, ADamagedRowIsRunAgainAndAStrangersFileRefused) {
  {
    RunStore store(store_);
    (void)store.database().query("INSERT INTO runs VALUES(?, 'x', 'done', '', 0, '{\"cycles\"')", {named("a").key()});
    RunBatch batch(store, true);
    EXPECT_EQ(outcome(batch, named("a")), "missing");
    (void)store.database().query("PRAGMA user_version = 0");
  }
  EXPECT_EQ(test::refusal([&] { RunStore store(store_); }), store_.string() + ": is a database, but no store of runs");
  const auto text = write("text.sqlite", std::string(5000, 'x'));
  EXPECT_EQ(test::refusal([&] { RunStore store(text); }), text.string() + ": file is not a database");
}

TEST_F(Runs, EqualMachinesAreOneWhateverTheirNameAndEnergy) {
  const std::string text = read_file(kRoot / "configs/machines/fermi_table1.toml");
  const auto plain = machine_text(write("a.toml", text));
  EXPECT_EQ(machine_text(write("b.toml", "# another\n" + test::edited(text, "\"fermi_table1\"", "\"mine\""))), plain);
  EXPECT_NE(machine_text(write("c.toml", test::edited(text, "num_sms = 16", "num_sms = 15"))), plain);
  EXPECT_EQ(plain.find("energy"), std::string::npos);
}

/// An owner that outgrows the disk says so.
TEST_F(Runs, AFullDiskIsTheSystems) {
  RunStore store(store_);
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{60000, RLIM_INFINITY};
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  setrlimit(RLIMIT_FSIZE, &small);
  const NamedRun run = named("a");
  EXPECT_THROW(
      {
        for (int i = 0; i < 100; ++i)
          store.keep({fmt::format("{}", i), std::string(100, 'x'), run.spec}, std::string(5000, 'x'), 0, nullptr);
      },
      SystemError);
  setrlimit(RLIMIT_FSIZE, &before);
}

}  // namespace
}  // namespace sluice
