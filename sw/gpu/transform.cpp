#include "sw/gpu/transform.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <regex>

#include "sw/core/errors.h"

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

/// Index behind the bracket that closes the one at `open`. PTX strings do not hold brackets that would matter here.
std::size_t behind_match(const std::string& text, std::size_t open) {
  const char opens = text[open], closes = opens == '{' ? '}' : ')';
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == opens) ++depth;
    if (text[i] == closes && --depth == 0) return i + 1;
  }
  throw InputError("PTX: a bracket is not closed");
}

/// Where a kernel stands in its module.
struct Entry {
  std::size_t begin = 0, parameters = 0, directives = 0, body = 0,
              end = 0;  ///< ".visible .entry", "(", behind ")", "{", behind "}"
  std::string symbol;
};

std::optional<Entry> next_entry(const std::string& ptx, std::size_t from) {
  const std::size_t word = ptx.find(".entry", from);
  if (word == std::string::npos) return std::nullopt;
  Entry e;
  e.begin = ptx.rfind('\n', word) + 1;
  std::size_t name = word + 6;
  while (std::isspace(static_cast<unsigned char>(ptx[name])) != 0) ++name;
  e.parameters = ptx.find('(', name);
  const std::size_t brace = ptx.find('{', name);
  if (e.parameters == std::string::npos || brace < e.parameters) {  // no parameter list
    e.parameters = e.directives = ptx.find_first_of(" \t\n", name);
  } else {
    e.directives = behind_match(ptx, e.parameters);
  }
  e.symbol = ptx.substr(name, e.parameters - name);
  while (!e.symbol.empty() && std::isspace(static_cast<unsigned char>(e.symbol.back())) != 0) e.symbol.pop_back();
  e.body = ptx.find('{', e.directives);
  e.end = behind_match(ptx, e.body);
  return e;
}

Entry find_entry(const std::string& ptx, const std::string& symbol) {
  for (std::optional<Entry> e = next_entry(ptx, 0); e; e = next_entry(ptx, e->end))
    if (e->symbol == symbol) return *e;
  throw InputError(fmt::format("PTX: no kernel {}", symbol));
}

struct Refusal {
  const char* mark;
  const char* reason;
};
constexpr Refusal kRefusals[] = {
    {"%envreg", "cooperative grid synchronisation: all blocks would have to be resident at once"},
    {"cudaCGSynchronize", "cooperative grid synchronisation: all blocks would have to be resident at once"},
    {"cudaCGGetIntrinsicHandle", "cooperative grid synchronisation: all blocks would have to be resident at once"},
    {"%cluster", "thread block clusters: the hardware places the blocks of a cluster together"},
    {"%nclusterid", "thread block clusters: the hardware places the blocks of a cluster together"},
    {".reqnctapercluster", "thread block clusters: the hardware places the blocks of a cluster together"},
    {".explicitcluster", "thread block clusters: the hardware places the blocks of a cluster together"},
    {"barrier.cluster", "thread block clusters: the hardware places the blocks of a cluster together"},
    {"cudaGetParameterBuffer", "dynamic parallelism: a child grid belongs to the CTA that launched it"},
    {"cudaLaunchDevice", "dynamic parallelism: a child grid belongs to the CTA that launched it"},
    {"griddepcontrol", "programmatic dependent launch: the next grid waits for CTAs, not for blocks"},
    {"setmaxnreg", "setmaxnreg: registers that one block gave away would be missing in the next"},
};

const std::regex& block_index() {
  static const std::regex pattern(R"(mov\.u32\s+(%\w+),\s*%(n?)ctaid\.([xyz]);)");
  return pattern;
}
/// __syncthreads(), whatever the source called it.
const std::regex& plain_barrier() {
  static const std::regex pattern(R"((bar|barrier)(\.cta)?\.sync(\.aligned)?\s+0;)");
  return pattern;
}

constexpr int kBlockOffset = 0, kGridOffset = 56;  // in SluiceState (runtime/quota_runtime.cuh)

/// Assignment of a virtual register from shared memory, instead of from a special register.
std::string read_block_index(const std::string& ptx) {
  std::string out;
  auto at = ptx.cbegin();
  for (std::sregex_iterator m(ptx.begin(), ptx.end(), block_index()), none; m != none; ++m) {
    out.append(at, (*m)[0].first);
    const int base = (*m)[2].length() > 0 ? kGridOffset : kBlockOffset;
    // The reduction changes nothing: all threads read one value. It tells the assembler so, which keeps the index in a register
    // of the warp, as it would the special register.
    out += fmt::format(
        "{{ .reg .b32 %sluice_lanes, %sluice_index; activemask.b32 %sluice_lanes; ld.volatile.shared.u32 %sluice_index, "
        "[sluice_rt_state+{}]; redux.sync.or.b32 {}, %sluice_index, %sluice_lanes; }}",
        base + 4 * ((*m)[3].str()[0] - 'x'), (*m)[1].str());
    at = (*m)[0].second;
  }
  return out.append(at, ptx.cend());
}

/// The module's lines behind .version, .target and .address_size.
std::string without_header(const std::string& ptx) {
  const std::size_t last = ptx.find(".address_size");
  return last == std::string::npos ? ptx : ptx.substr(ptx.find('\n', last));
}
std::string header(const std::string& ptx) { return ptx.substr(0, ptx.size() - without_header(ptx).size()); }

/// sluice_rt_enter is called through a pointer that the assembler cannot follow: were it joined into the kernel, the kernel would
/// share its registers for addresses, and lose uniform ones.
constexpr const char* kEntryPoint = ".visible .global .align 8 .u64 sluice_rt_entry_point = sluice_rt_enter;\n";
constexpr const char* kEnter =
    "\t.reg .b64 %sluice_function;\n\tld.volatile.global.u64 %sluice_function, [sluice_rt_entry_point];\n"
    "\tsluice_prototype: .callprototype (.param .b32 _) _ (.param .b64 _);\n"
    "\t{\n\t.param .b64 sluice_address;\n\tst.param.b64 [sluice_address], %sluice_job;\n\t.param .b32 sluice_result;\n"
    "\tcall.uni (sluice_result), %sluice_function, (sluice_address), sluice_prototype;\n"
    "\tld.param.b32 %sluice_run, [sluice_result];\n\t}\n\tsetp.ne.u32 %sluice_go, %sluice_run, 0;\n";

std::string end_of_block(const std::string& function) {
  return fmt::format(
      "\t{{\n\t.param .b32 sluice_result;\n\tcall.uni (sluice_result), {}, ();\n\tld.param.b32 %sluice_run, "
      "[sluice_result];\n\t}}\n"
      "\tsetp.ne.u32 %sluice_go, %sluice_run, 0;\n",
      function);
}

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

bool has_early_return(const std::string& text) {
  const std::string code = code_only(text);
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

std::string only_kernel(const std::string& ptx, const std::string& symbol) {
  std::string out;
  std::size_t at = 0;
  for (std::optional<Entry> e = next_entry(ptx, 0); e; e = next_entry(ptx, e->end)) {
    if (e->symbol != symbol) {
      out.append(ptx, at, e->begin - at);
      at = e->end;
    }
  }
  return out.append(ptx, at);
}

std::optional<std::string> ineligible(const std::string& ptx, bool stand_in) {
  for (const Refusal& refusal : kRefusals)
    if (ptx.find(refusal.mark) != std::string::npos) return refusal.reason;
  if (std::regex_search(std::regex_replace(ptx, block_index(), ""), std::regex("%n?ctaid")))
    return "the block index is read other than by mov.u32 (inline assembly): it cannot be replaced";
  if (std::regex_search(ptx, std::regex(R"(\bexit;)")))
    return "inline assembly ends a thread (exit): threads of a persistent CTA outlive the block";
  if (stand_in) {
    const std::string rest = std::regex_replace(ptx, plain_barrier(), "");
    if (std::regex_search(rest, std::regex(R"(\b(bar|barrier)(\.cta)?\.(sync|red|arrive))")))
      return "a barrier other than __syncthreads() together with an early return: threads that have returned can only stand in "
             "at __syncthreads()";
  }
  return std::nullopt;
}

std::string transform(const std::string& ptx, const std::string& runtime, const TransformSpec& spec) {
  std::string module = read_block_index(only_kernel(ptx, spec.symbol));
  bool stands_in = false;
  if (spec.stand_in && std::regex_search(module, plain_barrier())) {
    stands_in = true;
    module = std::regex_replace(module, plain_barrier(),
                                "{ .reg .pred %sluice_all, %sluice_not; setp.ne.u32 %sluice_not, 0, 0; "
                                "barrier.cta.red.and.pred %sluice_all, 0, %sluice_not; }");
  }
  const Entry e = find_entry(module, spec.symbol);
  std::string parameters = module.substr(e.parameters, e.directives - e.parameters);
  if (parameters.size() > 1) parameters = parameters.substr(1, parameters.size() - 2);
  const bool alone = parameters.find(".param") == std::string::npos;
  const std::string directives = module.substr(e.directives, e.body - e.directives);
  std::smatch registers;
  const bool capped = std::regex_search(directives, registers, std::regex(R"(\.maxnreg\s+\d+)"));
  std::string body = module.substr(e.body + 1, e.end - e.body - 2);
  body = std::regex_replace(body, std::regex(R"(\bret(\.uni)?;)"), "bra $$SLUICE_END;");

  std::string out = header(ptx) + without_header(runtime) + kEntryPoint + without_header(module.substr(0, e.begin));
  out += fmt::format(".visible .entry {}({}{}.param .u64 sluice_parameter)\n", spec.symbol, alone ? "" : parameters,
                     alone ? "" : ",\n");
  out += fmt::format(".maxntid {}, {}, {}\n{}\n{{\n", spec.block[0], spec.block[1], spec.block[2],
                     capped ? registers[0].str() : fmt::format(".minnctapersm {}", spec.ctas_per_sm));
  out +=
      "\t.reg .b32 %sluice_run;\n\t.reg .b64 %sluice_job;\n\t.reg .pred %sluice_go;\n\tld.param.u64 %sluice_job, "
      "[sluice_parameter];\n";
  out += kEnter;
  out += "\t@!%sluice_go bra.uni $SLUICE_LEAVE;\n$SLUICE_BLOCK:\n" + body + "\n$SLUICE_END:\n";
  out += end_of_block(stands_in ? "sluice_rt_boundary_stand_in" : "sluice_rt_boundary");
  out += "\t@%sluice_go bra.uni $SLUICE_BLOCK;\n$SLUICE_LEAVE:\n\tcall sluice_rt_leave, ();\n\tret;\n}\n";
  return out + module.substr(e.end);
}

}  // namespace sluice::gpu
