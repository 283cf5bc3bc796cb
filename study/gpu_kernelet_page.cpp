// SPDX-License-Identifier: Apache-2.0
// Kernelet's slices from what was measured on a GPU.
#include <fmt/format.h>

#include <algorithm>

#include "study/gpu_lines.h"

namespace sluice::gpu {

using figures::Figure;
using figures::TableRow;
using nlohmann::json;

namespace {

constexpr double kCheap = 0.02;  // the paper's bound for the shortest slice

Figure slices(const std::filesystem::path& folder, std::vector<Requirement>& required) {
  Figure figure{"slices", "Overhead of slices by their length", "The shortest slice is the one that costs at most 2 %.", {}, {},
                {}};
  std::vector<TableRow> rows;
  std::vector<unsigned> waves;
  bool same = true;
  Values one_wave;
  for (const json& line : lines(folder / "kernelet_slices.jsonl")) {
    same = same && line.at("bit_identical").get<bool>();
    for (const int queued : {1, 2}) {
      TableRow row = {line.at("name"), fmt::format("{}", queued)};
      unsigned shortest = 0;
      waves.clear();
      for (const json& p : line.at("points")) {
        if (p.at("queued") != queued) continue;
        Values ratios;
        for (std::size_t r = 0; r < p.at("sliced_ms").size(); ++r)
          ratios.push_back(p.at("sliced_ms")[r].get<double>() / p.at("native_ms")[r].get<double>() - 1);
        const double overhead = median(ratios);
        waves.push_back(p.at("waves"));
        if (overhead <= kCheap && shortest == 0) shortest = waves.back();
        if (waves.back() == 1 && queued == 2) one_wave.push_back(overhead);
        row.push_back(fmt::format("{:+.1f} %", 100 * overhead));
        figure.data[line.at("name").get<std::string>()][queued == 1 ? "one_queued" : "two_queued"]
                   [fmt::format("{}", waves.back())] = overhead;
      }
      row.push_back(shortest == 0 ? "longer" : fmt::format("{}", shortest));
      rows.push_back(row);
    }
  }
  if (rows.empty()) return figure;
  TableRow head = {"kernel", "queued"};
  for (const unsigned w : waves) head.push_back(fmt::format("{} waves", w));
  head.emplace_back("shortest with 2 %");
  figure.measured = fmt::format("Slices of one wave, two queued: {:+.1f} % in the middle. Outputs {}.", 100 * median(one_wave),
                                same ? "bit-identical" : "DIFFER");
  figure.html = figures::table(head, rows);
  required.push_back({"sliced outputs bit-identical", "all", same ? "all" : "NOT all", same, ""});
  required.push_back({"virtual slices of one wave", "at most +2 %", "not measured", false,
                      "a quota cannot stop a kernel at a number of tasks: the runtime has no such word"});
  required.push_back({"queues CI, MI, MIX, ALL over Base, within OPT, random plans, copies", "see the issue", "not measured",
                      false, "Kernelet's plans limit tasks, which the event loop refuses"});
  return figure;
}

}  // namespace

bool write_kernelet_page(const std::filesystem::path& folder, const json& machine) {
  std::vector<Requirement> required;
  std::vector<Figure> figures = {slices(folder, required)};
  figures.insert(figures.begin(), requirements(required));
  write_page(folder, "Kernelet on " + machine.value("name", "a GPU"), figures, machine);
  print(required);
  return std::ranges::all_of(required, &Requirement::holds);
}

}  // namespace sluice::gpu
