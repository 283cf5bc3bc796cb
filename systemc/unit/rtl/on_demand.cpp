// SPDX-License-Identifier: Apache-2.0
#include "systemc/unit/rtl/on_demand.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sluice_rtl_units.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "sw/core/errors.h"
#include "sw/io/progress.h"

namespace sluice {

namespace {

class Builder {
 public:
  explicit Builder(const OnDemand& wanted)
      : wanted_(wanted), folder_(std::filesystem::path(SLUICE_UNIT_FOLDER) / wanted.folder) {}

  void* build() {
    std::error_code failed;
    std::filesystem::create_directories(folder_, failed);
    const int lock = open((folder_ / "lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    if (lock < 0 || flock(lock, LOCK_EX) != 0) fail(fmt::format("{} can't be written", folder_.string()));
    for (const char* tool : {"cmake", "ninja", "verilator", SLUICE_UNIT_COMPILER})
      if (std::system(fmt::format("command -v '{}' >/dev/null", tool).c_str()) != 0) fail(fmt::format("{} is not there", tool));
    if (!std::filesystem::exists(folder_ / "build.ninja")) {
      tell();
      run(fmt::format("cmake -G Ninja -S '{}' -B '{}' -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER='{}'{}", SLUICE_UNIT_SOURCE,
                      folder_.string(), SLUICE_UNIT_COMPILER, wanted_.settings));
    }
    run(fmt::format("NINJA_STATUS='[%f/%t] ' ninja -C '{}'", folder_.string()));
    close(lock);
    void* library = dlopen((folder_ / "libunit.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    void* symbol = library == nullptr ? nullptr : dlsym(library, wanted_.symbol);
    if (symbol == nullptr) fail(dlerror());
    return symbol;
  }

 private:
  void tell() {
    if (!std::exchange(told_, true)) fmt::print(stderr, "building {}: once, it is kept in {}\n", wanted_.what, folder_.string());
  }
  /// Steps "[2/9] ..." of the command are progress; all that it says is in build.log.
  void run(const std::string& command) {
    const std::string log = (folder_ / "build.log").string();
    FILE* out = popen(fmt::format("{{ {}; }} 2>&1", command).c_str(), "r");
    if (out == nullptr) throw_errno(wanted_.what, errno);
    std::ofstream all(log, std::ios::app);
    std::optional<Progress> progress;
    std::string first;
    unsigned all_steps = 0;
    char line[4096];
    while (fgets(line, sizeof line, out) != nullptr) {
      all << line;
      const std::string_view text(line, std::strcspn(line, "\n"));
      if (first.empty() && (text.find("Error") != text.npos || text.find("error:") != text.npos)) first = text;
      unsigned step = 0, steps = 0;  // these start anew when CMake runs anew
      if (std::sscanf(line, "[%u/%u]", &step, &steps) != 2) continue;
      tell();
      if (std::exchange(all_steps, steps) != steps) progress.emplace("RTL", steps);
      progress->done("");
    }
    if (pclose(out) != 0) fail(fmt::format("{}; see {}", first.empty() ? command : first, log));
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw InputError(
        fmt::format("{} is built where it is first needed, and can't be: {}{}", wanted_.what, why, wanted_.otherwise));
  }

  const OnDemand& wanted_;
  std::filesystem::path folder_;
  bool told_ = false;
};

}  // namespace

void* built_on_demand(const OnDemand& wanted) { return Builder(wanted).build(); }

}  // namespace sluice
