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
extern std::array<void*, sluice::interpose::kSymbols - sluice::interpose::ksluice_spare_0>
    sluice_spares;  // NOLINT(readability-redundant-declaration)
__attribute__((visibility("hidden"))) void* sluice_resolve(std::uint64_t index);
}

namespace sluice::interpose {

namespace {

#define NATIVE(NAME)
constexpr std::array<const char*, kSymbols> kNames = {
#define X(NAME) #NAME,
#include "interpose_symbols.inc"
#undef X
};
#undef NATIVE
/// These launch, and nothing of ours stands in front of them.
bool is_native(unsigned symbol) {
#define X(NAME)
#define NATIVE(NAME) \
  if (symbol == k##NAME) return true;
#include "interpose_symbols.inc"
#undef NATIVE
#undef X
  return symbol >= ksluice_spare_0;
}

CUresult no_driver() { return CUDA_ERROR_NO_DEVICE; }
CUresult not_in_this_driver() { return CUDA_ERROR_NOT_FOUND; }

std::array<void*, kSymbols> g_real{};
bool g_opened = false;
std::set<std::string> g_exports;
std::mutex g_spares_lock;
std::array<std::string, kSymbols - ksluice_spare_0> g_spares;  // whose they are

bool is_known(const std::string& name) {
  if (name.starts_with("cuGL")) return true;  // maps OpenGL's buffers; the toolkit's stub has none of these
  return std::ranges::any_of(kNames, [&, newer = name + "_"](std::string_view n) { return n == name || n.starts_with(newer); });
}
/// As the functions do that put work in a stream, it has a form for the threads' own default streams.
bool launches(const std::string& name) {
  return name.find("Launch") != std::string::npos || g_exports.contains(name + "_ptsz") || g_exports.contains(name + "_ptds");
}

/// What a newer driver has.
void tell_of_unknown_launches() {
  std::string unknown;
  for (const std::string& name : g_exports)
    if (launches(name) && !is_known(name)) unknown += (unknown.empty() ? "" : ", ") + name;
  if (unknown.empty()) return;
  std::fprintf(stderr, "sluice: this driver may launch in ways that this build does not know, and that stay native: %s\n",
               unknown.c_str());
}

/// A forwarder for a function that launches. @return null: there is none left
void* spare_for(const std::string& name, void* found) {
  const std::scoped_lock held(g_spares_lock);
  for (std::size_t i = 0; i < g_spares.size(); ++i) {
    if (!g_spares[i].empty() && g_real[ksluice_spare_0 + i] != found) continue;
    g_real[ksluice_spare_0 + i] = found;
    g_spares[i] = name;
    return sluice_spares[i];
  }
  return nullptr;
}

void open_driver() {
  Dl_info self{};
  dladdr(reinterpret_cast<void*>(&open_driver), &self);
  const std::string path = find_driver(self.dli_fname == nullptr ? "" : self.dli_fname);
  void* library = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr && !path.empty()) std::fprintf(stderr, "sluice: %s\n", dlerror());
  g_opened = library != nullptr;
  for (unsigned i = 0; i < ksluice_spare_0 && g_opened; ++i) g_real[i] = dlsym(library, kNames[i]);
  if (g_opened) g_exports = exports_of(path);
  tell_of_unknown_launches();
  for (unsigned i = 0; i < kSymbols; ++i) {
    void* ours = hook(static_cast<Symbol>(i));
    if (is_native(i) && (i >= ksluice_spare_0 || g_real[i] != nullptr)) continue;  // each call comes to sluice_resolve
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
  for (unsigned i = 0; i < ksluice_spare_0; ++i) {
    void* const ours = hook(static_cast<Symbol>(i));
    if (g_real[i] == found) return is_native(i) ? spare_for(kNames[i], found) : ours == nullptr ? found : ours;
  }
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
  if (!is_known(exported) && launches(exported)) return spare_for(exported, found);
  void* ours = named(exported);
  return ours == nullptr ? found : ours;
}

}  // namespace sluice::interpose

void* sluice_resolve(std::uint64_t index) {
  using namespace sluice::interpose;  // NOLINT(google-build-using-namespace): of this file
  void* const driver = real(static_cast<Symbol>(index));
  if (!is_native(static_cast<unsigned>(index)) || driver == nullptr) return sluice_table[index].load(std::memory_order_acquire);
  launches_natively(index < ksluice_spare_0 ? kNames[index] : g_spares[index - ksluice_spare_0]);
  return driver;
}
