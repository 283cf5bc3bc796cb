// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sw/core/units.h"

namespace sluice::service {

/// How long launches of kernels take, by what they held: learned from the programs' own reports, kept as long as the service.
class KernelTimes {
 public:
  static constexpr std::size_t kMostKernels = 16384;  ///< beyond them one is forgotten for each that comes
  /// Launches of the kernel took `ns` each with `ctas` CTAs on every SM. What differs by less than a tenth is no news.
  void learn(const std::string& kernel, CtaCount ctas, double ns);
  /// ns with 1, 2, ... `most` CTAs on an SM. A count that was never seen takes as the nearest one seen, in proportion: blocks
  /// come in rounds. @return nullopt when no launch was seen
  [[nodiscard]] std::optional<std::vector<double>> curve(const std::string& kernel, CtaCount most) const;

 private:
  std::map<std::string, std::map<std::uint32_t, double>> ns_;  ///< by kernel and CTAs
};

}  // namespace sluice::service
