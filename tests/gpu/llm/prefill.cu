// SPDX-License-Identifier: Apache-2.0
// Prefill of a language model: prompts through a stack of layers, one after another, each to its first token. Prints one line of
// JSON.
#include "check.cuh"

int main(int argc, char** argv) {
  Options o(argc, argv);
  if (o.check) o.prompt = 2 * kTile;
  constexpr int kPrompts = 4;
  Model model(o, o.prompt, 1, o.prompt);
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
    return check_layers<true>(model, o) ? 0 : 1;
  }
  auto* sum = Model::room_for<unsigned long long>(1);
  const auto run = [&](int p) {
    unsigned long long digest = 0;
    int token = 0;
    check(cudaMemsetAsync(sum, 0, sizeof *sum, model.stream));
    begin(p);
    for (int l = 0; l < model.layers; ++l) model.run<true>(l);
    model.end<1>(1);
    check(cudaMemcpyAsync(&token, model.tokens, sizeof token, cudaMemcpyDeviceToHost, model.stream));
    check(cudaStreamSynchronize(model.stream));
    const auto at = Clock::now();
    model.add_digest(sum);
    check(cudaMemcpyAsync(&digest, sum, sizeof digest, cudaMemcpyDeviceToHost, model.stream));
    check(cudaStreamSynchronize(model.stream));
    return std::pair(at, digest + static_cast<unsigned long long>(token));
  };
  std::vector<unsigned long long> first;
  for (int p = 0; p < kPrompts; ++p) first.push_back(run(p).second);
  ready(o.wait);
  std::vector<double> times;
  long done = 0, wrong = 0;
  double measured = 0;
  const auto start = Clock::now();
  for (int i = 0; ms_between(start, Clock::now()) < 1150 * o.seconds;
       ++i) {  // a little longer than measured: the other program has company to its end
    const auto began = Clock::now();
    const auto [at, digest] = run(i % kPrompts);
    if (digest != first[i % kPrompts]) ++wrong;
    if (const double now = ms_between(start, Clock::now()); now < 1000 * o.seconds || done == 0) {
      times.push_back(ms_between(began, at));
      measured = now;
      ++done;
    }
  }
  unsigned long long all = 0;
  for (const auto digest : first) all = all * 31 + digest;
  std::printf(
      "{\"program\":\"prefill\",\"tokens_per_s\":%.2f,\"ttft_p50_ms\":%.4f,\"ttft_p99_ms\":%.4f,\"prompts\":%ld,\"checksum\":\"%"
      "016llx\",\"wrong\":%ld}\n",
      1000.0 * static_cast<double>(done) * o.prompt / measured, part_of(times, 0.5), part_of(times, 0.99), done, all, wrong);
  return wrong == 0 ? 0 : 1;
}
