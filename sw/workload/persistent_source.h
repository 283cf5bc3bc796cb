// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sw/core/kernel.h"
#include "sw/workload/i_instruction_source.h"

namespace sluice {

/// How the CTAs of a kernel learn that they are to leave (EffiSha, sections 6.2 and 6.3). Basic: every warp reads host memory at
/// every block boundary. Proxy: the launch's first CTA does nothing but copy that word to GPU memory, and the others read the
/// copy. Adaptive: as Proxy, but they read it at each k-th boundary only.
enum class Polling : std::uint8_t { Basic, Proxy, Adaptive };
[[nodiscard]] std::string_view to_string(Polling polling);  ///< "basic", "proxy", "adaptive"

/// A kernel made preemptible by software.
struct SoftwarePreemption {
  Polling polling = Polling::Adaptive;
  double slice_us = 1000;  ///< Adaptive: the L of k; piv has no slice, and dprr's shortest is half of this
};

/// A kernel in the form of persistent CTAs (EffiSha, section 5): each claims block-tasks from a counter in GPU memory, one after
/// the other, until none is left or the eviction flag is set. A launch after an eviction goes on at the counter.
///
/// A round of a CTA: all warps check the flag; one thread claims the next task and hands it out through shared memory; barrier;
/// the warps run the task. What a round learns (flag, task) is kept while one of the CTA's warps is in it, so that `next` stays a
/// function of the cursor.
class PersistentSource : public IInstructionSource {
 public:
  struct Setting {
    Polling polling = Polling::Adaptive;
    std::uint64_t slice_cycles = 0;      ///< L
    std::uint64_t host_delay = 0;        ///< cycles from host memory to the SM: half a read
    std::function<std::uint64_t()> now;  ///< core cycles
  };
  /// @param tasks          instructions of the kernel; task t is its CTA t
  /// @param address_space  index of the kernel in its mix
  PersistentSource(std::unique_ptr<IInstructionSource> tasks, const KernelDescriptor& kernel, std::uint32_t address_space,
                   Setting setting);

  // The host's side.
  /// The kernel is launched, or launched again: the flag is reset. @pre no CTA of it is left
  /// @param most  CTAs that the machine holds
  /// @return CTAs to launch
  [[nodiscard]] std::uint32_t begin_launch(std::uint32_t most);
  void evict() { evicted_at_ = setting_.now(); }  ///< sets the flag in host memory
  [[nodiscard]] std::uint32_t begun() const { return begun_; }
  [[nodiscard]] std::uint32_t ended() const { return ended_; }
  [[nodiscard]] bool all_begun() const { return begun_ == tasks_; }
  /// Adaptive: the flag is read at each so manieth boundary, max(1, floor(L / (10 l))), l being the mean of the CTAs' first
  /// rounds.
  [[nodiscard]] std::uint32_t check_interval() const;

  [[nodiscard]] std::uint32_t num_registers() const override {
    return std::max(source_->num_registers(), first_register() + kRegisters);
  }
  std::uint32_t begin_cta(std::uint32_t cta) override;
  void end_cta(std::uint32_t handle) override;
  Instruction next(WarpCursor& cursor) const override;
  void lines(const WarpCursor& cursor, std::uint32_t position, std::vector<LineAccess>& lines) const override;
  [[nodiscard]] std::map<std::string, std::uint64_t> unknown_opcodes() const override { return source_->unknown_opcodes(); }

 private:
  static constexpr std::uint32_t kRegisters = 5;  ///< of the runtime
  /// They lie behind the kernel's own. Recordings do not tell how many those are: the last ones, which a kernel needs for nothing
  /// between two tasks.
  [[nodiscard]] std::uint8_t first_register() const {
    return static_cast<std::uint8_t>(std::min<std::uint32_t>(source_->num_registers(), kNoRegister - kRegisters));
  }
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  /// What a warp executes between two tasks. Positions index `code`.
  struct Program {
    std::vector<Instruction> code;
    std::uint32_t flag_known = kNone, claimed = kNone, barrier = 0;
  };
  struct Round {
    bool checks = false, leaves = false;
    std::uint32_t task = kNone, handle = 0;  ///< handle: of the task in `source_`
  };
  struct Cta {
    bool proxy = false;
    std::array<Round, 2> rounds{};                 ///< a warp is at most one round behind another
    std::uint32_t rounds_begun = 0, released = 0;  ///< released: rounds whose barrier was passed
    std::uint64_t began_at = 0;
    std::uint32_t polls = 0;  ///< of a proxy
    bool sees_flag = false, ends = false;
  };

  [[nodiscard]] Program program(bool leader, bool checks) const;
  [[nodiscard]] const Program& program_of(const WarpCursor& cursor) const;
  void begin_round(Cta& cta, std::uint32_t round) const;
  [[nodiscard]] bool host_flag_seen() const;
  void claim(Round& round) const;
  Instruction next_of_runtime(WarpCursor& cursor) const;
  Instruction next_of_task(WarpCursor& cursor) const;
  Instruction next_of_proxy(WarpCursor& cursor) const;
  [[nodiscard]] WarpCursor task_cursor(const WarpCursor& cursor) const;

  std::unique_ptr<IInstructionSource> source_;
  Setting setting_;
  std::uint32_t tasks_;
  std::uint64_t host_word_, counter_, local_word_;  ///< addresses
  std::array<std::array<Program, 2>, 2> programs_;  ///< [leader][checks]
  std::vector<Instruction> proxy_;
  bool proxy_is_next_ = false;
  // The kernel's words in memory, and what its CTAs keep in registers and shared memory: they change as warps come along.
  mutable std::uint32_t begun_ = 0, ended_ = 0;
  mutable bool local_flag_ = false;
  mutable std::uint64_t first_rounds_ = 0, first_rounds_cycles_ = 0;
  std::uint64_t evicted_at_ = std::numeric_limits<std::uint64_t>::max();
  mutable std::vector<Cta> ctas_;  ///< by handle
  std::vector<std::uint32_t> free_;
};

}  // namespace sluice
