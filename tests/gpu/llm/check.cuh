// SPDX-License-Identifier: Apache-2.0
#pragma once
// The same layer once more in float, by kernels as plain as they can be, and what compares the two. --dump writes what a third
// implementation needs.
#include "model.cuh"

namespace plain {

__global__ void widen(float* out, const bf16* in) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = to_float(in[blockIdx.x * blockDim.x + threadIdx.x]);
}
__global__ void norm(float* out, const float* in, const bf16* weight, int hidden) {
  const float* mine = in + blockIdx.x * hidden;
  float sum = 0.0F;
  for (int i = 0; i < hidden; ++i) sum += mine[i] * mine[i];
  for (int i = threadIdx.x; i < hidden; i += blockDim.x)
    out[blockIdx.x * hidden + i] = mine[i] / sqrtf(sum / hidden + 1e-5F) * to_float(weight[i]);
}
__global__ void product(float* out, const float* a, const bf16* w, int n, int depth, bool add) {
  for (int j = threadIdx.x; j < n; j += blockDim.x) {
    float sum = 0.0F;
    for (int k = 0; k < depth; ++k) sum += a[blockIdx.x * depth + k] * to_float(w[j * depth + k]);
    out[blockIdx.x * n + j] = sum + (add ? out[blockIdx.x * n + j] : 0.0F);
  }
}
__global__ void rotate(float* qkv, const float2* turns, const int* lengths,
                       int all_heads) {  // a CTA a row and head, a thread a pair
  float* mine = qkv + (blockIdx.x * all_heads + blockIdx.y) * kHead + threadIdx.x;
  const float2 turn =
      turns[(lengths != nullptr ? lengths[blockIdx.x] : static_cast<int>(blockIdx.x)) * (kHead / 2) + threadIdx.x];
  const float x = mine[0], y = mine[kHead / 2];
  mine[0] = x * turn.x - y * turn.y;
  mine[kHead / 2] = y * turn.x + x * turn.y;
}
/// What the cache has got: the new keys of a row, then the values.
__global__ void new_tokens(float* out, Cache cache, const int* lengths) {
  const int position = lengths != nullptr ? lengths[blockIdx.x] : static_cast<int>(blockIdx.x),
            sequence = lengths != nullptr ? blockIdx.x : 0;
  for (int h = 0; h < 2 * cache.kv_heads; ++h)
    out[(blockIdx.x * 2 * cache.kv_heads + h) * kHead + threadIdx.x] = to_float(
        (h < cache.kv_heads ? cache.keys : cache.values)[cache.at(sequence, h % cache.kv_heads, position) + threadIdx.x]);
}
__global__ void attention(float* out, float* scores, const float* qkv, Cache cache, const int* lengths, int longest,
                          int heads) {  // a thread a head
  const int row = blockIdx.x, head = threadIdx.x, kv = head / (heads / cache.kv_heads), sequence = lengths != nullptr ? row : 0;
  const int tokens = (lengths != nullptr ? lengths[row] : row) + 1;
  const float* query = qkv + (row * (heads + 2 * cache.kv_heads) + head) * kHead;
  float* mine = scores + (static_cast<long>(row) * heads + head) * longest;
  float most = -INFINITY, all = 0.0F;
  for (int j = 0; j < tokens; ++j) {
    mine[j] = 0.0F;
    for (int d = 0; d < kHead; ++d) mine[j] += query[d] * to_float(cache.keys[cache.at(sequence, kv, j) + d]);
    mine[j] /= sqrtf(kHead);
    most = fmaxf(most, mine[j]);
  }
  for (int j = 0; j < tokens; ++j) all += mine[j] = expf(mine[j] - most);
  for (int d = 0; d < kHead; ++d) {
    float sum = 0.0F;
    for (int j = 0; j < tokens; ++j) sum += mine[j] * to_float(cache.values[cache.at(sequence, kv, j) + d]);
    out[(row * heads + head) * kHead + d] = sum / all;
  }
}
__global__ void gate(float* out, const float* both, int inner) {
  for (int i = threadIdx.x; i < inner; i += blockDim.x) {
    const float* at = both + blockIdx.x * 2 * inner + i / 8 * 16 + i % 8;
    const float g = at[0];
    out[blockIdx.x * inner + i] = g / (1.0F + expf(-g)) * at[8];
  }
}

}  // namespace plain

template <typename T>
std::vector<T> download(const T* from, long n) {
  std::vector<T> out(static_cast<std::size_t>(n));
  check(cudaDeviceSynchronize());
  check(cudaMemcpy(out.data(), from, out.size() * sizeof(T), cudaMemcpyDeviceToHost));
  return out;
}

constexpr double kTolerance = 0.02;  // bf16 keeps 8 bits, a layer rounds some ten times, and scores are powers of e

/// Of |a - b| / |b|; not a number is too far.
inline bool close_to(const char* what, int l, const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference += (a[i] - b[i]) * static_cast<double>(a[i] - b[i]), size += b[i] * static_cast<double>(b[i]);
  const double error = std::sqrt(difference / size);
  const bool close = error <= kTolerance;
  std::printf("%s layer %d: %s differs by %.5f of its size (at most %.2f)\n", close ? "ok" : "WRONG", l, what, error, kTolerance);
  return close;
}

/// All layers from what is in model.x, each against the plain one from the same input.
template <bool Prompt>
bool check_layers(Model& m, const Options& o) {
  const int* lengths = Prompt ? nullptr : m.lengths;
  const auto dump = [&](const std::string& name, const auto* from, long n) {
    if (o.dump.empty()) return;
    const auto there = download(from, n);
    std::FILE* file = std::fopen((o.dump + "/" + name).c_str(), "wb");
    if (file == nullptr || std::fwrite(there.data(), sizeof there[0], there.size(), file) != there.size() ||
        std::fclose(file) != 0)
      std::exit(3);
  };
  const long q = static_cast<long>(m.heads) * kHead, kv = 2L * m.kv_heads * kHead;
  auto *x = Model::room_for<float>(m.rows * static_cast<long>(m.hidden)),
       *normed = Model::room_for<float>(m.rows * static_cast<long>(m.hidden));
  auto *qkv = Model::room_for<float>(m.rows * static_cast<long>(m.width)), *attended = Model::room_for<float>(m.rows * q);
  auto *written = Model::room_for<float>(m.rows * kv),
       *scores = Model::room_for<float>(m.rows * static_cast<long>(m.heads) * m.longest);
  auto *both = Model::room_for<float>(2L * m.rows * m.inner),
       *inner = Model::room_for<float>(m.rows * static_cast<long>(m.inner));
  auto* wide = Model::room_for<float>(m.rows * std::max<long>(q, m.hidden));
  const auto widened = [&](const bf16* from, float* to, long n) {
    m.launch(plain::widen, dim3(static_cast<unsigned>(n / 128)), 128, 0, to, from);
  };
  bool all = true;
  dump("embeddings", m.embeddings, static_cast<long>(m.vocabulary) * m.hidden);
  dump("last_norm", m.last_norm, m.hidden);
  dump("head", m.head, static_cast<long>(m.vocabulary) * m.hidden);
  dump("tokens", m.tokens, m.rows);
  dump("lengths", m.lengths, m.rows);
  dump("table", m.table, static_cast<long>(Prompt ? 1 : m.rows) * m.cache.pages);
  for (int l = 0; l < m.layers; ++l) {
    const Layer& w = m.layer[l];
    const Cache cache = m.cache_of(l);
    const std::string name = std::to_string(l);
    dump("norm1." + name, w.norm1, m.hidden);
    dump("qkv." + name, w.qkv, static_cast<long>(m.width) * m.hidden);
    dump("out." + name, w.out, m.hidden * q);
    dump("norm2." + name, w.norm2, m.hidden);
    dump("gate_up." + name, w.gate_up, 2L * m.inner * m.hidden);
    dump("down." + name, w.down, static_cast<long>(m.hidden) * m.inner);
    dump("keys." + name, cache.keys, m.cache_layer);
    dump("values." + name, cache.values, m.cache_layer);
    widened(m.x, x, static_cast<long>(m.rows) * m.hidden);
    m.run<Prompt>(l);
    m.launch(plain::norm, dim3(m.rows), 128, 0, normed, x, w.norm1, m.hidden);
    m.launch(plain::product, dim3(m.rows), 128, 0, qkv, normed, w.qkv, m.width, m.hidden, false);
    m.launch(plain::rotate, dim3(m.rows, m.heads + m.kv_heads), kHead / 2, 0, qkv, m.turns, lengths, m.heads + 2 * m.kv_heads);
    m.launch(plain::new_tokens, dim3(m.rows), kHead, 0, written, cache, lengths);
    const auto rows = download(qkv, static_cast<long>(m.rows) * m.width);
    std::vector<float> should;
    for (int r = 0; r < m.rows; ++r)
      should.insert(should.end(), rows.begin() + r * m.width + q, rows.begin() + (r + 1) * m.width);
    all &= close_to("what the cache got", l, download(written, m.rows * kv), should);
    m.launch(plain::attention, dim3(m.rows), m.heads, 0, attended, scores, qkv, cache, lengths, m.longest, m.heads);
    widened(m.attended, wide, m.rows * q);
    all &= close_to("attention", l, download(wide, m.rows * q), download(attended, m.rows * q));
    m.launch(plain::product, dim3(m.rows), 128, 0, x, attended, w.out, m.hidden, static_cast<int>(q), true);
    m.launch(plain::norm, dim3(m.rows), 128, 0, normed, x, w.norm2, m.hidden);
    m.launch(plain::product, dim3(m.rows), 128, 0, both, normed, w.gate_up, 2 * m.inner, m.hidden, false);
    m.launch(plain::gate, dim3(m.rows), 128, 0, inner, both, m.inner);
    m.launch(plain::product, dim3(m.rows), 128, 0, x, inner, w.down, m.hidden, m.inner, true);
    widened(m.x, wide, static_cast<long>(m.rows) * m.hidden);
    all &= close_to("the output", l, download(wide, static_cast<long>(m.rows) * m.hidden),
                    download(x, static_cast<long>(m.rows) * m.hidden));
    dump("x." + name, m.x, static_cast<long>(m.rows) * m.hidden);
  }
  const int of = Prompt ? 1 : m.rows;
  widened(m.x + static_cast<long>(m.rows - of) * m.hidden, x, static_cast<long>(of) * m.hidden);
  m.end<4>(of);
  m.launch(plain::norm, dim3(of), 128, 0, normed, x, m.last_norm, m.hidden);
  m.launch(plain::product, dim3(of), 128, 0, both, normed, m.head, m.vocabulary, m.hidden, false);
  const auto logits = download(m.logits, static_cast<long>(of) * m.vocabulary);
  all &= close_to("logits", m.layers, logits, download(both, static_cast<long>(of) * m.vocabulary));
  const auto next = download(m.tokens, of);
  for (int r = 0; r < of; ++r) {
    const auto mine = logits.begin() + static_cast<long>(r) * m.vocabulary;
    if (next[r] == std::max_element(mine, mine + m.vocabulary) - mine) continue;
    std::printf("WRONG row %d: token %d has not the largest logit\n", r, next[r]);
    all = false;
  }
  dump("logits", m.logits, static_cast<long>(of) * m.vocabulary);
  dump("next", m.tokens, of);
  std::printf("%s\n", all ? "all as they should be" : "NOT as it should be");
  return all;
}
