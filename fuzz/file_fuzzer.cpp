// SPDX-License-Identifier: Apache-2.0
// libFuzzer target of a reader that takes a file's name: it reads `path`, or throws an InputError of one line that names that
// file or one beside it.
#include "fuzz/attempt.h"
#include FUZZ_HEADER

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;
  const std::string& path = as_file(data, size, "");
  attempt([&] { FUZZ_READS; }, "/dev/shm/");
  return 0;
}
