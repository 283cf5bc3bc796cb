// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/rewrite/instrument.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <regex>
#include <string_view>

#include "sw/core/errors.h"
#include "sw/gpu/rewrite/flow.h"
#include "sw/gpu/rewrite/ptx.h"
#include "sw/gpu/rewrite/template.h"
#include "sw/gpu/runtime/embedded.h"

namespace sluice::gpu {

namespace {

constexpr unsigned kRowBytes = 128;

std::vector<std::string_view> parts_of(std::string_view op) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= op.size();) {
    const std::size_t dot = std::min(op.find('.', at), op.size());
    parts.push_back(op.substr(at, dot - at));
    at = dot + 1;
  }
  return parts;
}
bool has(const std::vector<std::string_view>& parts, std::string_view part) {
  return std::ranges::any_of(parts, [&](std::string_view p) { return p.substr(0, p.find("::")) == part; });
}

/// Which memory a statement names by a thread's address; None where that is no part of a trace.
PtxSpace space_of(std::string_view op) {
  const std::vector<std::string_view> parts = parts_of(op);
  const std::string_view name = parts[0];
  if (op.starts_with("cp.async.c"))
    return op.starts_with("cp.async.ca") || op.starts_with("cp.async.cg") ? PtxSpace::Global : PtxSpace::None;
  if (name == "ldmatrix" || name == "stmatrix") return PtxSpace::Shared;
  if (name != "ld" && name != "ldu" && name != "st" && name != "atom" && name != "red") return PtxSpace::None;
  if (has(parts, "param") || has(parts, "const") || has(parts, "async")) return PtxSpace::None;
  if (has(parts, "global")) return PtxSpace::Global;
  if (has(parts, "shared")) return PtxSpace::Shared;
  if (has(parts, "local")) return PtxSpace::Local;
  return PtxSpace::Generic;
}

/// The text between the brackets of an operand: the first pair, or cp.async's second, where it copies from.
std::string_view address_of(const Statement& s) {
  std::size_t open = s.operands.find('[');
  if (s.op.starts_with("cp.async")) open = s.operands.find('[', open + 1);
  const std::size_t close = s.operands.find(']', open);
  if (open == std::string_view::npos || close == std::string_view::npos)
    throw InputError(fmt::format("PTX: {} has no address", s.op));
  return s.operands.substr(open + 1, close - open - 1);
}

/// Registers of 64 bits, by name or by what stands before a number.
class Registers {
 public:
  explicit Registers(const std::string& body) {
    static const std::regex declared(R"(\.reg\s+\.[a-z](\d+)\s+([^;]*);)");
    for (std::sregex_iterator i(body.begin(), body.end(), declared), none; i != none; ++i)
      for (const std::string_view word : words_of(std::string_view((*i)[2].first, (*i)[2].second)))
        if (word.front() == '%' || std::isdigit(static_cast<unsigned char>(word.front())) == 0)
          wide_[std::string(word)] = (*i)[1] == "64";
  }
  [[nodiscard]] std::optional<bool> wide(std::string_view name) const {
    if (const auto at = wide_.find(name); at != wide_.end()) return at->second;
    while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back())) != 0) name.remove_suffix(1);
    if (const auto at = wide_.find(name); at != wide_.end()) return at->second;
    return {};
  }

 private:
  std::map<std::string, bool, std::less<>> wide_;
};

/// PTX that leaves an address in %sluice_t, as 64 bits.
std::string load_address(std::string_view address, const Registers& registers) {
  static const std::regex form(R"(\s*([%\w$]+)\s*(\+\s*(-?\s*\w+))?\s*)");
  std::cmatch m;
  if (!std::regex_match(address.begin(), address.end(), m, form))
    throw InputError(fmt::format("PTX: address [{}] is not understood", address));
  const std::string base = m[1];
  std::string out;
  if (const std::optional<bool> wide = registers.wide(base))
    out = fmt::format("{} %sluice_t, {};", *wide ? "mov.b64" : "cvt.u64.u32", base);
  else
    out = fmt::format("mov.u64 %sluice_t, {};", base);  // a variable's, or a number
  if (m[3].matched) out += fmt::format(" add.s64 %sluice_t, %sluice_t, {};", m[3].str());
  return out;
}

/// PTX that adds words to the thread's log, if there is room.
std::string log_words(const std::vector<std::string>& words) {
  std::string out = "setp.lt.u64 %sluice_p, %sluice_at, %sluice_end;";
  for (std::size_t i = 0; i < words.size(); ++i)
    out += fmt::format(" @%sluice_p st.global.u32 [%sluice_at+{}], {};", i * kRowBytes, words[i]);
  return out + fmt::format(" add.s64 %sluice_at, %sluice_at, {};\n\t", words.size() * kRowBytes);
}

/// Inserts texts into a body and replaces what ends the function.
class Editor {
 public:
  explicit Editor(const std::string& body) : body_(body) {}
  void insert(std::size_t at, std::string_view text) {
    copy(at);
    out_ += text;
  }
  void replace(std::size_t begin, std::size_t end, std::string_view text) {
    copy(begin);
    out_ += text;
    from_ = end;
  }
  std::string take() {
    copy(body_.size());
    return std::move(out_);
  }

 private:
  void copy(std::size_t to) {
    out_.append(body_, from_, to - from_);
    from_ = to;
  }
  const std::string& body_;
  std::string out_;
  std::size_t from_ = 0;
};

/// What is logged before a statement; sets what `line` says of it.
std::string log_statement(const Statement& s, std::string_view guard, PtxLine& line, const Registers& registers) {
  line.space = space_of(s.op);
  const bool inverted = guard.starts_with('!');
  const std::string opposite = fmt::format("@{}{}", inverted ? "" : "!", s.guard);
  if (line.space != PtxSpace::None) {
    std::string out = load_address(address_of(s), registers);
    if (line.guarded) out += fmt::format(" {} mov.u64 %sluice_t, -1;", opposite);
    const bool wide = line.space == PtxSpace::Global || line.space == PtxSpace::Generic;
    line.logged = wide ? LoggedKind::Address64 : LoggedKind::Address32;
    out += wide ? " mov.b64 {%sluice_a, %sluice_b}, %sluice_t; " : " cvt.u32.u64 %sluice_a, %sluice_t; ";
    return out + log_words(wide ? std::vector<std::string>{"%sluice_a", "%sluice_b"} : std::vector<std::string>{"%sluice_a"});
  }
  if (!line.guarded || line.control) return {};
  line.logged = LoggedKind::Predicate;
  return fmt::format("selp.u32 %sluice_a, {}, {}, {}; ", inverted ? 0 : 1, inverted ? 1 : 0, s.guard) + log_words({"%sluice_a"});
}

constexpr std::uint32_t words_in(LoggedKind kind) { return kind == LoggedKind::None ? 0 : kind == LoggedKind::Address64 ? 2 : 1; }

}  // namespace

Instrumented instrument(const std::string& ptx, const std::string& symbol) {
  const Item e = find_entry(ptx, symbol);
  const std::vector<Item> items = items_of(ptx);
  const Reach reach = reach_of(ptx, items, symbol);
  if (reach.functions.size() > 1 || reach.indirect)
    throw InputError(fmt::format("{}: calls {}: only kernels whose functions are all inlined are recorded", symbol,
                                 reach.functions.size() > 1 ? reach.functions[1]->name : "through a register"));
  const std::string body = ptx.substr(e.body, e.end - e.body);
  const Flow flow = flow_of(body);
  const Registers registers(body);

  struct Place {
    std::size_t begin, op, end;  // of the statement's text
    std::size_t block;
    const Statement* statement;
  };
  std::vector<Place> places;
  for (std::size_t b = 0; b < flow.blocks.size(); ++b)
    for (const Statement& s : flow.blocks[b].statements) {
      const auto op = static_cast<std::size_t>(s.op.data() - body.data());
      std::size_t begin = s.guard.empty() ? op : static_cast<std::size_t>(s.guard.data() - body.data());
      while (!s.guard.empty() && body[begin] != '@') --begin;
      places.push_back({begin, op, body.find(';', op), b, &s});
    }
  std::ranges::sort(places, {}, &Place::begin);

  Instrumented out;
  out.entry = symbol + "__sluice_record";
  out.plan.words.assign(flow.blocks.size(), 0);
  for (std::uint32_t b = 0; b < flow.blocks.size(); ++b)
    if (flow.in_loop[flow.component[b]]) out.plan.loops.push_back(b);
  Editor logs(body), lines(body);
  for (const Place& p : places) {
    const Statement& s = *p.statement;
    PtxLine line;
    line.op = s.op;
    line.block = static_cast<std::uint32_t>(p.block);
    line.guarded = !s.guard.empty();
    const std::string_view name = s.op.substr(0, s.op.find('.'));
    const bool ends = name == "ret" || name == "exit";
    line.control = ends || name == "bra" || name == "brx";
    std::uint32_t& words = out.plan.words[p.block];
    std::string text;
    if (words == 0) {
      text = log_words({fmt::format("{}", static_cast<std::int32_t>(kBlockTag | line.block))});
      words = 1;
    }
    const std::string_view guard = line.guarded ? std::string_view(body).substr(p.begin + 1) : std::string_view();
    text += log_statement(s, guard, line, registers);
    line.word = words;
    words += words_in(line.logged);
    logs.insert(p.begin, text);
    if (ends) logs.replace(p.op, p.end, "bra $SLUICE_RECORD_END");
    out.plan.lines.push_back(std::move(line));
    lines.insert(p.begin, fmt::format("\n\t.loc 1 {} 0\n\t", out.plan.lines.size()));
  }
  out.with_lines = ptx.substr(0, e.body) + lines.take() + ptx.substr(e.end) + "\n.file 1 \"kernel.ptx\"\n";

  std::string parameters = ptx.substr(e.parameters, e.directives - e.parameters);
  if (parameters.size() > 1) parameters = parameters.substr(1, parameters.size() - 2);
  const bool alone = parameters.find(".param") == std::string::npos;
  const std::string logging = logs.take();
  out.ptx =
      ptx.substr(0, e.begin) + ptx.substr(e.end) + "\n" +
      fill(embedded_file("rewrite/record_entry.ptx"), {{"kernel", out.entry},
                                                       {"parameters", alone ? "" : parameters + ",\n"},
                                                       {"RecordJob", sizeof(RecordJob)},
                                                       {"directives", ptx.substr(e.directives, e.body - e.directives) + "\n"},
                                                       {"body", logging.substr(1, logging.size() - 2) + "\n"}});
  return out;
}

std::string windows_module(const std::string& ptx) { return header(ptx) + "\n" + fill(embedded_file("rewrite/windows.ptx")); }

}  // namespace sluice::gpu
