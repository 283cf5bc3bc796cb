// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "sw/gpu/runtime/control.h"
#include "sw/interpose/fixed_shares.h"
#include "sw/interpose/service_shares.h"

namespace sluice::interpose {

std::unique_ptr<IShares> make_shares(ILanes& lanes) {
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (!set("SLUICE_SOCKET").empty()) return service_shares(lanes);
  const std::string quota = set("SLUICE_QUOTA"), sms = set("SLUICE_SMS"), file = set("SLUICE_QUOTA_FILE");
  if (quota.empty() && sms.empty() && file.empty()) return std::make_unique<NoShares>("no quota is set");
  Share share = kWholeMachine;
  unsigned first = 0, last = 0;
  if (!quota.empty())
    share.ctas = CtaCount(std::clamp<std::uint32_t>(static_cast<std::uint32_t>(std::atoi(quota.c_str())), 1, SLUICE_MAX_SLOTS));
  if (std::sscanf(sms.c_str(), "%u-%u", &first, &last) == 2 && first <= last) share.sms = {SmId(first), last - first + 1};
  return std::make_unique<FixedShares>(lanes, share, file);
}

}  // namespace sluice::interpose
