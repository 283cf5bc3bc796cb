// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <string>

namespace sluice::interpose {

/// Launches of a process under quota and natively, with the reasons. At the process's end it goes to standard error, and as JSON
/// to the file that SLUICE_REPORT names. A process that launched nothing says nothing.
class Coverage {
 public:
  Coverage();
  void count(const std::string& kernel, const std::string& reason);  ///< empty: under quota
  void write() const;
  void forget() { kernels_.clear(); }  ///< in a child: the parent tells its own

 private:
  std::map<std::string, std::map<std::string, std::uint64_t>> kernels_;
};

}  // namespace sluice::interpose
