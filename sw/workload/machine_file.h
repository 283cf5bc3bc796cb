// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <toml++/toml.h>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sw/core/kernel.h"
#include "sw/core/machine.h"

namespace sluice {

/// Reads a machine description (docs/user/machines.md).
/// @throws InputError naming file, line, key and allowed values
[[nodiscard]] MachineConfig read_machine(const std::filesystem::path& path);
/// The same from a table already parsed; `path` is for messages.
[[nodiscard]] MachineConfig read_machine(const toml::table& file, const std::filesystem::path& path);

/// Policy `balance` as a command wants it, over what the files say: "keep=1.1,candidates=4,weight.DXT=2,floor.DXT=0.5".
/// @throws InputError naming the key
void set_balance(const std::string& text, MachineConfig& machine, std::vector<KernelDescriptor>& kernels);
/// The same where nobody knows yet who will come. @return what is wished for each name in it
[[nodiscard]] std::map<std::string, BalanceWish> set_balance(const std::string& text, MachineConfig& machine);

}  // namespace sluice
