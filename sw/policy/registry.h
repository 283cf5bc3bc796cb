#pragma once
#include <memory>
#include <string>
#include <vector>

#include "sw/policy/i_policy.h"

namespace sluice {

/// Names a user can give: left_over, fcfs, even, spatial, warped_slicer, oracle, static.
[[nodiscard]] const std::vector<std::string>& policy_names();

/// @param ctas  for `static`: CTAs of each kernel per SM
/// @throws InputError listing the names when it is none of them
[[nodiscard]] std::unique_ptr<IPolicy> make_policy(const std::string& name, const std::vector<CtaCount>& ctas = {});

}  // namespace sluice
