// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <exception>
#include <optional>
#include <systemc>
#include <vector>

#include "sw/core/counters.h"
#include "sw/core/machine.h"
#include "sw/workload/i_instruction_source.h"
#include "systemc/memory/packet.h"
#include "systemc/sim/sim_clock.h"
#include "systemc/sm/control_barriers.h"
#include "systemc/sm/fetch_unit.h"
#include "systemc/sm/ldst_unit.h"
#include "systemc/sm/pipelines.h"
#include "systemc/sm/register_banks.h"
#include "systemc/sm/scoreboard.h"
#include "systemc/sm/stall_breakdown.h"
#include "systemc/sm/warp_scheduler.h"

namespace sluice {

class PersistentSource;

/// A kernel as the SMs see it while it runs.
struct RunningKernel {
  KernelDescriptor descriptor;
  IInstructionSource* source = nullptr;
  std::uint64_t issued = 0;             ///< warp instructions so far, all SMs
  std::uint64_t target = 0;             ///< 0 = none
  std::uint32_t grid = 0;               ///< CTAs after which the kernel is over; 0 = launched again and again
  PersistentSource* workers = nullptr;  ///< its source, where CTAs are workers that claim the CTAs of the grid: `grid` is 0 then
  std::exception_ptr error;             ///< why its source could not begin a CTA; the simulation stops then
  std::uint64_t stores = 0;             ///< lines of its stores that are not acknowledged, all SMs
};

/// What an SM tells the CTA dispatcher.
class ISmListener {
 public:
  virtual ~ISmListener() = default;
  virtual void cta_completed(SmId sm, KernelId kernel, std::uint32_t slot) = 0;
  virtual void target_reached(KernelId kernel) = 0;
  virtual void stores_acknowledged(KernelId kernel) = 0;  ///< all that are issued
};

/// One streaming multiprocessor at warp level: schedulers, instruction supply, scoreboard, ALU / SFU / LDST pipelines with
/// initiation intervals, barriers. One SC_METHOD runs per active cycle; a cycle in which nothing can change is skipped, and
/// accounted for on the next one. Results arrive as busy-until times, so an ALU result costs no event.
class StreamingMultiprocessor : public sc_core::sc_module, private LdstUnit::IOwner {
 public:
  SC_HAS_PROCESS(StreamingMultiprocessor);
  StreamingMultiprocessor(const sc_core::sc_module_name& name, SmId id, const MachineConfig& machine, SimClock clock,
                          PacketPool& pool, std::vector<RunningKernel>& kernels, std::vector<KernelCounters>& counters,
                          ISmListener& listener);

  tlm_utils::simple_initiator_socket<StreamingMultiprocessor> memory;

  /// Starts a CTA; the caller (CTA dispatcher) has checked its resources. `slot` names it on the timeline; its set-up does not
  /// begin before cycle `earliest`.
  void launch_cta(KernelId kernel, std::uint32_t cta_index, std::uint32_t slot, std::uint64_t earliest);
  /// Ends every CTA of a kernel at once, without cta_completed: the kernel is over (its target reached).
  void kill(KernelId kernel);

  /// What it did in the current cycle, once its turn in it is over.
  struct Activity {
    std::array<std::optional<KernelId>, kMaxSchedulers> issued;  ///< by scheduler: whose warp instruction
    bool memory_stall = false;                                   ///< nothing issued: long memory latency
    bool request = false;                                        ///< a line, or the request for one, left for L2
  };
  [[nodiscard]] Activity activity() const;
  /// Stall counters up to now.
  [[nodiscard]] StallCycles stalls();
  /// The same cycles by what most of one kernel's warps waited for; idle: it has none here.
  [[nodiscard]] StallCycles stalls(KernelId kernel);

 private:
  static constexpr std::uint64_t bit(std::uint32_t i) { return std::uint64_t{1} << i; }
  struct Warp {
    Instruction next;
    WarpCursor cursor;
    std::uint64_t ready_cycle = 0;
    std::uint64_t stall_end = 0;   ///< cycle in which its stall count is over, less held_ cycles till then
    std::uint64_t generation = 0;  ///< counts the uses of this slot
    std::uint32_t kernel = 0, cta_slot = 0, outstanding = 0;  ///< outstanding: memory instructions to be answered
    Barriers barriers;
    CopyGroups copies;
    enum class State : std::uint8_t { Free, Running, WaitsForLoad, WaitsForFetch, AtBarrier, Draining } state = State::Free;
  };
  struct Cta {
    std::uint32_t kernel = 0, live_warps = 0, at_barrier = 0;
    std::uint64_t warps = 0;   ///< bit mask of its warp slots
    std::uint32_t handle = 0;  ///< of its instruction source
    bool used = false;
    std::uint32_t index = 0, slot = 0;  ///< in its grid; on this SM
    std::uint32_t begun = 0;            ///< of its warps; the others find no free warp slot
    std::uint64_t age = 0;
  };
  /// A slot whose CTAs' warps go on by themselves: its warps take those of one CTA after the other.
  struct Worker {
    std::uint32_t warps = 0;  ///< that run
    std::uint32_t cta = 0;    ///< the last one that was handed out
    bool asks = false;        ///< all of that one's warps are taken, and the next one was asked for
  };

  tlm::tlm_sync_enum memory_response(tlm::tlm_generic_payload& packet, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void access_done(const AccessInFlight& access, std::uint64_t cycle) override;
  void send_line(const LineRequest& request) override;

  void tick();  ///< SC_METHOD
  void account_to(std::uint64_t cycle);
  void wake_due_warps(std::uint64_t now);
  unsigned issue_all(std::uint64_t now);
  void issue(std::uint32_t slot, std::uint64_t now);
  void read_registers(std::uint32_t slot, const Instruction& instruction, std::uint64_t now);  ///< of the banks
  void advance(std::uint32_t slot, std::uint64_t earliest);  ///< fetch the next instruction; it issues from `earliest` on
  void fetch(std::uint32_t slot, std::uint64_t earliest);
  void ask_for_instructions(const Warp& warp);  ///< unless its line is on its way, or no way is free
  [[nodiscard]] static std::uint64_t code_address(const Warp& warp);
  void instructions_arrived(std::uint64_t address, std::uint64_t now);
  void receive(std::uint64_t now);  ///< responses that are due
  void enter_barrier(std::uint32_t slot);
  void release_barrier(Cta& cta);
  void finish_warp(std::uint32_t slot);
  /// Does a kernel's CTA find its next block by itself, warp by warp? The runtime's CTAs whose last warp is not full do.
  [[nodiscard]] bool apart(const KernelDescriptor& kernel) const {
    return config_.cta_launch_latency_apart != 0 && kernel.block_threads % kWarpSize != 0;
  }
  std::uint32_t free_cta(std::uint32_t slot, bool apart);                        ///< where a new CTA is kept
  void begin_warps(std::uint32_t cta, std::uint32_t most, std::uint64_t cycle);  ///< of its warps as many as find a place
  void next_piece(Worker& worker, std::uint32_t slot);                           ///< a warp of this CTA slot is free
  void schedule_wake(std::uint32_t slot);
  [[nodiscard]] std::uint64_t ready_cycle(std::uint32_t slot) const {
    const Warp& warp = warps_[slot];
    return std::max(warp.ready_cycle, warp.stall_end + held_[scheduler_index(slot)].cycles);
  }
  void classify(std::uint64_t now);  ///< why nothing was issued
  [[nodiscard]] std::uint64_t next_event(std::uint64_t now, bool issued) const;

  /// First cycle in which the warp's next instruction finds what it waits for.
  [[nodiscard]] std::uint64_t operands_ready(std::uint32_t slot) const {
    const Warp& warp = warps_[slot];
    if (warp.next.copies == CopyRole::Wait && !warp.copies.done(warp.next.groups_left)) return kNever;
    return warp.next.timed ? warp.barriers.ready(warp.next.waits) : scoreboard_.operands_ready(slot, warp.next);
  }
  [[nodiscard]] std::uint32_t scheduler_index(std::uint32_t slot) const { return slot % config_.schedulers; }
  WarpScheduler& scheduler_of(std::uint32_t slot) { return schedulers_[scheduler_index(slot)]; }
  [[nodiscard]] std::uint32_t lane_of(std::uint32_t slot) const { return slot / config_.schedulers; }

  SmId id_;
  SmConfig config_;
  SimClock clock_;
  PacketPool& pool_;
  std::vector<RunningKernel>& kernels_;
  std::vector<KernelCounters>& counters_;
  ISmListener& listener_;
  LdstUnit ldst_;
  FetchUnit fetch_;
  std::uint64_t fetch_waiters_ = 0;  ///< warp slots that wait for a line of instructions

  std::vector<Warp> warps_;
  std::deque<Cta> ctas_;                ///< by slot; behind them those whose warps went on to another
  std::vector<Worker> workers_;         ///< by slot
  std::vector<std::uint32_t> waiting_;  ///< CTAs whose warps found no free warp slot: those that went on had them still
  Scoreboard scoreboard_;
  std::vector<WarpScheduler> schedulers_;
  Pipelines pipelines_;
  RegisterBanks banks_;
  struct Held {
    std::uint64_t cycles = 0;  ///< in which it stood still for its register banks, so far
    std::uint64_t until = 0;   ///< it issues from this cycle on
  };
  std::vector<Held> held_;  ///< by scheduler
  StallBreakdown stall_breakdown_;
  std::uint64_t next_age_ = 0;
  std::uint64_t barrier_port_ = 0;  ///< cycle from which an arrival at a barrier is taken
  std::uint64_t next_set_up_ = 0;   ///< cycle from which another CTA can be set up

  struct Response {
    std::uint64_t cycle;
    tlm::tlm_generic_payload* packet;
  };
  std::deque<Response> responses_;
  sc_core::sc_event wake_;
  bool in_tick_ = false;

  std::uint64_t now_ = 0;                           ///< cycle being worked on
  std::uint64_t accounted_ = 0;                     ///< cycles before this one are in the counters
  bool stalled_ = false;                            ///< the last tick issued nothing
  std::uint64_t last_request_ = ~std::uint64_t{0};  ///< cycle of the last line sent
  struct Issue {
    std::uint64_t cycle = ~std::uint64_t{0};
    KernelId kernel;
  };
  std::vector<Issue> last_issue_;  ///< by scheduler
};

}  // namespace sluice
