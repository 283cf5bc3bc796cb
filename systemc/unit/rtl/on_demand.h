// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace sluice {

/// Verilated RTL as a shared object that is built where it is first needed, with progress, and kept; what is older than its
/// sources is built again. on_demand/ is the project.
struct OnDemand {
  std::string what;       ///< for messages
  std::string folder;     ///< of it in the build's folder of units
  std::string settings;   ///< of CMake, as a shell takes them
  const char* symbol;     ///< a function of it
  std::string otherwise;  ///< what to do where it can't be built, for the message
};
/// @return the address of the symbol
/// @throws InputError when it can't be built
[[nodiscard]] void* built_on_demand(const OnDemand& wanted);

}  // namespace sluice
