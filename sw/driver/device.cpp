// SPDX-License-Identifier: Apache-2.0
#include "sw/driver/i_device.h"

namespace sluice {

std::string_view to_string(PartitionerKind kind) {
  return kind == PartitionerKind::Rtl ? "rtl" : kind == PartitionerKind::Twin ? "twin" : "both";
}

}  // namespace sluice
