// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/coverage.h"

#include <fmt/format.h>
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "sw/interpose/program.h"

namespace sluice::interpose {

Coverage::Coverage() {
  std::atexit([] { Program::instance().coverage().write(); });
  pthread_atfork(nullptr, nullptr, [] { Program::instance().coverage().forget(); });
}

void Coverage::count(const std::string& kernel, const std::string& reason) { ++kernels_[kernel][reason]; }

void Coverage::write() const {
  if (kernels_.empty()) return;
  nlohmann::json quota = nlohmann::json::object(), native = quota, reasons = quota;
  std::uint64_t under = 0, as_is = 0;
  std::string table;
  for (const auto& [kernel, counts] : kernels_)
    for (const auto& [reason, launches] : counts) {
      (reason.empty() ? under : as_is) += launches;
      nlohmann::json& sums = reason.empty() ? quota : native;
      sums[kernel] = launches + sums.value(kernel, std::uint64_t{0});
      if (!reason.empty()) reasons[kernel] = reason;
      table += fmt::format("  {:>9} {:6} {}{}{}\n", launches, reason.empty() ? "quota" : "native", kernel,
                           reason.empty() ? "" : ": ", reason);
    }
  std::fprintf(stderr, "sluice: %llu launches under quota, %llu native\n%s", static_cast<unsigned long long>(under),
               static_cast<unsigned long long>(as_is), table.c_str());
  if (const char* path = std::getenv("SLUICE_REPORT"); path != nullptr && *path != '\0') {
    const nlohmann::json report = {{"quota", {{"launches", under}, {"kernels", quota}}},
                                   {"native", {{"launches", as_is}, {"kernels", native}}},
                                   {"reasons", reasons}};
    std::FILE* file = std::fopen(path, "w");
    if (file == nullptr || std::fprintf(file, "%s\n", report.dump(2).c_str()) < 0)
      std::fprintf(stderr, "sluice: SLUICE_REPORT=%s cannot be written\n", path);
    if (file != nullptr) std::fclose(file);
  }
}

}  // namespace sluice::interpose
