// SPDX-License-Identifier: Apache-2.0
// The partition unit as a SystemC module, over the C interface: registers behind a TLM-2.0 socket, and one clock edge a call.
#pragma once
#include <sluice.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <stdexcept>
#include <systemc>

namespace sluice {

/// @throws std::runtime_error in the constructor with the library's line when a parameter is out of its range
class UnitModule : public sc_core::sc_module {
 public:
  /// 32-bit reads and writes, blocking, of registers by their byte address. Anything else than 4 bytes comes back as
  /// TLM_BURST_ERROR_RESPONSE, an address without a register as TLM_ADDRESS_ERROR_RESPONSE.
  tlm_utils::simple_target_socket<UnitModule> registers;

  /// @param period  of the unit's clock: what a register access takes is added to the transaction's delay
  UnitModule(const sc_core::sc_module_name& name, const sluice_unit_parameters& parameters, sc_core::sc_time period)
      : sc_module(name), registers("registers"), period_(period) {
    require(sluice_unit_new(&parameters, &unit_));
    registers.register_b_transport(this, &UnitModule::b_transport);
  }
  UnitModule(const UnitModule&) = delete;
  UnitModule& operator=(const UnitModule&) = delete;
  ~UnitModule() override { sluice_unit_free(unit_); }

  /// Known before the inputs of the cycle.
  [[nodiscard]] sluice_unit_out outputs() const {
    sluice_unit_out out;
    require(sluice_unit_outputs(unit_, &out));
    return out;
  }
  /// One rising edge; call it from the model's own clock.
  void clock(const sluice_unit_in& in) { require(sluice_unit_clock(unit_, &in)); }
  /// For the other functions of sluice.h.
  [[nodiscard]] sluice_unit* unit() { return unit_; }

  static void require(sluice_status status) {
    if (status != SLUICE_OK) throw std::runtime_error(sluice_error());
  }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (payload.get_data_length() != 4 || payload.get_byte_enable_ptr() != nullptr || payload.get_streaming_width() < 4) {
      payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
      return;
    }
    const std::uint64_t before = sluice_unit_cycles(unit_);
    std::uint32_t data = 0;
    sluice_status status = SLUICE_BAD_INPUT;
    const bool reads = payload.is_read();
    if (payload.get_address() <= UINT32_MAX) {
      const auto address = static_cast<std::uint32_t>(payload.get_address());
      if (!reads) std::memcpy(&data, payload.get_data_ptr(), 4);
      status = reads ? sluice_unit_read32(unit_, address, &data) : sluice_unit_write32(unit_, address, data);
      if (reads && status == SLUICE_OK) std::memcpy(payload.get_data_ptr(), &data, 4);
    }
    delay += period_ * static_cast<double>(sluice_unit_cycles(unit_) - before);
    payload.set_response_status(status == SLUICE_OK ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }

  sc_core::sc_time period_;
  sluice_unit* unit_ = nullptr;
};

}  // namespace sluice
