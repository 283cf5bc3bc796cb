// SPDX-License-Identifier: Apache-2.0
// A program that does what processes do in the middle of launches: children, ends without a wait, signals, closed descriptors,
// many streams. The same kinds run on a GPU (tests/gpu/programs). @return how many calls went wrong
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/fake_cuda/client.h"

using namespace sluice::fake_client;  // NOLINT(google-build-using-namespace): this folder's own

namespace {

constexpr const char* kPtx =
    ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b)\n{\n.reg .b32 %r<3>;\n"
    "mov.u32 %r1, %ctaid.x;\nret;\n}\n";

CUfunction function() {
  CUmodule module = nullptr;
  CUfunction k = nullptr;
  expect(good(CU(cuInit)(0)) && good(CU(cuModuleLoadData)(&module, kPtx)) && good(CU(cuModuleGetFunction)(&k, module, "k")), "k");
  return k;
}
CUresult launch(CUfunction k, unsigned blocks = 500, std::uintptr_t stream = 5) {
  unsigned long long a = 7, b = 9;
  void* arguments[] = {&a, &b};
  return CU(cuLaunchKernel)(k, blocks, 1, 1, 64, 1, 1, 0, reinterpret_cast<CUstream>(stream), arguments, nullptr);
}
void finish() { expect(good(CU(cuCtxSynchronize)()), "wait"); }
int ends(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::mutex lock;

void deep() {
  CUfunction k = function();
  for (int n = 0; n < 3000; ++n) expect(good(launch(k, n % 100 == 0 ? 500 : 2)), "launch");
  finish();
}
void streams() {  // each behind the one before it
  CUfunction k = function();
  std::vector<CUstream> all(200);
  CUevent before = nullptr;
  for (CUstream& s : all) expect(good(CU(cuStreamCreate)(&s, 1)), "stream");
  for (std::size_t n = 0; n < 400; ++n) {
    CUstream s = all[n % 200];
    if (n > 0) expect(good(CU(cuStreamWaitEvent)(s, before, 0)), "wait for the one before");
    expect(good(launch(k, 100, reinterpret_cast<std::uintptr_t>(s))), "launch");
    expect(good(CU(cuEventCreate)(&before, 0)) && good(CU(cuEventRecord)(before, s)), "record");
  }
  finish();
}
void locks() {
  CUfunction k = function();
  static int called = 0;
  for (int n = 0; n < 20; ++n) {
    const std::scoped_lock held(lock);
    for (int i = 0; i < 10; ++i) expect(good(launch(k)), "with the lock held");
    const auto takes = [](void*) {
      const std::scoped_lock mine(lock);
      ++called;
    };
    expect(good(CU(cuLaunchHostFunc)(reinterpret_cast<CUstream>(5), takes, nullptr)), "a function that takes it");
  }
  finish();
  expect(called == 20, "all were called");
}
void execs() {
  CUfunction k = function();
  expect(good(launch(k)), "before");
  const pid_t quiet = ::fork();  // it has the driver's memory, and none of its threads
  if (quiet == 0) ::_exit(4);
  const pid_t again = ::fork();
  if (again == 0) {
    ::execl("/proc/self/exe", "client_process", "unwaited", nullptr);
    ::_exit(99);
  }
  for (int n = 0; n < 20; ++n) expect(good(launch(k)), "beside them");
  expect(ends(quiet) == 4, "a child that is quiet");
  expect(ends(again) == 0, "a child that is the program again");
  expect(std::system("exit 3") >> 8 == 3, "a shell");
  finish();
}
void unwaited() {
  CUfunction k = function();
  for (std::uintptr_t n = 0; n < 50; ++n) expect(good(launch(k, 500, 5 + n % 3)), "launch");
}
void at_once() {
  unwaited();
  ::_exit(6);
}
void beside_a_thread() {
  CUfunction k = function();
  static std::atomic<int> launched = 0;
  std::thread([k] {
    for (;; ++launched) static_cast<void>(launch(k));
  }).detach();
  while (launched < 20) std::this_thread::yield();
  std::exit(5);
}
void signals() {
  CUfunction k = function();
  expect(good(launch(k)), "launch");
  finish();
  sigset_t mine{};
  ::sigemptyset(&mine);
  ::sigaddset(&mine, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &mine, nullptr);  // in the only thread that is the program's
  ::kill(::getpid(), SIGUSR1);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  int got = 0;
  ::sigwait(&mine, &got);
  expect(got == SIGUSR1, "the signal is the program's");
}
void closes() {
  for (int fd = 3; fd < 1024; ++fd) ::close(fd);
  expect(::chdir("/") == 0, "folder");
  CUfunction k = function();
  for (int n = 0; n < 5; ++n) expect(good(launch(k)), "launch");
  finish();
}
void wrong_ones() {
  CUfunction k = function();
  expect(launch(k, 0) == CUDA_ERROR_INVALID_VALUE, "no blocks");
  expect(launch(nullptr) != CUDA_SUCCESS, "no kernel");
  expect(good(launch(k)), "a right one");
  finish();
}

}  // namespace

int main(int, char** argv) {
  const std::map<std::string, void (*)()> programs = {{"deep", deep},
                                                      {"streams", streams},
                                                      {"locks", locks},
                                                      {"execs", execs},
                                                      {"unwaited", unwaited},
                                                      {"at_once", at_once},
                                                      {"beside_a_thread", beside_a_thread},
                                                      {"signals", signals},
                                                      {"closes", closes},
                                                      {"wrong_ones", wrong_ones}};
  programs.at(argv[1])();
  return wrong;
}
