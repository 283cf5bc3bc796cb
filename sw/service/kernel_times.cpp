// SPDX-License-Identifier: Apache-2.0
#include "sw/service/kernel_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "sw/io/atomic_file.h"
#include "sw/service/socket.h"

namespace sluice::service {

namespace {

constexpr std::uintmax_t kMostBytes = 16U << 20U;
constexpr std::uint32_t kMostCtas = 1024;
constexpr const char* kForm = "sluice kernel times 1";
using SavedMix = std::pair<std::vector<std::pair<std::string, std::uint32_t>>, std::vector<double>>;
using Saved = std::vector<std::pair<std::string, std::map<std::uint32_t, double>>>;  ///< who was last heard of is last

}  // namespace

KernelTimes::~KernelTimes() {
  if (writer_.joinable()) writer_.join();
  save();
  if (writer_.joinable()) writer_.join();
}

void KernelTimes::keep(std::filesystem::path file, Say say) try {
  say_ = std::move(say);
  make_folder(file.parent_path());
  if (!is_safe_folder(file.parent_path()))
    throw std::runtime_error("the folder must be this user's, and writable by nobody else");
  file_ = std::move(file);
  if (!std::filesystem::exists(file_)) return;
  if (std::filesystem::file_size(file_) > kMostBytes) throw std::runtime_error("too large");
  const auto json = nlohmann::json::parse(read_file(file_));
  if (json.at("form") != kForm) throw std::runtime_error("of another form");
  for (const auto& [kernel, times] : json.at("kernels").get<Saved>())
    for (const auto& [ctas, ns] : times) learn(kernel, CtaCount(ctas), ns);
  for (const auto& [kernels, ns] : json.value("together", std::vector<SavedMix>())) {
    Held held;
    for (const auto& [kernel, ctas] : kernels) held.emplace_back(kernel, CtaCount(ctas));
    keep_together(held, ns, Time(0));
  }
  news_ = false;
} catch (const std::exception& why) {
  if (say_) say_(fmt::format("{}: nothing is taken in: {}", file_.empty() ? file.string() : file_.string(), why.what()));
}

void KernelTimes::save() {
  if (file_.empty() || !news_ || writing_) return;
  if (writer_.joinable()) writer_.join();
  std::vector<std::pair<std::uint64_t, const std::string*>> order;
  for (const auto& [name, kernel] : kernels_) order.emplace_back(kernel.heard, &name);
  std::ranges::sort(order);
  Saved saved;
  for (const auto& [heard, name] : order) saved.emplace_back(*name, kernels_.at(*name).ns);
  std::vector<SavedMix> mixes;
  for (const auto& [held, seen] : together_) {
    SavedMix& mix = mixes.emplace_back();
    for (const auto& [kernel, ctas] : held) mix.first.emplace_back(kernel, ctas.value());
    mix.second = seen.ns;
  }
  news_ = false;
  writing_ = true;
  writer_ = std::thread([this, saved = std::move(saved), mixes = std::move(mixes)] {
    try {
      const nlohmann::json json = {{"form", kForm}, {"kernels", saved}, {"together", mixes}};
      write_file_atomically(file_, json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
    } catch (const std::exception& why) {
      if (say_) say_(why.what());
    }
    writing_ = false;
  });
}

void KernelTimes::holds(Held held, Time now) {
  std::ranges::sort(held);
  if (held == held_) return;
  held_ = std::move(held);
  held_since_ = now;
  sums_.assign(held_.size(), {});
}

void KernelTimes::seen(const std::string& kernel, Time since, std::uint64_t launches, double ns) {
  if (since < held_since_) return;
  std::vector<double> means;
  for (std::size_t k = 0; k < held_.size(); ++k) {
    auto& [count, sum] = sums_[k];
    if (held_[k].first == kernel) count += launches, sum += ns;
    if (count != 0) means.push_back(sum / static_cast<double>(count));
  }
  if (means.size() == held_.size()) keep_together(held_, std::move(means), since);
}

void KernelTimes::keep_together(const Held& held, std::vector<double> ns, Time at) {
  const auto wrong = [](double t) { return !std::isfinite(t) || t <= 0; };
  const auto none = [](const auto& k) { return k.second.value() == 0 || k.second.value() > kMostCtas; };
  if (held.empty() || held.size() != ns.size() || std::ranges::any_of(ns, wrong) || std::ranges::any_of(held, none)) return;
  if (together_.size() >= kMostKernels && !together_.contains(held))
    together_.erase(std::ranges::min_element(together_, {}, [](const auto& t) { return t.second.heard; }));
  together_[held] = {std::move(ns), at, ++now_};
  news_ = true;
}

std::optional<std::vector<double>> KernelTimes::together(const Held& held) const {
  Held sorted = held;
  std::ranges::sort(sorted);
  const auto found = together_.find(sorted);
  if (found == together_.end()) return {};
  std::vector<double> ns;
  for (const auto& kernel : held) {
    const auto at = static_cast<std::size_t>(std::ranges::find(sorted, kernel) - sorted.begin());
    ns.push_back(found->second.ns[at]);
  }
  return ns;
}

void KernelTimes::forget(const Held& held, Time before) {
  Held sorted = held;
  std::ranges::sort(sorted);
  const auto found = together_.find(sorted);
  if (found != together_.end() && found->second.at < before) together_.erase(found);
}

void KernelTimes::learn(const std::string& kernel, CtaCount ctas, double ns) {
  constexpr double kNews = 0.1;
  if (ctas.value() == 0 || ctas.value() > kMostCtas || !std::isfinite(ns) || ns <= 0) return;
  if (kernels_.size() >= kMostKernels && !kernels_.contains(kernel))
    kernels_.erase(std::ranges::min_element(kernels_, {}, [](const auto& k) { return k.second.heard; }));
  Kernel& known = kernels_[kernel];
  known.heard = ++now_;
  double& before = known.ns[ctas.value()];
  if (std::abs(ns - before) < kNews * before) return;
  before = ns;
  news_ = true;
}

std::optional<std::vector<double>> KernelTimes::curve(const std::string& kernel, CtaCount most) const {
  const auto found = kernels_.find(kernel);
  if (found == kernels_.end()) return {};
  const std::map<std::uint32_t, double>& seen = found->second.ns;
  std::vector<double> curve;
  for (std::uint32_t ctas = 1; ctas <= most.value(); ++ctas) {
    auto nearest = seen.lower_bound(ctas);
    const bool below =
        nearest == seen.end() || (nearest != seen.begin() && ctas - std::prev(nearest)->first < nearest->first - ctas);
    if (below) --nearest;
    curve.push_back(nearest->second * nearest->first / ctas);
  }
  return curve;
}

}  // namespace sluice::service
