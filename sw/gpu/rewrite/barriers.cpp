// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/rewrite/barriers.h"

#include <algorithm>
#include <regex>
#include <set>

#include "sw/gpu/rewrite/transform.h"

namespace sluice::gpu {

const std::regex& plain_barrier() {
  static const std::regex pattern(R"(\b(bar|barrier)(\.cta)?\.sync(\.aligned)?\s+0;)");
  return pattern;
}

std::optional<int> free_barrier(const std::string& text) {
  // The barrier is the first operand, but of a reduction the second or third: "bar.red.popc.u32 %r1, 0, %p1".
  static const std::regex barrier(R"(\b(?:bar|barrier)(?:\.cta)?\.(sync|arrive|red)[.\w]*\s+([^;]*);)");
  std::set<int> used;
  for (std::sregex_iterator m(text.begin(), text.end(), barrier), none; m != none; ++m) {
    std::string operands = (*m)[2];
    if ((*m)[1] == "red") operands = operands.substr(std::min(operands.find(',') + 1, operands.size()));
    std::smatch number;
    if (!std::regex_search(operands, number, std::regex(R"(^\s*(\d+)\s*(,|$))"))) return std::nullopt;
    used.insert(std::stoi(number[1]));
  }
  if (used.empty()) return 0;
  for (int id = 1; id < 16; ++id)
    if (!used.contains(id)) return id;
  return std::nullopt;
}

std::string drain_of(const std::string& text) {
  const auto has = [&](const char* pattern) { return std::regex_search(text, std::regex(pattern)); };
  std::string out;
  if (has(R"(\bcp\.async\.(c[ag]|mbarrier|commit_group|wait))")) out += "\tcp.async.wait_all;\n";
  const bool bulk = has(R"(\bcp\.(reduce\.)?async\.bulk)"), matrices = has(R"(\bwgmma\b)");
  if (bulk) out += "\tcp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;\n";
  if (matrices) out += "\tbar.warp.sync -1;\n\twgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;\n";
  if (bulk || matrices) out += "\tfence.proxy.async;\n";
  return out;
}

std::string dynamic_shared(const std::string& ptx, const std::vector<Item>& items, const Reach& reach) {
  static const std::regex align(R"(\.align\s+(\d+))");
  std::string name;
  int most = 0;
  for (const Item& item : items) {
    if (item.kind != Item::Kind::Variable || !reach.names.contains(item.name)) continue;
    const std::string text = ptx.substr(item.begin, item.end - item.begin);
    if (text.find(".shared") == std::string::npos || text.find("[]") == std::string::npos) continue;
    std::smatch m;
    const int bytes = std::regex_search(text, m, align) ? std::stoi(m[1]) : 1;
    if (bytes > most) {
      most = bytes;
      name = item.name;
    }
  }
  if (!name.empty()) return name;
  for (const Item& item : items)
    if (item.kind == Item::Kind::Variable && reach.names.contains(item.name) &&
        ptx.substr(item.begin, item.end - item.begin).find(".shared") != std::string::npos)
      return kOwnDynamic;
  return reach.text.find(".shared") == std::string::npos ? "" : kOwnDynamic;
}

}  // namespace sluice::gpu
