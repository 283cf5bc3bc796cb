// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/memory.h"

#include <algorithm>
#include <cstdlib>

#include "sw/interpose/program.h"

namespace sluice::interpose {

namespace {

const char* set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace

Memory& Memory::instance() {
  static auto* memory = new Memory;
  return *memory;
}

bool Memory::counts() {
  static const bool counts = set("SLUICE_MEMORY") != nullptr || service_decides();
  return counts;
}

/// The service says its limit when the program connects: at its first allocation in a context, if it has launched nothing yet.
void Memory::ask(GpuNumber gpu) {
  {
    const std::scoped_lock held(lock_);
    if (asked_.contains(gpu)) return;
  }
  if (!current_context() || (service_decides() && gpu != current_gpu())) return;
  std::uint64_t limit = set("SLUICE_MEMORY") == nullptr ? 0 : std::strtoull(set("SLUICE_MEMORY"), nullptr, 10);
  if (service_decides()) {
    Program& program = Program::instance();
    const std::scoped_lock held(program.lock());  // before ours, as everywhere
    const std::uint64_t theirs = program.lanes().shares(gpu).memory_limit();
    if (theirs != 0) limit = limit == 0 ? theirs : std::min(limit, theirs);
  }
  const std::scoped_lock held(lock_);
  now_[gpu].limit = limit;
  asked_.insert(gpu);
}

bool Memory::reserve(std::uint64_t bytes, GpuNumber gpu) {
  ask(gpu);
  const std::scoped_lock held(lock_);
  MemoryFigures& now = now_[gpu];
  if (now.limit != 0 && (bytes > now.limit || now.used > now.limit - bytes)) {
    ++now.refused;
    return false;
  }
  now.used += bytes;  // others may allocate meanwhile
  return true;
}

void Memory::settle(std::uint64_t bytes, const std::optional<Key>& made, GpuNumber gpu) {
  const std::scoped_lock held(lock_);
  MemoryFigures& now = now_[gpu];
  if (!made) {
    now.used -= bytes;
    return;
  }
  blocks_[*made] = {bytes, made->first == Kind::Handle ? 0 : current_context().value_or(0), gpu};
  now.most = std::max(now.most, now.used);
}

void Memory::add(const Key& key, std::uint64_t bytes, GpuNumber gpu) {
  const std::scoped_lock held(lock_);
  if (bytes == 0) return;
  now_[gpu].used += bytes;
  blocks_[key] = {bytes, key.first == Kind::Handle ? 0 : current_context().value_or(0), gpu};
}

std::uint64_t Memory::freed(const Key& key) {
  const std::scoped_lock held(lock_);
  const auto known = blocks_.extract(key);
  if (known.empty()) return 0;  // allocated by a way that is not counted
  now_[known.mapped().gpu].used -= known.mapped().bytes;
  return known.mapped().bytes;
}

void Memory::context_ends(ContextId context) {
  const std::scoped_lock held(lock_);
  std::erase_if(blocks_, [&](const auto& b) {
    if (b.second.context != context) return false;
    now_[b.second.gpu].used -= b.second.bytes;
    return true;
  });
}

bool Memory::refuse_nodes() {
  const GpuNumber gpu = current_gpu();
  ask(gpu);
  const std::scoped_lock held(lock_);
  if (now_[gpu].limit == 0) return false;
  ++now_[gpu].refused;
  return true;
}

MemoryFigures Memory::figures(GpuNumber gpu) const {
  const std::scoped_lock held(lock_);
  const auto found = now_.find(gpu);
  return found == now_.end() ? MemoryFigures{} : found->second;
}

}  // namespace sluice::interpose
