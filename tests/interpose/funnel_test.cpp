// SPDX-License-Identifier: Apache-2.0
// Programs in the context of one GPU worker, which runs under `sluice run` with a driver for tests.
#include <sys/wait.h>

#include <csignal>
#include <thread>

#include "sw/service/funnel/messages.h"
#include "sw/service/sluice_funnel.h"
#include "sw/service/socket.h"
#include "tests/cli/sluice_program.h"
#ifdef SLUICE_FAKE_CUDA

namespace sluice::test {
namespace {

using service::funnel::Command;

class Funnel : public Sluice {
 protected:
  void SetUp() override {
    Sluice::SetUp();
    socket_ = (folder_ / "w").string();
    worker_ = ::fork();
    if (worker_ != 0) {
      for (int k = 0; k < 1000 && !service::connect_to(socket_); ++k) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      return;
    }
    ::setenv("SLUICE_COMPILE_WAIT_MS", "10000", 1);
    ::setenv("SLUICE_SHORT_US", "0", 1);
    ::setenv("SLUICE_CACHE_DIR", (folder_ / "cache").c_str(), 1);
    ::setenv("FAKE_CUDA_BOOKS", (folder_ / "books").c_str(), 1);
    ::setenv("SLUICE_REAL_LIBCUDA", SLUICE_FAKE_CUDA, 1);
    ::execl(SLUICE_BINARY, "sluice", "run", "--quota", "2", "--", SLUICE_WORKER, socket_.c_str(), nullptr);
    ::_exit(99);
  }
  void TearDown() override {
    ::kill(worker_, SIGTERM);
    int status = 0;
    ::waitpid(worker_, &status, 0);
    Sluice::TearDown();
  }
  std::string books() {
    std::ifstream in(folder_ / "books");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  sluice_funnel* open() {
    sluice_funnel* funnel = nullptr;
    EXPECT_EQ(sluice_funnel_open(socket_.c_str(), &funnel), SLUICE_OK) << sluice_last_error();
    return funnel;
  }

  std::string socket_;
  pid_t worker_ = -1;
};

TEST_F(Funnel, ProgramsWithoutCudaShareAContextUnderQuotas) {
  const Outcome o = shell("for k in 1 2 3; do " SLUICE_FUNNEL_EXAMPLE " '" + socket_ + "' 500 & done; wait");
  std::size_t right = 0;
  const std::string line = "32000 values, the last is 31999\n";  // this driver executes nothing
  for (std::size_t at = o.out.find(line); at != std::string::npos; at = o.out.find(line, at + 1)) ++right;
  EXPECT_EQ(right, 3U) << o.out << o.err;
  EXPECT_NE(books().find("launch twice__sluice 4x8"), std::string::npos) << books();
  EXPECT_NE(books().find("blocks 500 wrong 0"), std::string::npos) << books();
  for (int k = 0; k < 200 && books().find("unload") == std::string::npos; ++k)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_NE(books().find("unload"), std::string::npos) << "what was a session's is freed behind it";
}

TEST_F(Funnel, WhatIsRefusedIsToldByTheNextCallThatWaits) {
  sluice_funnel* funnel = open();
  void* buffer = nullptr;
  ASSERT_EQ(sluice_funnel_malloc(funnel, 64, &buffer), SLUICE_OK) << sluice_last_error();
  const sluice_launch launch = {"twice", {1, 1, 1}, {32, 1, 1}, 0, nullptr, 0};
  EXPECT_EQ(sluice_funnel_launch(funnel, 7, &launch, 0), SLUICE_OK) << "it does not wait";
  EXPECT_EQ(sluice_funnel_synchronize(funnel, 0), SLUICE_ERROR_REFUSED);
  EXPECT_NE(std::string(sluice_last_error()).find("no such module"), std::string::npos) << sluice_last_error();
  EXPECT_EQ(sluice_funnel_synchronize(funnel, 0), SLUICE_OK) << "once";
  EXPECT_EQ(sluice_funnel_synchronize(funnel, 99), SLUICE_ERROR_REFUSED);
  EXPECT_EQ(sluice_funnel_to_device(funnel, static_cast<char*>(buffer) + 1, 64, 0), SLUICE_ERROR_INVALID);
  EXPECT_EQ(sluice_funnel_to_device(funnel, &launch, 4, 0), SLUICE_ERROR_INVALID);
  EXPECT_EQ(sluice_funnel_malloc(funnel, 0, &buffer), SLUICE_ERROR_INVALID);
  const char no_ptx[] = "no kernel";
  sluice_module module = 0;
  EXPECT_EQ(sluice_funnel_load(funnel, no_ptx, sizeof no_ptx, &module), SLUICE_ERROR_REFUSED);
  EXPECT_EQ(std::string(sluice_last_error()).substr(0, 6), "load: ") << sluice_last_error();
  sluice_funnel_close(funnel);
}

TEST_F(Funnel, BytesOfNobodyAreRefusedAndTheOthersGoOn) {
  sluice_funnel* good = open();
  const service::UniqueFd bad = service::connect_to(socket_);
  Command c{};
  for (std::uint32_t op = 0; op < 12; ++op) {  // no descriptor comes along, and no number is one
    c.op = op;
    c.buffer = c.offset = c.bytes = ~std::uint64_t{0};
    c.module = c.stream = c.count = ~0U;
    std::memset(c.kernel, 'x', sizeof c.kernel);
    ASSERT_TRUE(service::send_packet(bad.get(), std::as_bytes(std::span(&c, 1))));
  }
  ASSERT_TRUE(service::send_packet(bad.get(), std::as_bytes(std::span(&c, 1)).first(9)));
  std::array<std::byte, 1024> room{};
  ssize_t n = 0;
  do n = service::receive_packet(bad.get(), room);
  while (n > 0);
  EXPECT_EQ(n, 0) << "its session has ended";
  void* buffer = nullptr;
  EXPECT_EQ(sluice_funnel_malloc(good, 4096, &buffer), SLUICE_OK) << sluice_last_error();
  sluice_funnel_close(good);
}

TEST_F(Funnel, AWorkerThatDiesIsToldAtOnce) {
  sluice_funnel* funnel = open();
  void* buffer = nullptr;
  ASSERT_EQ(sluice_funnel_malloc(funnel, 4096, &buffer), SLUICE_OK) << sluice_last_error();
  ::kill(worker_, SIGKILL);
  sluice_stream stream = 0;
  EXPECT_EQ(sluice_funnel_stream(funnel, &stream), SLUICE_ERROR_GONE);
  static_cast<char*>(buffer)[17] = 1;  // the program's memory stays
  sluice_funnel_close(funnel);
}

}  // namespace
}  // namespace sluice::test
#endif
