// SPDX-License-Identifier: Apache-2.0
#include "systemc/memory/l2_slice.h"

#include <algorithm>

namespace sluice {

L2Slice::L2Slice(const sc_core::sc_module_name& name, const MachineConfig& machine, SimClock clock, PacketPool& pool,
                 std::vector<KernelCounters>& counters)
    : sc_module(name),
      from_interconnect("from_interconnect"),
      to_dram("to_dram"),
      clock_(clock),
      config_(machine.l2),
      block_sectors_(machine.l2.sectored && machine.dram.joins_sectors
                         ? std::clamp(machine.dram.access_bytes, kSectorBytes, kLineBytes) / kSectorBytes
                         : 1),
      row_lines_(std::uint64_t{machine.dram.row_bytes} * machine.dram.channels / kLineBytes),
      pool_(pool),
      counters_(counters),
      tags_(machine.l2),
      mshrs_(machine.l2.mshrs),
      write_backs_left_(std::max(1U, machine.dram.queue_depth * machine.dram.channels / machine.l2_slices)) {
  for (std::uint32_t i = machine.l2.mshrs; i > 0; --i) free_mshrs_.push_back(i - 1);
  from_interconnect.register_nb_transport_fw(this, &L2Slice::request);
  to_dram.register_nb_transport_bw(this, &L2Slice::fill);
  SC_METHOD(serve);
  sensitive << wake_;
  dont_initialize();
}

tlm::tlm_sync_enum L2Slice::request(tlm::tlm_generic_payload& packet, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const std::uint64_t now = clock_.now();
  const std::uint64_t arrival = now + clock_.to_cycles(delay);
  auto place = queue_.end();  // packets may be announced in another order than they arrive in
  while (place != queue_.begin() && std::prev(place)->cycle > arrival) --place;
  const bool first = place == queue_.begin();
  queue_.insert(place, {arrival, &packet});
  if (first && !blocked_) wake_.notify(clock_.cycles(std::max(arrival, next_lookup_) - now));
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void L2Slice::serve() {
  const std::uint64_t now = clock_.now();
  if (!queue_.empty() && queue_.front().cycle <= now && next_lookup_ <= now) {
    const double cycles = lookup_rest_ + lookup_cycles(*queue_.front().packet);
    blocked_ = !lookup(*queue_.front().packet);
    if (!blocked_) {
      const auto whole = static_cast<std::uint64_t>(cycles);
      next_lookup_ = now + whole;
      lookup_rest_ = cycles - static_cast<double>(whole);
      queue_.pop_front();
    }
  }
  if (!queue_.empty() && !blocked_)
    wake_.notify(clock_.cycles(std::max(queue_.front().cycle, std::max(next_lookup_, now + 1)) - now));
}

double L2Slice::lookup_cycles(tlm::tlm_generic_payload& packet) const {
  const PacketInfo& who = PacketPool::info(packet);
  const unsigned halves = ((who.sectors & 0b0011) != 0 ? 1 : 0) + ((who.sectors & 0b1100) != 0 ? 1 : 0);
  if (packet.is_write()) return std::max(1.0, config_.store_interval * halves);
  return std::max(1.0, who.atomic ? config_.atomic_interval * (sector_bytes(who.sectors) / kSectorBytes) : 0);
}

void L2Slice::write(CacheTags::Way& way, const PacketInfo& who) const {
  const std::uint8_t need = config_.sectored ? who.sectors : kAllSectors;
  way.dirty |= need;
  way.valid |= config_.fills_partial_writes ? need & who.whole : need;
  for (std::uint32_t s = 0; s < way.written.size(); ++s) {
    if ((need & ~way.valid & 1U << s) == 0) continue;
    way.written[s] = static_cast<std::uint8_t>(std::min<std::uint32_t>(way.written[s] + who.part_bytes, kSectorBytes));
    if (way.written[s] == kSectorBytes) way.valid |= static_cast<std::uint8_t>(1U << s);
  }
}

bool L2Slice::lookup(tlm::tlm_generic_payload& packet) {
  const std::uint64_t line = packet.get_address() / kLineBytes;
  const PacketInfo& who = PacketPool::info(packet);
  const std::uint8_t need = config_.sectored ? who.sectors : kAllSectors;
  KernelCounters& count = counters_[who.kernel];
  CacheTags::Way* way = tags_.find(line);
  if (way != nullptr && (packet.is_write() ? way->pending == 0 : (way->valid & need) == need)) {
    ++count.l2_accesses;
    if (packet.is_write() && ((way->valid | way->dirty) & need) != need) ++count.l2_misses;
    if (packet.is_write()) write(*way, who);
    if (who.atomic) way->dirty |= need;
    respond(packet, config_.hit_latency);
    return true;
  }
  if (way == nullptr) {
    if (packet.is_read() && free_mshrs_.empty()) return false;
    way = allocate(line, who);
    if (way == nullptr) return false;
    if (packet.is_write()) {
      ++count.l2_accesses;
      ++count.l2_misses;
      write(*way, who);
      respond(packet, config_.hit_latency);
      return true;
    }
  }
  const auto missing = static_cast<std::uint8_t>(packet.is_write() ? 0 : need & ~(way->valid | way->pending));
  if (way->pending == 0) {
    if (free_mshrs_.empty()) return false;
    way->mshr = free_mshrs_.back();
    free_mshrs_.pop_back();
  } else if (merged(mshrs_[way->mshr], need) >= config_.mshr_merges) {
    return false;
  }
  ++count.l2_accesses;
  ++count.l2_misses;
  mshrs_[way->mshr].push_back(&packet);
  if (missing != 0) {
    const auto fetched = static_cast<std::uint8_t>(with_their_blocks(missing) & ~(way->valid | way->pending));
    way->pending |= fetched;
    send_to_dram(*pool_.acquire(packet.get_address(), false, fetched, who.sm, who.kernel));
  }
  return true;
}

std::uint32_t L2Slice::merged(const std::vector<tlm::tlm_generic_payload*>& waiting, std::uint8_t sectors) const {
  if (!config_.sectored) return static_cast<std::uint32_t>(waiting.size());
  const auto shares = [&](tlm::tlm_generic_payload* waiter) { return (PacketPool::info(*waiter).sectors & sectors) != 0; };
  return static_cast<std::uint32_t>(std::ranges::count_if(waiting, shares));
}

std::uint8_t L2Slice::with_their_blocks(std::uint8_t sectors) const {
  const std::uint32_t block = (1U << block_sectors_) - 1;
  std::uint32_t out = sectors;
  for (std::uint32_t first = 0; first < kLineBytes / kSectorBytes; first += block_sectors_)
    if ((sectors >> first & block) != 0) out |= block << first;
  return static_cast<std::uint8_t>(out & kAllSectors);
}

CacheTags::Way* L2Slice::allocate(std::uint64_t line, const PacketInfo& who) {
  CacheTags::Way* way = tags_.victim(line);
  if (way == nullptr) return nullptr;
  const auto partial = static_cast<std::uint8_t>(way->dirty & ~way->valid);
  if (way->dirty != 0 && (write_backs_left_ <= 0 || (partial != 0 && free_mshrs_.size() < 2))) return nullptr;
  // The write-back is charged to the kernel that causes it: the tag does not remember who wrote the line.
  if (way->dirty != 0) {
    const std::uint8_t moved = partial != 0 ? with_their_blocks(partial) : way->dirty;
    tlm::tlm_generic_payload* packet = pool_.acquire(way->line * kLineBytes, partial == 0, moved, who.sm, who.kernel);
    if (partial != 0) {
      PacketInfo& read = PacketPool::info(*packet);
      read.write_back = way->dirty;
      read.waiter = free_mshrs_.back();
      free_mshrs_.pop_back();
    } else {
      --write_backs_left_;
    }
    send_to_dram(*packet);
    if (config_.writes_rows) write_row_back(way->line, who);
  }
  tags_.assign(*way, line);
  return way;
}

void L2Slice::write_row_back(std::uint64_t line, const PacketInfo& who) {
  const std::uint64_t first = line / row_lines_ * row_lines_;
  for (std::uint64_t other = first; other < first + row_lines_; ++other) {
    CacheTags::Way* way = other == line ? nullptr : tags_.look(other);
    if (way == nullptr || way->dirty == 0 || way->pending != 0 || (way->dirty & ~way->valid) != 0) continue;
    send_to_dram(*pool_.acquire(other * kLineBytes, true, way->dirty, who.sm, who.kernel));
    way->dirty = 0;
    --write_backs_left_;
  }
}

void L2Slice::send_to_dram(tlm::tlm_generic_payload& packet) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = clock_.cycles(config_.hit_latency / 2);
  to_dram->nb_transport_fw(packet, phase, delay);
}

tlm::tlm_sync_enum L2Slice::fill(tlm::tlm_generic_payload& packet, tlm::tlm_phase&, sc_core::sc_time&) {
  const PacketInfo& moved = PacketPool::info(packet);
  if (moved.write_back != 0) {
    free_mshrs_.push_back(moved.waiter);
    --write_backs_left_;
    send_to_dram(*pool_.acquire(packet.get_address(), true, moved.write_back, moved.sm, moved.kernel));
  } else if (packet.is_read()) {
    CacheTags::Way* way = tags_.find(packet.get_address() / kLineBytes);
    const std::uint8_t arrived = moved.sectors;
    way->valid |= arrived;
    way->pending &= static_cast<std::uint8_t>(~arrived);
    std::vector<tlm::tlm_generic_payload*>& waiting = mshrs_[way->mshr];
    std::erase_if(waiting, [&](tlm::tlm_generic_payload* waiter) {
      const PacketInfo& who = PacketPool::info(*waiter);
      const std::uint8_t need = config_.sectored ? who.sectors : kAllSectors;
      if ((need & way->pending) != 0) return false;
      if (waiter->is_write()) write(*way, who);
      if (who.atomic) way->dirty |= need;
      respond(*waiter, config_.hit_latency / 2);
      return true;
    });
    if (way->pending == 0) free_mshrs_.push_back(way->mshr);
  } else {
    ++write_backs_left_;
  }
  packet.release();
  if (blocked_) {
    blocked_ = false;
    wake_.notify(clock_.cycles(1));
  }
  return tlm::TLM_COMPLETED;
}

void L2Slice::respond(tlm::tlm_generic_payload& packet, std::uint64_t delay_cycles) {
  packet.set_response_status(tlm::TLM_OK_RESPONSE);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = clock_.cycles(delay_cycles);
  from_interconnect->nb_transport_bw(packet, phase, delay);
}

}  // namespace sluice
