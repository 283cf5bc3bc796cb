// SPDX-License-Identifier: Apache-2.0
// The Verilated units of the GPU model. One model an elaboration, as a simulator has no elaboration parameters at run time: some
// are linked (rtl/units.cmake); any other is built as a shared object where a run first needs it, and kept.
#include "systemc/unit/rtl/rtl_sluice_top.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <register_table.h>
#include <sluice_rtl_units.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>

#include "sw/core/errors.h"
#include "sw/io/progress.h"

namespace sluice {

namespace {

using Make = ISluiceTop* (*)(const char* fst_file, std::uint64_t clock_period_ps);

template <class Model, unsigned kSchedulers>
ISluiceTop* make(const char* fst_file, std::uint64_t clock_period_ps) {
  return new RtlSluiceTop<Model, kSchedulers>(fst_file, clock_period_ps);
}
struct LinkedUnit {
  regs::Parameters parameters;
  Make make;
};
#define SLUICE_UNIT(SMS, SCHEDULERS) {{SMS, 4, 32, SCHEDULERS, 64}, &make<Vsluice_top_##SMS, SCHEDULERS>},
constexpr LinkedUnit kLinked[] = {SLUICE_RTL_UNITS(SLUICE_UNIT)};
#undef SLUICE_UNIT

/// A unit that is not linked, in its folder of the build: systemc/unit/rtl/on_demand is the project.
class UnitOnDemand {
 public:
  explicit UnitOnDemand(const regs::Parameters& p) {
    std::vector<std::uint32_t> values;
    for (const auto& [name, member] : regs::kParameterNames) {
      values.push_back(p.*member);
      settings_ += fmt::format("-G{}={};", name, p.*member);
    }
    settings_ += fmt::format("' -DNUM_SCHED={} -DMAX_KERNELS={} -DREADY_SMS={}", p.num_sched, p.max_kernels,
                             p.sm_ready == 0 ? 0 : p.num_sm);
    folder_ = std::filesystem::path(SLUICE_UNIT_FOLDER) / fmt::format("{}", fmt::join(values, "_"));
    what_ = fmt::format("the partition unit's RTL for {} SMs of {} and {} kernels", p.num_sm, p.num_sched, p.max_kernels);
  }

  [[nodiscard]] const std::string& settings() const { return settings_; }
  /// Builds what is not there or older than its sources. @throws InputError
  Make make() {
    std::error_code failed;
    std::filesystem::create_directories(folder_, failed);
    const int lock = open((folder_ / "lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    if (lock < 0 || flock(lock, LOCK_EX) != 0) fail(fmt::format("{} can't be written", folder_.string()));
    for (const char* tool : {"cmake", "ninja", "verilator", SLUICE_UNIT_COMPILER})
      if (std::system(fmt::format("command -v '{}' >/dev/null", tool).c_str()) != 0) fail(fmt::format("{} is not there", tool));
    if (!std::filesystem::exists(folder_ / "build.ninja")) {
      tell();
      run(fmt::format("cmake -G Ninja -S '{}' -B '{}' -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER='{}' -DPARAMETERS='{}",
                      SLUICE_UNIT_SOURCE, folder_.string(), SLUICE_UNIT_COMPILER, settings_));
    }
    run(fmt::format("NINJA_STATUS='[%f/%t] ' ninja -C '{}'", folder_.string()));
    close(lock);
    void* library = dlopen((folder_ / "libunit.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    void* symbol = library == nullptr ? nullptr : dlsym(library, "sluice_make_unit");
    if (symbol == nullptr) fail(dlerror());
    return reinterpret_cast<Make>(symbol);
  }

 private:
  void tell() {
    if (!std::exchange(told_, true)) fmt::print(stderr, "building {}: once, it is kept in {}\n", what_, folder_.string());
  }
  /// Steps "[2/9] ..." of the command are progress; all that it says is in build.log.
  void run(const std::string& command) {
    const std::string log = (folder_ / "build.log").string();
    FILE* out = popen(fmt::format("{{ {}; }} 2>&1", command).c_str(), "r");
    if (out == nullptr) throw_errno(what_, errno);
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
        fmt::format("{} is built where it is first needed, and can't be: {}; --partitioner twin needs no build", what_, why));
  }
  std::string settings_, what_;
  std::filesystem::path folder_;
  bool told_ = false;
};

Make unit_of(const regs::Parameters& parameters) {
  static std::map<std::string, Make> on_demand;
  for (const LinkedUnit& unit : kLinked)
    if (std::ranges::all_of(regs::kParameterNames, [&](auto n) { return unit.parameters.*n.second == parameters.*n.second; }))
      return unit.make;
  UnitOnDemand unit(parameters);
  Make& make = on_demand[unit.settings()];
  if (make == nullptr) make = unit.make();
  return make;
}

}  // namespace

void check_rtl_sluice_top(const regs::Parameters& parameters) { (void)unit_of(parameters); }

std::unique_ptr<ISluiceTop> make_rtl_sluice_top(const regs::Parameters& parameters, const std::string& fst_file,
                                                std::uint64_t clock_period_ps) {
  return std::unique_ptr<ISluiceTop>(unit_of(parameters)(fst_file.c_str(), clock_period_ps));
}

}  // namespace sluice
