#pragma once
#include <memory>
#include <string>
#include <vector>

#include "sw/policy/i_policy.h"
#include "sw/policy/solo_curve.h"

namespace sluice {

/// Names a user can give: left_over, fcfs, even, spatial, warped_slicer, solo_curve, oracle, static; even_mode and spatial_mode
/// are Even and Spatial in the dispatcher's own modes.
[[nodiscard]] const std::vector<std::string>& policy_names();

/// @param ctas    for `static`: CTAs of each kernel per SM
/// @param curves  for `solo_curve`
/// @throws InputError listing the names when it is none of them
[[nodiscard]] std::unique_ptr<IPolicy> make_policy(const std::string& name, const std::vector<CtaCount>& ctas = {},
                                                   const SoloCurves& curves = {});

}  // namespace sluice
