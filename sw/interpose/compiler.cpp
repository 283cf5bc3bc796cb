// SPDX-License-Identifier: Apache-2.0
// lib/sluice/compiler PTXAS STAMP KEY SM DRIVER VARIABLES REGISTERS: PTX from standard input, transformed and assembled with the
// CUDA toolkit's assembler, to standard output and to the cache. In a process of its own: it goes on when the program that wants
// the code has ended. Exit code 1 where the driver's linker has to do it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "sw/gpu/source/program.h"
#include "sw/interpose/cache.h"
#include "sw/interpose/module_code.h"

namespace sluice::interpose {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Ptxas {
 public:
  Ptxas(std::string path, unsigned sm) : path_(std::move(path)), sm_(sm) {}
  /// Of the CUDA toolkit that it is from; 0: it does not say.
  [[nodiscard]] int major() const {
    static_cast<void>(gpu::run_program({path_, "--version"}, scratch_.path() / "words"));
    std::smatch release;
    const std::string words = contents(scratch_.path() / "words");
    return std::regex_search(words, release, std::regex(R"(release (\d+)\.)")) ? std::atoi(release[1].str().c_str()) : 0;
  }
  [[nodiscard]] std::vector<char> assembled(const std::string& ptx) const {
    const fs::path in = scratch_.path() / "in.ptx", out = scratch_.path() / "out.cubin", words = scratch_.path() / "words";
    std::ofstream text(in, std::ios::binary);
    text << ptx;
    text.close();
    std::smatch own;  // of a variant, as sm_90a: its code is for that alone
    std::string arch = "sm_" + std::to_string(sm_);
    if (std::regex_search(ptx, own, std::regex(R"(\.target\s+(sm_\d+[a-z]))"))) arch = own[1];
    if (!text || gpu::run_program({path_, "-arch", arch, in, "-o", out}, words) != 0) throw std::runtime_error(contents(words));
    const std::string code = contents(out);
    return {code.begin(), code.end()};
  }

 private:
  std::string path_;
  unsigned sm_;
  gpu::Scratch scratch_;
};

/// The driver takes what it makes.
bool loads(const Cache& cache, const Ptxas& ptxas, const std::string& stamp, int driver) {
  constexpr int kMajor = 1000;
  const std::string key = "toolkit-" + stamp;
  if (const auto kept = cache.load(key)) return std::atoi(kept->c_str()) <= driver / kMajor;
  const int major = ptxas.major();
  cache.store(key, std::to_string(major));
  return major <= driver / kMajor;
}

int compile(const std::string& path, const std::string& stamp, const std::string& key, unsigned sm, int driver, bool variables,
            unsigned registers) {
  const Ptxas ptxas(path, sm);
  const Cache cache = Cache::of_user();
  if (!loads(cache, ptxas, stamp, driver)) return 1;
  const std::string ptx{std::istreambuf_iterator<char>(std::cin), {}};
  const Code code = made(ptx, variables, registers, [&](const std::string& text) { return ptxas.assembled(text); });
  const auto not_assembled = [](const auto& k) { return k.second.refusal && k.second.refusal->rule == gpu::GateRule::Assembles; };
  if (std::ranges::any_of(code.kernels, not_assembled)) return 1;  // perhaps it is too old for this PTX
  const std::string all = packed(code);
  cache.store(key, all);
  return std::fwrite(all.data(), 1, all.size(), stdout) == all.size() && std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace sluice::interpose

int main(int argc, char** argv) {
  if (argc != 8) return 1;
  try {
    return sluice::interpose::compile(argv[1], argv[2], argv[3], static_cast<unsigned>(std::atoi(argv[4])), std::atoi(argv[5]),
                                      argv[6][0] == '1', static_cast<unsigned>(std::atoi(argv[7])));
  } catch (const std::exception&) {
    return 1;
  }
}
