// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace sluice {

/// Pins of an AXI4-Lite port with 32-bit data that the manager drives.
struct AxiLiteIn {
  std::uint32_t awaddr = 0;  ///< bytes
  bool awvalid = false;
  std::uint32_t wdata = 0;
  std::uint8_t wstrb = 0xf;
  bool wvalid = false;
  bool bready = false;
  std::uint32_t araddr = 0;
  bool arvalid = false;
  bool rready = false;
};

enum class AxiResponse : std::uint8_t { kOkay = 0, kSlvErr = 2 };

/// Pins that the subordinate drives.
struct AxiLiteOut {
  bool awready = true, wready = true, arready = true;
  AxiResponse bresp = AxiResponse::kOkay;
  bool bvalid = false;
  std::uint32_t rdata = 0;
  AxiResponse rresp = AxiResponse::kOkay;
  bool rvalid = false;
  bool operator==(const AxiLiteOut&) const = default;
};

}  // namespace sluice
