// SPDX-License-Identifier: Apache-2.0
#include "study/published.h"

#include <fmt/format.h>
#include <sluice_provenance.h>

#include "study/run_cache.h"
#include "sw/core/errors.h"

namespace sluice {

namespace fs = std::filesystem;

void refuse_unpublishable(const fs::path& folder, std::string_view commit) {
  if (!commit.ends_with("+changes")) return;
  for (fs::path at = fs::weakly_canonical(fs::absolute(folder)); at.has_relative_path(); at = at.parent_path())
    if (at.filename() == "results" && fs::exists(at.parent_path() / ".git"))
      throw InputError(fmt::format("{}: this program was built at {}: commit, build again, and then write published results",
                                   folder.string(), commit));
}

void check_output(const fs::path& folder) {
  refuse_unpublishable(folder, SLUICE_COMMIT);
  check_writable(folder);
}

}  // namespace sluice
