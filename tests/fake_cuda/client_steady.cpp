// SPDX-License-Identifier: Apache-2.0
// A program for the service: STREAMS streams with LAUNCHES launches of BLOCKS blocks each, every ROUND of them waited for. Behind
// the first ROUND it waits until the file STEADY_GOES_ON is there, where that is set. STEADY_OPAQUE: 0: its kernels have no
// transformed form, 1: one of eight launches has none. STEADY_GPUS: how many it uses, each with so many streams. STEADY_THREADS:
// of seven of eight launches' blocks; else 64.
// @return how many calls went wrong
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/fake_cuda/client.h"

using namespace sluice::fake_client;  // NOLINT(google-build-using-namespace): this folder's own

namespace {
constexpr const char* kPtx =
    ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b)\n{\n.reg .b32 %r<3>;\n"
    "mov.u32 %r1, %ctaid.x;\nret;\n}\n.visible .entry l(.param .u64 a, .param .u64 b)\n{\n.reg .b32 %r<3>;\n"
    "mov.u32 %r2, %ctaid.x;\nret;\n}\n";
/// Has no transformed form.
constexpr const char* kOpaque =
    ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry opaque(.param .u64 a, .param .u64 b)\n{\nexit;\n}\n";
}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: %s STREAMS LAUNCHES BLOCKS ROUND\n", argv[0]);
    return 2;
  }
  const int streams = std::atoi(argv[1]), launches = std::atoi(argv[2]), round = std::atoi(argv[4]);
  const char* opaque = std::getenv("STEADY_OPAQUE");
  const auto blocks = static_cast<unsigned>(std::atoi(argv[3]));
  expect(good(CU(cuInit)(0)), "cuInit");
  const char* gpus = std::getenv("STEADY_GPUS");
  struct Gpu {
    CUcontext context;
    std::array<CUfunction, 2> kernels{};
    std::vector<CUstream> lanes;
  };
  std::vector<Gpu> all;
  for (std::uintptr_t number = 1; number <= (gpus == nullptr ? 1U : static_cast<unsigned>(std::atoi(gpus))); ++number) {
    Gpu& gpu = all.emplace_back(Gpu{reinterpret_cast<CUcontext>(number), {}, {}});
    CUmodule module = nullptr;
    expect(good(CU(cuCtxSetCurrent)(gpu.context)), "context");
    expect(good(CU(cuModuleLoadData)(&module, kPtx)), "load");
    expect(good(CU(cuModuleGetFunction)(&gpu.kernels[0], module, "k")), "k");
    expect(good(CU(cuModuleGetFunction)(&gpu.kernels[1], module, "l")), "l");
    if (opaque != nullptr) {
      CUmodule without = nullptr;
      expect(good(CU(cuModuleLoadData)(&without, kOpaque)), "load");
      const int from = std::atoi(opaque);
      for (int i = from; i < 2; ++i)
        expect(good(CU(cuModuleGetFunction)(&gpu.kernels[static_cast<std::size_t>(i)], without, "opaque")), "opaque");
    }
    gpu.lanes.resize(static_cast<std::size_t>(streams));
    for (CUstream& stream : gpu.lanes) expect(good(CU(cuStreamCreate)(&stream, 0)), "stream");
  }
  unsigned long long a = 7, b = 9;
  void* arguments[] = {&a, &b};
  const char* threads = std::getenv("STEADY_THREADS");
  const unsigned large = threads == nullptr ? 64 : static_cast<unsigned>(std::atoi(threads));
  const char* goes_on = std::getenv("STEADY_GOES_ON");
  for (int k = 0; k < launches; ++k) {
    for (const Gpu& gpu : all) {
      if (all.size() > 1) expect(good(CU(cuCtxSetCurrent)(gpu.context)), "context");
      for (CUstream stream : gpu.lanes)
        expect(good(CU(cuLaunchKernel)(gpu.kernels[k % 8 == 7 ? 1 : 0], blocks, 1, 1, k % 8 == 7 ? 64 : large, 1, 1, 0, stream,
                                       arguments, nullptr)),
               "launch");
    }
    if (k % round == round - 1) expect(good(CU(cuCtxSynchronize)()), "wait");
    while (k == round - 1 && goes_on != nullptr && access(goes_on, F_OK) != 0) usleep(1000);
  }
  expect(good(CU(cuCtxSynchronize)()), "wait");
  std::printf("launches %d us_each 0.0 wrong %d\n", streams * launches, wrong);
  return wrong;
}
