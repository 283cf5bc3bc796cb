// SPDX-License-Identifier: Apache-2.0
// What a process tells at its end: the coverage table on standard error, and as JSON in the file that SLUICE_REPORT names.
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "sw/interpose/program.h"
#include "sw/interpose/threads.h"

namespace sluice::interpose {

namespace {
constexpr auto kLongest = std::chrono::milliseconds(200);
}  // namespace

std::vector<CoverageLine> Program::coverage_lines(GpuNumber gpu) {
  const auto held = lock_at_exit(lock_);
  if (!held.owns_lock()) return {};
  graphs_.count_all();
  return coverage_.lines(gpu);
}

void Program::ends() {
  ended_ = true;
  ends_in_driver_ = in_driver;
  finish_compiling();
  tell_();
}

void Program::tell() {
  std::unique_lock held = lock_at_exit(lock_);
  if (!held.owns_lock() || (coverage_.empty() && graphs_.empty())) return;
  if (!ends_in_driver_) notice_resets();
  const auto until = Clock::now() + kLongest;  // launches that nobody waited for may never end
  while (!ends_in_driver_ && (coverage_.collect() | graphs_.collect()) && Clock::now() < until) {
    held.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    held.lock();
  }
  graphs_.count_all();
  const Lanes::Sums sums = ends_in_driver_ ? Lanes::Sums{.known = false} : lanes_.sums();
  std::fprintf(stderr, "%s", coverage_.table().c_str());
  if (sums.violations > 0 || sums.naps > 0 || sums.raises > 0)
    std::fprintf(stderr, "sluice: %llu quota violations, %llu sleepers, %llu raises of the watchdog, %llu later grids\n",
                 static_cast<unsigned long long>(sums.violations), static_cast<unsigned long long>(sums.naps),
                 static_cast<unsigned long long>(sums.raises), static_cast<unsigned long long>(sums.later_grids));
  const char* path = std::getenv("SLUICE_REPORT");
  if (path == nullptr || *path == '\0') return;
  nlohmann::json report = coverage_.json();
  report["quota_violations"] = sums.known ? nlohmann::json(sums.violations) : nlohmann::json();
  report["sleepers"] = sums.naps;
  report["watchdog_raises"] = sums.raises;
  report["later_grids"] = sums.later_grids;
  report["orders"] = sums.orders;
  report["placed"] = sums.placed;
  for (const auto& [kernel, checked] : sums.checked)
    report["checked"][kernel] = {{"blocks", checked.blocks}, {"wrong_blocks", checked.wrong}};
  if (const std::string times = lanes_.times_json(); !times.empty()) report.update(nlohmann::json::parse(times));
  std::FILE* file = std::fopen(path, "w");
  if (file == nullptr || std::fprintf(file, "%s\n", report.dump(2).c_str()) < 0)
    std::fprintf(stderr, "sluice: SLUICE_REPORT=%s cannot be written\n", path);
  if (file != nullptr) std::fclose(file);
}

}  // namespace sluice::interpose
