// SPDX-License-Identifier: Apache-2.0
// Streams, events, host functions and threads: an order that shows in the result.
#include <atomic>
#include <mutex>

#include "program.h"

namespace {

__global__ void waits_for(const unsigned* word, unsigned* v) {
  if (threadIdx.x == 0)
    while (*static_cast<const volatile unsigned*>(word) == 0) continue;
  __syncthreads();
  v[number()] += 1;
}
__global__ void sets(unsigned* word) {
  if (number() == 0) atomicExch(word, 1);
}

/// `count` streams, each behind the one before it, for some rounds: every word takes all steps in order.
void ring(unsigned count, unsigned rounds, unsigned blocks, const std::vector<int>& priorities = {0}) {
  Words v;
  std::vector<Stream> streams;
  std::vector<Event> events(count);
  for (unsigned s = 0; s < count; ++s)
    streams.emplace_back(s % 2 == 0 ? cudaStreamNonBlocking : 0, priorities[s % priorities.size()]);
  unsigned x = 0;
  for (unsigned k = 0; k < rounds * count; ++k) {
    if (k > 0) ck(cudaStreamWaitEvent(streams[k % count], events[(k - 1) % count]));
    step<<<blocks, kThreads, 0, streams[k % count]>>>(v, k);
    ck(cudaEventRecord(events[k % count], streams[k % count]));
    x = step_on_host(x, k);
  }
  v.upto(blocks * kThreads, x);
}
CASE(ring_of_8, quota) { ring(8, 6, kBlocks); }
CASE(ring_of_200, quota) { ring(200, 2, 3000); }
CASE(ring_of_priorities, quota) {
  int least = 0, greatest = 0;
  ck(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  ring(12, 4, kBlocks, {least, greatest, (least + greatest) / 2});
  Stream s(cudaStreamDefault, greatest - 100);
  int told = 0;
  ck(cudaStreamGetPriority(s, &told));
  expect(told == greatest);
}
CASE(streams_at_once, quota) {
  std::vector<Words> v;
  std::vector<Stream> streams;
  for (int s = 0; s < 80; ++s) {
    v.emplace_back(2500 * kThreads);
    streams.emplace_back(cudaStreamNonBlocking);
  }
  for (unsigned k = 1; k <= 3; ++k)
    for (unsigned s = 0; s < 80; ++s) step<<<2500, kThreads, 0, streams[s]>>>(v[s], k + s);
  for (unsigned s = 0; s < 80; ++s) v[s].all(step_on_host(step_on_host(1 + s, 2 + s), 3 + s));
}
CASE(streams_come_and_go, quota) {
  Words v;
  unsigned x = 0;
  for (unsigned k = 0; k < 150; ++k, x = step_on_host(x, k - 1)) {
    cudaStream_t s{};
    ck(k % 3 == 0 ? cudaStreamCreate(&s) : cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    step<<<2500, kThreads, 0, s>>>(v, k);
    if (k % 2 == 0) ck(cudaStreamSynchronize(s));
    ck(cudaStreamDestroy(s));  // its launch goes on
    if (k % 2 != 0) finish();
  }
  v.upto(2500 * kThreads, x);
}
CASE(legacy_default_stream, quota) {
  Words v, word(1), u;
  Stream blocking, other, apart(cudaStreamNonBlocking);
  launch_step(u, 0, apart);
  finish();
  sets<<<1, 1>>>(u);  // both are loaded
  waits_for<<<1, kThreads>>>(u, v);
  finish();
  ck(cudaMemset(v, 0, kWords * 4));
  ck(cudaMemset(u, 0, kWords * 4));
  finish();
  unsigned x = 0;
  for (unsigned k = 0; k < 32; ++k, x = step_on_host(x, k - 1))  // in turns with the default stream
    launch_step(v, k, k % 2 == 1 ? nullptr : k % 4 == 0 ? blocking.s : other.s);
  v.all(x);
  waits_for<<<400, kThreads, 0, apart>>>(word, u);  // does not hold the default stream
  launch_step(v, 7);
  sets<<<1, 1>>>(word);
  u.upto(400 * kThreads, 1);
}
CASE(times_of_events, quota) {
  Words v, u;
  Stream a, b(cudaStreamNonBlocking);
  std::vector<Event> marks;
  for (int k = 0; k < 12; ++k) marks.emplace_back(cudaEventDefault);
  for (unsigned k = 0; k < 12; ++k) {
    cudaStream_t s = k % 2 == 0 ? a.s : b.s;
    if (k > 0) ck(cudaStreamWaitEvent(s, marks[k - 1]));
    launch_step(k % 2 == 0 ? v : u, k, s);
    ck(cudaEventRecord(marks[k], s));
  }
  finish();
  float before = 0;
  for (unsigned k = 1; k < 12; ++k) {
    float ms = 0, one = 0;
    ck(cudaEventElapsedTime(&ms, marks[0], marks[k]));
    ck(cudaEventElapsedTime(&one, marks[k - 1], marks[k]));
    expect(ms > before && one >= 0.004F);  // a block takes as much
    before = ms;
  }
}
CASE(host_functions, quota) {
  static Words v;
  static std::atomic<unsigned> count;
  static unsigned first, last;
  Stream s(cudaStreamNonBlocking);
  for (unsigned k = 0; k < 10; ++k) {
    launch_step(v, 0, s);
    ck(cudaMemcpyAsync(&first, v.p, 4, cudaMemcpyDeviceToHost, s));
    step<<<kBlocks, kThreads, 0, s>>>(v, 1);
    ck(cudaLaunchHostFunc(
        s,
        [](void*) {
          ++count;
          nap(2);
        },
        nullptr));
    ck(cudaStreamAddCallback(
        s, [](cudaStream_t, cudaError_t e, void*) { count += e == cudaSuccess ? 1 : 100; }, nullptr, 0));
  }
  ck(cudaMemcpyAsync(&last, v.p + kWords - 1, 4, cudaMemcpyDeviceToHost, s));
  ck(cudaStreamSynchronize(s));
  unsigned x = 0;
  for (int k = 0; k < 10; ++k) x = x * 25 + 1;
  expect(count == 20 && last == x);
  v.all(x);
}
CASE(host_function_takes_a_lock, quota) {
  static std::mutex lock;
  static unsigned counted = 0;
  Words v;
  Stream s;
  unsigned x = 0;
  for (unsigned k = 0; k < 20; ++k) {
    const std::scoped_lock held(lock);  // the program launches with the lock held, as many do
    for (unsigned i = 0; i < 10; ++i, x = step_on_host(x, k)) launch_step(v, k, s);
    ck(cudaLaunchHostFunc(
        s,
        [](void*) {
          const std::scoped_lock mine(lock);
          ++counted;
        },
        nullptr));
    Event e;
    ck(cudaEventRecord(e, s));
    ck(cudaEventDestroy(e));
  }
  v.all(x);
  expect(counted == 20);
}
CASE(threads_with_own_streams, quota) {
  std::vector<Words> v;
  for (int t = 0; t < 12; ++t) v.emplace_back();
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 12; ++t)
    threads.emplace_back([&v, t] {
      for (unsigned k = 1; k <= 8; ++k) {
        launch_step(v[t], k + t, cudaStreamPerThread);
        if (k % 4 == t % 4) ck(cudaStreamSynchronize(cudaStreamPerThread));
      }
      ck(cudaStreamSynchronize(cudaStreamPerThread));
    });
  for (std::thread& t : threads) t.join();
  for (unsigned t = 0; t < 12; ++t) {
    unsigned x = 0;
    for (unsigned k = 1; k <= 8; ++k) x = step_on_host(x, k + t);
    v[t].all(x);
  }
}
CASE(thread_ends_before_its_launches, quota) {
  Words v, u;
  Stream s;
  unsigned x = 0;
  for (unsigned k = 0; k < 20; ++k, x = step_on_host(x, k - 1)) {
    std::thread([&] {
      launch_step(v, k, s);
      launch_step(u, k, cudaStreamPerThread);
    }).join();
    if (k % 5 == 4) finish();
  }
  v.all(x);
}
CASE(threads_in_one_stream, quota) {
  Words v;
  Stream s;
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&] {
      for (int k = 0; k < 40; ++k) {
        launch_step(v, 1, s);
        if (k % 13 == 0) ck(cudaStreamSynchronize(s));
      }
    });
  for (std::thread& t : threads) t.join();
  unsigned x = 0;
  for (int k = 0; k < 240; ++k) x = step_on_host(x, 1);
  v.all(x);
}
CASE(stream_is_asked, quota) {
  Words v;
  Stream s(cudaStreamNonBlocking);
  Event e;
  for (unsigned k = 1; k <= 30; ++k) {
    launch_step(v, 1, s);
    ck(cudaEventRecord(e, s));
    cudaError_t said = cudaSuccess;
    while ((said = k % 2 == 0 ? cudaStreamQuery(s) : cudaEventQuery(e)) == cudaErrorNotReady) std::this_thread::yield();
    ck(said);
    unsigned x = 0;
    ck(cudaMemcpyAsync(&x, v.p + kWords - 1, 4, cudaMemcpyDeviceToHost, s));
    ck(cudaStreamSynchronize(s));
    unsigned expected = 0;
    for (unsigned i = 0; i < k; ++i) expected = step_on_host(expected, 1);
    expect(x == expected);
  }
}

}  // namespace
