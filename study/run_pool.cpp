// SPDX-License-Identifier: Apache-2.0
#include "study/run_pool.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <string>

#include "sw/core/errors.h"
#include "systemc/model_device.h"

namespace sluice {

namespace {

volatile std::sig_atomic_t stop_requested = 0;

void request_stop(int) { stop_requested = 1; }

/// Installs the stop handler for the lifetime of one `run`.
class SignalScope {
 public:
  SignalScope() {
    stop_requested = 0;
    struct sigaction action {};
    action.sa_handler = request_stop;  // no SA_RESTART: poll() must return
    sigaction(SIGINT, &action, &old_int_);
    sigaction(SIGTERM, &action, &old_term_);
  }
  ~SignalScope() {
    sigaction(SIGINT, &old_int_, nullptr);
    sigaction(SIGTERM, &old_term_, nullptr);
  }
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;

 private:
  struct sigaction old_int_ {
  }, old_term_{};
};

struct Child {
  pid_t pid = 0;
  int pipe = -1;
  std::size_t index = 0;
  std::string text;
};

[[noreturn]] void child_main(int pipe, const RunPool::DeviceFactory& make_device, const RunSpec& spec) {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a parent that is killed leaves nothing running
  nlohmann::json answer;
  try {
    answer["result"] = make_device()->run(spec);
  } catch (const std::exception& e) {
    answer["error"] = dynamic_cast<const std::bad_alloc*>(&e) != nullptr ? "out of memory" : e.what();
    answer["kind"] = kind_of(e);
  }
  // Names and errors may quote bytes of a damaged file.
  const std::string text = answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = write(pipe, text.data() + written, text.size() - written);
    if (n <= 0) _exit(1);
    written += static_cast<std::size_t>(n);
  }
  _exit(0);  // no destructors: the parent's streams are not ours
}

Child spawn(std::size_t index, const RunPool::DeviceFactory& make_device, const RunSpec& spec) {
  int ends[2];
  if (pipe(ends) != 0) throw SystemError(fmt::format("cannot start a simulation process: {}", std::strerror(errno)));
  const pid_t pid = fork();
  if (pid < 0) {
    const int error = errno;
    close(ends[0]);
    close(ends[1]);
    throw SystemError(fmt::format("cannot start a simulation process: {}", std::strerror(error)));
  }
  if (pid == 0) {
    close(ends[0]);
    child_main(ends[1], make_device, spec);
  }
  close(ends[1]);
  return {pid, ends[0], index, {}};
}

void kill_all(std::vector<Child>& children) {
  for (const Child& child : children) kill(child.pid, SIGKILL);
  for (const Child& child : children) {
    waitpid(child.pid, nullptr, 0);
    close(child.pipe);
  }
  children.clear();
}

/// The child closed its pipe: collects it.
void finish(const Child& child, const RunPool::OnDone& on_done, const RunPool::OnFailed& on_failed) {
  const auto failed = [&](ErrorKind kind, const std::string& error) {
    if (!on_failed) throw_error(kind, error);
    on_failed(child.index, kind, error);
  };
  close(child.pipe);
  int status = 0;
  rusage usage{};
  while (wait4(child.pid, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    const std::string how =
        WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status)) : fmt::format("exit code {}", WEXITSTATUS(status));
    return failed(ErrorKind::System,
                  fmt::format("a simulation process ended without a result ({}); {}?", how,
                              WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS ? "is a disk full" : "out of memory"));
  }
  const nlohmann::json answer = nlohmann::json::parse(child.text);
  if (answer.contains("error")) return failed(answer["kind"].get<ErrorKind>(), answer["error"].get<std::string>());
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; };
  on_done(child.index, answer["result"].get<RunResult>(),
          {seconds(usage.ru_utime) + seconds(usage.ru_stime), static_cast<double>(usage.ru_maxrss) / 1024.0});
}

}  // namespace

bool RunPool::run(std::vector<RunSpec> specs, const OnDone& on_done, const BeforeStart& before_start,
                  const OnFailed& on_failed) const {
  const SignalScope signals;
  std::vector<Child> children;
  std::size_t next = 0;
  try {
    while (next < specs.size() || !children.empty()) {
      while (stop_requested == 0 && next < specs.size() && children.size() < jobs_) {
        if (before_start) before_start(next, specs[next]);
        children.push_back(spawn(next, make_device_, specs[next]));
        ++next;
      }
      std::vector<pollfd> waits;
      for (const Child& child : children) waits.push_back({child.pipe, POLLIN, 0});
      if (stop_requested == 0) poll(waits.data(), waits.size(), -1);
      if (stop_requested != 0) {
        kill_all(children);
        return false;
      }
      for (std::size_t i = waits.size(); i > 0; --i) {
        if (waits[i - 1].revents == 0) continue;
        char buffer[65536];
        const ssize_t n = read(children[i - 1].pipe, buffer, sizeof buffer);
        if (n > 0) {
          children[i - 1].text.append(buffer, static_cast<std::size_t>(n));
          continue;
        }
        const Child done = std::move(children[i - 1]);
        children.erase(children.begin() + static_cast<std::ptrdiff_t>(i - 1));
        finish(done, on_done, on_failed);
      }
    }
  } catch (...) {
    kill_all(children);
    throw;
  }
  return true;
}

MeasuredRun run_one(const RunSpec& spec) {
  MeasuredRun run;
  const RunPool pool([] { return std::make_unique<ModelDevice>(); }, 1);
  if (!pool.run({spec}, [&](std::size_t, const RunResult& r, const HostCost& c) { run = {r, c}; }))
    throw Interrupted("interrupted: nothing was written");
  return run;
}

}  // namespace sluice
