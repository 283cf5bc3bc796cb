// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/rewrite/join.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sw/core/errors.h"
#include "sw/gpu/rewrite/ptx.h"
#include "sw/gpu/rewrite/template.h"
#include "sw/gpu/runtime/embedded.h"

namespace sluice::gpu {

const std::regex& block_index() {
  static const std::regex pattern(R"(mov\.[bu]32\s+([%\w$]+),\s*%(n?)ctaid\.([xyz]);)");
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

bool reads_block(const std::string& body, int axis) {
  return body.find(fmt::format("%sluice_block{}", axis)) != std::string::npos;
}

namespace {
/// The body of a function, its parameters replaced; what was a return goes to "FUNCTION_done".
/// @param arguments  the job, a parameter itself, and registers for the other parameters
std::string function_joined(const std::string& runtime, const std::string& function, const std::vector<std::string>& arguments) {
  std::string text = function_body(runtime, function);
  text = std::regex_replace(text, std::regex(function + R"(_param_0\b)"), arguments[0]);
  for (std::size_t i = 1; i < arguments.size(); ++i) {  // 32 bits each; the compiler may read one into 64
    const auto read = [&](const char* to) {
      return std::regex(fmt::format(R"(ld\.param\.[bu]32(\s+{}\d+),\s*\[{}_param_{}\];)", to, function, i));
    };
    text = std::regex_replace(text, read("%rd"), fmt::format("cvt.u64.u32$1, {};", arguments[i]));
    text = std::regex_replace(text, read("%r"), fmt::format("mov.b32$1, {};", arguments[i]));
  }
  text = std::regex_replace(text, std::regex(R"(\bret(\.uni)?;)"), fmt::format("bra {}_done;", function));
  if (text.find(".local") != std::string::npos) throw InputError(fmt::format("PTX: {} keeps an argument in memory", function));
  return text;
}
std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> items;
  for (std::size_t at = 0, end = 0; end != std::string::npos; at = end + 2) {
    end = list.find(", ", at);
    items.push_back(list.substr(at, end == std::string::npos ? end : end - at));
  }
  return items;
}
}  // namespace

std::string with_runtime(const std::string& ptx, const std::string& runtime) {
  static const std::regex call(R"(\t@%sluice_leader call (sluice_rt_\w+), \(([^)]*)\);\n)");
  std::string out;
  auto at = ptx.cbegin();
  for (std::sregex_iterator m(ptx.begin(), ptx.end(), call), none; m != none; ++m) {
    out.append(at, (*m)[0].first);
    const std::string function = (*m)[1];
    const std::string text = function_joined(runtime, function, split((*m)[2]));
    out += fmt::format("\t@!%sluice_leader bra {0}_done;\n{1}\n{0}_done:\n", function, text);
    at = (*m)[0].second;
  }
  return out.append(at, ptx.cend());
}

std::vector<std::string> declarations(const std::string& runtime) {
  const std::string text = without_header(runtime);
  std::vector<std::string> out;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (line.starts_with(".visible .shared") || line.starts_with(".shared")) out.push_back(line + "\n");
  }
  return out;
}

}  // namespace sluice::gpu
