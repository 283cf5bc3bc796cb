// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/rewrite/template.h"

#include <algorithm>
#include <cstddef>
#include <regex>
#include <set>
#include <stdexcept>

#include "sw/gpu/runtime/control.h"

namespace sluice::gpu {

namespace {

// What the templates rely on beside the offsets they name: what is read and written as a vector, or as an array by %smid.
static_assert(offsetof(SluiceStage, block) == 0 && offsetof(SluiceState, stage) == 0);
static_assert(offsetof(SluiceState, leader) % 16 == 0 && offsetof(SluiceState::Leader, sm) == 0 &&
              offsetof(SluiceState::Leader, left) == 8 && offsetof(SluiceState::Leader, place) == 12);
static_assert(offsetof(SluiceJob, control) == 0 && alignof(SluiceJob) == 8);
static_assert(sizeof(SluiceOrders::quota[0]) == 4 && sizeof(SluiceControl::done[0]) == 4);

#define SLUICE_OFFSET(type, member) \
  { #type "." #member, offsetof(type, member) }
/// Of the structs and constants that the host, the runtime and the templates share.
const std::vector<Value>& layout() {
  static const std::vector<Value> values = {
      SLUICE_OFFSET(SluiceJob, grid_x),      SLUICE_OFFSET(SluiceJob, grid_y),      SLUICE_OFFSET(SluiceJob, grid_z),
      SLUICE_OFFSET(SluiceJob, step_x),      SLUICE_OFFSET(SluiceJob, step_y),      SLUICE_OFFSET(SluiceJob, step_z),
      SLUICE_OFFSET(SluiceJob, counts_runs), SLUICE_OFFSET(SluiceJob, orders),      SLUICE_OFFSET(SluiceOrders, quota),
      SLUICE_OFFSET(SluiceControl, done),    SLUICE_OFFSET(SluiceState, leader),    SLUICE_OFFSET(SluiceState, leader.left),
      SLUICE_OFFSET(SluiceState, current.x), SLUICE_OFFSET(SluiceState, current.y), SLUICE_OFFSET(SluiceState, current.z),
      SLUICE_OFFSET(SluiceState, threads),   {"SluiceJob", sizeof(SluiceJob)},      {"SluiceStage", sizeof(SluiceStage)},
      {"SluiceState", sizeof(SluiceState)},  {"SLUICE_LEAVE", SLUICE_LEAVE},
  };
  return values;
}
#undef SLUICE_OFFSET

const Value* find(const std::vector<Value>& values, std::string_view name) {
  const auto at = std::ranges::find(values, name, &Value::name);
  return at == values.end() ? nullptr : &*at;
}

}  // namespace

std::string fill(std::string_view ptx, const std::vector<Value>& values) {
  static const std::regex condition(R"(<if ([A-Za-z][\w.]*)>\n)"), placeholder(R"(<([A-Za-z][\w.]*)>)");
  const auto require = [](bool holds, const std::string& what) {
    if (!holds) throw std::logic_error("PTX template: " + what);
  };
  std::set<std::string_view> used;
  const auto value_of = [&](const std::string& name) -> const std::string& {
    const Value* value = find(values, name);
    if (value == nullptr) value = find(layout(), name);
    require(value != nullptr, "no value for " + name);
    used.insert(value->name);
    return value->text;
  };
  bool in_condition = false, kept = true;
  std::string out;
  for (std::size_t at = 0, next = 0; at < ptx.size(); at = next) {
    next = std::min(ptx.find('\n', at), ptx.size() - 1) + 1;
    const std::string line(ptx.substr(at, next - at));
    if (std::smatch m; std::regex_match(line, m, condition)) {
      const std::string& value = value_of(m[1]);
      require(!in_condition && (value == "true" || value == "false"), "in a condition, or none: " + line);
      in_condition = true;
      kept = value == "true";
    } else if (line == "<else>\n" || line == "<end>\n") {
      require(in_condition, "no condition before " + line);
      in_condition = line == "<else>\n";
      kept = !in_condition || !kept;
    } else {
      std::string filled;
      auto from = line.cbegin();
      for (std::sregex_iterator i(line.begin(), line.end(), placeholder), none; i != none; ++i) {
        filled.append(from, (*i)[0].first).append(value_of((*i)[1]));
        from = (*i)[0].second;
      }
      const bool alone = line[0] == '<' && line.find('>') + 2 == line.size();  // then the value has the line's end
      if (!alone) filled.append(from, line.cend());
      if (kept) out += filled;
    }
  }
  require(!in_condition, "<if> without <end>");
  for (const Value& value : values) require(used.contains(value.name), fmt::format("no placeholder {}", value.name));
  return out;
}

}  // namespace sluice::gpu
