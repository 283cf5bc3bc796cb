// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/report/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sw/core/metrics.h"
#include "sw/io/atomic_file.h"
#include "sw/io/raw_store.h"

namespace sluice::gpu {

using nlohmann::json;

report::Section& Output::section(std::string id, std::string heading, std::string text) {
  std::string name = id;
  std::ranges::replace(name, '_', ' ');
  return page.sections.emplace_back(
      report::Section{std::move(id), std::move(heading), {report::Paragraph{std::move(text)}}, std::move(name)});
}

nlohmann::ordered_json provenance(const json& machine) {
  nlohmann::ordered_json meta;
  for (const char* key : {"name", "driver_cuda", "core_mhz", "sms"})
    if (machine.contains(key)) meta[key] = machine[key];
  const json experiments = machine.value("measured", json::object());  // items() of a temporary would dangle
  for (const auto& [name, when] : experiments.items()) meta[name] = when;
  return meta;
}

std::string terminal_text(const report::Page& page) {
  std::string out = page.title + "\n" + (page.lead.empty() ? "" : page.lead + "\n");
  for (const report::Section& section : page.sections) {
    out += "\n" + section.heading + "\n";
    for (const report::Block& block : section.blocks) {
      if (const auto* paragraph = std::get_if<report::Paragraph>(&block)) out += paragraph->text + "\n";
      if (const auto* table = std::get_if<report::Table>(&block)) out += table->text();
      if (const auto* folded = std::get_if<report::Folded>(&block)) out += folded->summary + "\n" + folded->table.text();
    }
  }
  return out;
}

namespace {

double mean_of(std::span<const double> v) { return geometric_mean(v); }

}  // namespace

report::Point median_point(const Values& values, double over) {
  const Interval ci = bootstrap(values, [&](std::span<const double> v) { return median(v) / over; });
  return {median(values) / over, ci.low, ci.high};
}

report::Point mean_point(const Values& ratios) {
  const Interval ci = bootstrap(ratios, mean_of);
  return {geometric_mean(ratios), ci.low, ci.high};
}

json mean_json(const Values& ratios) {
  const report::Point p = mean_point(ratios);
  return {{"geometric_mean", p.value}, {"ci", {p.low, p.high}}};
}

std::string mean_text(const Values& ratios) {
  const report::Point p = mean_point(ratios);
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", p.value, p.low, p.high);
}

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

namespace {

std::string by_line(const json& array) {
  std::string text = "[";
  for (const json& element : array) text += (text.size() > 1 ? ",\n" : "\n") + element.dump();
  return text + "\n]";
}

}  // namespace

void write_json(const std::filesystem::path& file, const json& value) {
  if (value.is_array()) return write_file_atomically(file, by_line(value) + "\n");
  std::string text = "{";
  for (const auto& [key, member] : value.items())
    text += fmt::format("{}\n\"{}\": {}", text.size() > 1 ? "," : "", key, member.is_array() ? by_line(member) : member.dump());
  write_file_atomically(file, text + "\n}\n");
}

}  // namespace sluice::gpu
