#include "systemc/memory/interconnect.h"

#include <algorithm>
#include <string>

namespace sluice {

Interconnect::Interconnect(const sc_core::sc_module_name& name, const MachineConfig& machine, SimClock clock)
    : sc_module(name),
      config_(machine.interconnect),
      clock_(clock),
      slice_in_free_(machine.l2_slices),
      slice_out_free_(machine.l2_slices),
      sm_out_free_(machine.num_sms),
      sm_in_free_(machine.num_sms) {
  for (std::uint32_t sm = 0; sm < machine.num_sms; ++sm) {
    from_sm.push_back(std::make_unique<Target>(("from_sm" + std::to_string(sm)).c_str()));
    from_sm.back()->register_nb_transport_fw(this, &Interconnect::request, static_cast<int>(sm));
  }
  for (std::uint32_t slice = 0; slice < machine.l2_slices; ++slice) {
    to_slice.push_back(std::make_unique<Initiator>(("to_slice" + std::to_string(slice)).c_str()));
    to_slice.back()->register_nb_transport_bw(this, &Interconnect::response, static_cast<int>(slice));
  }
}

std::uint32_t Interconnect::slice_of(std::uint64_t address) const {
  const std::uint64_t granule = address / (2 * kLineBytes);
  // The higher bits are folded in so that power-of-two strides do not camp on one slice.
  return static_cast<std::uint32_t>((granule ^ (granule >> 7) ^ (granule >> 15)) % slice_in_free_.size());
}

std::uint64_t Interconnect::transfer_cycles(std::uint32_t payload_bytes) const {
  return (config_.header_bytes + payload_bytes + config_.bytes_per_cycle - 1) / config_.bytes_per_cycle;
}

tlm::tlm_sync_enum Interconnect::request(int sm, tlm::tlm_generic_payload& packet, tlm::tlm_phase& phase,
                                         sc_core::sc_time& delay) {
  const std::uint64_t length = transfer_cycles(packet.is_write() ? kLineBytes : 0);
  const std::uint32_t slice = slice_of(packet.get_address());
  PacketPool::info(packet).slice = slice;
  const std::uint64_t now = clock_.now() + clock_.to_cycles(delay);
  std::uint64_t& out = sm_out_free_[static_cast<std::size_t>(sm)];
  out = std::max(out, now) + length;
  std::uint64_t& in = slice_in_free_[slice];
  in = std::max(in, out - length + config_.latency) + length;
  sc_core::sc_time arrival = clock_.cycles(in - clock_.now());
  (*to_slice[slice])->nb_transport_fw(packet, phase, arrival);
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

tlm::tlm_sync_enum Interconnect::response(int slice, tlm::tlm_generic_payload& packet, tlm::tlm_phase& phase,
                                          sc_core::sc_time& delay) {
  const std::uint64_t length = transfer_cycles(packet.is_read() ? kLineBytes : 0);
  const std::uint32_t sm = PacketPool::info(packet).sm;
  const std::uint64_t now = clock_.now() + clock_.to_cycles(delay);
  std::uint64_t& out = slice_out_free_[static_cast<std::size_t>(slice)];
  out = std::max(out, now) + length;
  std::uint64_t& in = sm_in_free_[sm];
  in = std::max(in, out - length + config_.latency) + length;
  sc_core::sc_time arrival = clock_.cycles(in - clock_.now());
  return (*from_sm[sm])->nb_transport_bw(packet, phase, arrival);
}

}  // namespace sluice
