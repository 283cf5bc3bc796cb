// SPDX-License-Identifier: Apache-2.0
#include "systemc/unit/ports/register_socket.h"

#include <cstring>

namespace sluice {

RegisterSocket::RegisterSocket(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
  socket.register_b_transport(this, &RegisterSocket::b_transport);
}

void RegisterSocket::observe(const AxiLiteOut& out) {
  if (manager_.done()) return;
  manager_.observe(out);
  if (manager_.done()) answered_.notify(sc_core::SC_ZERO_TIME);
}

void RegisterSocket::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (payload.get_data_length() != 4 || payload.get_streaming_width() < 4 || payload.get_byte_enable_ptr() != nullptr) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  if (payload.get_command() == tlm::TLM_IGNORE_COMMAND || payload.get_address() > 0xfff) {
    const bool ignored = payload.get_command() == tlm::TLM_IGNORE_COMMAND;
    payload.set_response_status(ignored ? tlm::TLM_COMMAND_ERROR_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  sc_core::wait(delay);  // the pins know real cycles only
  delay = sc_core::SC_ZERO_TIME;
  one_at_a_time_.lock();
  const auto address = static_cast<std::uint32_t>(payload.get_address());
  std::uint32_t data = 0;
  if (payload.is_write()) {
    std::memcpy(&data, payload.get_data_ptr(), 4);
    manager_.begin_write(address, data);
  } else {
    manager_.begin_read(address);
  }
  begun.notify(sc_core::SC_ZERO_TIME);
  sc_core::wait(answered_);
  data = manager_.data();
  const bool okay = manager_.response() == AxiResponse::kOkay;
  one_at_a_time_.unlock();
  if (payload.is_read()) std::memcpy(payload.get_data_ptr(), &data, 4);
  payload.set_response_status(okay ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

std::optional<std::uint32_t> TlmRegisterBus::read32(std::uint32_t address) {
  std::uint32_t data = 0;
  return transport(tlm::TLM_READ_COMMAND, address, data) ? std::optional(data) : std::nullopt;
}

bool TlmRegisterBus::write32(std::uint32_t address, std::uint32_t value) {
  return transport(tlm::TLM_WRITE_COMMAND, address, value);
}

bool TlmRegisterBus::transport(tlm::tlm_command command, std::uint32_t address, std::uint32_t& data) {
  tlm::tlm_generic_payload payload;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(reinterpret_cast<unsigned char*>(&data));
  payload.set_data_length(4);
  payload.set_streaming_width(4);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  socket->b_transport(payload, delay);
  return payload.is_response_ok();
}

}  // namespace sluice
