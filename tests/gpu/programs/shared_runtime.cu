// SPDX-License-Identifier: Apache-2.0
// A program with the shared runtime and the per-thread default stream, and a second copy of that runtime.
#include <dlfcn.h>
#include <unistd.h>

#include <filesystem>

#include "program.h"

namespace {

CASE(default_stream_of_each_thread, quota) {
  std::vector<Words> v;
  for (int t = 0; t < 16; ++t) v.emplace_back();
  Words legacy;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 16; ++t)
    threads.emplace_back([&v, t] {
      for (unsigned k = 1; k <= 10; ++k) launch_step(v[t], k * t);
      unsigned word = 0, x = 0;
      for (unsigned k = 1; k <= 10; ++k) x = step_on_host(x, k * t);
      ck(cudaMemcpyAsync(&word, v[t].p + kWords - 1, 4, cudaMemcpyDeviceToHost));
      ck(cudaStreamSynchronize(nullptr));
      expect(word == x);
    });
  for (unsigned k = 0; k < 5; ++k) launch_step(legacy, k, cudaStreamLegacy);
  for (std::thread& t : threads) t.join();
  unsigned x = 0;
  for (unsigned k = 0; k < 5; ++k) x = step_on_host(x, k);
  legacy.all(x);
}
/// The program's runtime makes the memory, a copy of the library at another path gives streams and copies.
CASE(second_copy_of_the_runtime, quota) {
  Dl_info of{};
  expect(::dladdr(reinterpret_cast<void*>(&cudaRuntimeGetVersion), &of) != 0);
  const auto folder = std::filesystem::temp_directory_path() / ("second_runtime_" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  std::filesystem::copy_file(std::filesystem::canonical(of.dli_fname), folder / "libsecond.so");
  void* second = ::dlopen((folder / "libsecond.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  std::filesystem::remove_all(folder);
  if (second == nullptr) wrong(::dlerror());
  const auto create = reinterpret_cast<decltype(&cudaStreamCreate)>(::dlsym(second, "cudaStreamCreate"));
  const auto copy = reinterpret_cast<decltype(&cudaMemcpy)>(::dlsym(second, "cudaMemcpy"));
  const auto allocate = reinterpret_cast<cudaError_t (*)(void**, std::size_t)>(::dlsym(second, "cudaMalloc"));
  expect(create != nullptr && copy != nullptr && allocate != nullptr && copy != static_cast<decltype(copy)>(cudaMemcpy));
  Words v;
  void* more = nullptr;
  cudaStream_t s{};
  ck(allocate(&more, kWords * 4));
  ck(create(&s));
  for (unsigned k = 1; k <= 4; ++k) launch_step(v, k, s);
  ck(cudaStreamSynchronize(s));
  ck(copy(more, v, kWords * 4, cudaMemcpyDeviceToDevice));
  step<<<kBlocks, kThreads, 0, s>>>(static_cast<unsigned*>(more), 5);
  ck(cudaStreamSynchronize(s));
  unsigned word = 0, x = 0;
  ck(copy(&word, static_cast<unsigned*>(more) + kWords - 1, 4, cudaMemcpyDeviceToHost));
  for (unsigned k = 1; k <= 5; ++k) x = step_on_host(x, k);
  expect(word == x);
}

}  // namespace
