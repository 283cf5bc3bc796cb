// SPDX-License-Identifier: Apache-2.0
#include "systemc/memory/packet.h"

namespace sluice {

tlm::tlm_generic_payload* PacketPool::acquire(std::uint64_t address, bool write, std::uint8_t sectors, std::uint32_t sm,
                                              std::uint32_t kernel) {
  if (free_.empty()) {
    all_.push_back(std::make_unique<Packet>(this));
    free_.push_back(all_.back().get());
  }
  tlm::tlm_generic_payload* packet = free_.back();
  free_.pop_back();
  packet->acquire();
  packet->set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  packet->set_address(address);
  packet->set_data_ptr(line_);
  packet->set_data_length(kLineBytes);
  packet->set_streaming_width(kLineBytes);
  packet->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  PacketInfo& who = info(*packet);
  who = {};
  who.sm = sm;
  who.kernel = kernel;
  who.sectors = sectors;
  return packet;
}

}  // namespace sluice
