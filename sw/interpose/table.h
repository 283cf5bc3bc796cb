// SPDX-License-Identifier: Apache-2.0
#pragma once
// What stands behind the forwarders: the driver's own functions, found at the first call of any, and ours in place of some.
#include <cuda.h>

#include <set>
#include <string>
#include <string_view>

namespace sluice::interpose {

/// A function that the toolkit's stub library exports, by its name there: kcuLaunchKernel_ptsz. Behind them the spare forwarders.
enum Symbol : unsigned {
#define X(NAME) k##NAME,
#define NATIVE(NAME)
#include "interpose_symbols.inc"
#undef NATIVE
#undef X
  kSymbols
};

/// The driver's function; null when this driver has none, or there is no driver. Opens the driver's library the first time.
[[nodiscard]] void* real(Symbol symbol);
/// The same with its type. @pre the driver has it: our function was reached by its name
template <class F>
[[nodiscard]] F* real(Symbol symbol) {
  return reinterpret_cast<F*>(real(symbol));
}
#define SLUICE_REAL(NAME) (::sluice::interpose::real<decltype(NAME)>(::sluice::interpose::k##NAME))

/// Ours in place of the driver's; null where the driver's own is called.
[[nodiscard]] void* hook(Symbol symbol);
/// Ours for what cuGetProcAddress found: by its address, or by the name asked for and its stream variant.
/// @param flags  CU_GET_PROC_ADDRESS_*. @return `found` where it is not ours to replace; null: it is refused
[[nodiscard]] void* substitute(std::string_view name, int version, unsigned long long flags, void* found);

/// Where the driver's library lies: SLUICE_REAL_LIBCUDA, else what the loader would have found had ours not been there.
/// @param own  path of our library, which is not the one. @return empty when there is none
[[nodiscard]] std::string find_driver(const std::string& own);
/// Names of what an ELF library exports; none when it cannot be read.
[[nodiscard]] std::set<std::string> exports_of(const std::string& library);
/// A function is about to be called that launches, and that this build knows no form of: it runs natively.
void launches_natively(const std::string& entry);

}  // namespace sluice::interpose
