// SPDX-License-Identifier: Apache-2.0
// What the experiments run: kernels as a program of their own, which knows nothing of Sluice, and is told what to do by lines.
#include <fmt/format.h>

#include <iostream>
#include <thread>

#include "sw/gpu/experiments/experiments.h"

namespace sluice::gpu {

namespace {

using nlohmann::json;

std::int64_t nanoseconds() {  // CLOCK_MONOTONIC: one clock for all processes
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

json resources(const SmResources& r) {
  return {{"threads", r.threads},
          {"registers", r.registers},
          {"shared_memory_bytes", r.shared_memory_bytes},
          {"cta_slots", r.cta_slots}};
}

class Kernels {
 public:
  Kernels(const GpuSession& session, std::vector<App> apps) : apps_(std::move(apps)) {
    for (const App& app : apps_) {
      all_.push_back(std::make_unique<PreparedKernel>(session.context(), session.compiler(), session.tools(), app.launch));
      streams_.push_back(make_stream());
    }
    const DeviceLimits& gpu = session.context().limits();
    ready_ = {{"gpu", gpu.name}, {"sms", gpu.sms}, {"capacity", resources(sm_capacity(gpu))}};
    for (const auto& k : all_)
      ready_["kernels"].push_back({{"name", k->spec().label},
                                   {"symbol", k->symbol()},
                                   {"blocks", k->spec().blocks()},
                                   {"block_threads", k->spec().block_threads()},
                                   {"registers", k->kernel().registers()},
                                   {"occupancy", k->occupancy()},
                                   {"demand", resources(k->demand())}});
  }
  [[nodiscard]] const json& ready() const { return ready_; }

  json obey(const std::string& order, std::int64_t number) {
    if (order == "at") return at(number);
    if (order == "repeat") return repeat(number);
    if (order == "run") return run(number);
    if (order == "timed") return timed_launches(number);
    json answer = {{order, json::array()}};
    for (std::size_t k = 0; k < all_.size(); ++k) {
      if (order == "reset") all_[k]->reset_buffers();
      if (order == "poison") all_[k]->poison_outputs();
      if (order == "fingerprints") answer[order].push_back(all_[k]->fingerprints());
      if (order == "check")
        answer[order].push_back(apps_[k].check ? json(apps_[k].check({apps_[k].launch, all_[k]->download()})) : json());
    }
    return answer;
  }

 private:
  void launch() {
    all_[0]->launch(streams_[0].get());
    check(driver().cuStreamSynchronize(streams_[0].get()), all_[0]->spec().label + " failed on the GPU");
  }
  json at(std::int64_t time) {
    while (nanoseconds() < time) {
    }
    const std::int64_t launched = nanoseconds();
    launch();
    return {{"launched", launched}, {"ended", nanoseconds()}};
  }
  /// One after the other, each when the one before has ended.
  json repeat(std::int64_t number) {
    const Clock::time_point start = Clock::now();
    for (; number > 0; --number) launch();
    return {{"ms", seconds(Clock::now() - start) * 1e3}};
  }
  /// Each kernel so often in a stream of its own. @return when each was done
  json run(std::int64_t number) {
    std::vector<double> ms(all_.size(), 0);
    const Clock::time_point start = Clock::now();
    for (; number > 0; --number)
      for (std::size_t k = 0; k < all_.size(); ++k) all_[k]->launch(streams_[k].get());
    // Asking again and again would keep the driver from others: where there is one, it is waited for.
    if (all_.size() == 1) check(driver().cuStreamSynchronize(streams_[0].get()), all_[0]->spec().label + " failed on the GPU");
    for (std::size_t open = ms.size(); open > 0; std::this_thread::yield())
      for (std::size_t k = 0; k < ms.size(); ++k) {
        if (ms[k] > 0) continue;
        const CUresult result = driver().cuStreamQuery(streams_[k].get());
        if (result == CUDA_ERROR_NOT_READY) continue;
        check(result, all_[k]->spec().label + " failed on the GPU");
        ms[k] = seconds(Clock::now() - start) * 1e3;
        --open;
      }
    return {{"ms", ms}};
  }
  /// By device events.
  json timed_launches(std::int64_t number) {
    json all = json::array();
    for (; number > 0; --number) all.push_back(launch_seconds(*all_[0], streams_[0].get()));
    return {{"seconds", all}};
  }

  std::vector<App> apps_;
  std::vector<std::unique_ptr<PreparedKernel>> all_;
  std::vector<StreamHandle> streams_;
  json ready_;
};

}  // namespace

void kernel_program(const GpuSession& session, std::vector<App> apps) {
  Kernels kernels(session, std::move(apps));
  kernels.obey("reset", 0);
  kernels.obey("run", 1);  // loads their code
  std::cout << kernels.ready().dump() << std::endl;
  std::int64_t number = 0;
  for (std::string order; std::cin >> order >> number;) std::cout << kernels.obey(order, number).dump() << std::endl;
}

std::vector<std::string> of_app(const std::string& app, const AppSize& size) {
  return {"--app=" + app, fmt::format("--blocks={}", size.blocks), fmt::format("--passes={}", size.passes)};
}

}  // namespace sluice::gpu
