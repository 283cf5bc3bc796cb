// SPDX-License-Identifier: Apache-2.0
// The MPS server with a control daemon of ours in the real one's place.
#include "sw/service/mps.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <numeric>

#include "tests/support.h"

namespace sluice::service {
namespace {

namespace fs = std::filesystem;

class Mps : public test::Scratch {
 protected:
  void TearDown() override { ::setenv("PATH", before_.c_str(), 1); }
  /// @param script  stands for nvidia-cuda-mps-control
  void install(const std::string& script) {
    fs::permissions(write("bin/nvidia-cuda-mps-control", "#!/bin/sh\n" + script), fs::perms::owner_all);
    ::setenv("PATH", ((folder_ / "bin").string() + ":" + before_).c_str(), 1);
  }
  std::string read(const char* name) {
    std::ifstream in(folder_ / name);
    std::string word;
    in >> word;
    return word;
  }

  const std::string before_ = std::getenv("PATH");
};

/// With a server that would outlive it, and that does not listen to SIGTERM.
constexpr const char* kControl =
    "test \"$1\" = -f || exit 3\n"
    "(trap '' TERM; exec sleep 600) &\n"
    "echo $! > \"$CUDA_MPS_PIPE_DIRECTORY/../server\"\n"
    "touch \"$CUDA_MPS_PIPE_DIRECTORY/control\"\n"
    "wait\n";

TEST_F(Mps, StartsRestartsAndLeavesNothingBehind) {
  install(kControl);
  pid_t server = 0;
  {
    MpsServer mps(folder_ / "s.mps");
    EXPECT_EQ(fs::status(folder_ / "s.mps").permissions(), fs::perms::owner_all);
    const pid_t first = mps.process();
    const pid_t first_server = std::stoi(read("server"));
    EXPECT_EQ(::kill(first_server, 0), 0);
    const auto begin = std::chrono::steady_clock::now();
    mps.restart();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(1500));
    EXPECT_NE(mps.process(), first);
    EXPECT_NE(::kill(first, 0), 0);
    server = std::stoi(read("server"));
    EXPECT_NE(server, first_server);
  }
  EXPECT_FALSE(fs::exists(folder_ / "s.mps"));
  for (int k = 0; k < 500 && fs::exists("/proc/" + std::to_string(server) + "/exe"); ++k) ::usleep(1000);
  EXPECT_FALSE(fs::exists("/proc/" + std::to_string(server) + "/exe")) << "a server was left";
}

/// Answers with what lies in `servers`, `state` and `clients`.
constexpr const char* kAnswers =
    "at=$CUDA_MPS_PIPE_DIRECTORY\n"
    "[ \"$1\" != -f ] || { touch $at/control; exec sleep 600; }\n"
    "read what server\n"
    "case $what in get_server_list) cat $at/../servers;; get_server_status) cat $at/../state;; get_client_list) cat "
    "$at/../clients;; esac\n";

TEST_F(Mps, KnowsWhetherADeathTookTheOthersContexts) {
  install(kAnswers);
  const MpsServer mps(folder_ / "s.mps");
  const auto lost = [&](const char* servers, const char* state, const char* clients) {
    write("servers", servers);
    write("state", state);
    write("clients", clients);
    return mps.lost_contexts(42);
  };
  EXPECT_FALSE(lost("77\n", "ACTIVE\n", "41\n43\n"));
  EXPECT_TRUE(lost("77\n", "FAULT\n", "41\n"));
  EXPECT_TRUE(mps.lost_contexts(0)) << "a client that lives";
  EXPECT_TRUE(lost("77\n", "ACTIVE\n", "41\n42\n")) << "it does not go away";
  EXPECT_FALSE(lost("\n", "", "")) << "no server runs";
  EXPECT_TRUE(lost("", "", "")) << "no answer";
  EXPECT_FALSE(mps.hangs(42)) << "no server, none is to be started anew";
  EXPECT_TRUE(lost("Cannot find MPS control daemon process\n", "", ""));
}

TEST_F(Mps, KnowsThatADeathLeftItHanging) {
  install(kAnswers);
  const MpsServer mps(folder_ / "s.mps");
  write("servers", "77\n");
  write("state", "ACTIVE\n");
  write("clients", "41\n");
  EXPECT_FALSE(mps.hangs(42));
  write("clients", "41\n42\n");
  EXPECT_TRUE(mps.hangs(42)) << "it does not go away";
  write("clients", "");
  write("state", "INITIALIZING\n");
  EXPECT_TRUE(mps.hangs(42)) << "it never comes";
  std::thread begins([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    write("state", "ACTIVE\n");
  });
  EXPECT_FALSE(mps.hangs(42)) << "it comes late";
  begins.join();
  install(std::string(kAnswers) + "[ $what != get_client_list ] || exec sleep 600\n");
  write("state", "ACTIVE\n");
  EXPECT_TRUE(mps.hangs(42)) << "its server does not answer";
}

TEST_F(Mps, SaysThatItIsNotThere) {
  ::setenv("PATH", (folder_ / "bin").c_str(), 1);
  EXPECT_THROW(MpsServer(folder_ / "s.mps"), InputError);
  install("exit 1\n");
  EXPECT_THROW(MpsServer(folder_ / "s.mps"), InputError);
  EXPECT_FALSE(fs::exists(folder_ / "s.mps"));
}

/// What the programs of a service get that start one after another, and whether what they hold together fits.
int programs_take(const fs::path& folder, std::size_t programs) {
  constexpr unsigned kOfAServer = 124;
  std::vector<unsigned> taken;
  for (std::size_t i = 0; i < programs; ++i)
    if (const auto connections = take_mps_connections(folder)) taken.push_back(*connections);
  const bool falls = std::ranges::is_sorted(taken, std::greater{});
  const bool fits = std::accumulate(taken.begin(), taken.end(), 0U) <= kOfAServer;
  return falls && fits && taken.front() == 16 ? static_cast<int>(taken.size()) : 255;
}
TEST_F(Mps, ProgramsShareItsConnectionsAndGiveThemBackAtTheirEnd) {
  EXPECT_EXIT(::_exit(programs_take(folder_, 11)), ::testing::ExitedWithCode(11), "");
  EXPECT_EXIT(::_exit(programs_take(folder_, 30)), ::testing::ExitedWithCode(19), "") << "those before have ended";
}

}  // namespace
}  // namespace sluice::service
