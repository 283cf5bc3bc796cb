// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/compiler_process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include "sw/interpose/find_ptxas.h"

/// clone() by its other name: sanitizers take that for a fork with memory of its own.
extern "C" int __clone(int (*function)(void*), void* stack, int flags, void* argument, ...);

namespace sluice::interpose {

namespace {

constexpr std::size_t kStack = 65536;
struct Command {
  std::vector<char*> words, environment;
  std::vector<char> stack = std::vector<char>(kStack);
  int input = -1, output = -1;
  int ended = -1;  // becomes readable when the command has ended
};

int execute(void* of) {  // with the program's memory: nothing but system calls
  const auto& command = *static_cast<const Command*>(of);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(command.input, 0);
  ::dup2(command.output, 1);
  ::dup2(null, 2);
  ::close_range(3, ~0U, 0);  // who waits for the program's end must not wait for this process
  ::execve(command.words[0], command.words.data(), command.environment.data());
  ::_exit(127);
}
int start(void* of) {
  auto& command = *static_cast<Command*>(of);
  const int child =
      ::__clone(execute, command.stack.data() + kStack, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, of, &command.ended);
  return child < 0 ? 1 : 0;
}

/// Returns when it has ended, well or not. It is no child of the program, whose own wait() must not find it: its parent is a
/// process that says nothing at its end, which comes at once.
void run(std::vector<std::string> words, int input, int output) {
  Command command;
  command.input = input;
  command.output = output;
  for (std::string& w : words) command.words.push_back(w.data());
  command.words.push_back(nullptr);
  for (char** e = environ; *e != nullptr; ++e)
    if (!std::string_view(*e).starts_with("LD_PRELOAD=")) command.environment.push_back(*e);  // that is us
  command.environment.push_back(nullptr);
  std::vector<char> stack(kStack);
  const int parent = ::__clone(start, stack.data() + kStack, CLONE_VM | CLONE_VFORK | CLONE_FILES, &command);
  if (parent < 0) return;
  while (::waitpid(parent, nullptr, __WCLONE) < 0 && errno == EINTR) {
  }
  pollfd ended{command.ended, POLLIN, 0};
  while (command.ended >= 0 && ::poll(&ended, 1, -1) < 0 && errno == EINTR) {
  }
  if (command.ended >= 0) ::close(command.ended);
}

/// A file without a name.
class Buffer {
 public:
  Buffer() : fd_(::memfd_create("sluice", MFD_CLOEXEC)) {}
  ~Buffer() {
    if (fd_ >= 0) ::close(fd_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] bool fill(std::string_view text) const {
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t n = ::pwrite(fd_, text.data() + at, text.size() - at, static_cast<off_t>(at));
      if (n <= 0) return false;
      at += static_cast<std::size_t>(n);
    }
    return true;
  }
  [[nodiscard]] std::string content() const {
    struct stat of {};
    if (::fstat(fd_, &of) != 0) return "";
    std::string text(static_cast<std::size_t>(of.st_size), '\0');
    const ssize_t n = ::pread(fd_, text.data(), text.size(), 0);
    return n == of.st_size ? text : "";
  }

 private:
  int fd_;
};

std::filesystem::path own_folder() {
  Dl_info of{};
  return ::dladdr(reinterpret_cast<const void*>(&own_folder), &of) == 0 ? "" : std::filesystem::path(of.dli_fname).parent_path();
}

Toolkit find_toolkit() {
  Toolkit found;
  const char* named = std::getenv("SLUICE_PTXAS");
  found.ptxas = named != nullptr ? named : find_ptxas({}, own_folder() / "ptxas");
  struct stat of {};
  if (found.ptxas.empty() || ::stat(found.ptxas.c_str(), &of) != 0) return {};
  found.stamp = fmt::format("{}.{}.{}", of.st_ino, of.st_size, of.st_mtim.tv_sec);
  return found;
}

}  // namespace

const Toolkit& toolkit() {
  static const auto* found = new Toolkit(find_toolkit());  // never destroyed: threads may compile while the process ends
  return *found;
}

std::optional<Code> compiled_elsewhere(const std::string& ptx, const std::string& key, bool variables, unsigned registers,
                                       unsigned sm, int driver) {
  if (toolkit().ptxas.empty() || sm == 0) return std::nullopt;
  try {
    const Buffer text, code;
    if (!text.fill(ptx)) return std::nullopt;
    run({own_folder() / "compiler", toolkit().ptxas, toolkit().stamp, key, std::to_string(sm), std::to_string(driver),
         variables ? "1" : "0", std::to_string(registers)},
        text.fd(), code.fd());
    return unpacked(code.content());
  } catch (const std::exception&) {
    return std::nullopt;  // the driver's linker is left
  }
}

}  // namespace sluice::interpose
