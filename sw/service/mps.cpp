// SPDX-License-Identifier: Apache-2.0
#include "sw/service/mps.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <ranges>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "sw/core/errors.h"
#include "sw/service/socket.h"

namespace sluice::service {

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kUp = 1s, kDown = 300ms;

bool ends_within(pid_t child, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (::waitpid(child, nullptr, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

/// A process that is nvidia-cuda-mps-control, in a process group of its own. @return it, or -1
pid_t control(const fs::path& folder, int in, int out, const char* option) {
  const std::string pipe = "CUDA_MPS_PIPE_DIRECTORY=" + folder.string(),
                    log = "CUDA_MPS_LOG_DIRECTORY=" + (folder / "log").string();
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // the service may be killed
  sigset_t none_blocked;
  sigemptyset(&none_blocked);
  ::sigprocmask(SIG_SETMASK, &none_blocked, nullptr);
  ::putenv(const_cast<char*>(pipe.c_str()));
  ::putenv(const_cast<char*>(log.c_str()));
  ::unsetenv("CUDA_VISIBLE_DEVICES");  // a server that sees some GPUs alone numbers them anew for its clients
  ::dup2(in, 0);
  ::dup2(out, 1);
  ::dup2(out, 2);
  ::execlp("nvidia-cuda-mps-control", "nvidia-cuda-mps-control", option, static_cast<char*>(nullptr));
  ::_exit(127);
}

/// Processes below `root`: an MPS control daemon's servers.
std::vector<pid_t> children_of(pid_t root) {
  std::vector<pid_t> children;
  std::ifstream in(fmt::format("/proc/{0}/task/{0}/children", root));
  for (pid_t child = 0; in >> child;) children.push_back(child);
  return children;
}

}  // namespace

std::optional<unsigned> take_mps_connections(const fs::path& folder) {
  struct Share {
    unsigned connections, programs;
  };
  constexpr std::array kShares = {Share{16, 3}, Share{8, 3}, Share{4, 5},
                                  Share{2, 8}};  // 108: other processes of the GPU have some
  for (const Share& share : kShares)
    for (unsigned i = 0; i < share.programs; ++i) {
      const std::string file = (folder / fmt::format("connections.{}.{}", share.connections, i)).string();
      const int held = ::open(file.c_str(), O_RDWR | O_CREAT, 0600);  // not closed on exec: it is the program's from here on
      if (held < 0) return share.connections;                         // no lock can be taken: as if we were the first
      if (::flock(held, LOCK_EX | LOCK_NB) == 0) return share.connections;
      ::close(held);
    }
  return {};
}

MpsServer::MpsServer(const fs::path& folder) : folder_(fs::absolute(folder)) {
  fs::remove_all(folder_);  // of a daemon that was killed; the socket's lock is ours
  start();
}
MpsServer::~MpsServer() { end(); }

void MpsServer::start() {
  std::error_code none;
  fs::create_directory(folder_, none);
  fs::permissions(folder_, fs::perms::owner_all, none);
  fs::create_directory(folder_ / "log", none);
  const UniqueFd quiet(::open("/dev/null", O_RDWR | O_CLOEXEC));
  control_ = control(folder_, quiet.get(), quiet.get(), "-f");
  if (control_ < 0) throw_errno("the MPS server", errno);
  ::setpgid(control_, control_);
  const auto deadline = std::chrono::steady_clock::now() + kUp;
  while (!fs::exists(folder_ / "control", none) && std::chrono::steady_clock::now() < deadline) {
    if (::waitpid(control_, nullptr, WNOHANG) == control_) {
      control_ = -1;
      fs::remove_all(folder_, none);
      throw InputError("--mps: nvidia-cuda-mps-control is not installed, or does not start here");
    }
    std::this_thread::sleep_for(2ms);
  }
}

void MpsServer::end() {
  std::error_code none;
  if (control_ > 0) {
    // Its servers wait for clients whose contexts are dead already: nothing is left to be polite for.
    for (const pid_t server : children_of(control_)) ::kill(server, SIGKILL);
    ::kill(control_, SIGTERM);
    if (!ends_within(control_, kDown)) {
      ::kill(-control_, SIGKILL);
      ::waitpid(control_, nullptr, 0);
    }
    control_ = -1;
  }
  fs::remove_all(folder_, none);
}

std::optional<std::string> MpsServer::ask(const std::string& command) const {
  constexpr std::chrono::milliseconds kAnswers = 1s;
  const UniqueFd in(::memfd_create("command", MFD_CLOEXEC)), out(::memfd_create("answer", MFD_CLOEXEC));
  if (!in || !out || ::pwrite(in.get(), (command + "\n").data(), command.size() + 1, 0) < 0) return {};
  const pid_t child = control(folder_, in.get(), out.get(), nullptr);
  if (child < 0) return {};
  if (!ends_within(child, kAnswers)) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    return {};
  }
  std::string answer(4096, '\0');
  answer.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::pread(out.get(), answer.data(), answer.size(), 0))));
  return answer;
}

bool MpsServer::lost_contexts(pid_t died) const { return hangs(died, true); }
bool MpsServer::hangs(pid_t died) const { return hangs(died, false); }

bool MpsServer::hangs(pid_t died, bool sure) const {
  // A server that begins has no client yet who could lose a context, and takes most of a second on an idle machine.
  constexpr std::chrono::milliseconds kSeen = 1s, kBegins = 3s, kSure = 100ms;
  const auto asked = std::chrono::steady_clock::now();
  const std::optional<std::string> servers_said = ask("get_server_list");
  const std::string list = servers_said.value_or("");
  if (!servers_said || (sure && list.empty())) return true;  // MPS itself is gone, or hangs
  if (list.find_first_not_of("0123456789 \n") != std::string::npos) return true;
  std::istringstream servers(list);
  for (pid_t server = 0; servers >> server;) {
    std::string status;
    const auto faulty = [&] {
      status = ask(fmt::format("get_server_status {}", server)).value_or("");
      return !status.starts_with("ACTIVE") && !status.starts_with("INITIALIZING");
    };
    const auto there = [&] {
      const std::optional<std::string> answer = ask(fmt::format("get_client_list {}", server));
      std::istringstream clients(answer.value_or(""));
      return !answer || status.starts_with("INIT") || std::ranges::count(std::views::istream<pid_t>(clients), died) != 0;
    };
    while (!faulty() && there()) {
      if (std::chrono::steady_clock::now() >= asked + (status.starts_with("INIT") ? kBegins : kSeen)) return true;
      std::this_thread::sleep_for(10ms);
    }
    if (sure) std::this_thread::sleep_for(kSure);
    if (faulty()) return true;
  }
  return false;
}

void MpsServer::restart() {
  end();
  start();
}

}  // namespace sluice::service
