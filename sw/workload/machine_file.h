#pragma once
#include <filesystem>

#include "sw/core/machine.h"

namespace sluice {

/// Reads a machine description (docs/machines.md).
/// @throws InputError naming file, line, key and allowed values
[[nodiscard]] MachineConfig read_machine(const std::filesystem::path& path);

}  // namespace sluice
