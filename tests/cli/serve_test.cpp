// SPDX-License-Identifier: Apache-2.0
// `sluice serve` as a user runs it, with the example client.
#include <nlohmann/json.hpp>

#include "tests/cli/sluice_program.h"

namespace sluice::test {
namespace {

class Serve : public Sluice {
 protected:
  /// Runs `clients` while a daemon serves; $S is its socket. The daemon gets SIGTERM then, and its exit code is printed.
  Outcome with_daemon(const std::string& options, const std::string& clients) {
    const std::string socket = (folder_ / "s").string();
    return shell("{ export S='" + socket + "'; '" SLUICE_BINARY "' serve --socket $S --log '" + log() + "' " + options +
                 " & D=$!; while [ ! -S $S ]; do kill -0 $D || exit 9; done; " + clients +
                 "; kill -TERM $D; wait $D; echo daemon $?; ls $S; }");
  }
  [[nodiscard]] std::string log() const { return (folder_ / "log").string(); }
};

TEST_F(Serve, TheExampleClientsShareAndTheDaemonEndsCleanly) {
  const Outcome o = with_daemon("--scheduler even --time-scale 1000",
                                "'" SLUICE_CLIENT_EXAMPLE "' $S a 5 5000 100; '" SLUICE_ADAPTIVE_EXAMPLE
                                "' $S b 20000 10000; '" SLUICE_BINARY "' serve status --socket $S --json");
  EXPECT_NE(o.out.find("a: 5000 of 5000 tasks, 0 evictions\n"), std::string::npos) << o.out << o.err;
  EXPECT_NE(o.out.find("b: launch 65535 CTAs on each SM\n"), std::string::npos) << "alone: as many as fit\n" << o.out << o.err;
  EXPECT_NE(o.out.find("{\"scheduler\":\"even\",\"clients\":["), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("daemon 130\n"), std::string::npos) << o.out << o.err;
  EXPECT_FALSE(fs::exists(folder_ / "s"));
  std::ifstream lines(log());
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  const auto decision = nlohmann::json::parse(line);
  for (const char* key : {"now_ps", "events", "before", "shares", "us", "reason"}) EXPECT_TRUE(decision.contains(key)) << key;
}

TEST_F(Serve, ALogThatIsFullIsKeptOnceAndBeginsAnew) {
  std::ofstream(folder_ / "log").put('\n');
  fs::resize_file(folder_ / "log", 33U << 20U);
  const Outcome o = with_daemon("--scheduler even --time-scale 1000", "'" SLUICE_CLIENT_EXAMPLE "' $S a 5 50 100");
  EXPECT_NE(o.out.find("daemon 130\n"), std::string::npos) << o.out << o.err;
  EXPECT_EQ(fs::file_size(folder_ / "log.1"), 33U << 20U);
  EXPECT_LT(fs::file_size(folder_ / "log"), 1U << 20U);
  EXPECT_TRUE(nlohmann::json::parse(text("log").substr(0, text("log").find('\n'))).contains("shares"));
}

TEST_F(Serve, ItsPlaceIsTheUsersOwnFolder) {
  const std::string serve = "export XDG_RUNTIME_DIR='" + folder_.string() + "'; '" SLUICE_BINARY "' serve --scheduler even";
  const Outcome o =
      shell(serve + " & D=$!; while [ ! -S \"$XDG_RUNTIME_DIR/sluice.sock\" ]; do kill -0 $D || exit 9; done; '" SLUICE_BINARY
                    "' serve status; stat -c %a \"$XDG_RUNTIME_DIR/sluice.sock\"; kill -TERM $D; wait $D");
  EXPECT_EQ(o.out, "scheduler even, 0 decisions, 0 clients lost\n600\n") << o.err;
  fs::permissions(folder_, fs::perms::all);
  refuses("serve --scheduler even --socket '" + (folder_ / "s").string() + "'", "the folder must be this user's");
}

/// Voluntary switches: how often each thread of the daemon has slept and woken.
TEST_F(Serve, AnIdleDaemonUsesNoCpu) {
  const std::string look =
      "cut -d' ' -f14,15 /proc/$D/stat; cat /proc/$D/task/*/status | grep -E '^(non)?voluntary' | cksum; echo";
  const Outcome o = with_daemon(
      "--scheduler dprr", "'" SLUICE_CLIENT_EXAMPLE "' $S a 5 50 100 >/dev/null; sleep 0.2; " + look + "; sleep 1; " + look);
  const std::size_t half = o.out.find("\n\n");
  ASSERT_NE(half, std::string::npos) << o.out << o.err;
  EXPECT_EQ(o.out.substr(0, half + 2), o.out.substr(half + 2, half + 2)) << o.out;
}

/// Nobody reads its standard error: a pipe that is full, as a terminal that stands still.
TEST_F(Serve, ATerminalThatStandsStillHoldsNobodyUp) {
  const Outcome o = shell("mkfifo '" + (folder_ / "tty").string() + "'; exec 7<>'" + (folder_ / "tty").string() + "'; " + "S='" +
                          (folder_ / "s").string() +
                          "'; '" SLUICE_BINARY
                          "' serve --socket $S --scheduler piv --time-scale 1000 2>&7 & "
                          "D=$!; while [ ! -S $S ]; do kill -0 $D || exit 9; done; timeout 0.5 head -c 65536 /dev/zero >&7; "
                          "for k in 1 2 3; do timeout 20 '" SLUICE_CLIENT_EXAMPLE
                          "' $S a 5 50 100 || echo stuck; done; "
                          "wc -l <$S.log; kill -KILL $D");
  EXPECT_EQ(o.out.find("stuck"), std::string::npos) << o.out << o.err;
  EXPECT_NE(o.out.find("a: 50 of 50 tasks"), std::string::npos) << o.out << o.err;
  EXPECT_TRUE(fs::exists(folder_ / "s.log"));
}

TEST_F(Serve, ItsBenchmarkCountsDecisionsAndTheirLatency) {
  const Outcome o = sluice("bench service --clients 16 --messages 2000 --json");
  ASSERT_EQ(o.exit, 0) << o.err;
  const auto json = nlohmann::json::parse(o.out);
  EXPECT_EQ(json["messages"], 2000);
  EXPECT_GT(json["decisions"].get<int>(), 100);
  for (const char* what : {"latency_us", "scheduler_us"})
    EXPECT_LE(json[what]["p50"].get<double>(), json[what]["p99"].get<double>()) << what;
  EXPECT_GT(json["latency_us"]["p50"].get<double>(), 0);
  refuses("bench service --clients 65", "--clients");
  refuses("bench service --scheduler evn", "must be one of");
}

TEST_F(Serve, RefusesASecondDaemonInOneLine) {
  const Outcome o = with_daemon("--scheduler piv", "'" SLUICE_BINARY "' serve --socket $S; echo second $?");
  EXPECT_NE(o.out.find("second 2\n"), std::string::npos) << o.out;
  EXPECT_NE(o.err.find("another daemon serves it"), std::string::npos) << o.err;
}

TEST_F(Serve, RefusesBadInput) {
  refuses("serve --scheduler evn", "must be one of");
  refuses("serve --scheduler static", "--ctas");
  refuses("serve --scheduler adaptive", "needs the times of all kernels beforehand");
  refuses("serve --balance floor.decode=0.8", "--balance goes with --scheduler balance");
  refuses("serve --scheduler balance --balance floor.decode=2", "floor.decode = 2");
  refuses("serve --scheduler balance --balance flor.decode=0.8", "flor");
  refuses("serve --executor cuda", "--executor cuda: must be gpu or fake");
  refuses("serve --executor fake --mps", "go with --executor gpu");
  refuses("serve --executor gpu --time-scale 2", "--time-scale goes with --executor fake");
  refuses("serve --time-scale 0", "--time-scale");
  refuses("serve --executor fake --metrics 9400", "--metrics 9400: must be 127.0.0.1:PORT, or the path");
  refuses("serve status --socket " + (folder_ / "none").string(), "no service: start one with `sluice serve`");
}

}  // namespace
}  // namespace sluice::test
