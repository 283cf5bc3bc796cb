// SPDX-License-Identifier: Apache-2.0
#include "systemc/memory/interconnect.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>

#include "sw/workload/i_instruction_source.h"

namespace sluice {

Interconnect::Interconnect(const sc_core::sc_module_name& name, const MachineConfig& machine, SimClock clock,
                           std::vector<KernelCounters>& counters)
    : sc_module(name),
      to_host("to_host"),
      config_(machine.interconnect),
      sectored_(machine.l2.sectored),
      clock_(clock),
      counters_(counters),
      slice_in_(machine.l2_slices),
      slice_out_(machine.l2_slices),
      sm_out_(machine.num_sms),
      sm_in_(machine.num_sms),
      requests_(machine.num_sms, machine.l2_slices),
      responses_(machine.l2_slices, machine.num_sms) {
  for (std::uint32_t sm = 0; sm < machine.num_sms; ++sm) {
    from_sm.push_back(std::make_unique<Target>(("from_sm" + std::to_string(sm)).c_str()));
    from_sm.back()->register_nb_transport_fw(this, &Interconnect::request, static_cast<int>(sm));
  }
  for (std::uint32_t slice = 0; slice < machine.l2_slices; ++slice) {
    to_slice.push_back(std::make_unique<Initiator>(("to_slice" + std::to_string(slice)).c_str()));
    to_slice.back()->register_nb_transport_bw(this, &Interconnect::response, static_cast<int>(slice));
  }
  to_host.register_nb_transport_bw(this, &Interconnect::from_host, 0);
  if (!config_.input_queued) return;
  SC_METHOD(arbitrate);
  sensitive << wake_;
  dont_initialize();
}

std::uint32_t Interconnect::slice_of(std::uint64_t address) const {
  const std::uint64_t granule = address / (std::uint64_t{2} * kLineBytes);
  // The higher bits are folded in so that power-of-two strides do not camp on one slice.
  const auto among = [](std::uint64_t unit, std::uint64_t places) { return (unit ^ (unit >> 7) ^ (unit >> 15)) % places; };
  if (!config_.two_slices_a_kilobyte) return static_cast<std::uint32_t>(among(granule, slice_in_.size()));
  return static_cast<std::uint32_t>(among(granule / 4, slice_in_.size() / 2) * 2 + granule % 2);
}

Interconnect::Transfer Interconnect::transfer(tlm::tlm_generic_payload& packet, Way way) {
  const PacketInfo& who = PacketPool::info(packet);
  const bool answer = way == Way::ToSm;
  const bool carries_data = answer ? packet.is_read() && !who.no_result : packet.is_write() || who.atomic;
  Transfer transfer;
  std::uint32_t payload = carries_data ? sector_bytes(who.sectors) : 0;
  if (carries_data && sectored_ && answer && !config_.packed) {
    transfer.units = static_cast<std::uint32_t>(std::popcount(who.sectors));
    payload = kSectorBytes;
  }
  counters_[who.kernel].noc_bytes += std::uint64_t{transfer.units} * (config_.header_bytes + payload);
  const auto cycles = [&](std::uint32_t width) {
    return std::max(1U, (config_.header_bytes + payload + width - 1) / width);  // without a header, a request takes a cycle still
  };
  const std::uint32_t to_l2 = answer ? 0 : config_.to_l2_bytes_per_cycle, slice = config_.slice_bytes_per_cycle;
  transfer.unit_cycles = cycles(to_l2 != 0 ? to_l2 : config_.bytes_per_cycle);
  transfer.slice_unit_cycles = to_l2 != 0 || slice == 0 ? transfer.unit_cycles : cycles(slice);
  if (!answer && packet.is_write()) transfer.unit_cycles = std::max<std::uint64_t>(transfer.unit_cycles, config_.store_cycles);
  return transfer;
}

std::uint64_t Interconnect::through(PortCalendar& out, std::uint64_t out_cycles, PortCalendar& in, std::uint64_t in_cycles,
                                    std::uint64_t ready) {
  const std::uint64_t now = clock_.now();
  const std::uint64_t left = out.reserve(now, ready, out_cycles) - out_cycles;
  return in.reserve(now, left + config_.latency, in_cycles);
}

void Interconnect::to_l2(tlm::tlm_generic_payload& packet, std::uint64_t arrival) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = clock_.cycles(arrival - clock_.now());
  (*to_slice[PacketPool::info(packet).slice])->nb_transport_fw(packet, phase, delay);
}

tlm::tlm_sync_enum Interconnect::to_sm(tlm::tlm_generic_payload& packet, std::uint64_t arrival) {
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = clock_.cycles(arrival - clock_.now());
  return (*from_sm[PacketPool::info(packet).sm])->nb_transport_bw(packet, phase, delay);
}

tlm::tlm_sync_enum Interconnect::request(int sm, tlm::tlm_generic_payload& packet, tlm::tlm_phase& phase,
                                         sc_core::sc_time& delay) {
  const auto input = static_cast<std::size_t>(sm);
  const Transfer how = transfer(packet, Way::ToL2);
  const std::uint64_t now = clock_.now() + clock_.to_cycles(delay);
  phase = tlm::END_REQ;
  if (packet.get_address() >= kHostMemory) {
    tlm::tlm_phase begin = tlm::BEGIN_REQ;
    sc_core::sc_time there = clock_.cycles(now + config_.latency - clock_.now());
    to_host->nb_transport_fw(packet, begin, there);
    return tlm::TLM_UPDATED;
  }
  const std::uint32_t slice = slice_of(packet.get_address());
  PacketPool::info(packet).slice = slice;
  if (config_.input_queued) {
    requests_.push(input, slice, now, how.units, how.unit_cycles, &packet);
    wake();
    return tlm::TLM_UPDATED;
  }
  to_l2(packet, through(sm_out_[input], how.cycles(), slice_in_[slice], how.slice_cycles(), now));
  return tlm::TLM_UPDATED;
}

tlm::tlm_sync_enum Interconnect::response(int slice, tlm::tlm_generic_payload& packet, tlm::tlm_phase&, sc_core::sc_time& delay) {
  const auto input = static_cast<std::size_t>(slice);
  const Transfer how = transfer(packet, Way::ToSm);
  const std::uint32_t sm = PacketPool::info(packet).sm;
  const std::uint64_t now = clock_.now() + clock_.to_cycles(delay);
  if (config_.input_queued) {
    responses_.push(input, sm, now, how.units, how.unit_cycles, &packet);
    wake();
    return tlm::TLM_COMPLETED;
  }
  return to_sm(packet, through(slice_out_[input], how.slice_cycles(), sm_in_[sm], how.cycles(), now));
}

tlm::tlm_sync_enum Interconnect::from_host(int, tlm::tlm_generic_payload& packet, tlm::tlm_phase&, sc_core::sc_time& delay) {
  transfer(packet, Way::ToSm);
  return to_sm(packet, clock_.now() + clock_.to_cycles(delay) + config_.latency);
}

void Interconnect::wake() {
  const std::uint64_t now = clock_.now();
  const std::uint64_t next = std::min(requests_.next(now), responses_.next(now));
  if (next != std::numeric_limits<std::uint64_t>::max()) wake_.notify(clock_.cycles(next - now));
}

void Interconnect::arbitrate() {
  const std::uint64_t now = clock_.now();
  requests_.cycle(now, [this](tlm::tlm_generic_payload* packet, std::uint64_t end, std::size_t, std::size_t) {
    to_l2(*packet, end + config_.latency);
  });
  responses_.cycle(now, [this](tlm::tlm_generic_payload* packet, std::uint64_t end, std::size_t, std::size_t) {
    to_sm(*packet, end + config_.latency);
  });
  wake();
}

}  // namespace sluice
