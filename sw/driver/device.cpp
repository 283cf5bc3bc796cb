// SPDX-License-Identifier: Apache-2.0
#include "sw/driver/i_device.h"

namespace sluice {

std::string_view to_string(PartitionerKind kind) {
  return kind == PartitionerKind::Rtl ? "rtl" : kind == PartitionerKind::Twin ? "twin" : "both";
}

std::string_view reason_name(DecisionReason reason) {
  switch (reason) {
    case DecisionReason::WaterFilling: return "water_filling";
    case DecisionReason::LossGuard: return "loss_guard";
    case DecisionReason::NoFit: return "no_fit";
    case DecisionReason::Measured: return "measured";
    case DecisionReason::NotWorth: return "not_worth";
    case DecisionReason::FloorsMissed: return "floors_missed";
    case DecisionReason::NoProfile: break;
  }
  return "no_profile";
}

}  // namespace sluice
