#include "sw/gpu/report/gpu_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "sw/core/errors.h"
#include "sw/core/machine.h"
#include "sw/core/metrics.h"
#include "sw/gpu/layout.h"
#include "sw/gpu/raw_store.h"
#include "sw/gpu/stats.h"
#include "sw/partition/warped_slicer.h"
#include "sw/report/atomic_file.h"
#include "sw/report/charts.h"
#include "sw/report/html_style.h"
#include "sw/report/svg.h"
#include "sw/report/terminal_table.h"

namespace sluice::gpu {

namespace {

using nlohmann::json;
using Values = std::vector<double>;

/// What the report collects on its way: tables for the terminal, sections for the page, and whether every check held.
struct Output {
  std::string terminal, html;
  json summary = json::object();
  bool good = true;
  void table(const std::string& title, const std::vector<std::vector<std::string>>& rows) {
    TextTable text(rows.front());
    html += "<h2>" + svg::escape(title) + "</h2>\n<div class=\"scroll\"><table>\n";
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (r > 0) text.add_row(rows[r]);
      html += "<tr>";
      for (const std::string& cell : rows[r]) html += fmt::format("<{0}>{1}</{0}>", r == 0 ? "th" : "td", svg::escape(cell));
      html += "</tr>\n";
    }
    html += "</table></div>\n";
    terminal += title + "\n" + text.str() + "\n";
  }
  void note(const std::string& text) {
    terminal += text + "\n\n";
    html += "<p>" + svg::escape(text) + "</p>\n";
  }
};

/// The last line of each key: a measurement that was interrupted and repeated counts once.
std::vector<json> lines(const std::filesystem::path& file) {
  std::map<std::string, std::size_t> at;
  std::vector<json> out;
  for (json& line : RawStore::read(file)) {
    const auto [place, fresh] = at.emplace(line["key"].get<std::string>(), out.size());
    if (fresh)
      out.push_back(std::move(line));
    else
      out[place->second] = std::move(line);
  }
  return out;
}

/// An array's elements one a line: short for a difference of versions, and for the eye.
std::string by_line(const json& array) {
  std::string text = "[";
  for (const json& element : array) text += (text.size() > 1 ? ",\n" : "\n") + element.dump();
  return text + "\n]";
}
void write_json(const std::filesystem::path& file, const json& value) {
  if (value.is_array()) return write_file_atomically(file, by_line(value) + "\n");
  std::string text = "{";
  for (const auto& [key, member] : value.items())
    text += fmt::format("{}\n\"{}\": {}", text.size() > 1 ? "," : "", key, member.is_array() ? by_line(member) : member.dump());
  write_file_atomically(file, text + "\n}\n");
}

void verify_section(const std::filesystem::path& folder, Output& out) {
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "CPU reference", "bit-identical", "exactly once", "SMs at quota", "violations"}};
  json result = json::array();
  for (const json& j : lines(folder / "verify.jsonl")) {
    bool same = j.value("small_bit_identical", false), once = true;
    int exact = 0, sms = 0, violations = 0;
    for (const json& e : j.value("exactly_once", json::array())) {
      once = once && e["wrong_blocks"] == 0 && e["done"] == e["tasks"];
      same = same && e["bit_identical"].get<bool>();
      violations += e["violations"].get<int>();
    }
    for (const json& f : j.value("full", json::array())) {
      same = same && f["bit_identical"].get<bool>();
      exact += f["sms_exact"].get<int>();
      sms += f["sms"].get<int>();
      violations += f["violations"].get<int>();
    }
    const bool right = j["cpu_check"] == "";
    out.good = out.good && same && once && right && violations == 0;
    rows.push_back({j["app"], right ? "agrees" : j["cpu_check"].get<std::string>(), same ? "yes" : "NO", once ? "yes" : "NO",
                    fmt::format("{}/{}", exact, sms), std::to_string(violations)});
    result.push_back({{"kernel", j["app"]},
                      {"cpu_reference", right},
                      {"bit_identical", same},
                      {"exactly_once", once},
                      {"sms_at_quota", exact},
                      {"sms", sms},
                      {"quota_violations", violations}});
  }
  if (result.empty()) return;
  out.table("Results and placement: every run against the untransformed kernel", rows);
  write_json(folder / "verify.json", result);
}

void user_kernels_section(const std::filesystem::path& folder, Output& out) {
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "runs", "bit-identical", "evictions", "registers", "not possible because"}};
  for (const json& j : lines(folder / "user_kernels.jsonl")) {
    const auto number = [&](const char* key) { return j.contains(key) ? j[key].dump() : "-"; };
    if (!j.contains("refusal")) out.good = out.good && j["runs"] == j["bit_identical"] && j["violations"] == 0;
    rows.push_back({j["kernel"], number("runs"), number("bit_identical"), number("evictions"),
                    j.contains("refusal") ? "-" : number("native_registers") + " -> " + number("registers"),
                    j.value("refusal", "")});
  }
  if (rows.size() > 1) out.table("Kernels as users write them, unchanged, under quotas and evictions", rows);
}

void overhead_section(const std::filesystem::path& folder, Output& out) {
  std::vector<std::vector<std::string>> rows = {{"kernel", "untransformed ms", "overhead", "95 %", "of it start and end",
                                                 "tasks claimed singly", "registers", "CTAs per SM"}};
  json result = json::array();
  Values all;
  const auto percent = [](double v) { return fmt::format("{:+.2f} %", 100 * v); };
  for (const json& j : lines(folder / "overhead.jsonl")) {
    const double native = median(j["native_seconds"].get<Values>());
    json variants = json::object();
    for (const auto& [name, v] : j["variants"].items()) {
      const Values t = v["seconds"].get<Values>();
      const Interval ci = bootstrap(t, [&](std::span<const double> s) { return median(s) / native - 1; });
      variants[name] = {{"overhead", median(t) / native - 1},
                        {"ci", {ci.low, ci.high}},
                        {"empty_launch_seconds", median(v["empty_seconds"].get<Values>())}};
    }
    const json& standard = variants["default"];
    const double value = standard["overhead"];
    all.push_back(value);
    rows.push_back({j["app"], fmt::format("{:.3f}", native * 1e3), percent(value),
                    fmt::format("{} .. {}", percent(standard["ci"][0]), percent(standard["ci"][1])),
                    percent(standard["empty_launch_seconds"].get<double>() / native),
                    percent(variants["one_task_claims"]["overhead"]),
                    fmt::format("{} -> {}", j["native"]["registers"].get<int>(), j["persistent"]["registers"].get<int>()),
                    fmt::format("{} -> {}", j["native_occupancy"].get<int>(), j["occupancy"].get<int>())});
    result.push_back({{"kernel", j["app"]},
                      {"native_seconds", native},
                      {"overhead", value},
                      {"ci", standard["ci"]},
                      {"variants", variants},
                      {"native", j["native"]},
                      {"persistent", j["persistent"]},
                      {"occupancy", j["occupancy"]},
                      {"native_occupancy", j["native_occupancy"]},
                      {"repetitions", j["variants"]["default"]["seconds"].size()}});
  }
  if (result.empty()) return;
  double sum = 0, worst = -1;
  for (const double v : all) {
    sum += v;
    worst = std::max(worst, v);
  }
  const double mean = sum / static_cast<double>(all.size());
  out.table("Overhead of the transformation alone, medians", rows);
  out.note(fmt::format(
      "Mean {}, median {}, worst {}. Targets 2 % mean and 5 % worst: {}. \"Of it start and end\": a launch whose CTAs "
      "take slots, find no task and leave, the launch itself included.",
      percent(mean), percent(median(all)), percent(worst), mean <= 0.02 && worst <= 0.05 ? "met" : "MISSED"));
  write_json(folder / "overhead.json", {{"mean", mean}, {"median", median(all)}, {"worst", worst}, {"kernels", result}});
  out.summary["overhead_mean"] = mean;
  out.summary["overhead_worst"] = worst;
}

void preemption_section(const std::filesystem::path& folder, Output& out) {
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "block us", "p50 us", "p99 us", "grids ended p50", "p99", "evictions"}};
  json result = json::array();
  double sum = 0;
  for (const json& j : lines(folder / "preemption.jsonl")) {
    const Values last = j["last_cta_us"].get<Values>(), grids = j["grids_us"].get<Values>();
    const auto us = [](double v) { return fmt::format("{:.1f}", v); };
    rows.push_back({j["app"], us(j["block_us"]), us(percentile(last, 0.5)), us(percentile(last, 0.99)),
                    us(percentile(grids, 0.5)), us(percentile(grids, 0.99)), std::to_string(last.size())});
    result.push_back({{"kernel", j["app"]},
                      {"block_us", j["block_us"]},
                      {"p50_us", percentile(last, 0.5)},
                      {"p99_us", percentile(last, 0.99)},
                      {"grids_p50_us", percentile(grids, 0.5)},
                      {"grids_p99_us", percentile(grids, 0.99)},
                      {"evictions", last.size()},
                      {"quota_violations", j["violations"]}});
    sum += percentile(last, 0.5);
  }
  if (result.empty()) return;
  const double mean = sum / static_cast<double>(result.size());
  out.table("Preemption: from the order until the last CTA has left", rows);
  out.note(fmt::format("Mean of the medians {:.1f} us; target 40 us: {}. Published: EffiSha 80 us on a K40m.", mean,
                       mean <= 40 ? "met" : "MISSED"));
  write_json(folder / "preemption.json", {{"p50_mean_us", mean}, {"kernels", result}});
  out.summary["preemption_p50_mean_us"] = mean;
}

void curves_section(const std::filesystem::path& folder, Output& out) {
  json result = json::array();
  std::string charts;
  for (const json& j : lines(folder / "curves.jsonl")) {
    const double native = median(j["native_blocks_per_second"].get<Values>());
    const auto runs = j["blocks_per_second"].get<std::vector<Values>>();
    charts::Lines chart{j["app"], "CTAs per SM", "of untransformed", {{{"quota", 4}, {}, ""}}};
    json curve = json::array();
    for (std::size_t c = 0; c < runs.front().size(); ++c) {
      Values at;
      for (const Values& run : runs) at.push_back(run[c]);
      chart.lines[0].values.push_back(median(at) / native);
      curve.push_back({{"ctas", c + 1},
                       {"relative", median(at) / native},
                       {"low", percentile(at, 0) / native},
                       {"high", percentile(at, 1) / native}});
    }
    out.good = out.good && j["violations"] == 0;
    charts += "<div class=\"multiple\">" + charts::line_chart(chart) + "</div>\n";
    result.push_back({{"kernel", j["app"]},
                      {"native_blocks_per_second", native},
                      {"curve", curve},
                      {"quota_violations", j["violations"]},
                      {"misplaced", j["misplaced"]},
                      {"demand", j["demand"]}});
  }
  if (result.empty()) return;
  out.html +=
      "<h2>Performance against CTAs per SM, each kernel alone</h2>\n<p>Relative to the untransformed kernel at full "
      "occupancy.</p>\n<div class=\"multiples\">" +
      charts + "</div>\n";
  write_json(folder / "curves.json", result);
}

/// Figures of one mix under one policy.
struct Cell {
  json kernels, ctas;
  Values stp, antt, fairness;
  std::vector<Values> speedups;  // one list a kernel
  int violations = 0;
  unsigned incomplete = 0;  // runs left out
};
using Mixes = std::map<std::string, std::map<std::string, Cell>>;  // mix, policy

/// More than one CTA in a hundred of a kernel found no room: no evidence for or against the partition.
bool incomplete(const json& j, unsigned sms) {
  if (!j.contains("missing") || j["missing"].empty() || !j.contains("ctas") || j["ctas"].empty()) return false;
  const std::size_t kernels = j["kernels"].size(), share = j["mode"] == "spatial" ? sms / kernels : sms;
  for (std::size_t k = 0; k < kernels; ++k)
    if (j["missing"][k].get<std::size_t>() * 100 > j["ctas"][k].get<std::size_t>() * share) return true;
  return false;
}

Mixes read_mixes(const std::filesystem::path& folder, const std::string& name, unsigned sms) {
  Mixes cells;
  std::vector<json> all = lines(folder / (name + ".jsonl"));
  for (json& j : lines(folder / "mps.jsonl")) all.push_back(std::move(j));
  const std::size_t size = name == "pairs" ? 2 : 3;
  for (const json& j : all) {
    if (!j.contains("blocks_per_second") || j["kernels"].size() != size) continue;
    const Values rate = j["blocks_per_second"].get<Values>(), solo = j["solo_blocks_per_second"].get<Values>();
    std::string policy = j["policy"];
    if (policy == "candidate") policy = fmt::format("candidate {}", j["ctas"].dump());
    Cell& c = cells[fmt::format("{}", fmt::join(j["kernels"].get<std::vector<std::string>>(), "_"))][policy];
    c.kernels = j["kernels"];
    c.violations += j.value("violations", 0);
    if (incomplete(j, sms)) {
      ++c.incomplete;
      continue;
    }
    c.ctas = j.value("ctas", json::array());
    std::vector<Turnaround> turnaround;
    c.speedups.resize(size);
    for (std::size_t k = 0; k < rate.size(); ++k) {
      turnaround.push_back({1 / solo[k], rate[k] > 0 ? 1 / rate[k] : INFINITY});
      c.speedups[k].push_back(rate[k] / solo[k]);
    }
    c.stp.push_back(stp(turnaround));
    c.antt.push_back(antt(turnaround));
    c.fairness.push_back(min_speedup(turnaround));
  }
  return cells;
}

/// The best intra-SM partition that was measured again after the search, Warped-Slicer's own choices among them.
const Cell* oracle(const std::map<std::string, Cell>& policies) {
  const Cell* best = nullptr;
  for (const auto& [policy, c] : policies) {
    const bool partition = policy.starts_with("candidate") || policy.starts_with("warped_slicer") || policy == "even";
    if (partition && !c.stp.empty() && (best == nullptr || median(c.stp) > median(best->stp))) best = &c;
  }
  return best;
}

double measured(const std::map<std::string, Cell>& policies, const std::string& policy) {
  if (policy == "oracle") {
    const bool searched = std::ranges::any_of(policies, [](const auto& p) { return p.first.starts_with("candidate"); });
    const Cell* best = searched ? oracle(policies) : nullptr;
    return best != nullptr ? median(best->stp) : NAN;
  }
  const auto at = policies.find(policy);
  return at == policies.end() || at->second.stp.empty() ? NAN : median(at->second.stp);
}

void mixes_section(const std::filesystem::path& folder, const std::string& name, unsigned sms, Output& out) {
  const Mixes cells = read_mixes(folder, name, sms);
  if (cells.empty()) return;
  json result = json::array();
  const std::vector<std::string> shown = {"back_to_back",  "left_over",          "mps",   "spatial", "even",
                                          "warped_slicer", "warped_slicer@0.04", "oracle"};
  std::vector<std::vector<std::string>> rows = {{"mix"}};
  for (const std::string& p : shown) rows[0].push_back(p);
  rows[0].emplace_back("chosen");
  unsigned left_out = 0;
  for (const auto& [mix, policies] : cells) {
    std::vector<std::string> row = {mix};
    for (const std::string& p : shown) {
      const double value = measured(policies, p);
      row.push_back(std::isfinite(value) ? fmt::format("{:.3f}", value) : "-");
    }
    row.push_back(policies.contains("warped_slicer") ? policies.at("warped_slicer").ctas.dump() : "-");
    rows.push_back(row);
    for (const auto& [policy, c] : policies) {
      left_out += c.incomplete;
      out.good = out.good && c.violations == 0;
      if (c.stp.empty()) continue;
      const Interval ci = bootstrap(c.stp, [](std::span<const double> s) { return median(s); });
      const double fair = median(c.antt);
      result.push_back({{"kernels", c.kernels},
                        {"policy", policy},
                        {"ctas", c.ctas},
                        {"stp", median(c.stp)},
                        {"stp_ci", {ci.low, ci.high}},
                        {"antt", std::isfinite(fair) ? json(fair) : json()},
                        {"min_speedup", median(c.fairness)},
                        {"quota_violations", c.violations},
                        {"repetitions", c.stp.size()},
                        {"incomplete_runs", c.incomplete}});
    }
  }
  out.table(fmt::format("STP of the {}, medians (sum of rates over each kernel's own alone, untransformed)", name), rows);
  out.note(fmt::format("{} runs in which more than 1 % of a kernel's CTAs found no room on their SMs are left out.", left_out));
  for (const char* of : {"warped_slicer", "even", "spatial", "mps", "oracle"})
    for (const char* over : {"left_over", "mps", "oracle"}) {
      Values ratios;
      for (const auto& [mix, policies] : cells) {
        const double ratio = measured(policies, of) / measured(policies, over);
        if (std::isfinite(ratio)) ratios.push_back(ratio);
      }
      if (ratios.empty() || std::string(of) == over) continue;
      const Interval ci = bootstrap(ratios, [](std::span<const double> s) { return geometric_mean(s); });
      out.note(fmt::format(
          "{} over {}: {:.3f} [{:.3f}, {:.3f}] over {} {} (geometric mean of STP ratios, 95 % bootstrap over the mixes).", of,
          over, geometric_mean(ratios), ci.low, ci.high, ratios.size(), name));
      out.summary[fmt::format("{}_{}_over_{}", name, of, over)] = {
          {"geometric_mean", geometric_mean(ratios)}, {"ci", {ci.low, ci.high}}, {"mixes", ratios.size()}};
    }
  write_json(folder / (name + ".json"), result);
}

SmResources resources_of(const json& j) {
  return {j["threads"].get<std::uint32_t>(), j["registers"].get<std::uint32_t>(), j["shared_memory_bytes"].get<std::uint32_t>(),
          j["cta_slots"].get<std::uint32_t>()};
}

struct Curve {
  Profile performance;  // blocks a second with 1, 2, ... CTAs per SM
  SmResources demand, capacity;
};
std::map<std::string, Curve> read_curves(const std::filesystem::path& folder) {
  std::map<std::string, Curve> curves;
  for (const json& j : lines(folder / "curves.jsonl")) {
    Curve c{{}, resources_of(j["demand"]), resources_of(j["capacity"])};
    const auto runs = j["blocks_per_second"].get<std::vector<Values>>();
    for (std::size_t n = 0; n < runs.front().size(); ++n) {
      Values at;
      for (const Values& run : runs) at.push_back(run[n]);
      c.performance.push_back(median(at));
    }
    curves.emplace(j["app"], std::move(c));
  }
  return curves;
}

/// Partitions of the exhaustive search and their STP: one short window each, so that all choices of a pair compare alike.
std::map<std::string, std::map<Values, double>> read_search(const std::filesystem::path& folder, unsigned sms) {
  std::map<std::string, std::map<Values, double>> out;  // mix, CTAs
  for (const json& j : lines(folder / "pairs.jsonl")) {
    if (!j.contains("sweep")) continue;
    const Values solo = j["solo_blocks_per_second"].get<Values>();
    for (json point : j["sweep"]) {
      point["kernels"] = j["kernels"];
      point["mode"] = "intra_sm";
      if (incomplete(point, sms)) continue;
      const Values rate = point["blocks_per_second"].get<Values>();
      double& sum =
          out[fmt::format("{}", fmt::join(j["kernels"].get<std::vector<std::string>>(), "_"))][point["ctas"].get<Values>()];
      for (std::size_t k = 0; k < rate.size(); ++k) sum += rate[k] / solo[k];
    }
  }
  return out;
}

/// (b): what water-filling decides from an online profile, and from the curves that were measured one point after the other; what
/// the difference costs; and why Warped-Slicer is furthest from the Oracle where it is.
void profile_section(const std::filesystem::path& folder, unsigned sms, Output& out) {
  const std::map<std::string, Curve> curves = read_curves(folder);
  const Mixes cells = read_mixes(folder, "pairs", sms);
  const auto searched = read_search(folder, sms);
  // How the curves for a decision are made of the rates that the profile saw.
  const std::vector<std::pair<std::string, std::string>> kinds = {
      {"scaled", "equation 3 with measured shares of bandwidth (used)"},
      {"by_counts", "equations 3 and 4 as printed"},
      {"sampled", "unscaled"}};
  struct Choices {
    unsigned close = 0;
    Values stp;  // by the search, of the chosen partitions
  };
  struct Pair {
    unsigned runs = 0;
    Partition solo;
    double solo_stp = NAN;
    std::map<std::string, Choices> choices;
    Values seconds;
    std::vector<Values> predicted;
  };
  std::map<std::string, Pair> pairs;
  for (const json& j : lines(folder / "pairs.jsonl")) {
    if (j["policy"] != "warped_slicer" || !j.contains("scaled")) continue;
    const auto names = j["kernels"].get<std::vector<std::string>>();
    if (!curves.contains(names[0]) || !curves.contains(names[1])) continue;
    const std::string mix = names[0] + "_" + names[1];
    const Curve &a = curves.at(names[0]), &b = curves.at(names[1]);
    const std::vector<SmResources> demand = {a.demand, b.demand};
    const auto decide = [&](const std::vector<Profile>& profiles) {
      return placeable(demand, a.capacity, [&](const SmResources& capacity) {
        return warped_slicer_partition(profiles, demand, capacity, MachineConfig().partitioner);
      });
    };
    const auto stp_of = [&](const Partition& p) {
      if (p.mode == PartitionMode::Spatial || !searched.contains(mix)) return NAN;
      const auto& found = searched.at(mix);
      const auto at = found.find({static_cast<double>(p.ctas[0].value()), static_cast<double>(p.ctas[1].value())});
      return at == found.end() ? NAN : static_cast<float>(at->second);
    };
    Pair& p = pairs[mix];
    p.solo = decide({a.performance, b.performance});
    p.solo_stp = stp_of(p.solo);
    for (const auto& [kind, words] : kinds) {
      if (!j.contains(kind)) continue;
      const Partition online = decide(j[kind].get<std::vector<Profile>>());
      bool close = online.mode == p.solo.mode;
      for (std::size_t k = 0; k < 2; ++k)
        close = close && std::abs(static_cast<int>(online.ctas[k].value()) - static_cast<int>(p.solo.ctas[k].value())) <= 1;
      Choices& c = p.choices[kind];
      c.close += close ? 1 : 0;
      if (const double value = stp_of(online); std::isfinite(value)) c.stp.push_back(value);
    }
    ++p.runs;
    p.seconds.push_back(j["profile_seconds"]);
    p.predicted.resize(2);
    const auto scaled = j["scaled"].get<std::vector<Values>>();
    for (std::size_t k = 0; k < 2; ++k) {
      const double most = *std::ranges::max_element(scaled[k]);
      const auto at = std::min<std::size_t>(j["ctas"][k].get<std::size_t>(), scaled[k].size());
      p.predicted[k].push_back(at > 0 && most > 0 ? scaled[k][at - 1] / most : 0);
    }
  }
  if (pairs.empty()) return;
  Values seconds;
  json result = json::array();
  for (const auto& [mix, p] : pairs) {
    seconds.insert(seconds.end(), p.seconds.begin(), p.seconds.end());
    json entry = {{"pair", mix},
                  {"runs", p.runs},
                  {"from_solo_curves", {p.solo.ctas[0].value(), p.solo.ctas[1].value()}},
                  {"stp_from_solo_curves", std::isfinite(p.solo_stp) ? json(p.solo_stp) : json()}};
    for (const auto& [kind, c] : p.choices)
      entry[kind] = {{"same_or_within_one", c.close}, {"stp", c.stp.empty() ? json() : json(median(c.stp))}};
    result.push_back(entry);
  }
  write_json(folder / "profile_vs_solo.json", result);
  std::vector<std::vector<std::string>> rows = {{"curves", "pairs within one CTA", "runs",
                                                 "STP of its choice over the solo curves' choice", "worst pair",
                                                 "pairs compared"}};
  for (const auto& [kind, words] : kinds) {
    unsigned agree = 0, runs = 0, close = 0;
    Values ratios;
    for (const auto& [mix, p] : pairs) {
      if (!p.choices.contains(kind)) continue;
      const Choices& c = p.choices.at(kind);
      agree += 2 * c.close > p.runs ? 1 : 0;
      runs += p.runs;
      close += c.close;
      if (!c.stp.empty() && std::isfinite(p.solo_stp)) ratios.push_back(median(c.stp) / p.solo_stp);
    }
    if (runs == 0 || ratios.empty()) continue;
    const Interval ci = bootstrap(ratios, [](std::span<const double> v) { return geometric_mean(v); });
    rows.push_back({words, fmt::format("{} of {}", agree, pairs.size()), fmt::format("{} of {}", close, runs),
                    fmt::format("{:.3f} [{:.3f}, {:.3f}]", geometric_mean(ratios), ci.low, ci.high),
                    fmt::format("{:.3f}", *std::ranges::min_element(ratios)), std::to_string(ratios.size())});
    if (kind == "scaled") out.summary["online_profile_agrees"] = static_cast<double>(agree) / static_cast<double>(pairs.size());
    out.summary["online_choice_over_solo_choice_" + kind] = {{"geometric_mean", geometric_mean(ratios)},
                                                             {"ci", {ci.low, ci.high}}};
  }
  out.table("Online profile against solo curves: the partition that water-filling makes of each", rows);
  const double share = out.summary.value("online_profile_agrees", 0.0);
  out.note(
      fmt::format("The same partition or one CTA beside it in {:.0f} % of the pairs (most of a pair's runs). Target 90 %: {}. "
                  "Profiling took {:.2f} ms, median.",
                  100 * share, share >= 0.9 ? "met" : "MISSED", 1e3 * median(seconds)));

  std::vector<std::pair<double, std::string>> distance;
  for (const auto& [mix, policies] : cells) {
    const double ratio = measured(policies, "warped_slicer") / measured(policies, "oracle");
    if (std::isfinite(ratio) && pairs.contains(mix)) distance.emplace_back(ratio, mix);
  }
  std::ranges::sort(distance);
  rows = {{"pair", "of Oracle's STP", "chosen", "predicted", "measured", "Oracle's", "measured", "what the profile misses"}};
  for (std::size_t i = 0; i < std::min<std::size_t>(5, distance.size()); ++i) {
    const auto& [ratio, mix] = distance[i];
    const Cell &chosen = cells.at(mix).at("warped_slicer"), &best = *oracle(cells.at(mix));
    const auto both = [](double x, double y) { return fmt::format("{:.2f} + {:.2f}", x, y); };
    Values lost;
    for (std::size_t k = 0; k < 2; ++k) lost.push_back(median(pairs.at(mix).predicted[k]) - median(chosen.speedups[k]));
    const std::size_t victim = lost[0] > lost[1] ? 0 : 1;
    rows.push_back({mix, fmt::format("{:.2f}", ratio), chosen.ctas.dump(),
                    both(median(pairs.at(mix).predicted[0]), median(pairs.at(mix).predicted[1])),
                    both(median(chosen.speedups[0]), median(chosen.speedups[1])), best.ctas.dump(),
                    both(median(best.speedups[0]), median(best.speedups[1])),
                    fmt::format("{} loses {:.0f} points to its neighbour's use of the memory system",
                                chosen.kernels[victim].get<std::string>(), 100 * lost[victim])});
  }
  if (rows.size() > 1) out.table("Where Warped-Slicer is furthest from the Oracle (performance of each kernel, 1 = alone)", rows);
}

/// Equal work: every kernel gets as many launches as it does alone in one and a half windows; medians of one mix under one
/// policy.
struct Finish {
  Values stp, makespan;  // sum of T_alone / T_corun; seconds until the last is done
};
std::map<std::string, std::map<std::string, Finish>> read_finish(const std::filesystem::path& folder, const std::string& name) {
  std::map<std::string, std::map<std::string, Finish>> out;  // mix, policy
  for (const json& j : lines(folder / (name + ".jsonl"))) {
    if (!j.contains("finish_seconds")) continue;
    const Values alone = j["alone_seconds"].get<Values>(), finish = j["finish_seconds"].get<Values>();
    std::vector<Turnaround> turnaround;
    for (std::size_t k = 0; k < alone.size(); ++k) turnaround.push_back({alone[k], finish[k]});
    Finish& f = out[fmt::format("{}", fmt::join(j["kernels"].get<std::vector<std::string>>(), "_"))][j["policy"]];
    f.stp.push_back(stp(turnaround));
    f.makespan.push_back(*std::ranges::max_element(finish));
  }
  return out;
}

void finish_section(const std::filesystem::path& folder, const std::string& name, Output& out) {
  std::map<std::string, Values> speedup;
  for (const auto& [mix, policies] : read_finish(folder, name))
    for (const auto& [policy, f] : policies)
      if (policies.contains("left_over"))
        speedup[policy].push_back(median(policies.at("left_over").makespan) / median(f.makespan));
  for (const auto& [policy, ratios] : speedup) {
    if (policy == "left_over") continue;
    const Interval ci = bootstrap(ratios, [](std::span<const double> v) { return geometric_mean(v); });
    out.note(fmt::format(
        "Equal work until the last kernel is done, {}: {} is {:.3f} [{:.3f}, {:.3f}] times as fast as Left-Over ({} mixes"
        "{}).",
        name, policy, geometric_mean(ratios), ci.low, ci.high, ratios.size(),
        policy == "warped_slicer" ? ", profiling included" : ""));
    out.summary[fmt::format("{}_finish_{}_over_left_over", name, policy)] = {{"geometric_mean", geometric_mean(ratios)},
                                                                             {"ci", {ci.low, ci.high}}};
  }
}

/// (6) The model with descriptors imported from Nsight Compute, against the silicon.
void model_section(const std::filesystem::path& folder, unsigned sms, Output& out) {
  const std::filesystem::path file = folder / "model" / "results.json";
  if (!std::filesystem::exists(file)) return;
  const json model = json::parse(read_file(file), nullptr, false);
  if (!model.is_object()) throw InputError(fmt::format("{}: must be a JSON object", file.string()));
  json kernels = json::array(), mixes = json::array();
  const auto normalised = [](Values v) {
    const double most = *std::ranges::max_element(v);
    for (double& x : v) x /= most;
    return v;
  };
  std::string charts;
  const std::map<std::string, Curve> curves = read_curves(folder);
  Values curve_errors;
  for (const json& j : model["solo"]) {
    const std::string name = j["kernel"];
    if (!curves.contains(name) || j["curve"].empty()) continue;
    const Values silicon = normalised(curves.at(name).performance), simulated = normalised(j["curve"].get<Values>());
    const std::size_t common = std::min(silicon.size(), simulated.size());
    const std::span<const double> s(silicon.data(), common), m(simulated.data(), common);
    double error = 0;
    for (std::size_t i = 0; i < common; ++i) error += std::abs(s[i] - m[i]) / static_cast<double>(common);
    curve_errors.push_back(error);
    const double rank = rank_correlation(s, m);
    kernels.push_back({{"kernel", name},
                       {"silicon", silicon},
                       {"model", simulated},
                       {"mean_absolute_error", error},
                       {"rank_correlation", std::isfinite(rank) ? json(rank) : json()}});
    charts::Lines chart{name, "CTAs per SM", "of its best", {{{"silicon", 4}, silicon, ""}, {{"model", 1}, simulated, ""}}};
    charts += "<div class=\"multiple\">" + charts::line_chart(chart) + "</div>\n";
  }
  const Mixes cells = read_mixes(folder, "pairs", sms);
  const auto finish = read_finish(folder, "pairs");
  std::map<std::string, std::array<Values, 2>> stp_of;  // policy: silicon, model
  Values errors;
  unsigned same = 0, decided = 0;
  for (const json& j : model["runs"]) {
    const auto names = j["kernels"].get<std::vector<std::string>>();
    const auto mix = cells.find(fmt::format("{}", fmt::join(names, "_")));
    const std::string policy = j["policy"];
    if (mix == cells.end() || !j["stp"].is_number()) continue;
    const auto equal_work = finish.find(mix->first);
    if (equal_work == finish.end() || !equal_work->second.contains(policy)) continue;
    const double silicon = median(equal_work->second.at(policy).stp), simulated = j["stp"];
    stp_of[policy][0].push_back(silicon);
    stp_of[policy][1].push_back(simulated);
    errors.push_back(simulated / silicon - 1);
    json entry = {{"kernels", names}, {"policy", policy}, {"stp_silicon", silicon}, {"stp_model", simulated}};
    if (policy == "warped_slicer") {
      entry["ctas_silicon"] = mix->second.contains(policy) ? mix->second.at(policy).ctas : json::array();
      entry["ctas_model"] = j["partition"]["ctas"];
      ++decided;
      bool close = entry["ctas_silicon"].size() == 2 && entry["ctas_model"].size() == 2;
      for (std::size_t k = 0; close && k < 2; ++k)
        close = std::abs(entry["ctas_silicon"][k].get<int>() - entry["ctas_model"][k].get<int>()) <= 1;
      same += close ? 1 : 0;
    }
    mixes.push_back(entry);
  }
  if (errors.empty()) return;
  out.html += "<h2>The model against the silicon: performance against CTAs per SM</h2>\n<p>" +
              charts::legend({{"silicon", 4}, {"model", 1}}) + "</p>\n<div class=\"multiples\">" + charts + "</div>\n";
  std::vector<std::vector<std::string>> rows = {{"kernel", "curve: mean absolute error", "rank correlation"}};
  for (const json& k : kernels)
    rows.push_back({k["kernel"], fmt::format("{:.2f}", k["mean_absolute_error"].get<double>()),
                    k["rank_correlation"].is_null() ? "-" : fmt::format("{:.2f}", k["rank_correlation"].get<double>())});
  out.table("Model against silicon: curves, each over its own best", rows);
  json by_policy = json::object();
  rows = {{"policy", "pairs", "geometric mean STP, silicon", "model", "rank correlation"}};
  for (const auto& [policy, both] : stp_of) {
    const double rank = rank_correlation(both[0], both[1]);
    rows.push_back({policy, std::to_string(both[0].size()), fmt::format("{:.3f}", geometric_mean(both[0])),
                    fmt::format("{:.3f}", geometric_mean(both[1])), fmt::format("{:.2f}", rank)});
    by_policy[policy] = {{"pairs", both[0].size()},
                         {"silicon", geometric_mean(both[0])},
                         {"model", geometric_mean(both[1])},
                         {"rank_correlation", std::isfinite(rank) ? json(rank) : json()}};
  }
  out.table("Model against silicon: STP of the pairs with equal work (sum of T_alone / T_corun)", rows);
  Values absolute;
  for (const double e : errors) absolute.push_back(std::abs(e));
  const json distribution = {{"p10", percentile(errors, 0.1)},
                             {"p50", percentile(errors, 0.5)},
                             {"p90", percentile(errors, 0.9)},
                             {"mean_absolute", [&] {
                                double sum = 0;
                                for (const double e : absolute) sum += e;
                                return sum / static_cast<double>(absolute.size());
                              }()}};
  out.note(fmt::format(
      "Error of the model's STP: p10 {:+.0f} %, median {:+.0f} %, p90 {:+.0f} %. The chosen partition is the same or within "
      "one CTA in {} of {} pairs.",
      100 * percentile(errors, 0.1), 100 * percentile(errors, 0.5), 100 * percentile(errors, 0.9), same, decided));
  write_json(folder / "model_vs_gpu.json", {{"curves", kernels},
                                            {"pairs", mixes},
                                            {"policies", by_policy},
                                            {"stp_error", distribution},
                                            {"partitions_same_or_within_one", same},
                                            {"partitions", decided}});
  out.summary["model_stp_rank_correlation"] = by_policy;
}

void repartition_section(const std::filesystem::path& folder, Output& out) {
  json result = json::array();
  Values arrives, ends;
  std::size_t never = 0, changes = 0;
  for (const json& j : lines(folder / "repartition.jsonl")) {
    const Values a = j["arrives_us"].get<Values>(), e = j["ends_us"].get<Values>();
    arrives.insert(arrives.end(), a.begin(), a.end());
    ends.insert(ends.end(), e.begin(), e.end());
    never += j["not_in_force"].get<std::size_t>();
    changes += a.size() + e.size() + j["not_in_force"].get<std::size_t>();
    out.good = out.good && j["violations"] == 0;
    const auto p50 = [](const Values& v) { return v.empty() ? json() : json(median(v)); };
    result.push_back({{"kernels", j["kernels"]},
                      {"arrives_p50_us", p50(a)},
                      {"ends_p50_us", p50(e)},
                      {"not_in_force", j["not_in_force"]},
                      {"quota_violations", j["violations"]}});
  }
  if (result.empty()) return;
  out.note(fmt::format(
      "Repartition while all run, until every SM holds its new quota: a kernel arrives p50 {:.0f} us, p99 {:.0f} us; a kernel "
      "ends p50 {:.0f} us, p99 {:.0f} us ({} pairs). {} of {} changes were not in force within 10 ms.",
      median(arrives), percentile(arrives, 0.99), median(ends), percentile(ends, 0.99), result.size(), never, changes));
  write_json(folder / "repartition.json", result);
}

}  // namespace

int write_report(const std::filesystem::path& folder, bool as_json) {
  if (!std::filesystem::exists(folder / "machine.json"))
    throw InputError(fmt::format("{}: holds no machine.json: not a folder of `sluice gpu experiment`", folder.string()));
  const json machine = json::parse(read_file(folder / "machine.json"), nullptr, false);
  if (!machine.is_object()) throw InputError(fmt::format("{}: must be a JSON object", (folder / "machine.json").string()));
  Output out;
  try {
    const unsigned sms = machine.value("sms", 1U);
    verify_section(folder, out);
    user_kernels_section(folder, out);
    overhead_section(folder, out);
    preemption_section(folder, out);
    curves_section(folder, out);
    mixes_section(folder, "pairs", sms, out);
    finish_section(folder, "pairs", out);
    profile_section(folder, sms, out);
    mixes_section(folder, "triples", sms, out);
    finish_section(folder, "triples", out);
    model_section(folder, sms, out);
    repartition_section(folder, out);
  } catch (const json::exception& e) {
    throw InputError(fmt::format("{}: a measurement lacks a field or has one of another type: {}", folder.string(), e.what()));
  }
  const std::string title = fmt::format("Sluice on {}", machine.value("name", "a GPU"));
  write_file_atomically(
      folder / "index.html",
      fmt::format("<!doctype html>\n<html lang=\"en\"><head><meta "
                  "charset=\"utf-8\"><title>{0}</title>\n<style>{1}</style></head><body>\n<h1>{0}</h1>\n{2}</body></html>\n",
                  svg::escape(title), kReportStyle, out.html));
  if (as_json)
    fmt::print("{}\n", out.summary.dump());
  else
    fmt::print("{}report: {}\n", out.terminal, (folder / "index.html").string());
  return out.good ? 0 : 1;
}

}  // namespace sluice::gpu
