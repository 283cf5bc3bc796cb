// SPDX-License-Identifier: Apache-2.0
#pragma once
// PTX in what a program hands to the driver. No driver is needed: fuzz/linked_parts_fuzzer.cpp reads any bytes in this way.
#include <string>

namespace sluice::interpose {

/// Of PTX, of a fat binary, or of the parts that code was linked from: the best for the device.
/// @pre `image` is one of these, or text that ends with a zero
/// @return empty: it has none. @throws InputError for a damaged fat binary, or text with an open bracket
[[nodiscard]] std::string ptx_in_memory(const void* image, unsigned sm);

/// Beside shared memory, and that its code uses: the headers of C++ bring some that nothing names. @param ptx  normalised
[[nodiscard]] bool has_variables(const std::string& ptx);

}  // namespace sluice::interpose
