// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>
#include <verilated.h>
#include <verilated_fst_c.h>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>

#include "sw/core/errors.h"
#include "systemc/unit/rtl/rtl_coverage.h"

namespace sluice {

/// A Verilated design with one clock `clk_i`, its waveform and its coverage. Registers start with random bits, the same in every
/// run: data that is read before it was written makes a difference. Where coverage is counted they start with zeros, or half of
/// the bits that never change would count as toggled.
/// @tparam Top  the Verilated class
template <class Top>
class VerilatedModel {
 public:
  /// @param fst_file         waveform to write, empty for none
  /// @param clock_period_ps  for the time axis of the waveform
  /// @throws InputError or SystemError when the waveform can't be written; a model without waveforms writes none
  explicit VerilatedModel(const std::string& fst_file = "", std::uint64_t clock_period_ps = 1000)
      : half_period_(clock_period_ps / 2) {
    if constexpr (requires(Top & top, VerilatedFstC * fst) { top.trace(fst, 99); }) {
      if (fst_file.empty()) return;
      if (!std::ofstream(fst_file)) throw_errno(fmt::format("{}: can't write the waveform", fst_file), errno);
      context_.traceEverOn(true);
      top_.trace(&fst_, 99);
      fst_.open(fst_file.c_str());
    }
  }
  ~VerilatedModel() {
    if (fst_.isOpen()) fst_.close();
    top_.final();
    write_coverage(context_, "");
  }
  VerilatedModel(const VerilatedModel&) = delete;
  VerilatedModel& operator=(const VerilatedModel&) = delete;

  Top* operator->() { return &top_; }
  Top& operator*() { return top_; }
  const Top* operator->() const { return &top_; }
  const Top& operator*() const { return top_; }
  /// Settles combinational logic, without passing of time.
  void eval() { top_.eval(); }
  /// First half of a cycle: inputs are set, outputs stand as before the rising edge.
  void low() { half(0); }
  /// The rising edge, and the other half.
  void high() {
    half(1);
    if (kCountsCoverage && !std::exchange(ran_, true)) write_coverage(context_, "first_");
  }
  /// Cycles in which nothing happens.
  void skip(std::uint64_t cycles) { time_ += 2 * half_period_ * cycles; }

 private:
  void half(unsigned clock) {
    top_.clk_i = static_cast<CData>(clock);
    top_.eval();
    if (fst_.isOpen()) fst_.dump(time_);
    time_ += half_period_;
  }

  struct RandomStart : VerilatedContext {
    RandomStart() {
      randReset(kCountsCoverage ? 0 : 2);
      randSeed(1);
    }
  };

  RandomStart context_;
  Top top_{&context_};
  VerilatedFstC fst_;
  std::uint64_t half_period_, time_ = 0;
  bool ran_ = false;  ///< a whole cycle
};

}  // namespace sluice
