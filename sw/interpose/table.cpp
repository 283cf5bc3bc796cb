// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/table.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <mutex>

extern "C" {
// The forwarders' words (generate.py): lazily set, so that a process that never calls the driver opens no library.
extern std::array<std::atomic<void*>, sluice::interpose::kSymbols> sluice_table;  // NOLINT(readability-redundant-declaration)
__attribute__((visibility("hidden"))) void* sluice_resolve(std::uint64_t index);
}

namespace sluice::interpose {

namespace {

constexpr std::array<const char*, kSymbols> kNames = {
#define X(NAME) #NAME,
#include "interpose_symbols.inc"
#undef X
};

CUresult no_driver() { return CUDA_ERROR_NO_DEVICE; }
CUresult not_in_this_driver() { return CUDA_ERROR_NOT_FOUND; }

std::array<void*, kSymbols> g_real{};
bool g_opened = false;

void open_driver() {
  Dl_info self{};
  dladdr(reinterpret_cast<void*>(&open_driver), &self);
  const std::string path = find_driver(self.dli_fname == nullptr ? "" : self.dli_fname);
  void* library = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr && !path.empty()) std::fprintf(stderr, "sluice: %s\n", dlerror());
  g_opened = library != nullptr;
  for (unsigned i = 0; i < kSymbols && g_opened; ++i) g_real[i] = dlsym(library, kNames[i]);
  for (unsigned i = 0; i < kSymbols; ++i) {
    void* ours = hook(static_cast<Symbol>(i));
    void* none = reinterpret_cast<void*>(g_opened ? &not_in_this_driver : &no_driver);
    sluice_table[i].store(g_real[i] == nullptr ? none : ours != nullptr ? ours : g_real[i], std::memory_order_release);
  }
}

void open_once() {
  static std::once_flag once;
  std::call_once(once, open_driver);
}

}  // namespace

void* real(Symbol symbol) {
  open_once();
  return g_real[symbol];
}

void* substitute(std::string_view name, int version, unsigned long long flags, void* found) {
  if (found == nullptr) return found;
  for (unsigned i = 0; i < kSymbols; ++i)
    if (g_real[i] == found) return hook(static_cast<Symbol>(i)) == nullptr ? found : hook(static_cast<Symbol>(i));
  std::string exported(name);  // the driver may answer with a function that it does not export
  const auto named = [&](const std::string& wanted) -> void* {
    for (unsigned i = 0; i < kSymbols; ++i)
      if (wanted == kNames[i]) return g_real[i] == nullptr ? nullptr : hook(static_cast<Symbol>(i));
    return nullptr;
  };
  if ((flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0)
    if (void* ours = named(exported + "_ptsz")) return ours;
  if (name == "cuGetProcAddress" && version >= 12000) exported += "_v2";
  for (const char* second : {"cuStreamDestroy", "cuCtxDestroy", "cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxReset"})
    if (name == second) exported += "_v2";
  const bool known =
      std::ranges::any_of(kNames, [&](std::string_view n) { return n == exported || n.starts_with(exported + "_"); });
  if (!known && name.find("Launch") != std::string_view::npos)
    std::fprintf(stderr, "sluice: %s: unknown to this build: what it launches is not under quota\n", exported.c_str());
  void* ours = named(exported);
  return ours == nullptr ? found : ours;
}

}  // namespace sluice::interpose

void* sluice_resolve(std::uint64_t index) {
  static_cast<void>(sluice::interpose::real(static_cast<sluice::interpose::Symbol>(index)));
  return sluice_table[index].load(std::memory_order_acquire);
}
