// SPDX-License-Identifier: Apache-2.0
// Warped-Slicer's figures 1 to 10, the larger SM and energy.
#include <fmt/format.h>

#include <cmath>

#include "sw/report/views.h"

namespace sluice::figures {

using namespace report;

namespace {

std::string warped_slicer_title(const Json& f, const std::string& workload) {
  const double left = number(f, "/6/data/warped_slicer_over/left_over"), even = number(f, "/6/data/warped_slicer_over/even"),
               spatial = number(f, "/6/data/warped_slicer_over/spatial");
  if (!std::isfinite(left)) return "Warped-Slicer's figures on this model";
  return fmt::format(
      "Warped-Slicer gains {} over Left-Over, {} over Even and {} over Spatial on {}; the paper says 23, 14 and 17 %",
      gained(left), gained(even), gained(spatial), workload == "table2" ? "fitted kernels" : workload);
}

Blocks warped_slicer_opening(const Json& f) {
  const auto n = [&](const char* pointer) { return number(f, pointer); };
  RowChart chart = beside("Warped-Slicer against what the paper states",
                          {{"two kernels, throughput over Left-Over", n("/6/data/warped_slicer_over/left_over"), 1.23},
                           {"over Even", n("/6/data/warped_slicer_over/even"), 1.14},
                           {"over Spatial", n("/6/data/warped_slicer_over/spatial"), 1.17},
                           {"minimum speed-up over Even", n("/9/data/over_even/min_speedup_2"), 1.14},
                           {"three kernels, throughput over Even", n("/8/data/warped_slicer_over_even"), 1.21},
                           {"the same without the loss guard", n("/guard/data/over_even/ipc"), 1.21},
                           {"minimum speed-up over Even, three", n("/9/data/over_even/min_speedup_3"), 1.23},
                           {"larger SM, throughput over Left-Over", n("/larger_sm/data/ipc"), 1.26},
                           {"energy over Left-Over", n("/energy/data/warped_slicer_over_left_over/sm_energy"), 0.84}});
  return {Large{chart}};
}

Blocks stalls(const Json& data) {
  constexpr std::pair<const char*, std::size_t> kReasons[] = {
      {"long_memory", 5}, {"execution_resource", 1}, {"raw", 2}, {"instruction_buffer", 6}, {"barrier", 4}, {"idle", 0}};
  RowChart chart{.title = "What SMs do in a cycle", .kind = RowChart::Kind::Stack, .notation = Notation::Share};
  chart.series.push_back({"issuing", 3});
  for (const auto& [key, colour] : kReasons) {
    std::string name = key;
    std::ranges::replace(name, '_', ' ');
    chart.series.push_back({name, colour});
  }
  for (const auto& [kernel, reasons] : data.items()) {
    RowChart::Row row{kernel, {{1.0}}};
    for (const auto& [key, colour] : kReasons) {
      row.points.push_back({number(reasons, std::string("/") + key)});
      row.points.front().value -= row.points.back().value;
    }
    chart.rows.push_back(std::move(row));
  }
  return {Large{chart}, Folded{"Shares by reason", table_of("kernel", data, fields_of(data, Notation::Share, 1))}};
}

Blocks phases(const Json& data) {
  RowChart chart{.title = "IPC of 5,000 cycles over that of 50,000",
                 .notation = Notation::Gain,
                 .digits = 1,
                 .baseline = 1.0,
                 .sorted = true};
  for (const auto& [kernel, d] : data.items()) chart.rows.push_back({kernel, {{number(d, "/ipc_5k") / number(d, "/ipc_50k")}}});
  return {Multiples{{chart}}, Folded{"Both windows", table_of("kernel", data,
                                                              {{"IPC, 5,000 cycles", "/ipc_5k", Notation::Number, 1},
                                                               {"IPC, 50,000 cycles", "/ipc_50k", Notation::Number, 1},
                                                               {"memory stalls, 5,000", "/phi_mem_5k", Notation::Share, 1},
                                                               {"memory stalls, 50,000", "/phi_mem_50k", Notation::Share, 1}})}};
}

Blocks pairs(const Json& data) {
  const auto n = [&](const char* pointer) { return number(data, pointer); };
  RowChart chart =
      beside("Geometric means over the pairs", {{"Warped-Slicer over Left-Over", n("/warped_slicer_over/left_over"), 1.23},
                                                {"over Even", n("/warped_slicer_over/even"), 1.14},
                                                {"over Spatial", n("/warped_slicer_over/spatial"), 1.17},
                                                {"Even over Left-Over", n("/even_over_left_over")},
                                                {"Spatial over Left-Over", n("/spatial_over_left_over")},
                                                {"Oracle over Left-Over", n("/oracle_over_left_over")},
                                                {"balance over Left-Over", n("/balance_over_left_over")}});
  Table below({"Warped-Slicer is slower in", "than", Column("by", Notation::Gain, 1)});
  for (const auto& [policy, mixes] : member(data, "below").items())
    for (const auto& [mix, ratio] : mixes.items()) below.row({mix, policy, ratio.get<double>()});
  return {Large{chart}, below};
}

Blocks utilization_view(const Json& data) {
  RowChart chart{.title = "Use under Warped-Slicer over that under Even",
                 .notation = Notation::Gain,
                 .digits = 1,
                 .baseline = 1.0,
                 .sorted = true};
  for (const auto& [resource, ratio] : data.items())
    chart.rows.push_back({resource, {{ratio.get<double>(), kNone, kNone, 1.15}}});
  return {Large{chart}};
}

RowChart categories(const char* title, const Json& data, Notation notation, int digits) {
  return rows_of({.title = title}, data, fields_of(data, notation, digits), {"over_left_over"});
}

Blocks misses(const Json& data) {
  return {Multiples{{categories("L1 misses of accesses", data.at("l1"), Notation::Share, 1),
                     categories("L2 misses of accesses", data.at("l2"), Notation::Share, 1)}}};
}

Blocks stalled(const Json& data) {
  RowChart reasons{.title = "Warped-Slicer over Left-Over, by reason", .notation = Notation::Gain, .digits = 1, .baseline = 1.0};
  for (const auto& [reason, ratio] : member(data, "over_left_over").items())
    if (ratio.is_number()) reasons.rows.push_back({reason, {{ratio.get<double>()}}});
  return {Multiples{{categories("Thousand cycles an SM issued nothing", data, Notation::Number, 0), reasons}}};
}

Blocks triples(const Json& data) {
  return {Multiples{{beside("Three kernels", {{"Warped-Slicer over Even", number(data, "/warped_slicer_over_even"), 1.21},
                                              {"two compute kernels", number(data, "/two_compute/warped_slicer_over_even")},
                                              {"Oracle over Left-Over", number(data, "/oracle_over_left_over")},
                                              {"balance over Left-Over", number(data, "/balance_over_left_over")}})}}};
}

Blocks guard(const Json& data) {
  return {Multiples{{beside("Over Even", {{"throughput", number(data, "/over_even/ipc"), 1.21},
                                          {"minimum speed-up", number(data, "/over_even/min_speedup"), 1.23},
                                          {"ANTT (less is better)", number(data, "/over_even/antt"), 0.85}})}}};
}

Blocks fair(const Json& data) {
  Multiples all{{beside("Over Even", {{"min. speed-up, two", number(data, "/over_even/min_speedup_2"), 1.14},
                                      {"min. speed-up, three", number(data, "/over_even/min_speedup_3"), 1.23},
                                      {"ANTT, two", number(data, "/over_even/antt_2")},
                                      {"ANTT, three", number(data, "/over_even/antt_3"), 0.85}})}};
  for (const auto& [what, name] : {std::pair{"min_speedup", "Minimum speed-up, "}, {"antt", "ANTT (less is better), "}})
    for (const auto& [kernels, means] : member(data, what).items())
      all.charts.emplace_back(categories((name + kernels).c_str(), means, Notation::Number, 2));
  return {all};
}

Blocks sensitivity(const Json& data) {
  RowChart chart{
      .title = "Largest change of any pair; ring: the paper's limit", .notation = Notation::Share, .digits = 1, .baseline = 0.0};
  for (const auto& [variant, d] : data.items())
    if (number(d, "/largest_deviation") != 0)
      chart.rows.push_back({variant, {{std::abs(number(d, "/largest_deviation")), kNone, kNone, number(d, "/published_limit")}}});
  return {Large{chart}, table_of("setting", data,
                                 {{"mean IPC", "/ipc", Notation::Gain, 2},
                                  {"largest change", "/largest_deviation", Notation::Share, 1},
                                  {"in", "/pair_of_largest_deviation"},
                                  {"pairs beyond the limit", "/pairs_beyond_limit"},
                                  {"same partition", "/same_partitions"},
                                  {"pairs", "/pairs"}})};
}

Blocks schedulers(const Json& data) {
  return {
      Multiples{{rows_of({.title = "Warped-Slicer over Left-Over", .baseline = 1.0}, data, {{"gain", "", Notation::Gain, 1}})}}};
}

Blocks monitored(const Json& data) {
  return {Large{rows_of({.title = "Warped-Slicer over Left-Over", .baseline = 1.0, .sorted = true}, data,
                        {{"monitor on", "/ipc_on", Notation::Gain, 1}, {"monitor off", "/ipc_off", Notation::Gain, 1}})}};
}

Blocks larger(const Json& data) {
  return {Multiples{{beside("Over Left-Over", {{"throughput", number(data, "/ipc"), 1.26},
                                               {"minimum speed-up", number(data, "/min_speedup"), 1.26}})}}};
}

Blocks energy_view(const Json& data) {
  const Json& ratios = data.at("warped_slicer_over_left_over");
  const RowChart over =
      beside("Warped-Slicer over Left-Over", {{"performance", number(ratios, "/performance"), 1.23},
                                              {"dynamic power, SMs", number(ratios, "/sm_dynamic_power"), 1.031},
                                              {"energy, SMs", number(ratios, "/sm_energy"), 0.84},
                                              {"dynamic power, with memory", number(ratios, "/dynamic_power")},
                                              {"energy, with memory", number(ratios, "/energy")}});
  const RowChart alone =
      rows_of({.title = "Dynamic watts of the SMs, each kernel alone", .kind = RowChart::Kind::Bars, .sorted = true},
              data.at("sm_dynamic_watts_alone"), {{"watts", "", Notation::Number, 1}});
  return {Multiples{{over, alone}},
          Folded{"Every pair over Left-Over", table_of("pair", member(data, "mixes"),
                                                       {{"performance", "/performance", Notation::Gain, 1},
                                                        {"dynamic power, SMs", "/sm_dynamic_power", Notation::Gain, 1},
                                                        {"energy, SMs", "/sm_energy", Notation::Gain, 1},
                                                        {"dynamic power, with memory", "/dynamic_power", Notation::Gain, 1},
                                                        {"energy, with memory", "/energy", Notation::Gain, 1}})}};
}

Blocks occupancy(const Json& data) { return {curves(data, "", "CTAs on an SM", "IPC over the best")}; }

}  // namespace

const PageView& warped_slicer_view() {
  static const PageView view{"figures",
                             warped_slicer_title,
                             "Pairs and triples of ten kernels under every policy, on the machine of table I.",
                             warped_slicer_opening,
                             {{"1", stalls},
                              {"3a", occupancy},
                              {"5", phases},
                              {"6", pairs},
                              {"7a", utilization_view},
                              {"7b", misses},
                              {"7c", stalled},
                              {"8", triples},
                              {"guard", guard},
                              {"9", fair},
                              {"10a", sensitivity},
                              {"10b", schedulers},
                              {"monitor", monitored},
                              {"larger_sm", larger},
                              {"energy", energy_view}}};
  return view;
}

}  // namespace sluice::figures
