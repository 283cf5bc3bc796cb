// SPDX-License-Identifier: Apache-2.0
#pragma once
// A decoder of a few layers with random weights, and what launches its kernels: shared by prefill and decode.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "attention.cuh"
#include "products.cuh"

inline void check(cudaError_t e) {
  if (e == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(e));
  std::exit(3);
}

struct Options {
  double seconds = 2;
  int load = 8;        ///< decode: sequences
  int context = 4096;  ///< decode: tokens of a sequence, half to one and a half of this
  int prompt = 2048;   ///< prefill: tokens of a prompt
  int layers = 2;
  int hidden = 8192;  ///< width of a token's row; heads, the feed-forward part and the vocabulary grow with it
  bool small = false, check = false, wait = false;  ///< wait: for a line on standard input, when all is warm
  bool times = false;                               ///< of each launch, in place of a measurement
  std::string dump;                                 ///< with check: folder for what a second implementation compares
  Options(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      const std::string name = argv[i];
      const auto next = [&] { return i + 1 < argc ? std::string(argv[++i]) : std::string(); };
      if (name == "--seconds")
        seconds = std::atof(next().c_str());
      else if (name == "--load")
        load = std::atoi(next().c_str());
      else if (name == "--context")
        context = std::atoi(next().c_str());
      else if (name == "--prompt")
        prompt = std::atoi(next().c_str());
      else if (name == "--layers")
        layers = std::atoi(next().c_str());
      else if (name == "--hidden")
        hidden = std::atoi(next().c_str());
      else if (name == "--check")
        check = small = true;
      else if (name == "--small")
        small = true;
      else if (name == "--wait")
        wait = true;
      else if (name == "--times")
        times = true;
      else if (name == "--dump")
        dump = next();
      else
        usage(argv[0]);
    }
    if (load < 1 || load > 32 || context < 2 || prompt < kTile || prompt % kTile != 0 || layers < 1 || hidden < 1024 ||
        hidden % 1024 != 0)
      usage(argv[0]);
  }
  static void usage(const char* program) {
    std::fprintf(stderr,
                 "usage: %s [--seconds S] [--load 1..32] [--context TOKENS] [--prompt TOKENS, of %d] [--layers N] [--hidden N, "
                 "of 1024] [--wait] "
                 "[--times] [--small] [--check [--dump FOLDER]]\n",
                 program, kTile);
    std::exit(2);
  }
};

struct Layer {
  bf16 *norm1, *qkv, *out, *norm2, *gate_up, *down;
};

struct Model {
  int hidden, heads, kv_heads, inner, vocabulary, layers, rows, longest;
  int width, splits;  ///< of a row of qkv; parts of a sequence in decode's attention
  std::vector<Layer> layer;
  bf16 *embeddings, *last_norm, *head;             // weights
  bf16 *x, *normed, *qkv, *attended, *hidden_mlp;  // a row for each token in work
  float *logits, *parts;
  float2* turns;
  int *tokens, *lengths, *table;
  Cache cache;       ///< of layer 0
  long cache_layer;  ///< numbers of a layer's keys
  cudaStream_t stream;
  struct Launch {
    const char* kernel;
    dim3 grid;
    cudaEvent_t from, to;
  };
  bool timed = false;
  std::vector<Launch> launches;  ///< while `timed`

  /// Room for `rows` tokens at a time, of `sequences` sequences with at most `longest` tokens.
  Model(const Options& o, int rows, int sequences, int longest, cudaStream_t stream)
      : hidden(o.small ? 512 : o.hidden),
        heads(o.small ? 16 : o.hidden / kHead),
        kv_heads(heads / 8),
        inner(o.small ? 1024 : o.hidden / 2 * 7),
        vocabulary(o.small ? 1024 : 4 * o.hidden),
        layers(o.layers),
        rows(rows),
        longest(longest),
        width((heads + 2 * kv_heads) * kHead),
        stream(stream) {
    unsigned seed = 1;
    const auto weights = [&](long n, long depth, float scale) {
      return random(n, seed++, scale * std::sqrt(3.0F / static_cast<float>(depth)), 0.0F);
    };
    for (int l = 0; l < layers; ++l) {
      Layer w{};
      w.norm1 = random(hidden, seed++, 0.5F, 1.0F);
      w.qkv = weights(static_cast<long>(width) * hidden, hidden, 2.0F);  // scores that tell tokens apart
      w.out = weights(static_cast<long>(hidden) * heads * kHead, heads * kHead, 1.0F);
      w.norm2 = random(hidden, seed++, 0.5F, 1.0F);
      w.gate_up = weights(2L * inner * hidden, hidden, 1.0F);
      w.down = weights(static_cast<long>(hidden) * inner, inner, 1.0F);
      layer.push_back(w);
    }
    embeddings = weights(static_cast<long>(vocabulary) * hidden, 1, 1.0F);
    last_norm = random(hidden, seed++, 0.5F, 1.0F);
    head = weights(static_cast<long>(vocabulary) * hidden, hidden, 1.0F);

    const int room = std::max(rows, 32);
    x = random(static_cast<long>(room) * hidden, seed++, 0.0F, 0.0F);
    normed = random(static_cast<long>(room) * hidden, seed++, 0.0F, 0.0F);
    qkv = random(static_cast<long>(room) * width, seed++, 0.0F, 0.0F);
    attended = random(static_cast<long>(room) * heads * kHead, seed++, 0.0F, 0.0F);
    hidden_mlp = random(static_cast<long>(room) * inner, seed++, 0.0F, 0.0F);
    cache.pages = (longest + kPage - 1) / kPage;
    splits = (cache.pages + kSplit - 1) / kSplit;
    cache.kv_heads = kv_heads;
    cache_layer = static_cast<long>(sequences) * cache.pages * kv_heads * kPage * kHead;
    cache.keys = random(layers * cache_layer, seed++, 2.0F, 0.0F);
    cache.values = random(layers * cache_layer, seed++, 2.0F, 0.0F);
    logits = room_for<float>(32L * vocabulary);
    parts = room_for<float>(static_cast<long>(sequences) * heads * splits * (kHead + 2));

    std::mt19937 chosen(64);
    std::vector<int> pages(static_cast<std::size_t>(sequences) * cache.pages);
    for (std::size_t i = 0; i < pages.size(); ++i) pages[i] = static_cast<int>(i);
    for (std::size_t i = pages.size(); i > 1; --i) std::swap(pages[i - 1], pages[chosen() % i]);
    cache.table = table = upload(pages);
    std::vector<float2> turn(static_cast<std::size_t>(longest) * kHead / 2);
    for (std::size_t i = 0; i < turn.size(); ++i) {
      const double angle =
          static_cast<double>(i / (kHead / 2)) * std::pow(10000.0, -static_cast<double>(i % (kHead / 2)) / (kHead / 2));
      turn[i] = {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
    }
    turns = upload(turn);
    tokens = room_for<int>(room);
    lengths = room_for<int>(room);
    check(cudaMemsetAsync(lengths, 0, room * sizeof(int), stream));
  }

  template <typename T>
  static T* room_for(long n) {
    void* at = nullptr;
    check(cudaMalloc(&at, static_cast<std::size_t>(n) * sizeof(T)));
    return static_cast<T*>(at);
  }
  template <typename T>
  static T* upload(const std::vector<T>& from) {
    T* at = room_for<T>(static_cast<long>(from.size()));
    check(cudaMemcpy(at, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
    check(cudaDeviceSynchronize());  // our streams do not wait for it
    return at;
  }
  bf16* random(long n, unsigned seed, float scale, float middle) {
    auto* at = room_for<bf16>(n);
    launch(fill, dim3(static_cast<unsigned>((n / 8 + 255) / 256)), 256, 0, at, n, seed, scale, middle);
    return at;
  }

  template <typename... Parameters, typename... Arguments>
  void launch(void (*kernel)(Parameters...), dim3 grid, int threads, int shared, Arguments... arguments) {
    if (shared > 48 * 1024) check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    Launch made{"", grid, nullptr, nullptr};
    if (timed) {
      check(cudaFuncGetName(&made.kernel, reinterpret_cast<const void*>(kernel)));
      for (auto* e : {&made.from, &made.to}) check(cudaEventCreate(e));
      check(cudaEventRecord(made.from, stream));
    }
    kernel<<<grid, threads, shared, stream>>>(arguments...);
    check(cudaGetLastError());
    if (timed) {
      check(cudaEventRecord(made.to, stream));
      launches.push_back(made);
    }
  }
  /// A line for each launch of one of `runs` equal runs: the median of its times.
  [[nodiscard]] std::string times_of(std::size_t runs) const {
    std::string out;
    const std::size_t each = launches.size() / runs;
    for (std::size_t i = 0; i < each; ++i) {
      std::vector<double> ms;
      for (std::size_t run = 0; run < runs; ++run) {
        const Launch& l = launches[run * each + i];
        float one = 0;
        check(cudaEventElapsedTime(&one, l.from, l.to));
        ms.push_back(one);
      }
      std::sort(ms.begin(), ms.end());
      const Launch& l = launches[i];
      char line[256];
      std::snprintf(line, sizeof line, "{\"launch\":%zu,\"kernel\":\"%s\",\"grid\":[%u,%u,%u],\"ms\":%.4f}\n", i, l.kernel,
                    l.grid.x, l.grid.y, l.grid.z, ms[ms.size() / 2]);
      out += line;
    }
    return out;
  }

  template <bool Prompt, To to>
  void product(bf16* out, const bf16* a, const bf16* w, int n, int depth) {
    if constexpr (Prompt)
      launch(gemm<to>, dim3(rows / kTile, n / kTile), 256, kGemmShared, out, a, w, n, depth);
    else if (rows <= 8)
      thin_product<1, to>(out, a, w, n, depth, rows);
    else if (rows <= 16)
      thin_product<2, to>(out, a, w, n, depth, rows);
    else
      thin_product<4, to>(out, a, w, n, depth, rows);
  }
  template <int Tiles, To to>
  void thin_product(void* out, const bf16* a, const bf16* w, int n, int depth, int of) {
    launch(gemv<Tiles, to>, dim3(n / 16), 128, 0, out, a, w, n, depth, of);
  }
  [[nodiscard]] Cache cache_of(int l) const {
    Cache mine = cache;
    mine.keys += l * cache_layer;
    mine.values += l * cache_layer;
    return mine;
  }

  /// x of all rows through layer l. Prompt: the rows are a prompt, else the next tokens of `rows` sequences.
  template <bool Prompt>
  void run(int l) {
    const Layer& w = layer[l];
    const Cache mine = cache_of(l);
    launch(norm, dim3(rows), 256, 0, normed, x, w.norm1, hidden);
    product<Prompt, To::Store>(qkv, normed, w.qkv, width, hidden);
    launch(rotate, dim3(rows), 256, 0, qkv, mine, turns, Prompt ? nullptr : lengths, heads);
    if constexpr (Prompt) {
      launch(attend_prompt, dim3(rows / kPage, heads), 128, kAttentionShared, attended, qkv, mine, heads);
    } else {
      launch(attend_token, dim3(splits, kv_heads, rows), 128, kAttentionShared, parts, qkv, mine, lengths, heads);
      launch(join_parts, dim3(heads, rows), kHead, 0, attended, parts, splits);
    }
    product<Prompt, To::Add>(x, attended, w.out, hidden, heads * kHead);
    launch(norm, dim3(rows), 256, 0, normed, x, w.norm2, hidden);
    product<Prompt, To::Gate>(hidden_mlp, normed, w.gate_up, 2 * inner, hidden);
    product<Prompt, To::Add>(x, hidden_mlp, w.down, hidden, inner);
  }
  void begin() { launch(embed, dim3(rows), 256, 0, x, embeddings, tokens, hidden); }
  /// The next token of each of the last `of` rows.
  template <int Tiles>
  void end(int of) {
    launch(norm, dim3(of), 256, 0, normed, x + static_cast<long>(rows - of) * hidden, last_norm, hidden);
    thin_product<Tiles, To::Logits>(logits, normed, head, vocabulary, hidden, of);
    launch(choose, dim3(of), 256, 0, tokens, lengths, logits, vocabulary);
  }
  void add_digest(unsigned long long* sum) {
    launch(digest, dim3(64), 256, 0, sum, reinterpret_cast<const unsigned*>(x), static_cast<long>(rows) * hidden / 2);
  }
};

/// What a program does with a model: it says `warm` before it measures, and how it went. Nothing of `told`: a check only.
struct Outcome {
  bool right;
  std::string told;
};

using Clock = std::chrono::steady_clock;
inline double ms_between(Clock::time_point a, Clock::time_point b) {
  return std::chrono::duration<double, std::milli>(b - a).count();
}
inline double part_of(std::vector<double> of, double part) {
  if (of.empty()) return NAN;
  std::sort(of.begin(), of.end());
  return of[static_cast<std::size_t>(part * static_cast<double>(of.size() - 1) + 0.5)];
}
template <typename... Values>
std::string text(const char* form, Values... values) {
  char out[512];
  std::snprintf(out, sizeof out, form, values...);
  return out;
}
/// Said when all is warm; goes on at once, or when a line comes.
inline void ready(bool wait) {
  std::printf("ready\n");
  std::fflush(stdout);
  if (wait) std::getchar();
}
inline cudaStream_t stream_of(int priority) {
  cudaStream_t out;
  check(cudaStreamCreateWithPriority(&out, cudaStreamNonBlocking, priority));
  return out;
}
/// A program of its own.
template <typename Work>
int alone(const Options& o, const Work& work) {
  const Outcome out = work(o, stream_of(0), [&] { ready(o.wait); });
  if (!out.told.empty()) std::printf("%s\n", out.told.c_str());
  return out.right ? 0 : 1;
}
