// SPDX-License-Identifier: Apache-2.0
#include "systemc/memory/host_port.h"

#include <algorithm>
#include <cmath>

namespace sluice {

std::uint64_t host_read_cycles(const MachineConfig& machine) {
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(machine.host.pcie_read_us * machine.core_mhz)));
}

HostPort::HostPort(const sc_core::sc_module_name& name, const MachineConfig& machine, SimClock clock)
    : sc_module(name),
      from_interconnect("from_interconnect"),
      clock_(clock),
      latency_(host_read_cycles(machine)),
      places_(machine.host.pcie_reads) {
  from_interconnect.register_nb_transport_fw(this, &HostPort::request);
}

tlm::tlm_sync_enum HostPort::request(tlm::tlm_generic_payload& packet, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  ++reads_;
  const std::uint64_t now = clock_.now();
  std::uint64_t begin = now + clock_.to_cycles(delay);
  if (ends_.size() == places_) {
    begin = std::max(begin, ends_.top());
    ends_.pop();
  }
  ends_.push(begin + latency_);
  phase = tlm::END_REQ;
  packet.set_response_status(tlm::TLM_OK_RESPONSE);
  tlm::tlm_phase answer = tlm::BEGIN_RESP;
  sc_core::sc_time until = clock_.cycles(begin + latency_ - now);
  from_interconnect->nb_transport_bw(packet, answer, until);
  return tlm::TLM_UPDATED;
}

}  // namespace sluice
