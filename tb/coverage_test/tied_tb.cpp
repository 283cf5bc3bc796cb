// SPDX-License-Identifier: Apache-2.0
// Bench of tied.sv, for tb/test_coverage.py: a reset, then the one bit that can move does.
#include <Vtied.h>
#include <gtest/gtest.h>

#include "systemc/unit/rtl/verilated_model.h"

namespace sluice::tb {
namespace {

TEST(Tied, OneBitMoves) {
  VerilatedModel<Vtied> model;
  for (unsigned cycle = 0; cycle < 20; ++cycle) {
    model->rst_ni = cycle > 1 ? 1 : 0;
    model->moves_i = cycle > 4 ? cycle % 2 : 0;
    model.low();
    model.high();
  }
  EXPECT_EQ(model->bits_o & 0b1110, 0b1010);
}

}  // namespace
}  // namespace sluice::tb
