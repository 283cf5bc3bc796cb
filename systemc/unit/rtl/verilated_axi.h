// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <verilated.h>

#include "sw/driver/axi_lite.h"

namespace sluice {

/// The AXI4-Lite port of a Verilated module (s_axi_*).
template <class Model>
void drive_axi(Model& model, const AxiLiteIn& in) {
  model.s_axi_awaddr_i = static_cast<SData>(in.awaddr);
  model.s_axi_awvalid_i = in.awvalid;
  model.s_axi_wdata_i = in.wdata;
  model.s_axi_wstrb_i = in.wstrb;
  model.s_axi_wvalid_i = in.wvalid;
  model.s_axi_bready_i = in.bready;
  model.s_axi_araddr_i = static_cast<SData>(in.araddr);
  model.s_axi_arvalid_i = in.arvalid;
  model.s_axi_rready_i = in.rready;
}

template <class Model>
AxiLiteOut sample_axi(const Model& model) {
  return {model.s_axi_awready_o != 0,
          model.s_axi_wready_o != 0,
          model.s_axi_arready_o != 0,
          static_cast<AxiResponse>(model.s_axi_bresp_o),
          model.s_axi_bvalid_o != 0,
          model.s_axi_rdata_o,
          static_cast<AxiResponse>(model.s_axi_rresp_o),
          model.s_axi_rvalid_o != 0};
}

}  // namespace sluice
