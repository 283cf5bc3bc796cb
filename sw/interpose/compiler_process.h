// SPDX-License-Identifier: Apache-2.0
#pragma once
// The CUDA toolkit's assembler, where there is one. It makes a whole program of a module; the driver's linker, which is there
// always, makes relocatable code, with more registers. It runs in a process that a program's end need not wait for.
#include <optional>
#include <string>

#include "sw/interpose/module_code.h"

namespace sluice::interpose {

struct Toolkit {
  std::string ptxas;  ///< empty: there is none
  std::string stamp;  ///< another one where the file is another
};
/// SLUICE_PTXAS, where that is set (empty: none); else the first ptxas in PATH, or where the toolkit installs it.
[[nodiscard]] const Toolkit& toolkit();
/// lib/sluice/compiler makes code of a module, and keeps it in the cache under `key`: even if this process ends first.
/// The program does not see it as its child. Waits for it.
/// @param registers  of a thread of the program's own kernel; 0: not known. @param sm  of the device, as 90. @param driver  as
/// cuDriverGetVersion says
/// @return nothing where it fails, for which reason ever
[[nodiscard]] std::optional<Code> compiled_elsewhere(const std::string& ptx, const std::string& key, bool variables,
                                                     unsigned registers, unsigned sm, int driver);

}  // namespace sluice::interpose
