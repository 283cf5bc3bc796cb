// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <utility>

#include "sw/driver/axi_lite.h"
#include "sw/driver/i_register_bus.h"

namespace sluice {

/// One AXI4-Lite access at a time, cycle by cycle: begin_*, then each cycle pins() before and observe() after the rising edge
/// until done().
class AxiLiteManager {
 public:
  void begin_write(std::uint32_t address, std::uint32_t data, std::uint8_t strobe = 0xf);
  void begin_read(std::uint32_t address);
  [[nodiscard]] const AxiLiteIn& pins() const { return pins_; }
  /// @param out what the subordinate drove while pins() stood
  void observe(const AxiLiteOut& out);
  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] AxiResponse response() const { return response_; }
  [[nodiscard]] std::uint32_t data() const { return data_; }

 private:
  AxiLiteIn pins_;
  bool done_ = true;
  AxiResponse response_ = AxiResponse::kOkay;
  std::uint32_t data_ = 0;
};

/// Registers behind AXI4-Lite pins; every access runs the clock until it is answered.
class AxiLiteBus : public IRegisterBus {
 public:
  /// @param cycle takes the manager's pins, returns the subordinate's as they stand before the rising edge, then clocks once
  explicit AxiLiteBus(std::function<AxiLiteOut(const AxiLiteIn&)> cycle) : cycle_(std::move(cycle)) {}
  /// @throws DeviceError when the subordinate does not answer within 1,000 cycles
  [[nodiscard]] std::optional<std::uint32_t> read32(std::uint32_t address) override;
  [[nodiscard]] bool write32(std::uint32_t address, std::uint32_t value) override;

 private:
  void run();
  AxiLiteManager manager_;
  std::function<AxiLiteOut(const AxiLiteIn&)> cycle_;
};

}  // namespace sluice
