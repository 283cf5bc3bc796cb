// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string_view>

namespace sluice {

/// What is published under `results/` of a checkout names the commit that made it, so a program with changes beside its commit
/// writes nothing there.
/// @param commit  as it was built: "0123456789ab", or "0123456789ab+changes"
/// @throws InputError when `folder` lies in `results/` of a checkout and the commit does not say what made the run
void refuse_unpublishable(const std::filesystem::path& folder, std::string_view commit);

/// For the output folder of a run: as above for this program's commit; then creates the folder and finds out now, rather than
/// after an hour, that nothing can be written there.
void check_output(const std::filesystem::path& folder);

}  // namespace sluice
