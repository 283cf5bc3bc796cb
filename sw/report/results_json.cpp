// SPDX-License-Identifier: Apache-2.0
#include "sw/report/eval_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "sw/core/errors.h"
#include "sw/io/packed_file.h"
#include "sw/report/summary.h"

namespace sluice {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t kMaxCtas = 1U << 16;  // far beyond any SM; keeps a damaged file from becoming a huge count

std::string_view spelling(Mode layout) { return layout_name(layout); }
std::string_view spelling(KernelType type) { return to_string(type); }
std::string_view spelling(DecisionReason reason) { return reason_name(reason); }
constexpr auto every(Mode) { return std::array{Mode::LeftOver, Mode::Fcfs, Mode::Static, Mode::Spatial}; }
constexpr auto every(KernelType) { return std::array{KernelType::Compute, KernelType::Memory, KernelType::Cache}; }
constexpr auto every(DecisionReason) {
  return std::array{DecisionReason::WaterFilling, DecisionReason::LossGuard, DecisionReason::NoFit,
                    DecisionReason::NoProfile,    DecisionReason::Measured,  DecisionReason::NotWorth,
                    DecisionReason::FloorsMissed};
}

/// A value and where it is, so that every complaint names its place: "out/results.json: runs[3].cycles: missing".
class Node {
 public:
  Node(const Json& json, std::string where) : json_(&json), where_(std::move(where)) {}

  [[nodiscard]] bool has(const char* key) const { return json_->is_object() && json_->contains(key); }
  [[nodiscard]] const Json& json() const { return *json_; }
  [[nodiscard]] Node at(const char* key) const {
    const std::string place = where_ + (where_.ends_with(": ") ? "" : ".") + key;
    if (!has(key)) throw InputError(place + ": missing");
    return {json_->at(key), place};
  }
  [[nodiscard]] std::vector<Node> items() const {
    require(json_->is_array(), "must be a list");
    std::vector<Node> out;
    for (std::size_t i = 0; i < json_->size(); ++i) out.emplace_back(json_->at(i), fmt::format("{}[{}]", where_, i));
    return out;
  }
  [[nodiscard]] const Json& object() const {
    require(json_->is_object(), "must be an object");
    return *json_;
  }
  void require(bool right, const std::string& what) const {
    if (!right) throw InputError(where_ + (where_.ends_with(": ") ? "" : ": ") + what);
  }

 private:
  const Json* json_;
  std::string where_;
};

// One description of a struct serves both directions: describe(archive, value) names its fields to a Writer or a Reader.
template <class Archive, class T>
using Ref = std::conditional_t<Archive::kWrites, const T, T>&;

template <class T>
concept Optional = requires(const T& value) {
  value.has_value();
};
template <class T>
concept List = requires(const T& value) {
  value.begin();
}
&&!std::is_same_v<T, std::string>;
template <class T>
concept Number = requires(const T& value) {
  typename T::rep;
};  // a Quantity

class Writer {
 public:
  static constexpr bool kWrites = true;
  explicit Writer(Json& out) : out_(out) {}

  template <class T>
  void must(const char* name, const T& value) {
    out_[name] = json_of(value);
  }
  template <class T>
  void may(const char* name, const T& value) {
    must(name, value);
  }
  /// Left out where there is none.
  template <class T>
  void some(const char* name, const T& value) {
    if constexpr (Optional<T>) {
      if (value.has_value()) must(name, value);
    } else {
      if (!value.empty()) must(name, value);
    }
  }

 private:
  template <class T>
  static Json json_of(const T& value);

  Json& out_;
};

class Reader {
 public:
  static constexpr bool kWrites = false;
  explicit Reader(Node node) : node_(std::move(node)) {}

  template <class T>
  void must(const char* name, T& value) {
    read(node_.at(name), value);
  }
  /// A figure may be missing: a page without it is better than none.
  template <class T>
  void may(const char* name, T& value) {
    if constexpr (std::is_same_v<T, double>) value = kUnknown;
    if (node_.has(name)) must(name, value);
  }
  template <class T>
  void some(const char* name, T& value) {
    if (node_.has(name) && !node_.at(name).json().is_null()) must(name, value);
  }
  [[nodiscard]] const Node& node() const { return node_; }

 private:
  template <class T>
  static void read(const Node& node, T& value);

  Node node_;
};

#define SLUICE_MUST(field) archive.must(#field, of.field);
#define SLUICE_MAY(field) archive.may(#field, of.field);
#define MUST(...) NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(SLUICE_MUST, __VA_ARGS__))
#define MAY(...) NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(SLUICE_MAY, __VA_ARGS__))

template <class A>
void describe(A& archive, Ref<A, StallFractions> of) {
  MAY(long_memory, execution_resource, raw, instruction_buffer, barrier, idle)
}

template <class A>
void describe(A& archive, Ref<A, KernelCounters> of) {
  for (const auto& [name, member] : kCounterFields) archive.may(name, of.*member);
}

template <class A>
void describe(A& archive, Ref<A, SoloReference> of) {
  MUST(cycles)
  MAY(instructions, alu_utilization, sfu_utilization, ldst_utilization, l2_mpki)
}

template <class A>
void describe(A& archive, Ref<A, SoloRun> of) {
  MUST(kernel, type)
  MAY(cycles, warp_instructions, thread_instructions, ipc, alu_utilization, sfu_utilization, ldst_utilization, l2_mpki,
      l1_miss_rate, l2_miss_rate)
  archive.some("reference", of.reference);
  MAY(curve)
}

/// Counts only: which SMs are a kernel's own follows from the machine.
template <class A>
void describe(A& archive, Ref<A, Partition> of) {
  MUST(mode)
  if constexpr (A::kWrites) {
    archive.must("ctas", counts(of));
  } else {
    std::vector<CtaCount> ctas;
    archive.must("ctas", ctas);
    of.shares.clear();
    for (const CtaCount count : ctas) of.shares.push_back({count});
  }
}

/// The kernel's index has a meaning in its decision only.
template <class A>
void describe(A& archive, Ref<A, ProfileSample> of) {
  MUST(sm)
  archive.must("label", of.ctas);
  MUST(resident_min, resident_max, foreign, warp_instructions, stall_cycles, requests)
}

/// The samples of a decision, which name their kernel; the golden decisions, by the scaling's name.
void describe_samples(Writer& archive, const DecisionRecord& of) {
  Json samples = Json::array(), golden = Json::object();
  for (const ProfileSample& sample : of.samples) {
    Writer writer(samples.emplace_back(Json{{"kernel", of.kernels.at(sample.kernel.value())}}));
    describe(writer, sample);
  }
  for (const auto& [scaling, partition] : of.golden) {
    Writer writer(golden[scaling]);
    describe(writer, partition);
  }
  archive.must("samples", samples);
  archive.some("golden", golden);
}
void describe_samples(Reader& archive, DecisionRecord& of) {
  const Node& node = archive.node();
  if (node.has("samples"))
    for (const Node& item : node.at("samples").items()) {
      std::string kernel;
      Reader reader(item);
      reader.must("kernel", kernel);
      const auto owner = std::ranges::find(of.kernels, kernel);
      item.at("kernel").require(owner != of.kernels.end(), "must be one of the decision's kernels");
      ProfileSample& sample = of.samples.emplace_back();
      sample.kernel = KernelId(static_cast<std::uint32_t>(owner - of.kernels.begin()));
      describe(reader, sample);
    }
  if (node.has("golden"))
    for (const auto& [scaling, partition] : node.at("golden").object().items())
      Reader(node.at("golden")).must(scaling.c_str(), of.golden.emplace_back(scaling, Partition{}).second);
}

/// What mode Balance measured: `sms` is null, as every candidate is the same for each SM, and `ctas` where there are no quotas.
void describe_balance(Writer& archive, const BalanceReport& of) {
  if (of.candidates.empty()) return;
  Json candidates = Json::array();
  for (const BalanceCandidate& c : of.candidates) {
    Writer writer(candidates.emplace_back(Json::object()));
    if (c.ctas.empty())
      writer.must("ctas", Json());
    else
      writer.must("ctas", c.ctas);
    writer.must("sms", Json());
    writer.must("rates", c.rates);
    writer.must("score", c.score);
    writer.must("tried", std::string(c.again ? "confirmed" : "side_by_side"));
  }
  archive.must("candidates", candidates);
  archive.must("kept", of.kept < 0 ? Json() : Json(static_cast<std::uint64_t>(of.kept)));
}
void describe_balance(Reader& archive, BalanceReport& of) {
  const Node& node = archive.node();
  if (!node.has("candidates")) return;
  for (const Node& item : node.at("candidates").items()) {
    BalanceCandidate& c = of.candidates.emplace_back();
    Reader reader(item);
    if (!item.at("ctas").json().is_null()) reader.must("ctas", c.ctas);
    reader.must("rates", c.rates);
    reader.must("score", c.score);
    std::string tried;
    reader.must("tried", tried);
    c.again = tried == "confirmed";
  }
  if (node.has("kept") && !node.at("kept").json().is_null()) {
    std::uint64_t kept = 0;
    archive.must("kept", kept);
    node.at("kept").require(kept < of.candidates.size(), "must be an index of candidates");
    of.kept = static_cast<std::int32_t>(kept);
  }
}

template <class A>
void describe(A& archive, Ref<A, DecisionRecord> of) {
  MUST(sampled_at, decided_at, kernels)
  describe(archive, of.partition);
  archive.some("reason", of.reason);
  MUST(profiles)
  describe_samples(archive, of);
  describe_balance(archive, of.balance);
}

template <class A>
void describe(A& archive, Ref<A, KernelOutcome> of) {
  archive.must("kernel", of.name);
  MUST(finish_cycle, speedup)
  MAY(counters, stalls)
  if constexpr (!A::kWrites) of.counters.finish_cycle = of.finish_cycle;
}

template <class A>
void describe(A& archive, Ref<A, SmOutcome> of) {
  MUST(warp_instructions)
  MAY(alu_utilization, sfu_utilization, ldst_utilization, l1_miss_rate, stalls)
}

template <class A>
void describe(A& archive, Ref<A, EvalRun> of) {
  if constexpr (!A::kWrites) of.stalls = {kUnknown, kUnknown, kUnknown, kUnknown, kUnknown, kUnknown};
  MUST(kernels)
  if constexpr (!A::kWrites) archive.node().at("kernels").require(!of.kernels.empty(), "must not be empty");
  MUST(category, policy, partitioner, partition, cycles, ipc)
  MAY(normalized_ipc, stp, antt, min_speedup, l1_miss_rate, l2_miss_rate, dram_bytes_per_cycle, average_watts, total_joules)
  MAY(per_kernel, stalls)
  archive.may("alu_utilization", of.utilization.alu);
  archive.may("sfu_utilization", of.utilization.sfu);
  archive.may("ldst_utilization", of.utilization.ldst);
  archive.may("register_utilization", of.utilization.registers);
  archive.may("thread_utilization", of.utilization.threads);
  archive.may("shared_memory_utilization", of.utilization.shared_memory);
  MAY(sms, decisions)
  archive.may("candidates", of.oracle_candidates);
  archive.some("taken_from", of.taken_from);
}

template <class A>
void describe(A& archive, Ref<A, SeedRun> of) {
  MUST(seed, kernels, policy, ipc, normalized_ipc, partition)
}

template <class T>
Json Writer::json_of(const T& value) {
  if constexpr (std::is_same_v<T, double>) {
    return number_or_null(value);
  } else if constexpr (std::is_enum_v<T>) {
    return spelling(value);
  } else if constexpr (std::is_integral_v<T> || std::is_same_v<T, std::string> || std::is_same_v<T, Json>) {
    return value;
  } else if constexpr (Number<T>) {
    return value.value();
  } else if constexpr (Optional<T>) {
    return value.has_value() ? json_of(*value) : Json();
  } else if constexpr (List<T>) {
    Json out = Json::array();
    for (const auto& item : value) out.push_back(json_of(item));
    return out;
  } else {
    Json out = Json::object();
    Writer writer(out);
    describe(writer, value);
    return out;
  }
}

template <class T>
void Reader::read(const Node& node, T& value) {
  const Json& json = node.json();
  if constexpr (std::is_same_v<T, double>) {
    node.require(json.is_number() || json.is_null(), "must be a number or null");
    value = json.is_null() ? kUnknown : json.get<double>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    node.require(json.is_string(), "must be a string");
    json.get_to(value);
  } else if constexpr (std::is_enum_v<T>) {
    std::string text, allowed;
    read(node, text);
    for (const T e : every(T{})) {
      if (text == spelling(e)) return void(value = e);
      allowed += (allowed.empty() ? "" : ", ") + std::string(spelling(e));
    }
    node.require(false, fmt::format("\"{}\": must be one of {}", text, allowed));
  } else if constexpr (std::is_integral_v<T>) {
    node.require(json.is_number_unsigned(), "must be a whole number, 0 or more");
    json.get_to(value);
  } else if constexpr (Number<T>) {
    std::uint64_t count = 0;
    read(node, count);
    node.require(count < kMaxCtas, fmt::format("must be below {}", kMaxCtas));
    value = T(static_cast<typename T::rep>(count));
  } else if constexpr (Optional<T>) {
    value.reset();
    if (!json.is_null()) read(node, value.emplace());
  } else if constexpr (List<T>) {
    for (const Node& item : node.items()) read(item, value.emplace_back());
  } else {
    Reader reader(node);
    describe(reader, value);
  }
}

/// category -> policy -> means, and what warped_slicer gains over the others.
Json summary_json(const Summary& summary) {
  Json out = Json::object();
  for (const PolicySummary& s : summary.policies) {
    Json& entry = out[s.category][s.policy];
    entry["pairs"] = s.mixes;
    entry["normalized_ipc"] = number_or_null(s.normalized_ipc);
    if (s.category == "all") entry["normalized_ipc_of_categories"] = number_or_null(s.category_mean);
    entry["stp"] = number_or_null(s.stp);
    entry["antt"] = number_or_null(s.antt);
    entry["min_speedup"] = number_or_null(s.min_speedup);
    entry["over_one_after_the_other"] = number_or_null(s.serial_gain);
    entry["min_speedup_over_left_over"] = number_or_null(s.fairness);
  }
  for (const PolicyRatio& r : summary.ratios) {
    Json& entry = out[r.category]["warped_slicer"]["ipc_over"][r.over];
    entry = {{"pairs", r.mixes}, {"ratio", number_or_null(r.ipc_ratio)}};
  }
  return out;
}

bool is_flat(const Json& json) {
  return json.is_array() && std::none_of(json.begin(), json.end(), [](const Json& item) { return item.is_structured(); });
}

/// Like dump(2), but lists of plain values stay on one line: a curve is read as a row, and diffs stay short.
void print(std::string& out, const Json& json, std::size_t indent) {
  if (!json.is_structured() || json.empty() || is_flat(json)) {
    out += json.dump(-1, ' ', false, Json::error_handler_t::replace);
    return;
  }
  const bool object = json.is_object();
  const std::string margin(indent + 2, ' ');
  out += object ? "{\n" : "[\n";
  bool first = true;
  for (const auto& [key, value] : json.items()) {
    if (!first) out += ",\n";
    first = false;
    out += margin;
    if (object) out += Json(key).dump(-1, ' ', false, Json::error_handler_t::replace) + ": ";
    print(out, value, indent + 2);
  }
  out += '\n';
  out.append(indent, ' ');
  out += object ? '}' : ']';
}

}  // namespace

Json to_json(const EvalResults& results) {
  Json out = {{"meta", results.meta}};
  out["meta"]["schema_version"] = kResultsSchemaVersion;
  Writer writer(out);
  writer.must("solo", results.solo);
  writer.must("runs", results.runs);
  out["summary"] = summary_json(summarize(results));
  out["decisions"] = to_json(summarize_decisions(results));
  writer.some("seeds", results.seeds);
  if (!results.seeds.empty()) out["spread"] = spread_json(results);
  return out;
}

EvalResults results_from_json(const Json& json, const std::string& source) {
  Reader reader(Node(json, source + ": "));
  EvalResults results;
  const Node meta = reader.node().at("meta");
  results.meta = meta.object();
  meta.require(results.meta.value("schema_version", Json(kResultsSchemaVersion)) == kResultsSchemaVersion,
               fmt::format("schema_version: must be {}", kResultsSchemaVersion));
  reader.must("solo", results.solo);
  reader.must("runs", results.runs);
  reader.may("seeds", results.seeds);
  return results;
}

EvalResults read_results(const std::filesystem::path& path) {
  Json json;
  try {
    json = Json::parse(read_packed(path));
  } catch (const Json::parse_error& e) {
    throw InputError(fmt::format("{}: not JSON, or cut short, at byte {}", path.string(), e.byte));
  }
  return results_from_json(json, path.string());
}

std::string results_text(const EvalResults& results) {
  std::string out;
  print(out, to_json(results), 0);
  return out + "\n";
}

}  // namespace sluice
