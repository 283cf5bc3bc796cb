// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "sw/report/svg.h"
#include "sw/report/table.h"

namespace sluice::html {
inline std::string cell(std::string_view tag, std::string_view text) {
  return fmt::format("<{0}>{1}</{0}>", tag, svg::escape(text));
}
inline std::string percent(double value) { return report::written(value, report::Notation::Share, 1); }
}  // namespace sluice::html
