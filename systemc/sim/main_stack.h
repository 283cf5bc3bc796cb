// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sluice {

/// SystemC tells AddressSanitizer of every switch between its coroutines, but knows no bounds of the main stack: after the first
/// switch back, a throw there is reported as an error that it is not. Gives ASan the bounds again; does nothing in other builds.
/// @pre runs on the main stack, as every SC_METHOD does
void restore_main_stack_bounds();

}  // namespace sluice
