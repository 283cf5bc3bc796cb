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
  static const bool counts = set("SLUICE_MEMORY") != nullptr || set("SLUICE_SOCKET") != nullptr;
  return counts;
}

/// The service says its limit when the program connects: at its first allocation in a context, if it has launched nothing yet.
void Memory::ask() {
  if (asked_ || !current_context()) return;
  std::uint64_t limit = set("SLUICE_MEMORY") == nullptr ? 0 : std::strtoull(set("SLUICE_MEMORY"), nullptr, 10);
  if (set("SLUICE_SOCKET") != nullptr) {
    Program& program = Program::instance();
    const std::scoped_lock held(program.lock());  // before ours, as everywhere
    const std::uint64_t theirs = program.lanes().shares().memory_limit();
    if (theirs != 0) limit = limit == 0 ? theirs : std::min(limit, theirs);
  }
  const std::scoped_lock held(lock_);
  now_.limit = limit;
  asked_ = true;
}

bool Memory::reserve(std::uint64_t bytes) {
  ask();
  const std::scoped_lock held(lock_);
  if (now_.limit != 0 && (bytes > now_.limit || now_.used > now_.limit - bytes)) {
    ++now_.refused;
    return false;
  }
  now_.used += bytes;  // others may allocate meanwhile
  return true;
}

void Memory::settle(std::uint64_t bytes, const std::optional<Key>& made) {
  const std::scoped_lock held(lock_);
  if (!made) {
    now_.used -= bytes;
    return;
  }
  blocks_[*made] = {bytes, made->first == Kind::Handle ? 0 : current_context().value_or(0)};
  now_.most = std::max(now_.most, now_.used);
}

void Memory::add(const Key& key, std::uint64_t bytes) {
  const std::scoped_lock held(lock_);
  if (bytes == 0) return;
  now_.used += bytes;
  blocks_[key] = {bytes, key.first == Kind::Handle ? 0 : current_context().value_or(0)};
}

std::uint64_t Memory::freed(const Key& key) {
  const std::scoped_lock held(lock_);
  const auto known = blocks_.extract(key);
  if (known.empty()) return 0;  // allocated by a way that is not counted
  now_.used -= known.mapped().bytes;
  return known.mapped().bytes;
}

void Memory::context_ends(ContextId context) {
  const std::scoped_lock held(lock_);
  std::erase_if(blocks_, [&](const auto& b) {
    if (b.second.context != context) return false;
    now_.used -= b.second.bytes;
    return true;
  });
}

bool Memory::refuse_nodes() {
  ask();
  const std::scoped_lock held(lock_);
  if (now_.limit == 0) return false;
  ++now_.refused;
  return true;
}

MemoryFigures Memory::figures() const {
  const std::scoped_lock held(lock_);
  return now_;
}

}  // namespace sluice::interpose
