// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/record/warp.h"

#include <bit>
#include <map>

namespace sluice::gpu {

namespace {

constexpr std::uint32_t kWarpSync = 1000;  // a number that no BSSY has

class WarpRun {
 public:
  WarpRun(const Walker& walker, const SassKernel& sass, const std::array<const SassPath*, 32>& paths,
          const std::function<void(const WarpStep&)>& emit)
      : walker_(walker), sass_(sass), paths_(paths), emit_(emit) {
    for (unsigned lane = 0; lane < 32; ++lane)
      if (paths[lane] != nullptr) live_ |= 1U << lane;
  }

  std::uint64_t run() {
    if (live_ != 0) ready_.push_back(live_);
    for (;;) {
      while (!ready_.empty()) {
        const std::uint32_t group = ready_.back();
        ready_.pop_back();
        step(group);
        release();
      }
      if (waiting_.empty()) return released_;
      ++released_;  // nobody can go on: those who wait longest do not get all whom they wait for
      ready_.push_back(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
    }
  }

 private:
  /// A group through one block; behind it, groups by where their threads go.
  void step(std::uint32_t group) {
    const auto first = static_cast<unsigned>(std::countr_zero(group));
    const SassBlock& block = sass_.blocks[paths_[first]->blocks[at_[first]]];
    std::uint32_t ended = 0;
    std::map<std::uint32_t, std::uint32_t> next;  // groups by their next block
    for (std::uint32_t rest = group; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      if (at_[lane] + 1 == paths_[lane]->blocks.size())
        ended |= 1U << lane;
      else
        next[paths_[lane]->blocks[at_[lane] + 1]] |= 1U << lane;
    }
    for (std::uint32_t i = block.begin; i < block.end; ++i) emit(i, group, block, ended, next);
    for (std::uint32_t rest = group; rest != 0; rest &= rest - 1) ++at_[std::countr_zero(rest)];
    live_ &= ~ended;
    const SassInstruction& last = sass_.instructions[block.end - 1];
    const bool waits = (last.name() == "BSYNC" && last.barrier) || last.name() == "WARPSYNC";
    if (waits && group != ended) {
      waiting_[last.name() == "BSYNC" ? *last.barrier : kWarpSync] |= group & ~ended;
      return;
    }
    for (const auto& [to, mask] : next) ready_.push_back(mask);
  }

  void emit(std::uint32_t i, std::uint32_t group, const SassBlock& block, std::uint32_t ended,
            const std::map<std::uint32_t, std::uint32_t>& next) {
    const SassInstruction& s = sass_.instructions[i];
    WarpStep out;
    out.instruction = i;
    out.mask = group;
    if (s.name() == "BSSY" && s.barrier) expected_[*s.barrier] = group;
    if (s.name() == "BREAK" && s.barrier) expected_[*s.barrier] &= ~group;
    if (i + 1 == block.end) {
      out.leaving = ended;
      if (block.target && !block.ends)
        if (const auto found = next.find(*block.target); found != next.end()) out.leaving = found->second;
    }
    if (walker_.has_use(i))
      for (std::uint32_t rest = group; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        out.uses[lane] = paths_[lane]->uses[paths_[lane]->first_use[at_[lane]] + walker_.ordinal(i)];
      }
    emit_(out);
  }

  /// Those who wait at a barrier go on when all have come who were there when it was set, but for those who have ended.
  void release() {
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      const std::uint32_t needed = (at->first == kWarpSync ? live_ : expected_[at->first]) & live_;
      if ((needed & ~at->second) == 0) {
        std::map<std::uint32_t, std::uint32_t> next;
        for (std::uint32_t rest = at->second; rest != 0; rest &= rest - 1) {
          const auto lane = static_cast<unsigned>(std::countr_zero(rest));
          next[paths_[lane]->blocks[at_[lane]]] |= 1U << lane;
        }
        for (const auto& [to, mask] : next) ready_.push_back(mask);
        at = waiting_.erase(at);
      } else {
        ++at;
      }
    }
  }

  const Walker& walker_;
  const SassKernel& sass_;
  const std::array<const SassPath*, 32>& paths_;
  const std::function<void(const WarpStep&)>& emit_;
  std::array<std::size_t, 32> at_{};
  std::uint32_t live_ = 0;
  std::vector<std::uint32_t> ready_;
  std::map<std::uint32_t, std::uint32_t> expected_, waiting_;  // by barrier
  std::uint64_t released_ = 0;
};

}  // namespace

std::uint64_t run_warp(const Walker& walker, const SassKernel& sass, const std::array<const SassPath*, 32>& paths,
                       const std::function<void(const WarpStep&)>& emit) {
  return WarpRun(walker, sass, paths, emit).run();
}

}  // namespace sluice::gpu
