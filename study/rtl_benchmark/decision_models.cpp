// SPDX-License-Identifier: Apache-2.0
#include "study/rtl_benchmark/rtl_benchmark.h"
#include "systemc/unit/rtl/on_demand.h"

namespace sluice {

unsigned DecisionTimes::decision_bound() const {
  const unsigned k = kernels, n = levels;
  const unsigned reading = k * (n + 1) + 4, curve = 56 * n - 33;
  const unsigned first = 4 * (1 + 2 * k) + 1, fit = 4 * (1 + k + n) + 1, scan = 4 * k + 1, judge = k * (k + 3) + 2;
  return reading + k * curve + first + n * (scan + 1 + fit) + 3 * (n - k + k * (n - 1)) + scan + judge;
}

const DecisionModels& decision_models() {
  using Get = const DecisionModels* (*)();
  static const DecisionModels& models = *reinterpret_cast<Get>(built_on_demand(
      {"the RTL's decision path", "decision_path", " -DREGISTERS='" SLUICE_REGISTER_TABLE "'", "sluice_decision_models", ""}))();
  return models;
}

}  // namespace sluice
