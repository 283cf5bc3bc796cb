// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/rewrite/join.h"

#include <fmt/format.h>

#include <algorithm>

#include "sw/core/errors.h"
#include "sw/gpu/rewrite/ptx.h"

namespace sluice::gpu {

const std::regex& block_index() {
  static const std::regex pattern(R"(mov\.u32\s+(%\w+),\s*%(n?)ctaid\.([xyz]);)");
  return pattern;
}
std::string read_block_index(const std::string& ptx, const std::function<std::string(int)>& block,
                             const std::function<std::string(int)>& grid) {
  std::string out;
  auto at = ptx.cbegin();
  for (std::sregex_iterator m(ptx.begin(), ptx.end(), block_index()), none; m != none; ++m) {
    out.append(at, (*m)[0].first);
    const int axis = (*m)[3].str()[0] - 'x';
    out += fmt::format(fmt::runtime((*m)[2].length() > 0 ? grid(axis) : block(axis)), (*m)[1].str());
    at = (*m)[0].second;
  }
  return out.append(at, ptx.cend());
}

namespace {
/// The body of a function, its parameters replaced; what was a return goes to "FUNCTION_done".
std::string joined(const std::string& runtime, const std::string& function, const std::vector<std::string>& arguments) {
  std::string text = function_body(runtime, function);
  text = std::regex_replace(text, std::regex(function + R"(_param_0\b)"), "sluice_job");
  for (std::size_t i = 0; i < arguments.size(); ++i) {  // 32 bits each; the compiler may read one into 64
    const auto read = [&](const char* to) {
      return std::regex(fmt::format(R"(ld\.param\.[bu]32(\s+{}\d+),\s*\[{}_param_{}\];)", to, function, i + 1));
    };
    text = std::regex_replace(text, read("%rd"), fmt::format("cvt.u64.u32$1, {};", arguments[i]));
    text = std::regex_replace(text, read("%r"), fmt::format("mov.b32$1, {};", arguments[i]));
  }
  text = std::regex_replace(text, std::regex(R"(\bret(\.uni)?;)"), fmt::format("bra {}_done;", function));
  if (text.find(".local") != std::string::npos) throw InputError(fmt::format("PTX: {} keeps an argument in memory", function));
  return text;
}
}  // namespace

std::string leader_runs(const std::string& runtime, const std::string& function, const std::vector<std::string>& arguments) {
  return fmt::format("\t@!%sluice_leader bra {0}_done;\n{1}\n{0}_done:\n", function, joined(runtime, function, arguments));
}
std::string warp_runs(const std::string& runtime, const std::string& function, const std::vector<std::string>& arguments) {
  const std::string text = std::regex_replace(joined(runtime, function, arguments), std::regex(R"(\bbra\s)"), "bra.uni ");
  return fmt::format("{1}\n{0}_done:\n", function, text);
}

std::string declarations(const std::string& runtime, bool warps_apart) {
  const std::string text = without_header(runtime);
  std::string out;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (!warps_apart && line.find("sluice_rt_hand") != std::string::npos) continue;
    if (line.starts_with(".visible .shared") || line.starts_with(".shared")) out += line + "\n";
  }
  return out;
}
std::string find_leader(const std::array<std::uint32_t, 3>& block) {
  const std::uint32_t warps = (block[0] * block[1] * block[2] + 31) / 32;
  std::string ptx = fmt::format(
      "\t{{\n\t.reg .b32 %sluice_x, %sluice_y;\n\tmov.u32 %sluice_x, %tid.z;\n\tmov.u32 %sluice_y, %tid.y;\n"
      "\tmad.lo.u32 %sluice_y, %sluice_x, {}, %sluice_y;\n\tmov.u32 %sluice_x, %tid.x;\n"
      "\tmad.lo.u32 %sluice_x, %sluice_y, {}, %sluice_x;\n",
      block[1], block[0]);
  if (warps < 4)  // CTA r begins at sub-core r * warps; round by round its leader is one further
    ptx += fmt::format(
        "\tmov.u32 %sluice_y, %ctaid.y;\n\tmul.lo.u32 %sluice_y, %sluice_y, {};\n\tshr.u32 %sluice_y, %sluice_y, 2;\n"
        "\trem.u32 %sluice_y, %sluice_y, {};\n\tshl.b32 %sluice_y, %sluice_y, 5;\n"
        "\tsub.u32 %sluice_x, %sluice_x, %sluice_y;\n",
        warps + 4, warps);
  return ptx + "\tsetp.eq.u32 %sluice_leader, %sluice_x, 0;\n\tsetp.lt.u32 %sluice_first, %sluice_x, 32;\n\t}\n";
}

namespace {
constexpr int kCounterweight = 100;
}

std::string counterweight() {
  std::string ptx = fmt::format(
      "\t{{\n\t.reg .b32 %sluice_x, %sluice_y;\n\tld.param.u32 %sluice_x, [sluice_job+{}];\n"
      "\tsetp.le.u32 %sluice_go, %sluice_x, 1;\n\t@%sluice_go bra $SLUICE_ENDS;\n\tmov.u32 %sluice_y, %tid.y;\n",
      kCountsInJob);  // 0 or 1, which the assembler does not know
  for (int i = 0; i < kCounterweight; ++i) ptx += fmt::format("\tmad.lo.u32 %sluice_y, %sluice_y, %sluice_x, {};\n", 7 * i + 1);
  return ptx + "\tst.volatile.shared.u32 [sluice_rt_state], %sluice_y;\n$SLUICE_ENDS:\n\t}\n";
}

}  // namespace sluice::gpu
