// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: CSV and TOML readers on any bytes. Either they read, or they throw an InputError of one line.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <string_view>

#include "sw/core/errors.h"
#include "sw/io/csv_reader.h"
#include "sw/trace/trace_reference.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"

namespace {

template <class Read>
void attempt(const Read& read) {
  try {
    read();
  } catch (const sluice::InputError& e) {
    if (std::string_view(e.what()).find('\n') != std::string_view::npos) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string path = "/dev/shm/sluice_fuzz_" + std::to_string(std::random_device{}());
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  attempt([&] { (void)sluice::parse_csv(std::string(reinterpret_cast<const char*>(data), size), "fuzz"); });
  attempt([&] { (void)sluice::read_machine(path); });
  attempt([&] { (void)sluice::read_workload(path); });
  attempt([&] { (void)sluice::read_trace_reference(path); });
  return 0;
}
