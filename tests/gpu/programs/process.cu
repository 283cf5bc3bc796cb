// SPDX-License-Identifier: Apache-2.0
// What happens to the process: children, signals, ends of all kinds, in the middle of launches.
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "program.h"

namespace {

void three_steps() {
  Words v;
  for (unsigned k = 1; k <= 3; ++k) launch_step(v, k);
  v.all(step_on_host(step_on_host(1, 2), 3));
}
void timer(int first_ms, int then_ms = 0) {
  const itimerval t = {{0, then_ms * 1000}, {0, first_ms * 1000}};
  ::setitimer(ITIMER_REAL, &t, nullptr);
}
/// Launches until something ends the process; 15 seconds at most.
[[noreturn]] void for_ever() {
  Words v;
  Stream s(cudaStreamNonBlocking), t;
  std::printf("it launches\n");
  std::fflush(stdout);
  for (int k = 0; k < 1'000'000; ++k) {
    launch_step(v, 1, k % 2 == 0 ? s.s : t.s);
    if (k % 50 == 0) finish();
  }
  std::exit(98);
}
void told(const char* who, int status) {
  if (WIFSIGNALED(status)) std::printf("%s: signal %d\n", who, WTERMSIG(status));
  if (WIFEXITED(status)) std::printf("%s: exit code %d\n", who, WEXITSTATUS(status));
}
void started(const char* who, pid_t child) {
  int status = 0;
  expect(::waitpid(child, &status, 0) == child);
  told(who, status);
}

CASE(three_in_order, quota) { three_steps(); }
CASE(fork_before_the_driver, either) {
  std::vector<pid_t> children;
  std::fflush(stdout);
  for (int k = 0; k < 3; ++k) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    three_steps();
    std::_Exit(10 + k);
  }
  three_steps();
  for (const pid_t child : children) started("child", child);
}
CASE(exec_behind_the_driver, either) {
  Words v;
  launch_step(v, 1);
  finish();
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/proc/self/exe", "process", "three_in_order", nullptr);
    std::_Exit(99);
  }
  for (int k = 0; k < 100; ++k) launch_step(v, 0);
  started("the program again", child);
  std::fflush(stdout);
  std::printf("shell: %d\n", std::system("echo a shell; exit 3") >> 8);
  const pid_t quiet = ::fork();  // it has the driver's memory, and does not use it
  if (quiet == 0) std::_Exit(4);
  started("a child without the GPU", quiet);
  unsigned x = 1;
  for (int k = 0; k < 100; ++k) x = step_on_host(x, 0);
  v.all(x);
}
CASE(exits_without_a_wait, quota) {
  Words v;
  std::vector<Stream> streams(3);
  for (unsigned k = 0; k < 600; ++k) launch_step(v, 1, streams[k % 3]);
}
CASE(exits_at_once, quota) {
  Words v;
  for (unsigned k = 0; k < 300; ++k) launch_step(v, 1);
  std::printf("no destructors\n");
  std::fflush(stdout);
  ::_exit(6);
}
CASE(aborts, quota) {
  const rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  Words v;
  for (unsigned k = 0; k < 300; ++k) launch_step(v, 1);
  std::printf("it aborts\n");
  std::fflush(stdout);
  std::abort();
}
CASE(exits_while_a_thread_launches, quota) {
  std::atomic<int> launched = 0;
  std::thread([&launched] {
    Words v;
    for (;;) {
      step<<<kBlocks, kThreads>>>(v, 1);  // what it is told when the process ends is not looked at
      if (++launched % 100 == 0) static_cast<void>(cudaStreamSynchronize(nullptr));
    }
  }).detach();
  while (launched < 500) nap(1);
  std::printf("it ends\n");
  std::exit(5);
}
struct OfProcess {
  ~OfProcess() {
    if (v == nullptr) return;
    unsigned word = 0;
    step<<<kBlocks, kThreads>>>(v, 2);
    std::printf("at the end: launch %d", cudaGetLastError());
    std::printf(", copy %d", cudaMemcpy(&word, v + kWords - 1, 4, cudaMemcpyDeviceToHost));
    std::printf(", word %u, free %d\n", word, cudaFree(v));
    std::fflush(stdout);
  }
  unsigned* v = nullptr;
};
CASE(uses_the_gpu_at_exit, either) {
  static OfProcess late;
  Words v;
  launch_step(v, 1);
  late.v = v;
  std::atexit([] { std::printf("at exit: %d\n", cudaDeviceSynchronize()); });
}
CASE(handler_exits, quota) {
  std::signal(SIGALRM, [](int) { std::exit(3); });
  timer(400);
  for_ever();
}
CASE(handler_ends_at_once, quota) {
  std::signal(SIGALRM, [](int) { ::_exit(4); });
  timer(400);
  for_ever();
}
CASE(killed_by_a_timer, quota) {
  timer(400);
  for_ever();
}
CASE(killed_by_itself, quota) {
  std::thread([] {
    nap(400);
    ::kill(::getpid(), SIGKILL);
  }).detach();
  for_ever();
}
CASE(interrupted_often, quota) {
  static std::atomic<int> count;
  struct sigaction action {};
  action.sa_handler = [](int) { ++count; };  // without SA_RESTART
  ::sigaction(SIGALRM, &action, nullptr);
  timer(1, 1);
  Words v;
  unsigned x = 0;
  for (unsigned k = 0; k < 300; ++k) {
    launch_step(v, k % 3);
    x = step_on_host(x, k % 3);
    if (k % 20 == 0) finish();
  }
  v.all(x);
  timer(0);
  expect(count > 5);
}
CASE(loop_ends_by_a_signal, quota) {
  static std::atomic<bool> over;
  std::signal(SIGTERM, [](int) { over = true; });
  std::thread([] {
    nap(300);
    ::kill(::getpid(), SIGTERM);
  }).detach();
  Words v;
  unsigned x = 0;
  while (!over) launch_step(v, 1), x = step_on_host(x, 1);
  v.all(x);
}
CASE(signal_that_all_block, quota) {
  Words v;
  launch_step(v, 1);
  finish();
  sigset_t mine{};
  ::sigemptyset(&mine);
  ::sigaddset(&mine, SIGUSR1);
  ::sigaddset(&mine, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &mine, nullptr);
  std::thread([] {
    for (const int signal : {SIGUSR1, SIGINT}) nap(100), ::kill(::getpid(), signal);
  }).detach();
  launch_step(v, 2);
  for (int k = 0; k < 2; ++k) {
    int got = 0;
    ::sigwait(&mine, &got);
    std::printf("got %d\n", got);
  }
  v.all(step_on_host(1, 2));
}
CASE(closes_what_it_did_not_open, quota) {
  for (int fd = 3; fd < 1024; ++fd) ::close(fd);  // as a daemon does
  expect(::chdir("/") == 0);
  three_steps();
}
CASE(few_descriptors, quota) {
  Words v;
  launch_step(v, 1);
  finish();
  std::vector<int> open;
  for (int fd = ::open("/dev/null", O_RDONLY); fd >= 0 && open.size() < 100'000; fd = ::open("/dev/null", O_RDONLY))
    open.push_back(fd);
  for (unsigned k = 2; k <= 4; ++k) launch_step(v, k);
  cross<<<kBlocks, kThreads>>>(v, v, 0);  // a kernel that was never launched
  ck(cudaGetLastError());
  finish();
  for (const int fd : open) ::close(fd);
  v.all(step_on_host(step_on_host(step_on_host(1, 2), 3), 4));
}
/// Memory and an event of one process in another.
CASE(handed_to_another_process, either) {
  struct Handed {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t event;
  } handed{};
  int there[2], back[2];
  expect(::pipe(there) == 0 && ::pipe(back) == 0);
  std::fflush(stdout);
  const pid_t child = ::fork();
  char done = 0;
  if (child == 0) {
    expect(::read(there[0], &handed, sizeof handed) == sizeof handed);
    void* v = nullptr;
    cudaEvent_t e{};
    ck(cudaIpcOpenMemHandle(&v, handed.memory, cudaIpcMemLazyEnablePeerAccess));
    ck(cudaIpcOpenEventHandle(&e, handed.event));
    ck(cudaStreamWaitEvent(nullptr, e));
    step<<<kBlocks, kThreads>>>(static_cast<unsigned*>(v), 2);
    ck(cudaGetLastError());
    finish();
    ck(cudaIpcCloseMemHandle(v));
    expect(::write(back[1], &done, 1) == 1);
    std::_Exit(0);
  }
  Words v;
  Event e(cudaEventDisableTiming | cudaEventInterprocess);
  for (int k = 0; k < 50; ++k) launch_step(v, 0);
  launch_step(v, 1);
  ck(cudaEventRecord(e));
  ck(cudaIpcGetMemHandle(&handed.memory, v));
  ck(cudaIpcGetEventHandle(&handed.event, e));
  expect(::write(there[1], &handed, sizeof handed) == sizeof handed);
  expect(::read(back[0], &done, 1) == 1);
  launch_step(v, 3);
  v.all(step_on_host(step_on_host(1, 2), 3));
  started("child", child);
}

}  // namespace
