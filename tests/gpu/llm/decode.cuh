// SPDX-License-Identifier: Apache-2.0
#pragma once
// Decode of a language model: a token for each of LOAD sequences a step, by a stack of layers over their cached keys and values.
// Every 32 steps the sequences begin again where they were, and must give the same tokens.
#include "check.cuh"

inline Outcome decode(Options o, cudaStream_t stream, const std::function<void()>& warm) {
  if (o.check) o.context = 800;
  constexpr int kSteps = 32;
  Model model(o, o.load, o.load, o.context / 2 + o.context + kSteps, stream);
  std::vector<int> words(o.load), lengths(o.load);
  for (int s = 0; s < o.load; ++s) {
    words[s] = 17 * s % model.vocabulary;
    lengths[s] = o.check ? 2 + 160 * s % 1000 : o.context / 2 + o.context * s / o.load;  // some short: one token too many is seen
  }
  const int *words_there = Model::upload(words), *lengths_there = Model::upload(lengths);
  auto* sum = Model::room_for<unsigned long long>(1);
  const auto begin = [&] {
    check(cudaMemcpyAsync(model.tokens, words_there, o.load * sizeof(int), cudaMemcpyDeviceToDevice, model.stream));
    check(cudaMemcpyAsync(model.lengths, lengths_there, o.load * sizeof(int), cudaMemcpyDeviceToDevice, model.stream));
    check(cudaMemsetAsync(sum, 0, sizeof *sum, model.stream));
  };
  if (o.check) {
    begin();
    model.begin();
    return {check_layers<false>(model, o), ""};
  }
  cudaEvent_t ended[2];
  for (auto& e : ended) check(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  unsigned long long* digest = nullptr;
  check(cudaMallocHost(&digest, sizeof *digest));
  std::vector<Clock::time_point> at;
  /// 32 steps, each enqueued while the one before it runs, as a server does; when each had ended is added to `at`.
  const auto cycle = [&] {
    begin();
    for (int step = 0; step <= kSteps; ++step) {
      if (step < kSteps) {
        model.begin();
        for (int l = 0; l < model.layers; ++l) model.run<false>(l);
        model.end<4>(o.load);
        check(cudaEventRecord(ended[step % 2], model.stream));
        model.add_digest(sum);
      }
      if (step == 0) continue;
      check(cudaEventSynchronize(ended[(step - 1) % 2]));
      at.push_back(Clock::now());
    }
    check(cudaMemcpyAsync(digest, sum, sizeof *digest, cudaMemcpyDeviceToHost, model.stream));
    check(cudaStreamSynchronize(model.stream));
    return *digest;
  };
  const auto first = cycle();
  if (o.times) {
    model.timed = true;
    cycle();
    return {true, model.times_of(kSteps)};
  }
  warm();
  long wrong = 0, steps = 0;
  double measured = 0;
  std::vector<double> between;
  const auto start = Clock::now();
  // A little longer than measured: the other program has company to its end.
  while (ms_between(start, Clock::now()) < 1150 * o.seconds) {
    at.clear();
    if (cycle() != first) ++wrong;
    for (int i = 0; i < kSteps; ++i) {
      const double now = ms_between(start, at[i]);
      if (now >= 1000 * o.seconds && steps > 0) break;
      if (i > 0) between.push_back(ms_between(at[i - 1], at[i]));
      measured = now;
      ++steps;
    }
  }
  const double rate = 1000.0 * static_cast<double>(steps) * o.load / measured;
  return {wrong == 0, text("{\"program\":\"decode\",\"load\":%d,\"tokens_per_s\":%.2f,\"itl_p50_ms\":%.4f,\"itl_p99_ms\":%.4f,"
                           "\"steps\":%ld,\"checksum\":\"%016llx\",\"wrong\":%ld}",
                           o.load, rate, part_of(between, 0.5), part_of(between, 0.99), steps, first, wrong)};
}
