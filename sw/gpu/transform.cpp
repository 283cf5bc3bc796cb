#include "sw/gpu/transform.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "sw/gpu/embedded.h"

namespace sluice::gpu {

namespace {

bool word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// `word` occurs as a whole word.
bool has_word(const std::string& code, const std::string& word) {
  for (std::size_t at = code.find(word); at != std::string::npos; at = code.find(word, at + 1)) {
    const bool starts = at == 0 || !word_character(code[at - 1]);
    const std::size_t end = at + word.size();
    if (starts && (end == code.size() || !word_character(code[end]))) return true;
  }
  return false;
}

/// Length of a comment or literal that begins at `at`; 0 when none does.
std::size_t skipped(const std::string& text, std::size_t at) {
  const auto until = [&](const std::string& end, std::size_t from) {
    const std::size_t found = text.find(end, from);
    return found == std::string::npos ? text.size() - at : found + end.size() - at;
  };
  if (text.compare(at, 2, "//") == 0) return std::min(text.find('\n', at), text.size()) - at;
  if (text.compare(at, 2, "/*") == 0) return until("*/", at + 2);
  if (text.compare(at, 2, "R\"") == 0 && (at == 0 || !word_character(text[at - 1]))) {
    const std::size_t open = text.find('(', at);
    if (open == std::string::npos) return 0;
    return until(")" + text.substr(at + 2, open - at - 2) + "\"", open);
  }
  const char quote = text[at];
  const bool digit_separator = quote == '\'' && at > 0 && word_character(text[at - 1]);
  if ((quote != '"' && quote != '\'') || digit_separator) return 0;
  for (std::size_t i = at + 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == quote)
      return i + 1 - at;
  }
  return 1;
}

/// A `return` that may end a kernel's thread early: inside the body of some __global__ function, or in a macro.
bool has_early_return(const std::string& code) {
  for (std::size_t at = code.find("__global__"); at != std::string::npos; at = code.find("__global__", at + 1)) {
    int parentheses = 0, braces = 0;
    std::size_t i = at;
    for (; i < code.size(); ++i) {
      if (code[i] == '(') ++parentheses;
      if (code[i] == ')') --parentheses;
      if (parentheses == 0 && (code[i] == '{' || code[i] == ';')) break;
    }
    if (i == code.size() || code[i] == ';') continue;
    const std::size_t body = i;
    for (; i < code.size(); ++i) {
      if (code[i] == '{') ++braces;
      if (code[i] == '}' && --braces == 0) break;
    }
    if (has_word(code.substr(body, i - body), "return")) return true;
  }
  for (std::size_t at = code.find("#define"); at != std::string::npos; at = code.find("#define", at + 1)) {
    std::size_t end = code.find('\n', at);
    while (end != std::string::npos && code[end - 1] == '\\') end = code.find('\n', end + 1);
    if (has_word(code.substr(at, end - at), "return")) return true;
  }
  return false;
}

struct Refusal {
  const char* word;
  const char* reason;
};

constexpr Refusal kRefusals[] = {
    {"this_grid", "cooperative grid synchronisation (this_grid): all blocks would have to be resident at once"},
    {"grid_group", "cooperative grid synchronisation (grid_group): all blocks would have to be resident at once"},
    {"this_multi_grid", "cooperative grid synchronisation (this_multi_grid): all blocks would have to be resident at once"},
    {"this_cluster", "thread block clusters (this_cluster): blocks of a cluster are placed by the hardware"},
    {"cluster_group", "thread block clusters (cluster_group): blocks of a cluster are placed by the hardware"},
    {"__cluster_dims__", "thread block clusters (__cluster_dims__): blocks of a cluster are placed by the hardware"},
    {"cudaLaunchDevice", "dynamic parallelism (cudaLaunchDevice): a child grid belongs to the CTA that launched it"},
    {"cudaLaunchKernelEx", "dynamic parallelism (cudaLaunchKernelEx): a child grid belongs to the CTA that launched it"},
    {"cudaGridDependencySynchronize", "programmatic dependent launch: the next grid waits for CTAs, not for blocks"},
    {"cudaTriggerProgrammaticLaunchCompletion", "programmatic dependent launch: the next grid waits for CTAs, not for blocks"},
};

/// Barriers that a standing-in thread would not take part in.
constexpr const char* kOtherBarriers[] = {"__syncthreads_and", "__syncthreads_or", "__syncthreads_count",
                                          "this_thread_block", "__barrier_sync",   "barrier"};

}  // namespace

std::string code_only(const std::string& text) {
  std::string code;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = skipped(text, at);
    if (length == 0) {
      code += text[at++];
      continue;
    }
    code += ' ';
    code.append(static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                                    text.begin() + static_cast<std::ptrdiff_t>(at + length), '\n')),
                '\n');
    at += length;
  }
  return code;
}

bool needs_stand_in(const std::string& text) {
  const std::string code = code_only(text);
  return has_word(code, "__syncthreads") && has_early_return(code);
}

std::optional<std::string> ineligible(const std::string& text) {
  const std::string code = code_only(text);
  for (const Refusal& refusal : kRefusals)
    if (has_word(code, refusal.word)) return refusal.reason;
  if (code.find("<<<") != std::string::npos)
    return "dynamic parallelism (<<<...>>> in device code): a child grid belongs to the CTA that launched it";
  if (has_word(code, "asm")) {  // what assembly says is in its string
    for (const char* name : {"%ctaid", "%nctaid", "%cluster"})
      if (text.find(name) != std::string::npos)
        return fmt::format("inline assembly reads {}: the block index of a persistent CTA is not in that register", name);
    for (const char* name : {"\"bar.", "\"barrier.", "exit;"})
      if (text.find(name) != std::string::npos)
        return fmt::format("inline assembly has {}: barriers and exits of a persistent CTA are Sluice's",
                           name[0] == '"' ? name + 1 : name);
  }
  if (has_early_return(code)) {
    for (const char* name : kOtherBarriers)
      if (has_word(code, name))
        return fmt::format("{} together with an early return: threads that have returned can only stand in at __syncthreads()",
                           name);
  }
  return std::nullopt;
}

std::string transform(const std::string& text, const std::string& file, const TransformSpec& spec) {
  const bool stand_in = needs_stand_in(text);
  std::string out = std::string(embedded_file("runtime/control.h")) + std::string(embedded_file("runtime/quota_runtime.cuh"));
  out +=
      "#undef __global__\n#define __global__ __inline__ __device__\n"
      "#undef __launch_bounds__\n#define __launch_bounds__(...)\n"
      "#undef __maxnreg__\n#define __maxnreg__(...)\n"
      "#define blockIdx sluice_rt_block\n#define gridDim sluice_rt_grid\n";
  if (stand_in) out += "#define __syncthreads() sluice_rt::user_barrier()\n";
  std::string quoted;
  for (const char c : file) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c != '\n') quoted += c;
  }
  out += fmt::format("#line 1 \"{}\"\n{}\n", quoted, text);
  out +=
      "#line 1 \"sluice_entry\"\n#undef __global__\n#undef __launch_bounds__\n#undef blockIdx\n#undef gridDim\n#undef "
      "__syncthreads\n";
  out += fmt::format(
      "extern \"C\" __attribute__((global)) void __attribute__((launch_bounds({0}, {1})))\n"
      "sluice_entry(const __attribute__((grid_constant)) SluiceJob job,\n"
      "             const __attribute__((grid_constant)) typename sluice_rt::ParametersOf<decltype(&{2})>::Type parameters) {{\n"
      "  sluice_rt::persist<&{2}, {3}>(job, parameters);\n}}\n",
      spec.block_threads, spec.ctas_per_sm, spec.kernel, stand_in);
  return out;
}

std::vector<std::size_t> pack_offsets(const std::vector<std::size_t>& sizes) {
  const auto up = [](std::size_t value, std::size_t alignment) { return (value + alignment - 1) / alignment * alignment; };
  std::vector<std::size_t> offsets(sizes.size() + 1, 0);
  // A tail is aligned to the largest of what it holds, so the offsets are not those of a flat struct.
  std::vector<std::size_t> alignment(sizes.size() + 1, 1);
  for (std::size_t i = sizes.size(); i-- > 0;) alignment[i] = std::max(sizes[i], alignment[i + 1]);
  std::size_t at = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    offsets[i] = at;
    if (i + 1 < sizes.size())
      at = up(at + sizes[i], alignment[i + 1]);
    else
      at += sizes[i];
  }
  offsets[sizes.size()] = sizes.empty() ? 1 : up(at, alignment[0]);
  return offsets;
}

}  // namespace sluice::gpu
