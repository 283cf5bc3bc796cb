// SPDX-License-Identifier: Apache-2.0
#include "systemc/memory/dram_channel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace sluice {

namespace {

/// FR-FCFS serves the oldest request after this many DRAM cycles whatever its row, so that row hits can't starve it; the Bank
/// scheduler turns the bus after as many for reads or writes that have waited as long.
constexpr std::uint64_t kStarvationLimit = 2000;
constexpr std::uint64_t kNoRow = std::numeric_limits<std::uint64_t>::max();  ///< nothing open; also: never

}  // namespace

DramChannel::DramChannel(const sc_core::sc_module_name& name, std::uint32_t id, const MachineConfig& machine, SimClock clock,
                         std::vector<KernelCounters>& counters)
    : sc_module(name),
      clock_(clock),
      id_(id),
      config_(machine.dram),
      sectored_(machine.l2.sectored),
      core_khz_(static_cast<std::uint64_t>(std::llround(machine.core_mhz * 1e3))),
      dram_khz_(static_cast<std::uint64_t>(std::llround(machine.dram.clock_mhz * 1e3))),
      counters_(counters),
      banks_(machine.dram.banks),
      currents_(machine.dram.banks) {
  SC_METHOD(schedule);
  sensitive << wake_;
  dont_initialize();
}

tlm_utils::simple_target_socket_tagged<DramChannel>& DramChannel::new_port() {
  const int id = static_cast<int>(ports_.size());
  ports_.push_back(std::make_unique<tlm_utils::simple_target_socket_tagged<DramChannel>>(
      (std::string(basename()) + "_from_slice" + std::to_string(id)).c_str()));
  ports_.back()->register_nb_transport_fw(this, &DramChannel::request, id);
  return *ports_.back();
}

std::uint64_t DramChannel::to_dram(std::uint64_t core_cycle) const { return core_cycle * dram_khz_ / core_khz_; }
std::uint64_t DramChannel::to_core(std::uint64_t dram_cycle) const {
  return (dram_cycle * core_khz_ + dram_khz_ - 1) / dram_khz_;
}

tlm::tlm_sync_enum DramChannel::request(int port, tlm::tlm_generic_payload& packet, tlm::tlm_phase& phase,
                                        sc_core::sc_time& delay) {
  const std::uint64_t now = clock_.now();
  // Row: the part of the address above the row offset, taken over all channels; banks interleave rows, hashed as GPUs do.
  const std::uint64_t row_number = packet.get_address() / (static_cast<std::uint64_t>(config_.row_bytes) * config_.channels);
  const auto bank = static_cast<std::uint32_t>((row_number ^ (row_number >> 5) ^ (row_number >> 11)) % banks_.size());
  const std::uint64_t arrival = now + clock_.to_cycles(delay) + config_.controller_latency;
  const std::uint64_t bytes = transfer_bytes(packet, PacketPool::info(packet));
  queue_.push_back({to_dram(arrival), &packet, port, bank, row_number / banks_.size(),
                    std::max<std::uint64_t>(1, (bytes + config_.bytes_per_cycle - 1) / config_.bytes_per_cycle)});
  if (queue_.size() == 1 || config_.scheduler == DramScheduler::Bank) wake_.notify(clock_.cycles(arrival - now));
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

std::uint64_t DramChannel::transfer_bytes(const tlm::tlm_generic_payload& packet, const PacketInfo& who) const {
  const auto whole_bursts = [this](std::uint64_t bytes) {
    return (bytes + config_.access_bytes - 1) / config_.access_bytes * config_.access_bytes;
  };
  if (packet.is_read() && sectored_ && config_.joins_sectors) {
    std::uint64_t blocks = 0;
    for (std::uint32_t first = 0; first < kLineBytes; first += config_.access_bytes) {
      const std::uint32_t mask = ((1U << std::max(1U, config_.access_bytes / kSectorBytes)) - 1) << (first / kSectorBytes);
      blocks += (who.sectors & mask) != 0 ? 1 : 0;
    }
    return blocks * config_.access_bytes;
  }
  if (packet.is_read() && sectored_) return whole_bursts(kSectorBytes) * (sector_bytes(who.sectors) / kSectorBytes);
  return whole_bursts(sector_bytes(who.sectors));
}

std::uint64_t DramChannel::data_start(const Request& request, std::uint64_t now) const {
  const Bank& bank = banks_[request.bank];
  std::uint64_t cas = 0;
  if (bank.open_row == request.row) {
    cas = std::max(now, bank.cas_ready);
  } else {
    const bool open = bank.open_row != kNoRow;
    const std::uint64_t precharged = open ? std::max(now, bank.pre_ready) + config_.t_rp : now;
    cas = std::max({precharged, bank.act_ready, last_activate_ + config_.t_rrd}) + config_.t_rcd;
  }
  const std::uint64_t turn = request.packet->is_write() == last_was_write_ ? 0 : config_.t_wtr;
  return std::max(cas + config_.t_cl, bus_free_ + turn);
}

void DramChannel::complete(const Request& request, bool row_hit) {
  KernelCounters& count = counters_[PacketPool::info(*request.packet).kernel];
  ++count.dram_requests;
  count.dram_bytes += transfer_bytes(*request.packet, PacketPool::info(*request.packet));
  if (row_hit) ++count.dram_row_hits;
  // A row is open until a write's data have settled, and until a read's have left it.
  std::uint64_t& pre_ready = banks_[request.bank].pre_ready;
  pre_ready = std::max(pre_ready, request.packet->is_write() ? bus_free_ + config_.t_wr : bus_free_ - config_.t_cl);
  if (request.packet->is_write() != last_was_write_) turned_at_ = bus_free_;
  last_was_write_ = request.packet->is_write();
  completions_.push_back({to_core(bus_free_), request.packet, request.port});
}

void DramChannel::commit(std::size_t index, std::uint64_t now) {
  const Request request = queue_[index];
  queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(index));
  --looked_at_;
  const std::uint64_t start = data_start(request, now);
  Bank& bank = banks_[request.bank];
  const bool row_hit = bank.open_row == request.row;
  if (!row_hit) {
    const std::uint64_t activate = start - config_.t_cl - config_.t_rcd;
    bank.open_row = request.row;
    bank.cas_ready = activate + config_.t_rcd;
    bank.pre_ready = activate + config_.t_ras;
    bank.act_ready = activate + config_.t_rc;
    last_activate_ = std::max(last_activate_, activate);
  }
  bus_free_ = start + request.bursts;
  complete(request, row_hit);
}

void DramChannel::look_at(std::uint64_t now) {
  const std::size_t depth = std::min<std::size_t>(queue_.size(), config_.queue_depth);
  for (; looked_at_ < depth; ++looked_at_) queue_[looked_at_].seen = std::max(queue_[looked_at_].arrival, now);
}

void DramChannel::schedule_bus(std::uint64_t now) {
  // The bus is reserved in commit order; committing further ahead than a bank needs to open would only lose choices.
  const std::uint64_t lookahead = config_.t_rp + config_.t_rcd + config_.t_cl;
  while (!queue_.empty() && queue_.front().arrival <= now && bus_free_ <= now + lookahead) {
    std::size_t best = 0;
    look_at(now);
    if (now - queue_.front().seen < kStarvationLimit) {
      std::uint64_t best_start = kNoRow;
      for (std::size_t i = 0; i < looked_at_ && queue_[i].arrival <= now; ++i) {
        const std::uint64_t start = data_start(queue_[i], now);
        if (start < best_start) {
          best_start = start;
          best = i;
        }
      }
    }
    commit(best, now);
  }
}

void DramChannel::refresh(std::uint32_t index, std::uint64_t now) {
  // The channels follow each other evenly: otherwise neighbours in memory would wait together.
  const std::uint64_t phase = std::uint64_t{id_} * config_.t_refi / config_.channels;
  const std::uint64_t due = now < phase ? 0 : (now - phase) / config_.t_refi + 1;
  Bank& bank = banks_[index];
  if (due == bank.refreshes) return;
  const std::uint64_t begins = phase + (due - 1) * config_.t_refi;
  bank.refreshed = std::max(begins, bank.open_row != kNoRow ? bank.pre_ready + config_.t_rp : 0) + config_.t_rfc;
  bank.open_row = kNoRow;
  bank.refreshes = due;
}

void DramChannel::prepare_banks(std::uint64_t now) {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  const bool more = looked_at_ < std::min<std::size_t>(queue_.size(), config_.queue_depth);
  if (!more && !freed_ && next_arrival_ > now && config_.t_refi == 0) return;  // no idle bank has a request
  freed_ = false;
  next_arrival_ = kNoRow;
  candidates_.assign(banks_.size(), kNone);
  look_at(now);
  auto next = queue_.begin();
  for (std::size_t i = 0; i < looked_at_; ++i) {
    const Request& request = *next++;
    if (request.arrival > now) {
      next_arrival_ = request.arrival;  // they come in order
      break;
    }
    if (currents_[request.bank].busy) continue;
    if (config_.t_refi != 0) refresh(request.bank, now);
    if (const std::uint64_t over = banks_[request.bank].refreshed; over > now) {  // other banks' activates do not wait for it
      refresh_over_ = refresh_over_ > now ? std::min(refresh_over_, over) : over;
      continue;
    }
    std::size_t& candidate = candidates_[request.bank];
    const bool waited_long = candidate != kNone && now - queue_[candidate].seen >= kStarvationLimit;
    const std::uint64_t open = banks_[request.bank].open_row;
    if (candidate == kNone || (!waited_long && queue_[candidate].row != open && request.row == open)) candidate = i;
  }
  std::erase(candidates_, kNone);
  std::ranges::sort(candidates_);  // oldest first: activates are given in that order
  for (const std::size_t i : candidates_) {
    const Request& request = queue_[i];
    Bank& bank = banks_[request.bank];
    const bool row_hit = bank.open_row == request.row;
    if (!row_hit) {
      const std::uint64_t precharged = bank.open_row != kNoRow ? std::max(now, bank.pre_ready) + config_.t_rp : now;
      const std::uint64_t activate = std::max({precharged, bank.act_ready, last_activate_ + config_.t_rrd});
      bank = {request.row,   activate + config_.t_rcd, activate + config_.t_ras, activate + config_.t_rc, bank.refreshed,
              bank.refreshes};
      last_activate_ = activate;
    }
    currents_[request.bank] = {true, row_hit, std::max(now, bank.cas_ready), request};
    busy_.insert(std::ranges::lower_bound(busy_, request.bank), request.bank);
    writes_ += request.packet->is_write() ? 1 : 0;
  }
  for (auto i = candidates_.rbegin(); i != candidates_.rend(); ++i)
    queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(*i));
  looked_at_ -= candidates_.size();
}

std::uint64_t DramChannel::column_command(const Current& current) const {
  const bool write = current.request.packet->is_write();
  const std::uint64_t latency = write ? config_.t_wl : config_.t_cl;
  std::uint64_t bus = bus_free_;
  if (write && !last_was_write_) bus += config_.t_rtw;
  if (!write && last_was_write_) bus += config_.t_wtr + config_.t_cl;
  return std::max(current.command, bus > latency ? bus - latency : 0);
}

bool DramChannel::must_turn(std::uint64_t now) const {
  if (now < turned_at_ + kStarvationLimit || (last_was_write_ ? busy_.size() - writes_ : writes_) == 0) return false;
  return std::ranges::any_of(busy_, [&](std::uint32_t bank) {
    const Request& request = currents_[bank].request;
    return request.packet->is_write() != last_was_write_ && now >= request.seen + kStarvationLimit;
  });
}

void DramChannel::schedule_banks(std::uint64_t now) {
  prepare_banks(now);
  for (;;) {
    const bool turn = must_turn(now);
    Current* first = nullptr;
    std::uint64_t soonest = kNoRow;
    for (const std::uint32_t bank : busy_) {
      Current& current = currents_[bank];
      if (turn && current.request.packet->is_write() == last_was_write_) continue;
      const std::uint64_t command = column_command(current);
      if (first == nullptr || command < soonest || (command == soonest && current.request.arrival < first->request.arrival)) {
        first = &current;
        soonest = command;
      }
    }
    if (first == nullptr || soonest > now) return;
    const Request request = first->request;
    first->busy = false;
    busy_.erase(std::ranges::lower_bound(busy_, request.bank));
    writes_ -= request.packet->is_write() ? 1 : 0;
    freed_ = true;
    bus_free_ = soonest + (request.packet->is_write() ? config_.t_wl : config_.t_cl) + request.bursts;
    complete(request, first->row_hit);
    prepare_banks(now);
  }
}

std::uint64_t DramChannel::next_wake(std::uint64_t now) const {
  std::uint64_t next = kNoRow;
  if (config_.scheduler == DramScheduler::Bank) {
    for (const std::uint32_t bank : busy_) next = std::min(next, std::max(column_command(currents_[bank]), now + 1));
    if (refresh_over_ > now) next = std::min(next, refresh_over_);
    for (std::size_t i = 0; i < queue_.size() && i < config_.queue_depth; ++i) {
      if (queue_[i].arrival <= now) continue;
      next = std::min(next, queue_[i].arrival);  // they come in order
      break;
    }
  } else if (!queue_.empty()) {
    const std::uint64_t lookahead = config_.t_rp + config_.t_rcd + config_.t_cl;
    const std::uint64_t bus_allows = bus_free_ > lookahead ? bus_free_ - lookahead : 0;
    next = std::max({queue_.front().arrival, bus_allows, now + 1});
  }
  return next;
}

void DramChannel::schedule() {
  const std::uint64_t core_now = clock_.now();
  const std::uint64_t now = to_dram(core_now);
  while (!completions_.empty() && completions_.front().core_cycle <= core_now) {
    const Completion done = completions_.front();
    completions_.pop_front();
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    done.packet->set_response_status(tlm::TLM_OK_RESPONSE);
    (*ports_[static_cast<std::size_t>(done.port)])->nb_transport_bw(*done.packet, phase, delay);
  }
  if (config_.scheduler == DramScheduler::Bank) {
    schedule_banks(now);
  } else {
    schedule_bus(now);
  }
  std::uint64_t next = completions_.empty() ? kNoRow : completions_.front().core_cycle;
  if (const std::uint64_t dram = next_wake(now); dram != kNoRow) next = std::min(next, to_core(dram));
  if (next != kNoRow) wake_.notify(clock_.cycles(std::max(next, core_now + 1) - core_now));
}

}  // namespace sluice
