// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/report/gpu_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sw/core/errors.h"
#include "sw/gpu/report/sections.h"
#include "sw/io/atomic_file.h"
#include "sw/report/html_style.h"
#include "sw/report/svg.h"

namespace sluice::gpu {

using nlohmann::json;

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
    ranges_section(folder, sms, out);
    profile_section(folder, sms, out);
    mixes_section(folder, "triples", sms, out);
    finish_section(folder, "triples", out);
    model_section(folder, sms, out);
    repartition_section(folder, sms, out);
    gate_section(folder, out);
    completion_section(folder, out);
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
