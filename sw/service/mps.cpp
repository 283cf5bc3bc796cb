// SPDX-License-Identifier: Apache-2.0
#include "sw/service/mps.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
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
  const std::string pipe = "CUDA_MPS_PIPE_DIRECTORY=" + folder_.string(),
                    log = "CUDA_MPS_LOG_DIRECTORY=" + (folder_ / "log").string();
  control_ = ::fork();
  if (control_ < 0) throw_errno("the MPS server", errno);
  if (control_ == 0) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // the service may be killed
    sigset_t none_blocked;
    sigemptyset(&none_blocked);
    ::sigprocmask(SIG_SETMASK, &none_blocked, nullptr);
    ::putenv(const_cast<char*>(pipe.c_str()));
    ::putenv(const_cast<char*>(log.c_str()));
    const int quiet = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3; ++fd) ::dup2(quiet, fd);
    ::execlp("nvidia-cuda-mps-control", "nvidia-cuda-mps-control", "-f", static_cast<char*>(nullptr));
    ::_exit(127);
  }
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

void MpsServer::restart() {
  end();
  start();
}

}  // namespace sluice::service
