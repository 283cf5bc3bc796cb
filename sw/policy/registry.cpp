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

using Maker = std::function<std::unique_ptr<IPolicy>(const std::vector<CtaCount>&)>;

const std::vector<std::pair<std::string, Maker>>& table() {
  static const std::vector<std::pair<std::string, Maker>> makers = {
      {"left_over", [](const auto&) { return std::make_unique<LeftOver>(); }},
      {"fcfs", [](const auto&) { return std::make_unique<Fcfs>(); }},
      {"even", [](const auto&) { return std::make_unique<Even>(); }},
      {"spatial", [](const auto&) { return std::make_unique<Spatial>(); }},
      {"warped_slicer", [](const auto&) { return std::make_unique<WarpedSlicer>(); }},
      {"oracle", [](const auto&) { return std::make_unique<Oracle>(); }},
      {"static", [](const std::vector<CtaCount>& ctas) { return std::make_unique<StaticQuota>(ctas); }},
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

std::unique_ptr<IPolicy> make_policy(const std::string& name, const std::vector<CtaCount>& ctas) {
  for (const auto& [known, maker] : table()) {
    if (known == name) return maker(ctas);
  }
  throw InputError(fmt::format("policy {}: must be one of {}", name, fmt::join(policy_names(), ", ")));
}

}  // namespace sluice
