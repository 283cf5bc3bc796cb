// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <deque>
#include <limits>
#include <systemc>
#include <vector>

#include "sw/core/counters.h"
#include "systemc/memory/packet.h"
#include "systemc/sim/sim_clock.h"

namespace sluice {

/// One DRAM channel with an FR-FCFS scheduler: of the oldest `queue_depth` requests it commits the one whose data can start
/// first (row hits come first by themselves), the oldest on a tie, and the oldest anyway once it has been one of them too long.
/// Timing per bank: tRCD, tRP, tRAS, tRC, tCL, tRRD between activates, tWTR on a turn of the data bus; open-page policy.
/// Under the Bank scheduler all banks are refreshed once every tREFI, and close their rows for it.
/// Every read of a line (of a sector, where the L2 has them) and every write-back is rounded up to whole bursts of access_bytes.
/// Inside, time is counted in DRAM command-clock cycles.
class DramChannel : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(DramChannel);
  DramChannel(const sc_core::sc_module_name& name, std::uint32_t id, const MachineConfig& machine, SimClock clock,
              std::vector<KernelCounters>& counters);

  tlm_utils::simple_target_socket_tagged<DramChannel>& new_port();  ///< one for each L2 slice behind this channel

 private:
  struct Bank {
    std::uint64_t open_row = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t cas_ready = 0;  ///< after the last activate, tRCD
    std::uint64_t pre_ready = 0;  ///< tRAS after activate, tWR after a write
    std::uint64_t act_ready = 0;  ///< tRC after activate
    std::uint64_t refreshed = 0;  ///< cycle in which its last refresh is over
    std::uint64_t refreshes = 0;  ///< how many of its refreshes it has had
  };
  struct Request {
    std::uint64_t arrival;
    tlm::tlm_generic_payload* packet;
    int port;
    std::uint32_t bank;
    std::uint64_t row;
    std::uint64_t bursts;    ///< command-clock cycles its data take
    std::uint64_t seen = 0;  ///< cycle from which it is one of the oldest `queue_depth`; its age counts from here
  };
  /// What a bank works on under the Bank scheduler.
  struct Current {
    bool busy = false, row_hit = false;
    std::uint64_t command = 0;  ///< cycle its column command can be given, as far as the bank goes
    Request request{};
  };
  struct Completion {
    std::uint64_t core_cycle;
    tlm::tlm_generic_payload* packet;
    int port;
  };

  tlm::tlm_sync_enum request(int port, tlm::tlm_generic_payload& packet, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void schedule();  ///< SC_METHOD: completes what is due, commits what can be
  void commit(std::size_t index, std::uint64_t now);
  void schedule_bus(std::uint64_t now);
  void schedule_banks(std::uint64_t now);
  void look_at(std::uint64_t now);                       ///< the oldest `queue_depth` requests are seen
  void refresh(std::uint32_t index, std::uint64_t now);  ///< the bank's refreshes that are due: only the last one is felt
  void prepare_banks(std::uint64_t now);                 ///< idle banks take their next request and open its row
  [[nodiscard]] std::uint64_t column_command(const Current& current) const;  ///< cycle it can be given, bus included
  /// Reads or writes have had the bus for so long, while the others waited, that it is these ones' turn.
  [[nodiscard]] bool must_turn(std::uint64_t now) const;
  void complete(const Request& request, bool row_hit);             ///< its data end at bus_free_
  [[nodiscard]] std::uint64_t next_wake(std::uint64_t now) const;  ///< DRAM cycle
  [[nodiscard]] std::uint64_t transfer_bytes(const tlm::tlm_generic_payload& packet, const PacketInfo& who) const;
  [[nodiscard]] std::uint64_t data_start(const Request& request, std::uint64_t now) const;
  [[nodiscard]] std::uint64_t to_dram(std::uint64_t core_cycle) const;
  [[nodiscard]] std::uint64_t to_core(std::uint64_t dram_cycle) const;

  SimClock clock_;
  std::uint32_t id_;
  DramConfig config_;
  bool sectored_;  ///< reads come from an L2 that asks for sectors
  std::uint64_t core_khz_, dram_khz_;
  std::vector<KernelCounters>& counters_;
  std::vector<std::unique_ptr<tlm_utils::simple_target_socket_tagged<DramChannel>>> ports_;
  std::vector<Bank> banks_;
  std::vector<Current> currents_;        ///< by bank; Bank scheduler
  std::vector<std::uint32_t> busy_;      ///< of those, the banks that are, in order
  std::size_t writes_ = 0;               ///< of the busy ones
  bool freed_ = false;                   ///< a bank is, since the banks were prepared
  std::uint64_t next_arrival_ = 0;       ///< of a request that was looked at then, and had not arrived
  std::vector<std::size_t> candidates_;  ///< scratch of prepare_banks
  std::deque<Request> queue_;
  std::uint64_t refresh_over_ = 0;  ///< the first one that a request waits for; in the past: none does
  std::size_t looked_at_ = 0;       ///< of them, the oldest
  std::deque<Completion> completions_;
  std::uint64_t bus_free_ = 0, last_activate_ = 0, turned_at_ = 0;
  bool last_was_write_ = false;
  sc_core::sc_event wake_;
};

}  // namespace sluice
