// SPDX-License-Identifier: Apache-2.0
// The Verilated units of the GPU model. One model an elaboration, as a simulator has no elaboration parameters at run time: some
// are linked (rtl/units.cmake); any other is built as a shared object where a run first needs it, and kept.
#include "systemc/unit/rtl/rtl_sluice_top.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <register_table.h>
#include <sluice_rtl_units.h>

#include <algorithm>
#include <map>

#include "systemc/unit/rtl/on_demand.h"

namespace sluice {

namespace {

using Make = ISluiceTop* (*)(const char* fst_file, std::uint64_t clock_period_ps);

template <class Model, unsigned kSchedulers>
ISluiceTop* make(const char* fst_file, std::uint64_t clock_period_ps) {
  return new RtlSluiceTop<Model, kSchedulers>(fst_file, clock_period_ps);
}
struct LinkedUnit {
  regs::Parameters parameters;
  Make make;
};
#define SLUICE_UNIT(SMS, SCHEDULERS) {{SMS, 4, 32, SCHEDULERS, 64}, &make<Vsluice_top_##SMS, SCHEDULERS>},
constexpr LinkedUnit kLinked[] = {SLUICE_RTL_UNITS(SLUICE_UNIT)};
#undef SLUICE_UNIT

Make unit_of(const regs::Parameters& parameters) {
  static std::map<std::string, Make> on_demand;
  for (const LinkedUnit& unit : kLinked)
    if (std::ranges::all_of(regs::kParameterNames, [&](auto n) { return unit.parameters.*n.second == parameters.*n.second; }))
      return unit.make;
  std::vector<std::uint32_t> values;
  std::string settings = " -DPARAMETERS='";
  for (const auto& [name, member] : regs::kParameterNames) {
    values.push_back(parameters.*member);
    settings += fmt::format("-G{}={};", name, parameters.*member);
  }
  settings += fmt::format("' -DNUM_SCHED={} -DMAX_KERNELS={} -DREADY_SMS={}", parameters.num_sched, parameters.max_kernels,
                          parameters.sm_ready == 0 ? 0 : parameters.num_sm);
  Make& make = on_demand[settings];
  if (make == nullptr)
    make = reinterpret_cast<Make>(built_on_demand({fmt::format("the partition unit's RTL for {} SMs of {} and {} kernels",
                                                               parameters.num_sm, parameters.num_sched, parameters.max_kernels),
                                                   fmt::format("{}", fmt::join(values, "_")), settings, "sluice_make_unit",
                                                   "; --partitioner twin needs no build"}));
  return make;
}

}  // namespace

void check_rtl_sluice_top(const regs::Parameters& parameters) { (void)unit_of(parameters); }

std::unique_ptr<ISluiceTop> make_rtl_sluice_top(const regs::Parameters& parameters, const std::string& fst_file,
                                                std::uint64_t clock_period_ps) {
  return std::unique_ptr<ISluiceTop>(unit_of(parameters)(fst_file.c_str(), clock_period_ps));
}

}  // namespace sluice
