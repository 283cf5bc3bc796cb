// SPDX-License-Identifier: Apache-2.0
#include "sw/workload/mix.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "sw/core/errors.h"
#include "sw/policy/policy.h"

namespace sluice {

namespace {

constexpr KernelType kCategoryOrder[] = {KernelType::Compute, KernelType::Cache, KernelType::Memory};

Mix make_mix(std::vector<KernelDescriptor> kernels) {
  std::vector<std::string_view> types;
  for (const KernelType type : kCategoryOrder) {
    for (const KernelDescriptor& k : kernels) {
      if (k.type == type) types.push_back(to_string(type));
    }
  }
  return {std::move(kernels), fmt::format("{}", fmt::join(types, "+"))};
}

std::vector<Mix> all_pairs(const Workload& workload) {
  std::vector<Mix> mixes;
  for (const KernelType partner : {KernelType::Cache, KernelType::Memory, KernelType::Compute}) {
    for (std::size_t a = 0; a < workload.kernels.size(); ++a) {
      if (workload.kernels[a].type != KernelType::Compute) continue;
      for (std::size_t b = partner == KernelType::Compute ? a + 1 : 0; b < workload.kernels.size(); ++b) {
        if (workload.kernels[b].type == partner) mixes.push_back(make_mix({workload.kernels[a], workload.kernels[b]}));
      }
    }
  }
  return mixes;
}

std::vector<Mix> triples(const Workload& workload, const MachineConfig& machine, bool all) {
  std::vector<Mix> mixes;
  const auto& k = workload.kernels;
  for (std::size_t a = 0; a < k.size(); ++a) {
    for (std::size_t b = a + 1; b < k.size(); ++b) {
      for (std::size_t c = 0; c < k.size(); ++c) {
        if (k[a].type != KernelType::Compute || k[b].type != KernelType::Compute || k[c].type == KernelType::Compute) continue;
        if (!all && !(k[a].in_triples && k[b].in_triples && k[c].in_triples)) continue;
        if (fit_together(machine, {k[a], k[b], k[c]})) mixes.push_back(make_mix({k[a], k[b], k[c]}));
      }
    }
  }
  return mixes;
}

/// Warped-Slicer, section V-E: every combination of three applications with a compute kernel among them; compute kernels first.
std::vector<Mix> compute_triples(const Workload& workload) {
  std::vector<KernelDescriptor> kernels;
  std::ranges::copy_if(workload.kernels, std::back_inserter(kernels), &KernelDescriptor::in_triples);
  std::stable_partition(kernels.begin(), kernels.end(), [](const KernelDescriptor& k) { return k.type == KernelType::Compute; });
  std::vector<Mix> mixes;
  for (std::size_t a = 0; a < kernels.size() && kernels[a].type == KernelType::Compute; ++a)
    for (std::size_t b = a + 1; b < kernels.size(); ++b)
      for (std::size_t c = b + 1; c < kernels.size(); ++c) mixes.push_back(make_mix({kernels[a], kernels[b], kernels[c]}));
  return mixes;
}

KernelDescriptor find_kernel(const Workload& workload, const std::string& name) {
  const auto found = std::ranges::find(workload.kernels, name, &KernelDescriptor::name);
  if (found != workload.kernels.end()) return *found;
  std::vector<std::string> names;
  for (const KernelDescriptor& k : workload.kernels) names.push_back(k.name);
  throw InputError(fmt::format("kernel {}: not in workload {}; it has {}", name, workload.name, fmt::join(names, ", ")));
}

}  // namespace

std::string Mix::name() const { return fmt::format("{}", fmt::join(kernel_names(), "_")); }

std::vector<std::string> Mix::kernel_names() const {
  std::vector<std::string> names;
  for (const KernelDescriptor& k : kernels) names.push_back(k.name);
  return names;
}

std::vector<Mix> parse_mixes(const Workload& workload, const MachineConfig& machine, const std::string& spec) {
  if (spec == "all") {
    std::vector<Mix> mixes = all_pairs(workload);
    if (mixes.empty())
      throw InputError(fmt::format("workload {}: no pair with a compute kernel in it: name the pairs (A_B,...)", workload.name));
    return mixes;
  }
  if (spec == "triples" || spec == "all_triples") {
    std::vector<Mix> mixes = triples(workload, machine, spec == "all_triples");
    if (mixes.empty())
      throw InputError(
          fmt::format("workload {}: no {} of two compute kernels and another that fit together: name the mixes (A_B_C,...)",
                      workload.name, spec));
    return mixes;
  }
  if (spec == "compute_triples") {
    std::vector<Mix> mixes = compute_triples(workload);
    if (mixes.empty())
      throw InputError(fmt::format("workload {}: no three kernels with a compute kernel among them: name the mixes (A_B_C,...)",
                                   workload.name));
    return mixes;
  }
  std::vector<Mix> mixes;
  std::istringstream list(spec);
  for (std::string mix; std::getline(list, mix, ',');) {
    std::vector<KernelDescriptor> kernels;
    std::istringstream names(mix);
    for (std::string name; std::getline(names, name, '_');) kernels.push_back(find_kernel(workload, name));
    if (kernels.empty()) throw InputError(fmt::format("pairs {}: an empty mix; write A_B,A_C,... or all", spec));
    mixes.push_back(make_mix(std::move(kernels)));
  }
  if (mixes.empty()) throw InputError("pairs: none given; write A_B,A_C,... or all");
  return mixes;
}

}  // namespace sluice
