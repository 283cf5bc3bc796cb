// SPDX-License-Identifier: Apache-2.0
#pragma once
// Prefill of a language model: prompts through a stack of layers, one after another, each to its first token.
#include "check.cuh"

inline Outcome prefill(Options o, cudaStream_t stream, const std::function<void()>& warm) {
  if (o.check) o.prompt = 2 * kTile;
  constexpr int kPrompts = 4;
  Model model(o, o.prompt, 1, o.prompt, stream);
  std::vector<int*> prompts;
  for (int p = 0; p < kPrompts; ++p) {
    std::mt19937 chosen(p);
    std::vector<int> words(o.prompt);
    for (int& word : words) word = static_cast<int>(chosen() % model.vocabulary);
    prompts.push_back(Model::upload(words));
  }
  const auto begin = [&](int p) {
    check(cudaMemcpyAsync(model.tokens, prompts[p], o.prompt * sizeof(int), cudaMemcpyDeviceToDevice, model.stream));
    model.begin();
  };
  if (o.check) {
    begin(0);
    return {check_layers<true>(model, o), ""};
  }
  auto* sum = Model::room_for<unsigned long long>(1);
  unsigned long long* digest = nullptr;
  int* token = nullptr;
  check(cudaMallocHost(&digest, sizeof *digest));
  check(cudaMallocHost(&token, sizeof *token));
  const auto run = [&](int p) {
    check(cudaMemsetAsync(sum, 0, sizeof *sum, model.stream));
    begin(p);
    for (int l = 0; l < model.layers; ++l) model.run<true>(l);
    model.end<1>(1);
    check(cudaMemcpyAsync(token, model.tokens, sizeof *token, cudaMemcpyDeviceToHost, model.stream));
    check(cudaStreamSynchronize(model.stream));
    const auto at = Clock::now();
    model.add_digest(sum);
    check(cudaMemcpyAsync(digest, sum, sizeof *digest, cudaMemcpyDeviceToHost, model.stream));
    check(cudaStreamSynchronize(model.stream));
    return std::pair(at, *digest + static_cast<unsigned long long>(*token));
  };
  std::vector<unsigned long long> first;
  for (int p = 0; p < kPrompts; ++p) first.push_back(run(p).second);
  if (o.times) {
    model.timed = true;
    for (int p = 0; p < kPrompts; ++p) run(p);
    return {true, model.times_of(kPrompts)};
  }
  warm();
  std::vector<double> times;
  long done = 0, wrong = 0;
  double measured = 0;
  const auto start = Clock::now();
  // A little longer than measured: the other program has company to its end.
  for (int i = 0; ms_between(start, Clock::now()) < 1150 * o.seconds; ++i) {
    const auto began = Clock::now();
    const auto [at, sum_now] = run(i % kPrompts);
    if (sum_now != first[i % kPrompts]) ++wrong;
    if (const double now = ms_between(start, Clock::now()); now < 1000 * o.seconds || done == 0) {
      times.push_back(ms_between(began, at));
      measured = now;
      ++done;
    }
  }
  unsigned long long all = 0;
  for (const auto one : first) all = all * 31 + one;
  const double rate = 1000.0 * static_cast<double>(done) * o.prompt / measured;
  return {wrong == 0,
          text("{\"program\":\"prefill\",\"tokens_per_s\":%.2f,\"ttft_p50_ms\":%.4f,\"ttft_p99_ms\":%.4f,\"prompts\":%ld,"
               "\"checksum\":\"%016llx\",\"wrong\":%ld}",
               rate, part_of(times, 0.5), part_of(times, 0.99), done, all, wrong)};
}
