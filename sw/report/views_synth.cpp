// SPDX-License-Identifier: Apache-2.0
// Area and clock of the unit: from the JSON of synth/run.sh and synth/sweep.py.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sw/report/views.h"

namespace sluice::figures {

using namespace report;

namespace {

/// "gscl45nm" of "gscl45nm.lib"
std::string library(const Json& run) {
  const std::string file = run.at("liberty").get<std::string>();
  return file.substr(0, file.rfind('.'));
}

RowChart areas(const Json& run) {
  RowChart chart{.title = "Cell area of each block, um2", .kind = RowChart::Kind::Bars, .digits = 0, .sorted = true};
  for (const Json& block : run.at("blocks")) {
    const std::string name = block.at("name");
    const double copies = name == "profile_counters" ? number(run, "/params/NUM_SM") : 1;
    chart.rows.push_back({copies > 1 ? fmt::format("{} x {}", name, copies) : name,
                          {{copies * number(block, "/area_um2")}},
                          name == "sluice_top"});
  }
  return chart;
}

RowChart clocks(const Json& run) {
  RowChart chart{.title = "Highest clock of each block, MHz", .digits = 0, .sorted = true};
  for (const Json& block : run.at("blocks"))
    chart.rows.push_back({block.at("name").get<std::string>(), {{number(block, "/fmax_mhz")}}, block.at("name") == "sluice_top"});
  return chart;
}

Section standard(const Json& run) {
  Table table({"block", "cells", "flip-flops", Column("area, um2", Notation::Number, 0), Column("fmax, MHz", Notation::Number, 0),
               Column("leakage, mW", Notation::Number, 4)});
  for (const Json& b : run.at("blocks"))
    table.row({b.at("name").get<std::string>(), b.at("cells").get<std::uint64_t>(), b.at("flops").get<std::uint64_t>(),
               number(b, "/area_um2"), number(b, "/fmax_mhz"), number(b, "/leakage_mw")});
  const std::string name = library(run);
  return {name,
          fmt::format("The blocks for {} SMs and {} kernels in {}", number(run, "/params/NUM_SM"),
                      number(run, "/params/MAX_KERNELS"), name),
          {Multiples{{areas(run), clocks(run)}}, Folded{"Every block", table}},
          name};
}

Section swept(const Json& run) {
  Section section{"sweep", "Area and clock over the parameters, the others at the standard point", {}, "Parameters"};
  const Json& standard = run.at("points").at(2).at("params");
  Multiples area, clock;
  for (const auto& [parameter, standard_value] : standard.items()) {
    LineChart um2{.title = "Area over " + parameter, .x_label = parameter, .y_label = "thousand um2"}, mhz = um2;
    mhz.title = "Clock over " + parameter;
    mhz.y_label = "MHz";
    LineChart::Line a{{"area", 4}, {}}, c{{"clock", 5}, {}};
    for (const Json& point : run.at("points")) {
      const bool same = std::ranges::all_of(standard.items(), [&, name = parameter](const auto& other) {
        return other.key() == name || point.at("params").at(other.key()) == other.value();
      });
      if (!same) continue;
      a.points.emplace_back(number(point, "/params/" + parameter), number(point, "/area_um2") / 1000);
      c.points.emplace_back(number(point, "/params/" + parameter), number(point, "/fmax_mhz"));
    }
    if (a.points.size() < 2) continue;
    std::ranges::sort(a.points);
    std::ranges::sort(c.points);
    um2.lines.push_back(std::move(a));
    mhz.lines.push_back(std::move(c));
    area.charts.emplace_back(std::move(um2));
    clock.charts.emplace_back(std::move(mhz));
  }
  section.blocks = {area, clock};
  return section;
}

}  // namespace

Page synth_page(const std::vector<Json>& standards, const Json& sweep) {
  const Json& run = standards.front();
  double area = kNone;
  for (const Json& block : run.at("blocks"))
    if (block.at("name") == "sluice_top") area = number(block, "/area_um2");
  Page page{fmt::format("The unit for {} SMs and {} kernels has {:.0f} um2 of cells and runs at {:.0f} MHz in {}",
                        number(run, "/params/NUM_SM"), number(run, "/params/MAX_KERNELS"), area, number(run, "/fmax_mhz"),
                        library(run)),
            "Mapped by Yosys and ABC, before layout: no wires, no clock tree.",
            {Large{areas(run)}},
            {},
            {}};
  for (const Json& one : standards) page.sections.push_back(standard(one));
  page.sections.push_back(swept(sweep));
  for (const Json& one : standards)
    page.provenance[library(one)] = {
        {"parameters", one.at("params")}, {"period_ns", one.at("period_ns")}, {"script", one.at("script")}};
  page.provenance["command"] = "synth/standard.sh, synth/sweep.py";
  return page;
}

}  // namespace sluice::figures
