// SPDX-License-Identifier: Apache-2.0
// Decode and prefill as two threads of one process, by what CUDA offers there. both priorities|green ARGUMENTS: decode's stream
// goes first, or each has SMs of its own (green contexts). Prints a line of JSON for each.
#include <cuda.h>

#include <barrier>
#include <thread>

#include "decode.cuh"
#include "prefill.cuh"

static void check(CUresult e) {
  if (e == CUDA_SUCCESS) return;
  std::fprintf(stderr, "CUDA: error %d\n", static_cast<int>(e));
  std::exit(3);
}
static cudaStream_t stream_on(CUdevResource sms) {
  CUdevResourceDesc all;
  CUgreenCtx context;
  CUstream out;
  check(cuDevResourceGenerateDesc(&all, &sms, 1));
  check(cuGreenCtxCreate(&context, all, 0, CU_GREEN_CTX_DEFAULT_STREAM));
  check(cuGreenCtxStreamCreate(&out, context, CU_STREAM_NON_BLOCKING, 0));
  return out;
}

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  if (way != "priorities" && way != "green") Options::usage("both priorities|green");
  const Options o(argc - 1, argv + 1);
  check(cudaFree(nullptr));
  cudaStream_t streams[2];
  if (way == "green") {
    CUdevResource sms, first, rest;
    unsigned groups = 1;
    check(cuDeviceGetDevResource(0, &sms, CU_DEV_RESOURCE_TYPE_SM));
    check(cuDevSmResourceSplitByCount(&first, &groups, &sms, &rest, 0, sms.sm.smCount / 2));
    std::fprintf(stderr, "%u SMs for decode, %u for prefill\n", first.sm.smCount, rest.sm.smCount);
    streams[0] = stream_on(first);
    streams[1] = stream_on(rest);
  } else {
    int least = 0, most = 0;
    check(cudaDeviceGetStreamPriorityRange(&least, &most));
    streams[0] = stream_of(most);
    streams[1] = stream_of(least);
  }
  std::barrier warm(2, [&]() noexcept { ready(o.wait); });
  Outcome outcomes[2];
  std::thread other([&] { outcomes[1] = prefill(o, streams[1], [&] { warm.arrive_and_wait(); }); });
  outcomes[0] = decode(o, streams[0], [&] { warm.arrive_and_wait(); });
  other.join();
  for (const auto& out : outcomes) std::printf("%s\n", out.told.c_str());
  return outcomes[0].right && outcomes[1].right ? 0 : 1;
}
