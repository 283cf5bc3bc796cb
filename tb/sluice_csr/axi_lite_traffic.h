// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "sw/driver/axi_lite.h"
#include "tb/common/random.h"

namespace sluice::tb {

struct AxiWrite {
  std::uint32_t address = 0, data = 0;
  std::uint8_t strobe = 0xf;
};

/// Random AXI4-Lite manager: address and data of a write in any order, pauses, backpressure; valid stays until ready, as the
/// rules ask.
class AxiLiteTraffic {
 public:
  AxiLiteTraffic(Random& random, std::function<AxiWrite()> next_write, std::function<std::uint32_t()> next_read)
      : random_(random), next_write_(std::move(next_write)), next_read_(std::move(next_read)) {}

  const AxiLiteIn& next() {
    if (random_.chance(0.01)) pace_ = random_.chance(0.5) ? 1.0 : random_.chance(0.5) ? 0.1 : 0.5;
    if (!in_.awvalid && !in_.wvalid && !address_sent_ && !data_sent_) write_ = next_write_();
    if (!in_.awvalid && !address_sent_ && random_.chance(pace_)) {
      in_.awvalid = true;
      in_.awaddr = write_.address;
    }
    if (!in_.wvalid && !data_sent_ && random_.chance(pace_)) {
      in_.wvalid = true;
      in_.wdata = write_.data;
      in_.wstrb = write_.strobe;
    }
    if (!in_.arvalid && random_.chance(pace_)) {
      in_.arvalid = true;
      in_.araddr = next_read_();
    }
    in_.bready = random_.chance(pace_);
    in_.rready = random_.chance(pace_);
    return in_;
  }

  void observe(const AxiLiteOut& out, bool rst_n) {
    if (!rst_n) {
      in_ = {};
      address_sent_ = data_sent_ = false;
      return;
    }
    if (in_.awvalid && out.awready) in_.awvalid = !(address_sent_ = true);
    if (in_.wvalid && out.wready) in_.wvalid = !(data_sent_ = true);
    if (address_sent_ && data_sent_) address_sent_ = data_sent_ = false;
    if (in_.arvalid && out.arready) in_.arvalid = false;
  }

 private:
  Random& random_;
  std::function<AxiWrite()> next_write_;
  std::function<std::uint32_t()> next_read_;
  double pace_ = 1;
  AxiLiteIn in_;
  AxiWrite write_;
  bool address_sent_ = false, data_sent_ = false;
};

/// The rules of AXI4-Lite at the pins: what is valid stays and keeps its payload until it is taken; a response answers a request
/// and comes within two cycles of its request and of the response before; nothing is valid in reset.
class AxiLiteMonitor {
 public:
  /// Ports of one cycle, just before the rising edge.
  void check(const AxiLiteIn& in, const AxiLiteOut& out, bool rst_n) {
    if (!rst_n) {
      ASSERT_FALSE(out.bvalid) << "B valid in reset";
      ASSERT_FALSE(out.rvalid) << "R valid in reset";
      *this = AxiLiteMonitor();
      return;
    }
    if (b_waits_) {
      ASSERT_TRUE(out.bvalid) << "B taken back";
      ASSERT_EQ(out.bresp, b_waits_->bresp) << "B changed while it waited";
    }
    if (r_waits_) {
      ASSERT_TRUE(out.rvalid) << "R taken back";
      ASSERT_EQ(out.rdata, r_waits_->rdata) << "R changed while it waited";
      ASSERT_EQ(out.rresp, r_waits_->rresp) << "R changed while it waited";
    }
    if (out.bvalid) {
      ASSERT_GT(addresses_, 0U) << "B without an address";
      ASSERT_GT(data_, 0U) << "B without data";
    }
    ASSERT_TRUE(!out.rvalid || reads_ > 0) << "R without a request";
    const bool write_open = addresses_ > 0 && data_ > 0 && !out.bvalid;
    ASSERT_LE(write_age_ = write_open ? write_age_ + 1 : 0, 2U) << "a write is not answered";
    const bool read_open = reads_ > 0 && !out.rvalid;
    ASSERT_LE(read_age_ = read_open ? read_age_ + 1 : 0, 1U) << "a read is not answered";

    if (out.bvalid && in.bready) --addresses_, --data_;
    if (out.rvalid && in.rready) --reads_;
    if (in.awvalid && out.awready) ++addresses_;
    if (in.wvalid && out.wready) ++data_;
    if (in.arvalid && out.arready) ++reads_;
    b_waits_ = out.bvalid && !in.bready ? std::optional(out) : std::nullopt;
    r_waits_ = out.rvalid && !in.rready ? std::optional(out) : std::nullopt;
  }

 private:
  std::optional<AxiLiteOut> b_waits_, r_waits_;
  unsigned addresses_ = 0, data_ = 0, reads_ = 0;  ///< taken, response not yet taken
  unsigned write_age_ = 0, read_age_ = 0;
};

}  // namespace sluice::tb
