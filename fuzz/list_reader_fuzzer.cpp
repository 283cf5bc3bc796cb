// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: CSV, TOML and list readers on any bytes. Either they read, or they throw an InputError of one line.
#include "fuzz/attempt.h"
#include "sw/io/csv_reader.h"
#include "sw/trace/kernel_list.h"
#include "sw/trace/trace_reference.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string& path = as_file(data, size, "");
  attempt([&] { (void)sluice::parse_csv(text_of(data, size), "fuzz"); });
  attempt([&] { (void)sluice::read_machine(path); });
  attempt([&] { (void)sluice::read_workload(path); });
  attempt([&] { (void)sluice::read_trace_reference(path); });
  attempt([&] { (void)sluice::read_kernel_list(path); }, path);
  return 0;
}
