// SPDX-License-Identifier: Apache-2.0
#include "sw/report/results_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sw/core/errors.h"
#include "sw/io/packed_file.h"
#include "sw/report/decision_summary.h"
#include "sw/report/seed_summary.h"

namespace sluice {

namespace {

using Json = nlohmann::ordered_json;

// One table a struct serves both directions: name and member.
constexpr std::pair<const char*, double StallFractions::*> kStallFractions[] = {
    {"long_memory", &StallFractions::long_memory},
    {"execution_resource", &StallFractions::execution_resource},
    {"raw", &StallFractions::raw},
    {"instruction_buffer", &StallFractions::instruction_buffer},
    {"barrier", &StallFractions::barrier},
    {"idle", &StallFractions::idle},
};
constexpr std::pair<const char*, double UtilizationFractions::*> kUtilizationFields[] = {
    {"alu_utilization", &UtilizationFractions::alu},        {"sfu_utilization", &UtilizationFractions::sfu},
    {"ldst_utilization", &UtilizationFractions::ldst},      {"register_utilization", &UtilizationFractions::registers},
    {"thread_utilization", &UtilizationFractions::threads}, {"shared_memory_utilization", &UtilizationFractions::shared_memory},
};
constexpr std::pair<const char*, std::uint64_t SoloRun::*> kSoloCounts[] = {
    {"cycles", &SoloRun::cycles},
    {"warp_instructions", &SoloRun::warp_instructions},
    {"thread_instructions", &SoloRun::thread_instructions},
};
constexpr std::pair<const char*, double SoloRun::*> kSoloFigures[] = {
    {"ipc", &SoloRun::ipc},
    {"alu_utilization", &SoloRun::alu_utilization},
    {"sfu_utilization", &SoloRun::sfu_utilization},
    {"ldst_utilization", &SoloRun::ldst_utilization},
    {"l2_mpki", &SoloRun::l2_mpki},
    {"l1_miss_rate", &SoloRun::l1_miss_rate},
    {"l2_miss_rate", &SoloRun::l2_miss_rate},
};
constexpr std::pair<const char*, double SoloReference::*> kReferenceFigures[] = {
    {"instructions", &SoloReference::instructions},
    {"alu_utilization", &SoloReference::alu_utilization},
    {"sfu_utilization", &SoloReference::sfu_utilization},
    {"ldst_utilization", &SoloReference::ldst_utilization},
    {"l2_mpki", &SoloReference::l2_mpki},
};
constexpr std::pair<const char*, double EvalRun::*> kRunFigures[] = {
    {"ipc", &EvalRun::ipc},
    {"normalized_ipc", &EvalRun::normalized_ipc},
    {"stp", &EvalRun::stp},
    {"antt", &EvalRun::antt},
    {"min_speedup", &EvalRun::min_speedup},
    {"l1_miss_rate", &EvalRun::l1_miss_rate},
    {"l2_miss_rate", &EvalRun::l2_miss_rate},
    {"dram_bytes_per_cycle", &EvalRun::dram_bytes_per_cycle},
    {"average_watts", &EvalRun::average_watts},
    {"total_joules", &EvalRun::total_joules},
};
constexpr std::pair<const char*, double SmOutcome::*> kSmFigures[] = {
    {"alu_utilization", &SmOutcome::alu_utilization},
    {"sfu_utilization", &SmOutcome::sfu_utilization},
    {"ldst_utilization", &SmOutcome::ldst_utilization},
    {"l1_miss_rate", &SmOutcome::l1_miss_rate},
};

Json number(double value) { return number_or_null(value); }
Json number(std::uint64_t value) { return value; }

Json numbers(const std::vector<double>& values) {
  Json out = Json::array();
  for (const double v : values) out.push_back(number(v));
  return out;
}

template <class T, class Fields>
void write_fields(Json& out, const T& value, const Fields& fields) {
  for (const auto& [name, member] : fields) out[name] = number(value.*member);
}

template <class T, class Fields>
Json fields_object(const T& value, const Fields& fields) {
  Json out = Json::object();
  write_fields(out, value, fields);
  return out;
}

void write_partition(Json& out, const Partition& partition) {
  out["mode"] = layout_name(partition.mode);
  out["ctas"] = counts(partition);
}

Json solo_json(const SoloRun& solo) {
  Json out = {{"kernel", solo.kernel}, {"type", to_string(solo.type)}};
  write_fields(out, solo, kSoloCounts);
  write_fields(out, solo, kSoloFigures);
  if (solo.reference) {
    out["reference"]["cycles"] = solo.reference->cycles;
    write_fields(out["reference"], *solo.reference, kReferenceFigures);
  }
  out["curve"] = numbers(solo.curve);
  return out;
}

Json sample_json(const ProfileSample& sample, const DecisionRecord& decision) {
  return {{"kernel", decision.kernels.at(sample.kernel.value())},
          {"sm", sample.sm.value()},
          {"label", sample.ctas.value()},
          {"resident_min", sample.resident_min.value()},
          {"resident_max", sample.resident_max.value()},
          {"foreign", sample.foreign.value()},
          {"warp_instructions", sample.warp_instructions},
          {"stall_cycles", sample.stall_cycles},
          {"requests", sample.requests}};
}

Json decision_json(const DecisionRecord& decision) {
  Json out = {{"sampled_at", decision.sampled_at}, {"decided_at", decision.decided_at}, {"kernels", decision.kernels}};
  write_partition(out, decision.partition);
  if (decision.reason) out["reason"] = reason_name(*decision.reason);
  out["profiles"] = Json::array();
  for (const Profile& profile : decision.profiles) out["profiles"].push_back(numbers(profile));
  out["samples"] = Json::array();
  for (const ProfileSample& sample : decision.samples) out["samples"].push_back(sample_json(sample, decision));
  if (!decision.golden.empty()) out["golden"] = Json::object();
  for (const auto& [scaling, partition] : decision.golden) write_partition(out["golden"][scaling], partition);
  return out;
}

Json run_json(const EvalRun& run) {
  Json out = {{"kernels", run.kernels}, {"category", run.category}, {"policy", run.policy}, {"partitioner", run.partitioner}};
  out["partition"] = Json::object();
  write_partition(out["partition"], run.partition);
  out["cycles"] = run.cycles;
  write_fields(out, run, kRunFigures);
  out["per_kernel"] = Json::array();
  for (const KernelOutcome& k : run.per_kernel)
    out["per_kernel"].push_back({{"kernel", k.name},
                                 {"finish_cycle", k.finish_cycle},
                                 {"speedup", number(k.speedup)},
                                 {"counters", fields_object(k.counters, kCounterFields)},
                                 {"stalls", fields_object(k.stalls, kStallFractions)}});
  out["stalls"] = fields_object(run.stalls, kStallFractions);
  write_fields(out, run.utilization, kUtilizationFields);
  out["sms"] = Json::array();
  for (const SmOutcome& sm : run.sms) {
    Json entry = {{"warp_instructions", sm.warp_instructions}};
    write_fields(entry, sm, kSmFigures);
    entry["stalls"] = fields_object(sm.stalls, kStallFractions);
    out["sms"].push_back(std::move(entry));
  }
  out["decisions"] = Json::array();
  for (const DecisionRecord& d : run.decisions) out["decisions"].push_back(decision_json(d));
  out["candidates"] = run.oracle_candidates;
  if (!run.taken_from.empty()) out["taken_from"] = run.taken_from;
  return out;
}

Json seed_run_json(const SeedRun& run) {
  Json out = {{"seed", run.seed},
              {"kernels", run.kernels},
              {"policy", run.policy},
              {"ipc", number(run.ipc)},
              {"normalized_ipc", number(run.normalized_ipc)},
              {"partition", nullptr}};
  if (run.partition) {
    out["partition"] = Json::object();
    write_partition(out["partition"], *run.partition);
  }
  return out;
}

/// category -> policy -> means, and what warped_slicer gains over the others.
Json summary_json(const Summary& summary) {
  Json out = Json::object();
  for (const PolicySummary& s : summary.policies) {
    Json& entry = out[s.category][s.policy];
    entry["pairs"] = s.mixes;
    entry["normalized_ipc"] = number(s.normalized_ipc);
    if (s.category == "all") entry["normalized_ipc_of_categories"] = number(s.category_mean);
    entry["stp"] = number(s.stp);
    entry["antt"] = number(s.antt);
    entry["min_speedup"] = number(s.min_speedup);
    entry["over_one_after_the_other"] = number(s.serial_gain);
    entry["min_speedup_over_left_over"] = number(s.fairness);
  }
  for (const PolicyRatio& r : summary.ratios) {
    Json& entry = out[r.category]["warped_slicer"]["ipc_over"][r.over];
    entry = {{"pairs", r.mixes}, {"ratio", number(r.ipc_ratio)}};
  }
  return out;
}

/// A value and where it is, so that every complaint names its place: "out/results.json: runs[3].cycles: missing".
class Node {
 public:
  Node(const Json& json, std::string where) : json_(&json), where_(std::move(where)) {}

  [[nodiscard]] bool has(const char* key) const { return json_->is_object() && json_->contains(key); }
  [[nodiscard]] bool is_null() const { return json_->is_null(); }
  [[nodiscard]] Node at(const char* key) const {
    const std::string place = where_ + (where_.ends_with(": ") ? "" : ".") + key;
    if (!has(key)) throw InputError(place + ": missing");
    return {json_->at(key), place};
  }
  [[nodiscard]] std::vector<Node> items() const {
    if (!json_->is_array()) fail("must be a list");
    std::vector<Node> out;
    for (std::size_t i = 0; i < json_->size(); ++i) out.emplace_back(json_->at(i), fmt::format("{}[{}]", where_, i));
    return out;
  }
  [[nodiscard]] std::string text() const {
    if (!json_->is_string()) fail("must be a string");
    return json_->get<std::string>();
  }
  void read(std::uint64_t& out) const {
    if (!json_->is_number_unsigned()) fail("must be a whole number, 0 or more");
    json_->get_to(out);
  }
  void read(double& out) const {
    if (!json_->is_number() && !json_->is_null()) fail("must be a number or null");
    out = json_->is_null() ? std::numeric_limits<double>::quiet_NaN() : json_->get<double>();
  }
  [[nodiscard]] std::uint32_t count(std::uint64_t below) const {
    std::uint64_t value = 0;
    read(value);
    if (value >= below) fail(fmt::format("must be below {}", below));
    return static_cast<std::uint32_t>(value);
  }
  [[nodiscard]] std::vector<double> numbers() const {
    std::vector<double> out;
    for (const Node& item : items()) item.read(out.emplace_back());
    return out;
  }
  /// Figures may be missing: a page without them is better than none.
  template <class T, class Fields>
  void fields(T& value, const Fields& table) const {
    for (const auto& [name, member] : table) {
      value.*member = unknown(value.*member);
      if (has(name)) at(name).read(value.*member);
    }
  }
  [[nodiscard]] const Json& object() const {
    if (!json_->is_object()) fail("must be an object");
    return *json_;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(where_ + (where_.ends_with(": ") ? "" : ": ") + what);
  }

 private:
  static double unknown(double) { return std::numeric_limits<double>::quiet_NaN(); }
  static std::uint64_t unknown(std::uint64_t) { return 0; }

  const Json* json_;
  std::string where_;
};

std::string_view spelling(Mode layout) { return layout_name(layout); }
std::string_view spelling(KernelType type) { return to_string(type); }
std::string_view spelling(DecisionReason reason) { return reason_name(reason); }

/// The enumerator whose spelling this is.
template <class Enum, std::size_t N>
Enum named(const Node& node, const Enum (&all)[N]) {
  const std::string text = node.text();
  std::string allowed;
  for (const Enum e : all) {
    if (text == spelling(e)) return e;
    allowed += (allowed.empty() ? "" : ", ") + std::string(spelling(e));
  }
  node.fail(fmt::format("\"{}\": must be one of {}", text, allowed));
}

constexpr Mode kModes[] = {Mode::LeftOver, Mode::Fcfs, Mode::Static, Mode::Spatial};
constexpr DecisionReason kReasons[] = {DecisionReason::WaterFilling, DecisionReason::LossGuard, DecisionReason::NoFit,
                                       DecisionReason::NoProfile};
constexpr KernelType kTypes[] = {KernelType::Compute, KernelType::Memory, KernelType::Cache};
constexpr std::uint64_t kMaxCtas = 1U << 16;  // far beyond any SM; keeps a damaged file from becoming a huge count

Partition read_partition(const Node& node) {
  Partition partition{named(node.at("mode"), kModes), {}};
  // The file has counts only; which SMs are a kernel's own follows from the machine.
  for (const Node& item : node.at("ctas").items()) partition.shares.push_back({CtaCount(item.count(kMaxCtas))});
  return partition;
}

SoloRun read_solo(const Node& node) {
  SoloRun solo;
  solo.kernel = node.at("kernel").text();
  solo.type = named(node.at("type"), kTypes);
  node.fields(solo, kSoloCounts);
  node.fields(solo, kSoloFigures);
  if (node.has("reference") && !node.at("reference").is_null()) {
    SoloReference reference;
    node.at("reference").at("cycles").read(reference.cycles);
    node.at("reference").fields(reference, kReferenceFigures);
    solo.reference = reference;
  }
  if (node.has("curve")) solo.curve = node.at("curve").numbers();
  return solo;
}

ProfileSample read_sample(const Node& node, const std::vector<std::string>& kernels) {
  ProfileSample sample;
  const auto owner = std::ranges::find(kernels, node.at("kernel").text());
  if (owner == kernels.end()) node.at("kernel").fail("must be one of the decision's kernels");
  sample.kernel = KernelId(static_cast<std::uint32_t>(owner - kernels.begin()));
  const auto count = [&](const char* name) { return CtaCount(node.at(name).count(kMaxCtas)); };
  sample.sm = SmId(node.at("sm").count(kMaxCtas));
  sample.ctas = count("label");
  sample.resident_min = count("resident_min");
  sample.resident_max = count("resident_max");
  sample.foreign = count("foreign");
  node.at("warp_instructions").read(sample.warp_instructions);
  node.at("stall_cycles").read(sample.stall_cycles);
  node.at("requests").read(sample.requests);
  return sample;
}

DecisionRecord read_decision(const Node& node) {
  DecisionRecord decision;
  node.at("sampled_at").read(decision.sampled_at);
  node.at("decided_at").read(decision.decided_at);
  for (const Node& item : node.at("kernels").items()) decision.kernels.push_back(item.text());
  for (const Node& item : node.at("profiles").items()) decision.profiles.push_back(item.numbers());
  decision.partition = read_partition(node);
  if (node.has("reason")) decision.reason = named(node.at("reason"), kReasons);
  if (node.has("samples"))
    for (const Node& item : node.at("samples").items()) decision.samples.push_back(read_sample(item, decision.kernels));
  if (node.has("golden"))
    for (const auto& [scaling, partition] : node.at("golden").object().items())
      decision.golden.emplace_back(scaling, read_partition(node.at("golden").at(scaling.c_str())));
  return decision;
}

KernelOutcome read_outcome(const Node& node) {
  KernelOutcome outcome;
  outcome.name = node.at("kernel").text();
  node.at("finish_cycle").read(outcome.finish_cycle);
  node.at("speedup").read(outcome.speedup);
  if (node.has("counters")) node.at("counters").fields(outcome.counters, kCounterFields);
  if (node.has("stalls")) node.at("stalls").fields(outcome.stalls, kStallFractions);
  outcome.counters.finish_cycle = outcome.finish_cycle;
  return outcome;
}

SmOutcome read_sm(const Node& node) {
  SmOutcome sm;
  node.at("warp_instructions").read(sm.warp_instructions);
  node.fields(sm, kSmFigures);
  if (node.has("stalls")) node.at("stalls").fields(sm.stalls, kStallFractions);
  return sm;
}

EvalRun read_run(const Node& node) {
  EvalRun run;
  for (const Node& item : node.at("kernels").items()) run.kernels.push_back(item.text());
  if (run.kernels.empty()) node.at("kernels").fail("must not be empty");
  run.category = node.at("category").text();
  run.policy = node.at("policy").text();
  run.partitioner = node.at("partitioner").text();
  run.partition = read_partition(node.at("partition"));
  node.at("cycles").read(run.cycles);
  node.at("ipc").read(run.ipc);
  node.fields(run, kRunFigures);
  node.fields(run.utilization, kUtilizationFields);
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  run.stalls = {kUnknown, kUnknown, kUnknown, kUnknown, kUnknown, kUnknown};
  if (node.has("stalls")) node.at("stalls").fields(run.stalls, kStallFractions);
  if (node.has("per_kernel"))
    for (const Node& item : node.at("per_kernel").items()) run.per_kernel.push_back(read_outcome(item));
  if (node.has("sms"))
    for (const Node& item : node.at("sms").items()) run.sms.push_back(read_sm(item));
  if (node.has("decisions"))
    for (const Node& item : node.at("decisions").items()) run.decisions.push_back(read_decision(item));
  std::uint64_t candidates = 0;
  if (node.has("candidates")) node.at("candidates").read(candidates);
  if (node.has("taken_from")) run.taken_from = node.at("taken_from").text();
  run.oracle_candidates = static_cast<std::size_t>(candidates);
  return run;
}

SeedRun read_seed_run(const Node& node) {
  SeedRun run;
  node.at("seed").read(run.seed);
  for (const Node& item : node.at("kernels").items()) run.kernels.push_back(item.text());
  run.policy = node.at("policy").text();
  node.at("ipc").read(run.ipc);
  node.at("normalized_ipc").read(run.normalized_ipc);
  if (!node.at("partition").is_null()) run.partition = read_partition(node.at("partition"));
  return run;
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
  Json out = {{"meta", results.meta}, {"solo", Json::array()}, {"runs", Json::array()}};
  out["meta"]["schema_version"] = kResultsSchemaVersion;
  for (const SoloRun& solo : results.solo) out["solo"].push_back(solo_json(solo));
  for (const EvalRun& run : results.runs) out["runs"].push_back(run_json(run));
  out["summary"] = summary_json(summarize(results));
  out["decisions"] = to_json(summarize_decisions(results));
  if (results.seeds.empty()) return out;
  for (const SeedRun& run : results.seeds) out["seeds"].push_back(seed_run_json(run));
  out["spread"] = spread_json(results);
  return out;
}

EvalResults results_from_json(const Json& json, const std::string& source) {
  const Node root(json, source + ": ");
  EvalResults results;
  results.meta = root.at("meta").object();
  if (results.meta.value("schema_version", Json(kResultsSchemaVersion)) != kResultsSchemaVersion)
    root.at("meta").fail(fmt::format("schema_version: must be {}", kResultsSchemaVersion));
  for (const Node& item : root.at("solo").items()) results.solo.push_back(read_solo(item));
  for (const Node& item : root.at("runs").items()) results.runs.push_back(read_run(item));
  if (root.has("seeds"))
    for (const Node& item : root.at("seeds").items()) results.seeds.push_back(read_seed_run(item));
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
