// SPDX-License-Identifier: Apache-2.0
#include "sw/workload/synthetic_source.h"

#include <algorithm>
#include <cmath>

namespace sluice {

namespace {

std::uint64_t mix(std::uint64_t x) {  // splitmix64's finaliser
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

double unit(std::uint64_t x) { return static_cast<double>(x >> 11) * 0x1p-53; }

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() { return mix(state_++); }
  double uniform() { return unit(next()); }

 private:
  std::uint64_t state_;
};

std::uint32_t rounded(double x) { return static_cast<std::uint32_t>(std::lround(x)); }

std::uint64_t name_hash(const std::string& name) {
  std::uint64_t hash = 0;
  for (const char c : name) hash = mix(hash ^ static_cast<unsigned char>(c));
  return hash;
}

}  // namespace

SyntheticSource::SyntheticSource(const KernelDescriptor& kernel, std::uint32_t address_space, std::uint32_t most_ctas,
                                 std::uint64_t seed)
    : behaviour_(kernel.behaviour),
      warps_per_cta_(kernel.warps_per_cta()),
      last_warp_lanes_(kernel.block_threads - (kernel.warps_per_cta() - 1) * kWarpSize),
      seed_(mix(seed ^ name_hash(kernel.name) ^ address_space)),
      reuse_regions_(most_ctas),
      base_((static_cast<std::uint64_t>(address_space) + 1) << 44) {
  Random random(mix(seed ^ name_hash(kernel.name)));
  std::vector<OpClass> ops;
  ops.insert(ops.end(), rounded(behaviour_.sfu_fraction * kBody), OpClass::Sfu);
  ops.insert(ops.end(), rounded(behaviour_.load_fraction * kBody), OpClass::Load);
  ops.insert(ops.end(), rounded(behaviour_.store_fraction * kBody), OpClass::Store);
  ops.insert(ops.end(), rounded(behaviour_.shared_fraction * kBody), OpClass::Shared);
  ops.resize(kBody, OpClass::Alu);
  for (std::uint32_t i = kBody - 1; i > 0; --i) std::swap(ops[i], ops[random.next() % (i + 1)]);
  if (behaviour_.barrier_interval != 0) {
    for (std::uint32_t i = behaviour_.barrier_interval - 1; i < kBody; i += behaviour_.barrier_interval)
      ops[i] = OpClass::Barrier;
  }

  if (kernel.phase) {
    KernelDescriptor late = kernel;
    late.behaviour = kernel.phase->behaviour;
    late.phase.reset();
    phase_from_ = kernel.phase->from_cta;
    phase_ = std::make_unique<SyntheticSource>(late, address_space, most_ctas, seed);
  }

  double alu_owed = 0, fetch_owed = 0;
  const double step = 1.0 / std::max(1.0, behaviour_.dependency_distance);
  for (std::uint32_t i = 0; i < kBody; ++i) {
    Instruction instruction;
    instruction.op = ops[i];
    if (ops[i] != OpClass::Store && ops[i] != OpClass::Barrier) instruction.dst = static_cast<std::uint8_t>(i % kRegisters);
    // Geometric distance with the stated mean to the producer of the operand.
    std::uint32_t distance = 1;
    while (distance < kRegisters - 1 && random.uniform() >= step) ++distance;
    if (ops[i] != OpClass::Barrier) instruction.src[0] = static_cast<std::uint8_t>((i + kRegisters - distance) % kRegisters);
    if (ops[i] == OpClass::Alu) {
      alu_owed += behaviour_.alu_interval;
      instruction.interval = static_cast<std::uint8_t>(std::max(1.0, std::floor(alu_owed + random.uniform() * 0.999)));
      alu_owed -= instruction.interval;
    }
    fetch_owed += behaviour_.fetch_interval;
    // Instruction-buffer misses come in lumps of a line, eight instructions' worth at a time, and no longer ones than a field
    // holds.
    if (i % 8 == 7 || fetch_owed >= 255) {
      instruction.fetch_cycles = static_cast<std::uint8_t>(std::min(255.0, std::floor(fetch_owed)));
      fetch_owed -= instruction.fetch_cycles;
    }
    global_rank_.push_back(globals_per_body_);
    if (ops[i] == OpClass::Load || ops[i] == OpClass::Store) ++globals_per_body_;
    body_.push_back(instruction);
  }
}

std::uint32_t SyntheticSource::body_offset(const WarpCursor& cursor) const {
  return static_cast<std::uint32_t>(mix(seed_ + cursor.cta) % kBody);
}

Instruction SyntheticSource::next(WarpCursor& cursor) const {
  if (cursor.cta >= phase_from_) return phase_->next(cursor);
  if (cursor.position >= behaviour_.warp_instructions) return {};
  Instruction instruction = body_[(body_offset(cursor) + cursor.position++) % kBody];
  if (behaviour_.code_bytes != 0) {
    constexpr std::uint32_t kInstructionBytes = 16;  // as in the traces: SASS since Volta
    instruction.pc = (body_offset(cursor) + cursor.position - 1) * kInstructionBytes % behaviour_.code_bytes;
  }
  if (cursor.warp + 1 == warps_per_cta_) instruction.active_lanes = static_cast<std::uint8_t>(last_warp_lanes_);
  return instruction;
}

void SyntheticSource::lines(const WarpCursor& cursor, std::uint32_t position, std::vector<LineAccess>& lines) const {
  if (cursor.cta >= phase_from_) return phase_->lines(cursor, position, lines);
  const std::uint32_t walked = body_offset(cursor) + position;
  const std::uint64_t access = static_cast<std::uint64_t>(walked / kBody) * globals_per_body_ + global_rank_[walked % kBody];
  const std::uint64_t warp = static_cast<std::uint64_t>(cursor.cta) * warps_per_cta_ + cursor.warp;
  const std::uint64_t key = mix(seed_ ^ mix(warp << 32 ^ access));
  const double whole = std::floor(behaviour_.transactions);
  const auto count = static_cast<std::uint32_t>(whole) + (unit(mix(key)) < behaviour_.transactions - whole ? 1U : 0U);
  // Streams: every CTA walks its own chunk, its warps side by side, so that neighbours in time are neighbours in memory.
  const std::uint64_t chunk = static_cast<std::uint64_t>(cursor.cta) << 16;
  for (std::uint32_t t = 0; t < std::max(1U, count); ++t) {
    const std::uint64_t draw = mix(key + t + 1);
    const double kind = unit(draw);
    const std::uint64_t index = mix(draw);
    std::uint64_t line = 0;
    if (kind < behaviour_.reuse_fraction) {
      line = static_cast<std::uint64_t>(cursor.cta % reuse_regions_) * behaviour_.reuse_lines +
             index % std::max(1U, behaviour_.reuse_lines);
    } else if (kind < behaviour_.reuse_fraction + behaviour_.footprint_fraction) {
      line = (std::uint64_t{1} << 30) + index % std::max(1U, behaviour_.footprint_lines);
    } else if (unit(mix(index)) < behaviour_.row_locality) {
      line = (std::uint64_t{1} << 32) +
             ((chunk + (access * std::max(1U, count) + t) * warps_per_cta_ + cursor.warp) & 0xffffffffULL);
    } else {
      line = (std::uint64_t{1} << 33) + index % (std::uint64_t{1} << 32);
    }
    lines.push_back({base_ + line * kLineBytes, static_cast<std::uint8_t>((1U << behaviour_.sectors) - 1)});
  }
}

}  // namespace sluice
