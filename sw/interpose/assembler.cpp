// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/assembler.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string_view>

namespace sluice::interpose {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kStack = 65536;
struct Command {
  std::vector<char*> words, environment;
  std::vector<char> stack = std::vector<char>(kStack);
  int ended = -1;  // becomes readable when the command has ended
};

int execute(void* of) {  // with the program's memory: nothing but system calls
  const auto& command = *static_cast<const Command*>(of);
  const int quiet = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd < 3; ++fd) ::dup2(quiet, fd);
  ::execve(command.words[0], command.words.data(), command.environment.data());
  ::_exit(127);
}
int start(void* of) {
  auto& command = *static_cast<Command*>(of);
  const int child =
      ::clone(execute, command.stack.data() + kStack, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, of, &command.ended);
  return child < 0 ? 1 : 0;
}

/// Returns when it has ended, well or not. It is no child of the program, whose own wait() must not find it: its parent is a
/// process that says nothing at its end, which comes at once.
void run(std::vector<std::string> words) {
  Command command;
  for (std::string& w : words) command.words.push_back(w.data());
  command.words.push_back(nullptr);
  for (char** e = environ; *e != nullptr; ++e)
    if (!std::string_view(*e).starts_with("LD_PRELOAD=")) command.environment.push_back(*e);  // that is us
  command.environment.push_back(nullptr);
  std::vector<char> stack(kStack);
  const int parent = ::clone(start, stack.data() + kStack, CLONE_VM | CLONE_VFORK | CLONE_FILES, &command);
  if (parent < 0) return;
  while (::waitpid(parent, nullptr, __WCLONE) < 0 && errno == EINTR) {
  }
  pollfd ended{command.ended, POLLIN, 0};
  while (command.ended >= 0 && ::poll(&ended, 1, -1) < 0 && errno == EINTR) {
  }
  if (command.ended >= 0) ::close(command.ended);
}

/// A folder of our own, for as long as it lives.
class Scratch {
 public:
  Scratch() {
    std::string name = (fs::temp_directory_path() / "sluice_XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) folder_ = name;
  }
  ~Scratch() {
    std::error_code none;
    if (!folder_.empty()) fs::remove_all(folder_, none);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] const fs::path& folder() const { return folder_; }

 private:
  fs::path folder_;
};

}  // namespace

const std::string& ptxas() {
  static const auto* path = [] {  // never destroyed: threads may compile while the process ends
    const char* named = std::getenv("SLUICE_PTXAS");
    return new std::string(named == nullptr ? "" : named);
  }();
  return *path;
}

std::optional<std::vector<char>> assembled_by_ptxas(const std::string& ptx, unsigned sm) {
  if (ptxas().empty()) return std::nullopt;
  try {
    const Scratch scratch;
    if (scratch.folder().empty()) return std::nullopt;
    const std::string in = scratch.folder() / "in.ptx", out = scratch.folder() / "out.cubin";
    std::ofstream text(in, std::ios::binary);
    text << ptx;
    text.close();
    std::smatch own;  // of a variant, as sm_90a: its code is for that alone
    std::string arch = "sm_" + std::to_string(sm);
    if (std::regex_search(ptx, own, std::regex(R"(\.target\s+(sm_\d+[a-z]))"))) arch = own[1];
    if (!text) return std::nullopt;
    run({ptxas(), "-arch", arch, in, "-o", out});  // it leaves no file where it fails
    std::ifstream made(out, std::ios::binary);
    std::vector<char> code{std::istreambuf_iterator<char>(made), {}};
    if (code.empty()) return std::nullopt;
    return code;
  } catch (const std::exception&) {
    return std::nullopt;  // no room, no such folder: the driver's linker is left
  }
}

}  // namespace sluice::interpose
