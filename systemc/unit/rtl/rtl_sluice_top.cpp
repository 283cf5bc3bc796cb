// SPDX-License-Identifier: Apache-2.0
// The Verilated units that the GPU model links. One model an elaboration: a simulator has no elaboration parameters at run time
// (rtl/CMakeLists.txt lists what is Verilated).
#include "systemc/unit/rtl/rtl_sluice_top.h"

#include <fmt/format.h>
#include <sluice_rtl_units.h>

#include "sw/core/errors.h"

namespace sluice {

namespace {

template <class Model, unsigned kSchedulers>
std::unique_ptr<ISluiceTop> make(const std::string& fst_file, std::uint64_t clock_period_ps) {
  return std::make_unique<RtlSluiceTop<Model, kSchedulers>>(fst_file, clock_period_ps);
}
struct Unit {
  unsigned sms, schedulers;
  std::unique_ptr<ISluiceTop> (*make)(const std::string& fst_file, std::uint64_t clock_period_ps);
};
#define SLUICE_UNIT(SMS, SCHEDULERS) {SMS, SCHEDULERS, &make<Vsluice_top_##SMS, SCHEDULERS>},
constexpr Unit kUnits[] = {SLUICE_RTL_UNITS(SLUICE_UNIT)};
#undef SLUICE_UNIT

const Unit& find_unit(const regs::Parameters& parameters) {
  std::string shapes;
  for (const Unit& unit : kUnits) {
    if (parameters.churn == 0 && parameters.region_units == 64 && parameters.max_kernels == 4 && parameters.max_ctas == 32 &&
        parameters.num_sm == unit.sms && parameters.num_sched == unit.schedulers)
      return unit;
    shapes += fmt::format("{}{} SMs of {}", shapes.empty() ? "" : ", ", unit.sms, unit.schedulers);
  }
  throw InputError(fmt::format(
      "the RTL is Verilated for 4 kernel slots and 64 region units, on SMs with warp schedulers: {}; this run has {}, {} "
      "and {} SMs of {}{}: use --partitioner twin",
      shapes, parameters.max_kernels, parameters.region_units, parameters.num_sm, parameters.num_sched,
      parameters.churn == 0 ? "" : ", with churn"));
}

}  // namespace

void check_rtl_sluice_top(const regs::Parameters& parameters) { (void)find_unit(parameters); }

std::unique_ptr<ISluiceTop> make_rtl_sluice_top(const regs::Parameters& parameters, const std::string& fst_file,
                                                std::uint64_t clock_period_ps) {
  return find_unit(parameters).make(fst_file, clock_period_ps);
}

}  // namespace sluice
