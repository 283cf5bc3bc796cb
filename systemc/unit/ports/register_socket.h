// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <systemc>

#include "sw/driver/axi_lite_manager.h"

namespace sluice {

/// TLM-2.0 target in front of AXI4-Lite pins: 32-bit reads and writes, blocking or (through the socket's own adaptor)
/// non-blocking. The owner of the unit clocks it: pins() before and observe() after each rising edge. SLVERR comes back as
/// TLM_ADDRESS_ERROR_RESPONSE, anything but 4 bytes at once as TLM_BURST_ERROR_RESPONSE.
class RegisterSocket : public sc_core::sc_module {
 public:
  explicit RegisterSocket(const sc_core::sc_module_name& name);
  tlm_utils::simple_target_socket<RegisterSocket> socket;

  [[nodiscard]] const AxiLiteIn& pins() const { return manager_.pins(); }
  void observe(const AxiLiteOut& out);
  sc_core::sc_event begun;  ///< an access begins: the unit must be clocked
  /// An access waits for its answer.
  [[nodiscard]] bool busy() const { return !manager_.done(); }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

  AxiLiteManager manager_;
  sc_core::sc_mutex one_at_a_time_;
  sc_core::sc_event answered_;
};

/// The driver's bus over a TLM-2.0 initiator socket; call from a SystemC thread.
class TlmRegisterBus : public sc_core::sc_module, public IRegisterBus {
 public:
  explicit TlmRegisterBus(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {}
  tlm_utils::simple_initiator_socket<TlmRegisterBus> socket;

  [[nodiscard]] std::optional<std::uint32_t> read32(std::uint32_t address) override;
  [[nodiscard]] bool write32(std::uint32_t address, std::uint32_t value) override;

 private:
  bool transport(tlm::tlm_command command, std::uint32_t address, std::uint32_t& data);
};

}  // namespace sluice
