// SPDX-License-Identifier: Apache-2.0
// lib/sluice/ptxas: runs the assembler that Triton would have run, unchanged, and keeps the PTX of what it makes in the cache, by
// the machine code. The interposer finds it there when the program loads a module without PTX.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "sw/interpose/cache.h"
#include "sw/interpose/find_ptxas.h"

namespace {

namespace fs = std::filesystem;

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Beside the library of the Triton that called us: each release wants its own assembler.
std::string of_triton() {
  std::ifstream maps("/proc/" + std::to_string(::getppid()) + "/maps");
  for (std::string line; std::getline(maps, line);)
    if (const std::size_t at = line.find("/triton/_C/libtriton"); at != std::string::npos) {
      const std::string package = line.substr(line.find('/'), at + std::string("/triton").size() - line.find('/'));
      return package + "/backends/nvidia/bin/ptxas";
    }
  return "";
}

std::string real_ptxas() {
  const char* named = std::getenv("SLUICE_REAL_PTXAS");
  std::error_code none;
  return sluice::interpose::find_ptxas({named == nullptr ? "" : named, of_triton()}, fs::read_symlink("/proc/self/exe", none));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string real = real_ptxas();
  if (real.empty()) {
    (void)!::write(2, "sluice: no ptxas is found; SLUICE_REAL_PTXAS may name it\n", 58);
    return 127;
  }
  std::string input, output;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if ((word == "-o" || word == "--output-file") && i + 1 < argc)
      output = argv[++i];
    else if (word.ends_with(".ptx"))
      input = word;
  }
  const pid_t child = ::fork();
  if (child == 0) {
    argv[0] = const_cast<char*>(real.c_str());  // execv only reads
    ::execv(real.c_str(), argv);
    ::_exit(127);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return 127;
  if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
  const std::string made = output.empty() ? "" : contents(output);
  if (WEXITSTATUS(status) == 0 && made.size() >= 64 && !input.empty())
    if (const std::size_t bytes = sluice::interpose::elf_bytes(made.data()); bytes > 0 && bytes <= made.size())
      sluice::interpose::Cache::of_user().store("ptx-" + sluice::interpose::digest(std::string_view(made).substr(0, bytes)),
                                                contents(input));
  return WEXITSTATUS(status);
}
