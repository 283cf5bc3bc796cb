// SPDX-License-Identifier: Apache-2.0
// Results bit for bit, every block as often as it was launched under evictions, and placement, in programs under `sluice run`.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <thread>

#include "sw/gpu/experiments/clients.h"
#include "sw/gpu/experiments/experiments.h"

namespace sluice::gpu {

namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

/// A program with one kernel, each launch of which is looked at.
class Checked {
 public:
  /// @param run  options of `sluice run`; none: as it is
  Checked(const ExperimentOptions& options, const Words& kernel, const std::optional<Words>& run = {})
      : client_(start_kernels(options.program, kernel.front(), kernel, run, scratch_.path() / "report",
                              {"SLUICE_CHECK=1", "SLUICE_SHORT_US=0"})),
        ready_(client_->receive()) {}
  [[nodiscard]] const json& ready() const { return ready_; }
  [[nodiscard]] const json& kernel() const { return ready_["kernels"][0]; }
  /// Fingerprints of its buffers after so many launches. @param meanwhile  what happens while they run
  [[nodiscard]] json after(
      unsigned launches, const std::function<void()>& meanwhile = [] {}) {
    static_cast<void>(client_->ask("reset 0"));
    client_->send(fmt::format("run {}", launches));
    meanwhile();
    static_cast<void>(client_->receive());
    return client_->ask("fingerprints 0")["fingerprints"][0];
  }
  [[nodiscard]] json check() { return client_->ask("check 0")["check"][0]; }
  /// Ends it. @return its report's answers
  [[nodiscard]] json end() {
    const std::string symbol = kernel()["symbol"];
    json report = client_->end();
    return {{"violations", report["quota_violations"]},
            {"wrong_blocks", report["checked"][symbol]["wrong_blocks"]},
            {"done", report["checked"][symbol]["blocks"]},
            {"ctas", report["placed"].value(symbol, json::object())}};  // SMs, by their most
  }

 private:
  Scratch scratch_;
  std::unique_ptr<Client> client_;
  json ready_;
};

/// One launch under a quota that stays.
json placed(const ExperimentOptions& options, const Words& kernel, const json& wanted, unsigned quota, unsigned sms,
            const Words& run) {
  Checked program(options, kernel, run);
  const bool same = program.after(1) == wanted;
  json line = program.end();
  unsigned above = 0;
  for (const auto& [ctas, number] : line["ctas"].items())
    if (static_cast<unsigned>(std::stoul(ctas)) > quota) above += number.get<unsigned>();
  line.update({{"quota", quota},
               {"violations", line["violations"].get<unsigned>() + above},
               {"sms_exact", line["ctas"].value(std::to_string(quota), 0U)},
               {"sms", sms},
               {"bit_identical", same}});
  return line;
}

/// Launches that are evicted, and whose quotas change, again and again.
json changing(const ExperimentOptions& options, const Words& kernel, unsigned launches, const json& wanted, unsigned most,
              unsigned sms) {
  constexpr unsigned kChanges = 80;
  std::mt19937_64 random(7);
  const Scratch scratch;
  const auto say = [&](const std::string& quota) { std::ofstream(scratch.path() / "quota") << quota << "\n"; };
  say("all");
  Checked program(options, kernel, Words{"--quota-file", scratch.path() / "quota"});
  const auto change = [&] {
    for (unsigned i = 0; i < kChanges; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(100 + random() % 400));
      const auto first = static_cast<unsigned>(random() % sms), ctas = static_cast<unsigned>(random() % most) + 1;
      say(i % 2 == 0 ? "0" : i % 4 == 1 ? std::to_string(ctas) : fmt::format("{} {}-{}", ctas, first, sms - 1));
    }
    say("all");
  };
  const bool same = program.after(launches, change) == wanted;
  json line = program.end();
  const std::uint64_t tasks =
      (launches + 1) * program.kernel()["blocks"].get<std::uint64_t>();  // and the one that loads its code
  line.update({{"evictions", kChanges / 2}, {"tasks", tasks}, {"bit_identical", same}});
  return line;
}

}  // namespace

void verify_experiment(GpuSession&, const ExperimentOptions& options) {
  const std::vector<std::string>& apps = options.apps.empty() ? app_names() : options.apps;
  RawLines lines(options, "verify", apps.size());
  for (const std::string& name : apps)
    lines.step(name, [&] {
      constexpr unsigned kLaunches = 40;
      const Words small = {"--app=" + name, "--small"}, full = of_app(name, full_size(name));
      json result = {{"app", name}};
      Checked native_small(options, small), native(options, full);
      const json wanted_small = native_small.after(1), wanted = native.after(1), wanted_often = native.after(kLaunches);
      result["cpu_check"] = native_small.check();
      const unsigned most = native.kernel()["occupancy"], sms = native.ready()["sms"];
      result["small_bit_identical"] = Checked(options, small, Words{"--quota", "1"}).after(1) == wanted_small;
      result["exactly_once"] = {changing(options, full, kLaunches, wanted_often, most, sms)};
      result["full"] = json::array();
      for (const unsigned quota : {most, (most + 1) / 2, 1U})
        result["full"].push_back(placed(options, full, wanted, quota, sms, {"--quota", std::to_string(quota)}));
      const std::string range = fmt::format("{}-{}", sms / 3, sms / 3 + sms / 2 - 1);
      result["full"].push_back(placed(options, full, wanted, most, sms / 2, {"--sms", range}));
      return result;
    });
}

}  // namespace sluice::gpu
