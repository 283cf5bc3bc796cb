// SPDX-License-Identifier: Apache-2.0
// What processes do in the middle of launches, under a quota that stays, under one that changes, and under the service, in front
// of a driver for tests: the program ends as it does alone. tests/gpu/programs has the same kinds for a GPU.
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "tests/cli/sluice_program.h"
#ifdef SLUICE_FAKE_CUDA

namespace sluice::test {
namespace {

struct Kind {
  const char* name;
  int exit, launches;  ///< under quota, of those that the books have in any case; -1: it does not wait for them
};
constexpr Kind kKinds[] = {{"deep", 0, 30},     {"streams", 0, 400}, {"locks", 0, 200},          {"execs", 0, 21},
                           {"unwaited", 0, -1}, {"at_once", 6, -1},  {"beside_a_thread", 5, -1}, {"signals", 0, 1},
                           {"closes", 0, 5},    {"wrong_ones", 0, 1}};

class ProcessRun : public Sluice, public ::testing::WithParamInterface<Kind> {
 protected:
  void ends_as_it_does(const std::string& options) {
    const std::string file = "'" + (folder_ / "books").string() + "'";
    fs::remove(folder_ / "books");
    const Outcome o = shell("FAKE_CUDA_TASK_US=20 SLUICE_SHORT_US=0 SLUICE_COMPILE_WAIT_MS=10000 SLUICE_CACHE_DIR='" +
                            (folder_ / "cache").string() + "' FAKE_CUDA_BOOKS=" + file +
                            " SLUICE_REAL_LIBCUDA='" SLUICE_FAKE_CUDA "' timeout 50 " SLUICE_BINARY " run " + options +
                            " -- " SLUICE_FAKE_PROCESS " " + GetParam().name);
    const std::string books = text("books");
    EXPECT_EQ(o.exit, GetParam().exit) << options << o.out << o.err << books.substr(0, 4000);
    EXPECT_EQ(o.out, "") << options;
    EXPECT_EQ(count(books, " wrong "), count(books, " wrong 0")) << books;
    if (GetParam().launches >= 0) {
      EXPECT_GE(count(books, "launch k__sluice"), GetParam().launches) << options << o.err;
    }
  }

  void ends_as_it_does_while_quotas_change() {
    std::atomic<bool> over = false;
    std::thread thread([&] {
      constexpr const char* kQuotas[] = {"4", "0", "1", "2 0-1", "0", "all"};
      for (unsigned k = 0; !over; ++k) {
        std::ofstream(folder_ / "quota") << kQuotas[k % 6] << "\n";
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
    while (text("quota").empty()) std::this_thread::yield();
    ends_as_it_does("--quota-file '" + (folder_ / "quota").string() + "'");
    over = true;
    thread.join();
  }
};

TEST_P(ProcessRun, EndsAsItDoesAloneUnderAQuota) { ends_as_it_does("--quota 2"); }

TEST_P(ProcessRun, EndsAsItDoesAloneWhileTheQuotaChanges) { ends_as_it_does_while_quotas_change(); }

/// The host hears of a sleep when the launch has ended: the next one, which has not begun, needs no later grid.
TEST_P(ProcessRun, EndsAsItDoesAloneWhereSleepsAreHeardLate) {
  ::setenv("FAKE_CUDA_NAPS_UNHEARD", "1", 1);
  ends_as_it_does_while_quotas_change();
  ::unsetenv("FAKE_CUDA_NAPS_UNHEARD");
}

TEST_P(ProcessRun, EndsAsItDoesAloneUnderTheService) {
  const std::string socket = "--socket '" + (folder_ / "s").string() + "'";
  shell(SLUICE_BINARY " serve --executor gpu --scheduler even " + socket + " >/dev/null 2>&1 & echo $! >'" +
        (folder_ / "pid").string() + "'");
  for (int k = 0; k < 2000 && !fs::exists(folder_ / "s"); ++k) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ends_as_it_does(socket);
  EXPECT_EQ(sluice("serve status " + socket).exit, 0) << "it is there";
  EXPECT_EQ(::kill(std::stoi(text("pid")), SIGTERM), 0);
  for (int k = 0; k < 2000 && fs::exists(folder_ / "s"); ++k) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

INSTANTIATE_TEST_SUITE_P(Kinds, ProcessRun, ::testing::ValuesIn(kKinds),
                         [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace sluice::test
#endif
