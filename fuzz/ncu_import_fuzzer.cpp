// SPDX-License-Identifier: Apache-2.0
// Raw pages of Nsight Compute: any text becomes a workload within its limits, or an InputError of one line with the file's name.
#include "fuzz/attempt.h"
#include "sw/workload/ncu_import.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string& path = as_file(data, size, ".csv");
  attempt([&] { (void)sluice::import_ncu(path); }, path);
  attempt([&] { (void)sluice::cut_ncu(path); }, path);
  return 0;
}
