// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/rewrite/flow.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "sw/core/errors.h"
#include "sw/gpu/rewrite/ptx.h"

namespace sluice::gpu {

namespace {

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// A label in front of an instruction, cut off `text`; empty where there is none.
std::string_view take_label(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_' || text[end] == '$'))
    ++end;
  std::size_t colon = end;
  while (colon < text.size() && is_space(text[colon])) ++colon;
  if (end == 0 || colon == text.size() || text[colon] != ':') return {};
  const std::string_view label = text.substr(0, end);
  text = trimmed(text.substr(colon + 1));
  return label;
}

Statement statement_of(std::string_view text) {
  Statement s;
  if (text.starts_with('@')) {
    std::size_t end = 1;
    while (end < text.size() && !is_space(text[end])) ++end;
    s.guard = text.substr(1, end - 1);
    if (s.guard.starts_with('!')) s.guard.remove_prefix(1);
    text = trimmed(text.substr(end));
  }
  std::size_t end = 0;
  while (end < text.size() && !is_space(text[end])) ++end;
  s.op = text.substr(0, end);
  s.operands = trimmed(text.substr(end));
  return s;
}

bool is_op(const Statement& s, std::string_view name) {
  return s.op.starts_with(name) && (s.op.size() == name.size() || s.op[name.size()] == '.');
}
bool ends_function(const Statement& s) { return is_op(s, "ret") || is_op(s, "exit"); }

/// Blocks with the labels that they jump to, resolved in a second step.
class Builder {
 public:
  explicit Builder(std::string_view body) {
    for (std::size_t at = 1; at < body.size();) {                      // behind the "{"
      if (is_space(body[at]) || body[at] == '{' || body[at] == '}') {  // scopes decide nothing
        ++at;
        continue;
      }
      const std::size_t end = std::min(body.find(';', at), body.size());
      std::string_view text = trimmed(body.substr(at, end - at));
      std::string_view before = text;
      std::string_view label = take_label(text);
      while (!label.empty()) {
        if (text.starts_with(".branchtargets"))
          tables_[label] = words_of(text.substr(14));
        else
          begin(label);
        while (text.starts_with('{') || text.starts_with('}')) text = trimmed(text.substr(1));
        before = text;
        label = take_label(text);
      }
      if (!text.empty() && text.front() != '.') add(statement_of(text));
      at = end + 1;
    }
  }

  Flow take() {
    Flow flow;
    flow.exit = blocks_.size();
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const auto to = [&](std::size_t block) {
        if (std::ranges::find(blocks_[i].next, block) == blocks_[i].next.end()) blocks_[i].next.push_back(block);
      };
      for (const std::string_view target : targets_[i]) {
        const auto table = tables_.find(target);
        for (const std::string_view label : table == tables_.end() ? std::vector{target} : table->second) {
          const auto at = labels_.find(label);
          if (at == labels_.end()) throw InputError("PTX: a branch to a label that is not there");
          to(at->second);
        }
      }
      if (ends_[i]) to(flow.exit);
      if (falls_[i]) to(i + 1);  // behind the last: the exit
    }
    flow.blocks = std::move(blocks_);
    return flow;
  }

 private:
  void begin(std::string_view label) {
    if (blocks_.back().statements.empty() && targets_.back().empty() && !ends_.back()) {
      labels_[label] = blocks_.size() - 1;
      return;
    }
    open();
    labels_[label] = blocks_.size() - 1;
  }
  void open() {
    blocks_.emplace_back();
    targets_.emplace_back();
    ends_.push_back(false);
    falls_.push_back(true);
  }
  void add(const Statement& s) {
    blocks_.back().statements.push_back(s);
    const bool branch = is_op(s, "bra") || is_op(s, "brx");
    if (!branch && !ends_function(s)) return;
    if (branch) {
      const std::vector<std::string_view> words = words_of(s.operands);
      if (!words.empty()) targets_.back().push_back(words.back());
    } else {
      ends_.back() = true;
    }
    falls_.back() = !s.guard.empty();
    open();
  }
  std::vector<FlowBlock> blocks_{1};
  std::vector<std::vector<std::string_view>> targets_{1};
  std::vector<bool> ends_ = {false}, falls_ = {true};
  std::map<std::string_view, std::size_t> labels_;
  std::map<std::string_view, std::vector<std::string_view>> tables_;
};

/// Tarjan's components, with a stack of its own: kernels have loops within tens of thousands of blocks.
void find_components(Flow& flow) {
  const std::size_t n = flow.blocks.size(), none = ~std::size_t{0};
  std::vector<std::size_t> index(n, none), low(n, 0), stack;
  std::vector<bool> on_stack(n, false);
  flow.component.assign(n, none);
  std::size_t counter = 0;
  for (std::size_t root = 0; root < n; ++root) {
    if (index[root] != none) continue;
    std::vector<std::pair<std::size_t, std::size_t>> calls = {{root, 0}};
    while (!calls.empty()) {
      const std::size_t v = calls.back().first;
      if (calls.back().second == 0) {
        index[v] = low[v] = counter++;
        stack.push_back(v);
        on_stack[v] = true;
      }
      if (calls.back().second < flow.blocks[v].next.size()) {
        const std::size_t w = flow.blocks[v].next[calls.back().second++];
        if (w == flow.exit) continue;
        if (index[w] == none)
          calls.emplace_back(w, 0);
        else if (on_stack[w])
          low[v] = std::min(low[v], index[w]);
        continue;
      }
      if (low[v] == index[v]) {
        std::size_t w = none, size = 0;
        bool loop = false;
        do {
          w = stack.back();
          stack.pop_back();
          on_stack[w] = false;
          flow.component[w] = flow.in_loop.size();
          loop = loop || std::ranges::find(flow.blocks[w].next, w) != flow.blocks[w].next.end();
          ++size;
        } while (w != v);
        flow.in_loop.push_back(loop || size > 1);
      }
      calls.pop_back();
      if (!calls.empty()) low[calls.back().first] = std::min(low[calls.back().first], low[v]);
    }
  }
}

/// Cooper, Harvey and Kennedy's dominators on the reversed graph. A loop without an end counts as if its last block could end.
void find_post_dominators(Flow& flow) {
  const std::size_t n = flow.blocks.size(), none = ~std::size_t{0};
  std::vector<std::vector<std::size_t>> from(n + 1);
  for (std::size_t i = 0; i < n; ++i)
    for (const std::size_t to : flow.blocks[i].next) from[to].push_back(i);
  std::vector<std::size_t> order, number(n + 1, none);  // post-order of the reversed graph
  std::vector<bool> seen(n + 1, false);
  const auto walk = [&](std::size_t start) {
    std::vector<std::pair<std::size_t, std::size_t>> path = {{start, 0}};
    seen[start] = true;
    while (!path.empty()) {
      auto& [v, child] = path.back();
      if (child < from[v].size()) {
        const std::size_t w = from[v][child++];
        if (!seen[w]) {
          seen[w] = true;
          path.emplace_back(w, 0);
        }
        continue;
      }
      number[v] = order.size();
      order.push_back(v);
      path.pop_back();
    }
  };
  const auto restart = [&] {
    seen.assign(n + 1, false);
    number.assign(n + 1, none);
    order.clear();
    walk(flow.exit);
  };
  std::vector<std::vector<std::size_t>> next(n);
  for (std::size_t i = 0; i < n; ++i) next[i] = flow.blocks[i].next;
  restart();
  for (std::size_t i = n; i-- > 0;)
    if (!seen[i]) {  // does not reach the end
      from[flow.exit].push_back(i);
      next[i].push_back(flow.exit);
      restart();
    }
  flow.post_dominator.assign(n + 1, none);
  flow.post_dominator[flow.exit] = flow.exit;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t k = order.size() - 1; k-- > 0;) {
      const std::size_t v = order[k];
      std::size_t found = none;
      for (std::size_t w : next[v]) {
        if (flow.post_dominator[w] == none) continue;
        if (found == none) {
          found = w;
          continue;
        }
        while (w != found) {
          while (number[w] < number[found]) w = flow.post_dominator[w];
          while (number[found] < number[w]) found = flow.post_dominator[found];
        }
      }
      if (found != flow.post_dominator[v]) {
        flow.post_dominator[v] = found;
        changed = true;
      }
    }
  }
}

}  // namespace

std::vector<std::size_t> Flow::depends_on(std::size_t branch) const {
  std::vector<std::size_t> found;
  for (std::size_t at : blocks[branch].next)
    for (; at != post_dominator[branch] && at != exit; at = post_dominator[at]) found.push_back(at);
  return found;
}

Flow flow_of(std::string_view body) {
  Flow flow = Builder(body).take();
  find_components(flow);
  find_post_dominators(flow);
  return flow;
}

}  // namespace sluice::gpu
