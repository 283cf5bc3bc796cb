// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// Properties of Kernelet's model over random pairs of kernels.
struct MarkovStudy {
  struct Property {
    std::string name;              ///< what must hold
    double tolerance = 0;          ///< absolute, of a probability or an IPC
    double worst = 0;              ///< largest distance from it that was seen
    std::uint64_t violations = 0;  ///< distances beyond the tolerance
  };
  std::uint64_t pairs = 0;  ///< drawn
  std::vector<Property> properties;
  std::optional<std::string> first_violation;  ///< the property and the case
  [[nodiscard]] std::uint64_t violations() const;
};

/// Equal counts and seeds draw equal kernels on every platform.
/// @param progress  called now and then with the pairs done; may be empty
[[nodiscard]] MarkovStudy study_markov(std::uint64_t cases, std::uint64_t seed,
                                       const std::function<void(std::uint64_t)>& progress = {});

}  // namespace sluice
