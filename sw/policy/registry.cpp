#include "sw/policy/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <utility>

#include "sw/core/errors.h"
#include "sw/policy/even.h"
#include "sw/policy/fcfs.h"
#include "sw/policy/left_over.h"
#include "sw/policy/oracle.h"
#include "sw/policy/spatial.h"
#include "sw/policy/static_quota.h"
#include "sw/policy/warped_slicer.h"

namespace sluice {

namespace {

using Maker = std::function<std::unique_ptr<IPolicy>(const std::vector<CtaCount>&, const SoloCurves&)>;

const std::vector<std::pair<std::string, Maker>>& table() {
  static const std::vector<std::pair<std::string, Maker>> makers = {
      {"left_over", [](const auto&, const auto&) { return std::make_unique<LeftOver>(); }},
      {"fcfs", [](const auto&, const auto&) { return std::make_unique<Fcfs>(); }},
      {"even", [](const auto&, const auto&) { return std::make_unique<Even>(); }},
      {"spatial", [](const auto&, const auto&) { return std::make_unique<Spatial>(); }},
      {"warped_slicer", [](const auto&, const auto&) { return std::make_unique<WarpedSlicer>(); }},
      {"solo_curve", [](const auto&, const auto& curves) { return std::make_unique<SoloCurve>(curves); }},
      {"oracle", [](const auto&, const auto&) { return std::make_unique<Oracle>(); }},
      {"static", [](const auto& ctas, const auto&) { return std::make_unique<StaticQuota>(ctas); }},
      {"even_mode", [](const auto&, const auto&) { return std::make_unique<Even>(Enforcement::OwnMode); }},
      {"spatial_mode", [](const auto&, const auto&) { return std::make_unique<Spatial>(Enforcement::OwnMode); }},
  };
  return makers;
}

}  // namespace

const std::vector<std::string>& policy_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& [name, maker] : table()) all.push_back(name);
    return all;
  }();
  return names;
}

std::unique_ptr<IPolicy> make_policy(const std::string& name, const std::vector<CtaCount>& ctas, const SoloCurves& curves) {
  for (const auto& [known, maker] : table()) {
    if (known == name) return maker(ctas, curves);
  }
  throw InputError(fmt::format("policy {}: must be one of {}", name, fmt::join(policy_names(), ", ")));
}

}  // namespace sluice
