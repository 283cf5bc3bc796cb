// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <verilated.h>

#include "sw/driver/axi_lite.h"
#include "systemc/unit/rtl/verilated_ports.h"

namespace sluice {

/// The AXI4-Lite port of a Verilated module: s_axi_*, or the structs axi_i and axi_o.
template <class Model>
requires requires(Model m) { m.axi_i; }
void drive_axi(Model& model, const AxiLiteIn& in) {
  StructWriter axi(model.axi_i);
  axi.put(1, in.rready);
  axi.put(1, in.arvalid);
  axi.put(12, in.araddr);
  axi.put(1, in.bready);
  axi.put(1, in.wvalid);
  axi.put(4, in.wstrb);
  axi.put(32, in.wdata);
  axi.put(1, in.awvalid);
  axi.put(12, in.awaddr);
}

template <class Model>
requires requires(Model m) { m.axi_o; }
AxiLiteOut sample_axi(const Model& model) {
  AxiLiteOut out;
  StructReader axi(model.axi_o);
  axi.take(1, out.rvalid);
  axi.take(2, out.rresp);
  axi.take(32, out.rdata);
  axi.take(1, out.arready);
  axi.take(1, out.bvalid);
  axi.take(2, out.bresp);
  axi.take(1, out.wready);
  axi.take(1, out.awready);
  return out;
}

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
