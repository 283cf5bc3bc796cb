// SPDX-License-Identifier: Apache-2.0
// Programs that do wrong: what they are told, in which order, and that nothing waits for what has failed.
#include <fcntl.h>
#include <unistd.h>

#include <cassert>

#include "program.h"

namespace {

__device__ unsigned variable = 11;
__global__ void traps(unsigned* v, unsigned in) {
  v[number()] += 1;
  if (blockIdx.x == in && threadIdx.x == 0) asm volatile("trap;");
}
__global__ void wild(unsigned* v) { v[number() + (1ULL << 40)] = 1; }
__global__ void misaligned(unsigned* v) {
  auto* at = reinterpret_cast<unsigned long long*>(reinterpret_cast<char*>(v) + 4 + 8 * number());
  *reinterpret_cast<volatile unsigned long long*>(at) = 1;
}
__global__ void asserts(unsigned* v) {
  v[number()] += 1;
  assert(blockIdx.x != 1234 || threadIdx.x != 5);
}
__global__ void uses_variable(unsigned* v) {
  spend(2000);
  v[number()] += variable;
  if (number() == 0) variable = 12;
}

/// What a program does behind a fault: every call returns at once, with an error or without.
void goes_on(Words& v, cudaStream_t s) {
  say("peek", cudaPeekAtLastError());
  say("last", cudaGetLastError());
  say("last again", cudaGetLastError());
  step<<<kBlocks, kThreads, 0, s>>>(v, 1);
  say("a launch", cudaGetLastError());
  unsigned word = 0;
  say("a copy", cudaMemcpy(&word, v.p, 4, cudaMemcpyDeviceToHost));
  void* p = nullptr;
  say("memory", cudaMalloc(&p, 4096));
  say("free", cudaFree(v.p));
  cudaStream_t other{};
  say("a stream", cudaStreamCreate(&other));
  say("stream query", cudaStreamQuery(s));
  say("stream wait", cudaStreamSynchronize(s));
  say("stream end", cudaStreamDestroy(s));
  say("wait", cudaDeviceSynchronize());
  say("last", cudaGetLastError());
}
template <class Wrong>
void fault(const Wrong& launch) {
  Words v;
  Stream s;
  launch_step(v, 1, s);
  finish();
  launch(v, s);
  say("told", cudaStreamSynchronize(s));
  goes_on(v, s);
}
CASE(trap_in_a_large_grid, quota) {
  fault([](Words& v, cudaStream_t s) { traps<<<kBlocks, kThreads, 0, s>>>(v, 4000); });
}
CASE(trap_in_a_small_grid, quota) {
  fault([](Words& v, cudaStream_t s) { traps<<<1, 1, 0, s>>>(v, 0); });
}
CASE(trap_among_launches, quota) {
  fault([](Words& v, cudaStream_t s) {
    Stream t(cudaStreamNonBlocking);
    for (int k = 0; k < 10; ++k) launch_step(v, 1, k % 2 == 0 ? s : t.s);
    traps<<<kBlocks, kThreads, 0, t>>>(v, 10);
    for (int k = 0; k < 50; ++k) step<<<kBlocks, kThreads, 0, k % 2 == 0 ? s : t.s>>>(v, 1);
    static_cast<void>(cudaStreamSynchronize(t));  // the other stream may not know it sooner
    static_cast<void>(cudaGetLastError());
  });
}
CASE(illegal_address, quota) {
  fault([](Words& v, cudaStream_t s) { wild<<<kBlocks, kThreads, 0, s>>>(v); });
}
CASE(misaligned_address, quota) {
  fault([](Words& v, cudaStream_t s) { misaligned<<<kBlocks, kThreads, 0, s>>>(v); });
}
CASE(trap_in_a_graph, quota) {
  fault([](Words& v, cudaStream_t s) {
    cudaGraph_t g{};
    cudaGraphExec_t exec{};
    ck(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    launch_step(v, 1, s);
    traps<<<kBlocks, kThreads, 0, s>>>(v, 77);
    launch_step(v, 1, s);
    ck(cudaStreamEndCapture(s, &g));
    ck(cudaGraphInstantiate(&exec, g, 0));
    ck(cudaGraphLaunch(exec, s));
  });
}
CASE(assert_names_its_block, either) {
  Words v;
  launch_step(v, 1);
  finish();
  std::fflush(stderr);
  ::dup2(1, 2);  // the message is compared, too
  asserts<<<kBlocks, kThreads>>>(v);
  const cudaError_t told = cudaDeviceSynchronize();
  std::fflush(stderr);
  ::dup2(::open("/dev/null", O_WRONLY), 2);
  say("told", told);
  say("free", cudaFree(v.p));
  say("last", cudaGetLastError());
}
CASE(fault_ends_the_program, quota) {
  Words v;
  for (int k = 0; k < 10; ++k) launch_step(v, 1);
  traps<<<kBlocks, kThreads>>>(v, 3000);
  for (int k = 0; k < 10; ++k) step<<<kBlocks, kThreads>>>(v, 1);
  std::printf("it does not look\n");
  std::exit(7);
}
CASE(reset_behind_a_fault, quota) {
  for (int round = 0; round < 3; ++round) {
    {
      Words v;
      launch_step(v, 1);
      finish();
      traps<<<kBlocks, kThreads>>>(v, 2000);
      say("told", cudaDeviceSynchronize());
      say("reset", cudaDeviceReset());
    }
    if (!has_gpu()) return;
    Words v;
    Stream s;
    launch_step(v, 3, s);
    v.all(3);
  }
}
CASE(reset_in_the_middle, quota) {
  for (int round = 0; round < 3; ++round) {
    Words v;
    Stream s;
    cudaGraph_t g{};
    cudaGraphExec_t exec{};
    ck(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    launch_step(v, 1, s);
    ck(cudaStreamEndCapture(s, &g));
    ck(cudaGraphInstantiate(&exec, g, 0));
    for (int k = 0; k < 5; ++k) ck(cudaGraphLaunch(exec, s));
    unsigned x = 0;
    for (int k = 0; k < 5; ++k) x = step_on_host(x, 1);
    v.all(x);
    Words u;
    uses_variable<<<kBlocks, kThreads>>>(u);
    finish();
    unsigned now = 0;
    ck(cudaMemcpyFromSymbol(&now, variable, 4));
    expect(now == 12);
    launch_step(v, 1, s);  // runs when it is reset
    if (round == 1) finish();
    ck(cudaDeviceReset());
    ck(cudaMemcpyFromSymbol(&now, variable, 4));
    expect(now == 11);  // anew
  }
}

}  // namespace
