// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "sw/core/resources.h"
#include "sw/interpose/shares.h"

namespace sluice::interpose {

/// `sluice serve` decides: SLUICE_SOCKET is where it listens, SLUICE_NAME and SLUICE_PRIORITY what it is told. Without a service,
/// or when it dies, launches run natively with one line on standard error; with SLUICE_REQUIRE_SERVICE the process ends with code
/// 2 at once. With SLUICE_SPIN a thread waits for the service without sleep while the program has launches.
[[nodiscard]] std::unique_ptr<IShares> service_shares(ILanes& lanes);

}  // namespace sluice::interpose
