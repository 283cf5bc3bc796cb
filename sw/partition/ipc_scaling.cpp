// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/ipc_scaling.h"

#include <algorithm>
#include <cstdint>

#include "sw/partition/star_hull.h"

namespace sluice {

namespace {

double scaled(const ProfileSample& sample, double cta_avg, IpcScaling scaling, const SamplingWindow& window) {
  const auto insts = static_cast<double>(sample.warp_instructions);
  const double phi = static_cast<double>(sample.stall_cycles) / window.cycles, ctas = sample.ctas.value();
  switch (scaling) {
    case IpcScaling::None: return insts;
    case IpcScaling::Paper: return scale_ipc(insts, phi, ctas, cta_avg);
    case IpcScaling::Reciprocal: return scale_ipc_reciprocal(insts, phi, ctas, cta_avg);
    case IpcScaling::Ceiling:
    case IpcScaling::CeilingHull: return scale_ipc_ceiling(insts, static_cast<double>(sample.requests), window.request_share);
  }
  return insts;
}

Profile golden_profile(std::span<const ProfileSample> samples, KernelId kernel, IpcScaling scaling,
                       const SamplingWindow& window) {
  double ctas = 0, number = 0;
  std::uint32_t levels = 1;
  for (const ProfileSample& s : samples) {
    if (s.kernel != kernel || s.ctas == CtaCount(0)) continue;
    ctas += s.ctas.value();
    ++number;
    levels = std::max(levels, s.ctas.value());
  }
  Profile profile;
  for (std::uint32_t level = 1; level <= levels; ++level) {
    double sum = 0, here = 0;
    for (const ProfileSample& s : samples) {
      if (s.kernel != kernel || s.ctas != CtaCount(level)) continue;
      sum += scaled(s, ctas / number, scaling, window);
      ++here;
    }
    profile.push_back(here > 0 ? sum / here : profile.empty() ? 0 : profile.back());
  }
  return scaling == IpcScaling::CeilingHull ? star_hull(profile) : profile;
}

}  // namespace

std::string_view to_string(IpcScaling scaling) {
  switch (scaling) {
    case IpcScaling::None: return "none";
    case IpcScaling::Paper: return "paper";
    case IpcScaling::Reciprocal: return "reciprocal";
    case IpcScaling::Ceiling: return "ceiling";
    case IpcScaling::CeilingHull: return "ceiling_hull";
  }
  return "unknown";
}

std::vector<Profile> golden_profiles(std::span<const ProfileSample> samples, std::span<const KernelId> kernels,
                                     IpcScaling scaling, const SamplingWindow& window) {
  std::vector<Profile> profiles;
  for (const KernelId kernel : kernels) profiles.push_back(golden_profile(samples, kernel, scaling, window));
  return profiles;
}

}  // namespace sluice
