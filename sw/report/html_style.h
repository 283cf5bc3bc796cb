// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "sw/report/style.h"

namespace sluice {
inline const std::string kReportStyle = std::string(report::kChartStyle) + report::kPageStyle;
}  // namespace sluice
