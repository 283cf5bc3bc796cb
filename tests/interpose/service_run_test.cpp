// SPDX-License-Identifier: Apache-2.0
// `sluice serve --executor gpu` and programs under `sluice run`, in front of a driver for tests.
#include <csignal>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "tests/cli/sluice_program.h"
#ifdef SLUICE_FAKE_CUDA

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// A process of ours, until it is waited for.
class Process {
 public:
  explicit Process(const std::string& command) : pid_(::fork()) {
    if (pid_ != 0) return;
    ::execl("/bin/sh", "sh", "-c", ("exec " + command).c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  Process(Process&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  Process& operator=(Process&&) = delete;
  ~Process() {
    if (pid_ > 0) (void)end(SIGKILL);
  }
  void signal(int number) const { ::kill(pid_, number); }
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// @return exit code, or 128 and the signal
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  int end(int number) {
    signal(number);
    return wait();
  }

 private:
  pid_t pid_;
};

class ServiceRun : public Sluice {
 protected:
  void SetUp() override {
    Sluice::SetUp();
    ::setenv("XDG_STATE_HOME", (folder_ / "state").c_str(), 1);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return "'" + (folder_ / name).string() + "'"; }
  Process serve(const std::string& options) {
    Process daemon(SLUICE_BINARY " serve --executor gpu --socket " + file("s") + " --log " + file("log") + " " + options + " 2>" +
                   file("serve"));
    for (int k = 0; k < 1000 && sluice("serve status --socket " + file("s")).exit != 0; ++k) std::this_thread::sleep_for(5ms);
    return daemon;
  }
  /// @param what  streams, launches in each, blocks, launches between waits
  Process run(const std::string& name, const std::string& what, const std::string& options = "") {
    return Process("env FAKE_CUDA_TASK_US=200 SLUICE_COMPILE_WAIT_MS=10000 FAKE_CUDA_BOOKS=" + file(name) +
                   " SLUICE_REPORT=" + file(name + ".json") +
                   " SLUICE_REAL_LIBCUDA='" SLUICE_FAKE_CUDA "' SLUICE_SHORT_US=0 " SLUICE_BINARY " run --socket " + file("s") +
                   " " + options + " -- " SLUICE_FAKE_STEADY " " + what + " >" + file(name + ".out") + " 2>" +
                   file(name + ".err"));
  }
  [[nodiscard]] nlohmann::json status() { return nlohmann::json::parse(sluice("serve status --json --socket " + file("s")).out); }
  /// Launches in the program's books: under quota, and all.
  [[nodiscard]] std::pair<int, int> launches(const std::string& name) const {
    std::istringstream in(text(name));
    int quota = 0, all = 0;
    for (std::string line; std::getline(in, line) && !in.eof();) {  // a line without its end is being written
      if (!line.starts_with("launch ")) continue;
      ++all;
      if (line.find("__sluice") == std::string::npos) continue;
      ++quota;
      EXPECT_NE(line.find(" wrong 0"), std::string::npos) << line;
    }
    return {quota, all};
  }
  static std::size_t descriptors(pid_t process) {
    std::size_t n = 0;
    for ([[maybe_unused]] const auto& fd : fs::directory_iterator("/proc/" + std::to_string(process) + "/fd")) ++n;
    return n;
  }
  bool soon(const std::function<bool()>& now) {
    for (int k = 0; k < 15000; ++k, std::this_thread::sleep_for(2ms))
      if (now()) return true;
    return false;
  }
};

TEST_F(ServiceRun, ProgramsWithSeveralStreamsShare) {
  for (const char* options : {"--scheduler even", "--scheduler piv", "--scheduler dprr", "--scheduler even --isolate"}) {
    Process daemon = serve(options);
    ::setenv("STEADY_OPAQUE", "1", 1);  // one launch of eight cannot be transformed
    ::setenv("STEADY_GOES_ON", (folder_ / "go").c_str(), 1);
    Process a = run("a", "1 40 300 4", "--priority 3 --name first"), b = run("b", "2 20 300 4", "--priority 9");
    ::unsetenv("STEADY_OPAQUE");
    ::unsetenv("STEADY_GOES_ON");
    EXPECT_TRUE(soon([&] { return status()["clients"].size() == 2; })) << options << text("a.err");
    std::ofstream(folder_ / "go").put('\n');
    EXPECT_EQ(a.wait(), 0) << options << text("a.err");
    EXPECT_EQ(b.wait(), 0) << options << text("b.err");
    for (const char* name : {"a", "b"}) {
      // A kernel that the assembler is slow with runs natively until it is there.
      const auto [quota, all] = launches(name);
      EXPECT_EQ(all, 40) << options << text(std::string(name) + ".err");
      EXPECT_GT(quota, 0) << options << text(std::string(name) + ".err");
      EXPECT_EQ(nlohmann::json::parse(text(std::string(name) + ".json"))["kernels"]["quota"]["launches"], quota);
      fs::remove(folder_ / name);
    }
    fs::remove(folder_ / "go");
    const auto after = status();
    EXPECT_EQ(after["lost"], 0) << options;
    EXPECT_EQ(after["clients"].size(), 0U);
    EXPECT_EQ(daemon.end(SIGTERM), 130);
    EXPECT_EQ(text("serve").find("invalid"), std::string::npos) << options << text("serve");
  }
}

/// It enqueues large kernels and a small one behind them: the small one's half of an SM is four CTAs, theirs is one.
TEST_F(ServiceRun, AProgramsLargeKernelsGetNoMoreOfAnSmThanTheSmallOneBehindThem) {
  Process daemon = serve("--scheduler even");
  Process other = run("other", "1 100000 300 4");
  EXPECT_TRUE(soon([&] { return launches("other").first > 0; })) << text("other.err");
  ::setenv("STEADY_THREADS", "1024", 1);
  Process a = run("a", "1 80 300 40");
  ::unsetenv("STEADY_THREADS");
  EXPECT_EQ(a.wait(), 0) << text("a.err");
  std::map<std::string, int> large;
  std::istringstream books(text("a"));
  for (std::string line; std::getline(books, line);)
    if (line.find("__sluice 4x2 ") != std::string::npos)
      ++large[line.substr(line.find("quota"), line.find(" blocks") - line.find("quota"))];
  EXPECT_GT(large["quota 16 wanted 4"], 30) << "half of 32 parts, one CTA on each of four SMs";
  large.erase("quota 32 wanted 8");  // while it was alone
  EXPECT_LE(large.size(), 2U) << text("a");
  (void)other.end(SIGKILL);
}

TEST_F(ServiceRun, TheStatusTellsWhatAProgramHas) {
  Process daemon = serve("--scheduler even");
  Process a = run("a", "1 2000 300 4", "--priority 3 --name first");
  EXPECT_TRUE(soon([&] {
    const auto now = status();
    return now["clients"].size() == 1 && now["clients"][0]["kernels"]["quota"]["launches"] > 3 &&
           now["clients"][0]["kernels"]["quota"]["gpu_ms"] > 0.0;
  })) << status();
  EXPECT_EQ(status()["clients"][0]["name"], "first");
  EXPECT_EQ(status()["clients"][0]["priority"], 3);
  EXPECT_EQ(status()["clients"][0]["pid"], a.pid()) << "the program is the process that was started";
}

/// A program with two GPUs, and one whose only GPU is the other's second.
TEST_F(ServiceRun, EachGpuIsSharedByItselfWhateverItsNumber) {
  Process daemon = serve("--scheduler even");
  ::setenv("FAKE_CUDA_DEVICES", "2", 1);
  ::setenv("STEADY_GPUS", "2", 1);
  Process both = run("both", "1 3000 300 100");
  ::setenv("STEADY_GPUS", "1", 1);
  ::setenv("CUDA_VISIBLE_DEVICES", "1", 1);
  Process one = run("one", "1 3000 300 100");
  for (const char* name : {"FAKE_CUDA_DEVICES", "STEADY_GPUS", "CUDA_VISIBLE_DEVICES"}) ::unsetenv(name);
  const std::string first = "GPU-30303030-3030-3030-3030-303030303030";
  EXPECT_TRUE(soon([&] {
    const nlohmann::json now = status();
    std::vector<int> of_first, of_second;
    for (const auto& c : now["clients"]) (c["gpu"] == first ? of_first : of_second).push_back(c["share_ctas"]);
    return of_first == std::vector{32} && of_second == std::vector{16, 16};
  })) << status()
      << text("both.err") << text("one.err");
  EXPECT_EQ(both.wait(), 0) << text("both.err");
  EXPECT_EQ(one.wait(), 0) << text("one.err");
  EXPECT_EQ(launches("both").second, 6000);
  EXPECT_EQ(launches("one").second, 3000);
  std::set<int> gpus;
  const nlohmann::json report = nlohmann::json::parse(text("both.json"));
  for (const auto& row : report["table"])
    if (row["way"] == "quota") gpus.insert(row["gpu"].get<int>());
  EXPECT_EQ(gpus, (std::set{0, 1})) << text("both.json");
  EXPECT_EQ(daemon.end(SIGTERM), 130);
}

TEST_F(ServiceRun, WhatWasLearnedOutlivesTheService) {
  for (const bool learned : {false, true}) {
    Process daemon = serve("--scheduler adaptive");
    Process a = run("a", "1 80 300 4");
    EXPECT_EQ(a.wait(), 0) << text("a.err");
    EXPECT_TRUE(soon([&] { return status()["clients"].empty(); }));
    EXPECT_EQ(daemon.end(SIGTERM), 130);
    EXPECT_EQ(text("log").find("no launch of k@") == std::string::npos, learned) << text("log");
    EXPECT_NE(text("state/sluice/GPU-30303030-3030-3030-3030-303030303030.json").find("\"k@"), std::string::npos);
    fs::remove(folder_ / "log");
  }
}

TEST_F(ServiceRun, AThousandLaunchesMayStandBehindOneThatWaitsForItsTurn) {
  Process daemon = serve("--scheduler piv");
  Process a = run("a", "1 1500 300 1500", "--priority 1 --name first");
  EXPECT_TRUE(soon([&] { return launches("a").first > 0; })) << text("a.err");
  Process b = run("b", "1 100000 300 100000", "--priority 9");
  EXPECT_TRUE(soon([&] { return launches("b").first > 8; })) << text("b.err");
  std::this_thread::sleep_for(300ms);  // meanwhile the first fills its queue
  (void)b.end(SIGKILL);
  EXPECT_EQ(a.wait(), 0) << text("a.err");
  EXPECT_EQ(launches("a").second, 1500);
  EXPECT_EQ(daemon.end(SIGTERM), 130);
}

TEST_F(ServiceRun, SeveralContextsOfAProgramAreServed) {
  Process daemon = serve("--scheduler even");
  const Outcome o = shell("env SLUICE_COMPILE_WAIT_MS=10000 SLUICE_SHORT_US=0 FAKE_CUDA_BOOKS=" + file("a") +
                          " SLUICE_REAL_LIBCUDA='" SLUICE_FAKE_CUDA "' " SLUICE_BINARY " run --socket " + file("s") +
                          " -- " SLUICE_FAKE_LIFETIMES " contexts");
  EXPECT_EQ(o.exit, 0) << o.out << o.err;
  EXPECT_EQ(launches("a").first, 3) << text("a");
  EXPECT_EQ(daemon.end(SIGTERM), 130);
}

/// Under a scheduler that looks at priorities, what nobody can evict does not begin while another has the GPU.
TEST_F(ServiceRun, WhatCannotBeTransformedWaitsForItsProgramsTurn) {
  for (const char* options : {"", "--opaque native"}) {
    const bool holds = *options == '\0';
    for (const char* opaque : {"0", "1"}) {  // all of its kernels, or some
      Process daemon = serve("--scheduler piv");
      ::setenv("STEADY_OPAQUE", opaque, 1);
      Process a = run("a", "2 100000 300 4", std::string("--priority 1 --name first ") + options);
      ::unsetenv("STEADY_OPAQUE");
      const auto native = [&] { return count(text("a"), "launch opaque"); };
      EXPECT_TRUE(soon([&] { return native() > 0; })) << text("a.err");
      Process b = run("b", "1 100000 300 100000", "--priority 9");  // never idle: its turn would end
      EXPECT_TRUE(soon([&] { return launches("b").first > 8; })) << text("b.err");
      std::this_thread::sleep_for(100ms);
      const std::ptrdiff_t before = native();
      const int of_b = launches("b").first;
      std::this_thread::sleep_for(200ms);
      EXPECT_GT(launches("b").first, of_b) << opaque << text("b.err");
      if (holds) {
        EXPECT_EQ(native(), before) << opaque;
      } else if (*opaque == '0') {
        EXPECT_GT(native(), before);
      }
      (void)b.end(SIGKILL);
      EXPECT_TRUE(soon([&] { return native() > before; })) << opaque << text("a.err");
      (void)a.end(SIGKILL);
      EXPECT_EQ(text("serve").find("eviction late"), std::string::npos) << text("serve");
      EXPECT_EQ(daemon.end(SIGTERM), 130);
      for (const char* name : {"a", "b"}) fs::remove(folder_ / name);
    }
  }
}

TEST_F(ServiceRun, TheServicesLimitOfMemoryHoldsAndIsShown) {
  Process daemon = serve("--scheduler even --memory 3M");
  ::setenv("LIFETIMES_GOES_ON", (folder_ / "go").c_str(), 1);
  Process a("env SLUICE_REAL_LIBCUDA='" SLUICE_FAKE_CUDA "' " SLUICE_BINARY " run --socket " + file("s") +
            " -- " SLUICE_FAKE_LIFETIMES " memory 2>" + file("a.err"));
  ::unsetenv("LIFETIMES_GOES_ON");
  const nlohmann::json memory = {{"limit", 3U << 20U}, {"used", 1U << 20U}, {"most", 3U << 20U}, {"refused", 4}};
  EXPECT_TRUE(soon([&] { return status()["clients"].size() == 1 && status()["clients"][0]["memory"] == memory; })) << status();
  std::ofstream(folder_ / "go").put('\n');
  EXPECT_EQ(a.wait(), 0) << text("a.err");
  EXPECT_EQ(daemon.end(SIGTERM), 130);
}

/// Others fill the SMs: its grid waits behind them, and nobody of it can tell that it holds nothing.
TEST_F(ServiceRun, AGridThatHasNotBegunIsEvictedAtOnce) {
  Process daemon = serve("--scheduler piv");
  Process a = run("a", "1 1 300 1", "--priority 1 --name first");
  EXPECT_TRUE(soon([&] { return launches("a").second == 1; })) << text("a.err");
  EXPECT_EQ(a.wait(), 0);  // its code is in the cache
  const auto arrived = [&] { return count(text("log"), "\"arrived\""); };
  EXPECT_TRUE(soon([&] { return status()["clients"].empty(); }));
  const std::ptrdiff_t before = arrived();  // so short a program may end before it says that it came
  ::setenv("FAKE_CUDA_BEGIN_MS", "20000", 1);
  Process late = run("late", "1 1 300 1", "--priority 1 --name late");
  ::unsetenv("FAKE_CUDA_BEGIN_MS");
  EXPECT_TRUE(soon([&] { return arrived() > before; })) << text("log");
  Process b = run("b", "1 100000 300 1", "--priority 9");
  EXPECT_TRUE(soon([&] { return text("log").find("\"evicted\"") != std::string::npos; })) << text("log");
  EXPECT_TRUE(soon([&] { return launches("b").first > 0; })) << text("b.err");
  EXPECT_EQ(launches("late").second, 0) << "it has begun before\n" << text("late");
  EXPECT_EQ(text("serve").find("eviction late"), std::string::npos) << text("serve");
}

/// SLUICE_FULL: fifty.
TEST_F(ServiceRun, RandomKillsLeaveTheOthersRightAndNothingBehind) {
  const int kills = std::getenv("SLUICE_FULL") != nullptr ? 50 : 6;
  Process daemon = serve("--scheduler even");
  std::size_t before = descriptors(daemon.pid());
  for (int k = 0; k < 50; ++k, std::this_thread::sleep_for(2ms))  // who asked whether it is there may not have gone yet
    before = std::min(before, descriptors(daemon.pid()));
  std::mt19937 random(26);
  Process steady = run("steady", "1 " + std::to_string(40 * kills) + " 300 4");
  for (int k = 0; k < kills; ++k) {
    Process victim = run("victim", std::to_string(1 + random() % 3) + " 100000 300 4");
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 400));
    EXPECT_EQ(victim.end(SIGKILL), 128 + SIGKILL) << text("victim.err");
  }
  EXPECT_EQ(steady.wait(), 0) << text("steady.err");
  EXPECT_EQ(launches("steady"), std::pair(40 * kills, 40 * kills));
  EXPECT_TRUE(soon([&] { return status()["clients"].empty(); }));
  EXPECT_TRUE(soon([&] { return descriptors(daemon.pid()) == before; })) << before << " " << descriptors(daemon.pid());
  EXPECT_EQ(daemon.end(SIGTERM), 130);
  EXPECT_FALSE(fs::exists(folder_ / "s"));
}

TEST_F(ServiceRun, WithoutAServiceProgramsRunNativelyOrEnd) {
  const Outcome alone = sluice("run --socket " + file("s") + " -- sh -c 'exit 38'");
  EXPECT_EQ(alone.exit, 38);
  EXPECT_EQ(std::ranges::count(alone.err, '\n'), 1) << alone.err;
  EXPECT_NE(alone.err.find("runs natively"), std::string::npos) << alone.err;
  refuses("run --require-service --socket " + file("s") + " -- true", "no service");
  Process daemon = serve("--scheduler even");
  Process a = run("b", "1 2000 300 4"), needs = run("c", "1 100000 300 4", "--require-service");
  EXPECT_TRUE(soon([&] { return launches("b").first > 4 && launches("c").first > 4; })) << text("b.err") << text("c.err");
  (void)daemon.end(SIGKILL);
  const auto begin = Clock::now();
  EXPECT_EQ(needs.wait(), 2) << text("c.err");
  EXPECT_LT(Clock::now() - begin, 1s);
  EXPECT_EQ(a.wait(), 0) << text("b.err");
  const auto [quota, all] = launches("b");
  EXPECT_EQ(all, 2000);
  EXPECT_LT(quota, 2000);
}

TEST_F(ServiceRun, WithoutAnExecutorItIsTheGpuWhereThereIsOne) {
  fs::create_symlink(SLUICE_FAKE_CUDA, folder_ / "libcuda.so.1");
  Process daemon("env LD_LIBRARY_PATH='" + folder_.string() +
                 "':$LD_LIBRARY_PATH " SLUICE_BINARY " serve --scheduler even --socket " + file("s") + " 2>" + file("serve"));
  EXPECT_TRUE(soon([&] { return sluice("serve status --socket " + file("s")).exit == 0; }));
  EXPECT_EQ(daemon.end(SIGTERM), 130);
  EXPECT_NE(text("serve").find("executor gpu"), std::string::npos) << text("serve");
}

/// MPS hangs where a client is killed while it makes its context (H200): nobody else gets one, and no session tells of it.
TEST_F(ServiceRun, WhoIsKilledWhileItBeginsUnderMpsBlocksNobody) {
  fs::create_directories(folder_ / "bin");
  const fs::path control = folder_ / "bin/nvidia-cuda-mps-control";
  std::ofstream(control) << "#!/bin/sh\n"
                            "[ \"$1\" != -f ] || { touch $CUDA_MPS_PIPE_DIRECTORY/control; exec sleep 600; }\n"
                            "read what server\n"
                            "case $what in get_server_list) echo 77;; get_server_status) echo ACTIVE;; *) cat '"
                         << (folder_ / "clients").string() << "' || exec sleep 600;; esac\n";
  fs::permissions(control, fs::perms::owner_all);
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", ((folder_ / "bin").string() + ":" + before).c_str(), 1);
  Process daemon = serve("--scheduler even --mps");
  ::setenv("PATH", before.c_str(), 1);
  const std::string as_client = "run --socket " + file("s") + " -- sh -c ";
  std::ofstream(folder_ / "clients") << "1\n";
  EXPECT_EQ(sluice(as_client + "true").exit, 0);
  EXPECT_EQ(sluice(as_client + "'kill -9 $$'").exit, 128 + SIGKILL);
  EXPECT_EQ(sluice(as_client + "true").exit, 0);
  EXPECT_EQ(text("serve").find("anew"), std::string::npos) << "MPS answers\n" << text("serve");
  fs::remove(folder_ / "clients");
  EXPECT_EQ(sluice(as_client + "'kill -9 $$'").exit, 128 + SIGKILL);
  EXPECT_TRUE(soon([&] { return text("serve").find("MPS was started anew") != std::string::npos; })) << text("serve");
  EXPECT_NE(text("serve").find("died while it began: MPS answers nobody"), std::string::npos) << text("serve");
  EXPECT_EQ(sluice(as_client + "true").exit, 0);
  EXPECT_EQ(daemon.end(SIGTERM), 130);
}

TEST_F(ServiceRun, RefusesBadInputAndASecondDaemon) {
  Process daemon = serve("--scheduler even");
  refuses("serve --executor gpu --socket " + file("s"), "another daemon serves it");
  refuses("serve --executor nothing --socket " + file("t"), "must be gpu or fake");
  refuses("serve --executor fake --mps --socket " + file("t"), "go with --executor gpu");
  EXPECT_EQ(sluice("serve --executor gpu --mps --isolate --socket " + file("t")).exit, 2);
  EXPECT_EQ(sluice("run --priority 31 --socket " + file("s") + " -- true").exit, 2);
  EXPECT_EQ(sluice("run --quota 2 --socket " + file("s") + " -- true").exit, 2);
  EXPECT_EQ(sluice("run --socket " + file("s") + " -- sh -c 'exit 37'").exit, 37);
}

}  // namespace
}  // namespace sluice::test
#endif
