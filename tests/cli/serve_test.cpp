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
  const Outcome o =
      with_daemon("--scheduler even --time-scale 1000",
                  "'" SLUICE_CLIENT_EXAMPLE "' $S a 5 5000 100; '" SLUICE_BINARY "' serve status --socket $S --json");
  EXPECT_NE(o.out.find("a: 5000 of 5000 tasks, 0 evictions\n"), std::string::npos) << o.out << o.err;
  EXPECT_NE(o.out.find("{\"scheduler\":\"even\",\"clients\":["), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("daemon 130\n"), std::string::npos) << o.out << o.err;
  EXPECT_FALSE(fs::exists(folder_ / "s"));
  std::ifstream lines(log());
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  const auto decision = nlohmann::json::parse(line);
  for (const char* key : {"now_ps", "events", "before", "shares", "us", "reason"}) EXPECT_TRUE(decision.contains(key)) << key;
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
  refuses("serve --executor gpu", "--executor gpu: must be fake");
  refuses("serve --time-scale 0", "--time-scale");
  refuses("serve status --socket " + (folder_ / "none").string(), "no service: start one with `sluice serve`");
}

}  // namespace
}  // namespace sluice::test
