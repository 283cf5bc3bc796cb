// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sw/gpu/record/lane_path.h"
#include "sw/gpu/record/listing.h"

namespace sluice::gpu {

/// What is known of an instruction that has an address or a predicate, of one execution by one thread: kOff, kOn, or the word of
/// the thread's log that has the address or the predicate.
using Use = std::uint32_t;
inline constexpr Use kOff = 0xffffffff;      ///< a predicate switched it off
inline constexpr Use kOn = 0xfffffffe;       ///< it ran, and no word belongs to it
inline constexpr Use kUnknown = 0xfffffffd;  ///< it ran as far as is known, and no word belongs to it that should

/// The way of a thread through the SASS.
struct SassPath {
  std::vector<std::uint32_t> blocks;
  std::vector<std::uint32_t> first_use;  ///< of each block: index into uses
  std::vector<Use> uses;                 ///< of the instructions with one (Walker::has_use), in the order of execution
  std::uint64_t guessed_branches = 0;    ///< branches inside one PTX instruction: the shorter way is taken
  std::uint64_t other_way = 0;           ///< instructions by which another way differs that explains the path as well
  std::uint64_t merged_accesses = 0;     ///< accesses of the PTX that the SASS has more or fewer of: joined in order
  bool found = false;                    ///< there is a way that explains the thread's path
};

/// Finds a thread's way through the SASS that explains its way through the PTX.
///
/// Of each block of PTX one statement stands for it: one that the SASS has as often as it has the block (a store, a barrier or a
/// load where there is one). A way explains a path if the instructions of these statements come in the order of the path's
/// blocks; within a block of SASS, which the assembler has put in an order of its own, in any order. Predicated ones of blocks
/// that the assembler has joined run if the path has them next, unless the branches before them have decided it. Of several ways
/// the one with the fewest instructions is taken: a loop that is unrolled goes through its unrolled body as long as it can. That
/// is a guess where a predicated copy of a body may have run or not: the other way is looked for, and what it has more or less is
/// counted. Where no way explains a path, other statements can be tried (learn).
class Walker {
 public:
  Walker(const RecordPlan& plan, const SassKernel& sass);
  /// Chooses other statements to stand for blocks where no way explains the path. Before the first walk: a choice is for all.
  void learn(const LanePath& path);
  [[nodiscard]] SassPath walk(const LanePath& path) const;
  [[nodiscard]] bool has_use(std::uint32_t instruction) const { return ordinal_[instruction] != kNone; }
  [[nodiscard]] std::uint32_t ordinal(std::uint32_t instruction) const { return ordinal_[instruction]; }  ///< within its block
  [[nodiscard]] const PtxLine* line_of(std::uint32_t instruction) const;

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  struct Mark {  // an instruction that stands for a block of PTX
    std::uint32_t block, instruction;
    bool optional;
  };
  struct Otherwise {  // predicated copies, in a block of SASS, of a block of PTX: all run, or none
    std::uint32_t block, of;
    bool runs;
  };
  struct SearchEnd {  // where a search ended: how much of the path was explained, and in front of which blocks of SASS
    std::size_t path = 0;
    std::vector<std::uint32_t> blocks;
  };
  enum class Presence : std::uint8_t { Always, Maybe, Never };
  using Key = std::pair<std::uint32_t, std::string_view>;  // line and opcode
  void choose_marks();
  void place_marks();
  [[nodiscard]] static Presence presence(const Mark& mark, std::uint32_t block, const Otherwise* otherwise);
  bool consume(std::uint32_t block, const std::vector<std::uint32_t>& path, std::size_t& at, std::vector<bool>* taken,
               const Otherwise* otherwise = nullptr) const;
  [[nodiscard]] std::vector<std::uint32_t> find(const std::vector<std::uint32_t>& path, const Otherwise* otherwise = nullptr,
                                                SearchEnd* end = nullptr) const;
  [[nodiscard]] std::vector<std::uint32_t> marked_of(const LanePath& path) const;
  [[nodiscard]] std::uint64_t length(const std::vector<std::uint32_t>& way) const;  // in instructions
  [[nodiscard]] std::uint64_t other_way(const std::vector<std::uint32_t>& path, const std::vector<std::uint32_t>& way) const;
  void attach(const LanePath& path, SassPath& out) const;

  const RecordPlan& plan_;
  const SassKernel& sass_;
  std::vector<std::vector<Key>> candidates_;  // of each block of PTX: statements that may stand for it, the best first
  std::vector<std::size_t> choice_;           // of each: which one does
  std::vector<std::vector<Mark>> marks_;      // of each block of SASS
  std::vector<bool> marked_;                  // blocks of PTX that something stands for
  std::vector<bool> loops_;                   // blocks of PTX that are in a loop
  std::vector<std::uint32_t> copies_;         // of blocks of PTX: what stands for them in the SASS
  std::vector<std::uint32_t> ordinal_;
  std::vector<std::optional<bool>> decided_;  // guards whose value is known
};

/// Where in the thread's stack an access is, if it says so itself: registers that were put aside.
[[nodiscard]] std::optional<std::uint32_t> stack_offset(const SassInstruction& instruction);

/// Whether a trace has addresses of this instruction.
[[nodiscard]] bool has_addresses(std::string_view name);

}  // namespace sluice::gpu
