// SPDX-License-Identifier: Apache-2.0
// Raw pages of Nsight Compute: any text becomes a workload within its limits, or an InputError of one line with the file's name.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <string_view>

#include "sw/core/errors.h"
#include "sw/workload/ncu_import.h"

namespace {

template <class Read>
void attempt(const std::string& path, const Read& read) {
  try {
    read();
  } catch (const sluice::InputError& e) {
    const std::string_view what = e.what();
    if (!what.starts_with(path) || what.find('\n') != std::string_view::npos) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string path = "/dev/shm/sluice_fuzz_" + std::to_string(std::random_device{}()) + ".csv";
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  attempt(path, [] { (void)sluice::import_ncu(path); });
  attempt(path, [] { (void)sluice::cut_ncu(path); });
  return 0;
}
