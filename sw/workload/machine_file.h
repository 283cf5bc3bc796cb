// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <toml++/toml.h>
#include <filesystem>

#include "sw/core/machine.h"

namespace sluice {

/// Reads a machine description (docs/user/machines.md).
/// @throws InputError naming file, line, key and allowed values
[[nodiscard]] MachineConfig read_machine(const std::filesystem::path& path);
/// The same from a table already parsed; `path` is for messages.
[[nodiscard]] MachineConfig read_machine(const toml::table& file, const std::filesystem::path& path);

}  // namespace sluice
