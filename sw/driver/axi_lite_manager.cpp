// SPDX-License-Identifier: Apache-2.0
#include "sw/driver/axi_lite_manager.h"

#include "sw/driver/sluice_driver.h"

namespace sluice {

void AxiLiteManager::begin_write(std::uint32_t address, std::uint32_t data, std::uint8_t strobe) {
  pins_ = {};
  pins_.awaddr = address;
  pins_.wdata = data;
  pins_.wstrb = strobe;
  pins_.awvalid = pins_.wvalid = pins_.bready = true;
  done_ = false;
}

void AxiLiteManager::begin_read(std::uint32_t address) {
  pins_ = {};
  pins_.araddr = address;
  pins_.arvalid = pins_.rready = true;
  done_ = false;
}

void AxiLiteManager::observe(const AxiLiteOut& out) {
  if (pins_.awvalid && out.awready) pins_.awvalid = false;
  if (pins_.wvalid && out.wready) pins_.wvalid = false;
  if (pins_.arvalid && out.arready) pins_.arvalid = false;
  const bool written = pins_.bready && out.bvalid, read = pins_.rready && out.rvalid;
  if (!written && !read) return;
  response_ = written ? out.bresp : out.rresp;
  data_ = out.rdata;
  pins_ = {};
  done_ = true;
}

std::optional<std::uint32_t> AxiLiteBus::read32(std::uint32_t address) {
  manager_.begin_read(address);
  run();
  return manager_.response() == AxiResponse::kOkay ? std::optional(manager_.data()) : std::nullopt;
}

bool AxiLiteBus::write32(std::uint32_t address, std::uint32_t value) {
  manager_.begin_write(address, value);
  run();
  return manager_.response() == AxiResponse::kOkay;
}

void AxiLiteBus::run() {
  for (int cycles = 0; cycles < 1000; ++cycles) {
    manager_.observe(cycle_(manager_.pins()));
    if (manager_.done()) return;
  }
  throw DeviceError("AXI4-Lite: no answer within 1000 cycles: is the unit clocked and out of reset?");
}

}  // namespace sluice
