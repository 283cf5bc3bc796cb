// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>

namespace sluice::gpu {

/// Where a kernel stands in its module.
struct Entry {
  std::size_t begin = 0, parameters = 0, directives = 0, body = 0,
              end = 0;  ///< ".visible .entry", "(", behind ")", "{", behind "}"
  std::string symbol;
};

/// @throws InputError when the module has no such kernel
[[nodiscard]] Entry find_entry(const std::string& ptx, const std::string& symbol);

/// Only `symbol` and what is not a kernel: other kernels of the file are dropped.
[[nodiscard]] std::string only_kernel(const std::string& ptx, const std::string& symbol);

/// Parameters of a kernel. @throws InputError when the module has no such kernel
[[nodiscard]] std::size_t parameter_count(const std::string& ptx, const std::string& symbol);

/// A function's text from its "{" to its "}". @throws InputError when the module has no such function
[[nodiscard]] std::string function_body(const std::string& ptx, const std::string& function);

/// The module's lines up to .address_size, and those behind.
[[nodiscard]] std::string header(const std::string& ptx);
[[nodiscard]] std::string without_header(const std::string& ptx);

}  // namespace sluice::gpu
