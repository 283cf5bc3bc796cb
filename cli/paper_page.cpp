// SPDX-License-Identifier: Apache-2.0
#include "cli/paper_page.h"

#include <fmt/format.h>

#include "study/run_cache.h"
#include "sw/io/atomic_file.h"

namespace sluice::cli {

void write_paper_page(std::string_view title, const std::vector<figures::Figure>& drawn, const nlohmann::ordered_json& meta,
                      const std::filesystem::path& out, bool json) {
  const nlohmann::ordered_json all = figures::page_json(drawn, meta);
  write_file_atomically(out / "figures.json", all.dump(1) + "\n");
  write_file_atomically(out / "index.html", figures::page(title, drawn, meta));
  if (json)
    fmt::print("{}\n", all.dump());
  else
    fmt::print("{} runs ({} kept from before), {:.0f} CPU s\npage: {}\n", host_totals().runs, host_totals().reused,
               host_totals().cpu_seconds, (out / "index.html").string());
}

}  // namespace sluice::cli
