// SPDX-License-Identifier: Apache-2.0
// The Verilated units that the GPU model links. One model an elaboration: a simulator has no elaboration parameters at run time
// (rtl/CMakeLists.txt lists what is Verilated).
#include "systemc/unit/rtl/rtl_sluice_top.h"

#include <Vsluice_top_132.h>
#include <Vsluice_top_14.h>
#include <Vsluice_top_15.h>
#include <Vsluice_top_16.h>
#include <Vsluice_top_30.h>
#include <Vsluice_top_8.h>
#include <fmt/format.h>

#include "sw/core/errors.h"

namespace sluice {

std::unique_ptr<ISluiceTop> make_rtl_sluice_top(const regs::Parameters& parameters, const std::string& fst_file,
                                                std::uint64_t clock_period_ps) {
  const auto is = [&parameters](unsigned sms, unsigned schedulers) {
    return parameters.region_units == 64 && parameters.max_kernels == 4 && parameters.max_ctas == 32 &&
           parameters.num_sm == sms && parameters.num_sched == schedulers;
  };
  if (is(16, 2)) return std::make_unique<RtlSluiceTop<Vsluice_top_16, 2>>(fst_file, clock_period_ps);
  if (is(14, 2)) return std::make_unique<RtlSluiceTop<Vsluice_top_14, 2>>(fst_file, clock_period_ps);
  if (is(8, 4)) return std::make_unique<RtlSluiceTop<Vsluice_top_8, 4>>(fst_file, clock_period_ps);
  if (is(15, 4)) return std::make_unique<RtlSluiceTop<Vsluice_top_15, 4>>(fst_file, clock_period_ps);
  if (is(30, 4)) return std::make_unique<RtlSluiceTop<Vsluice_top_30, 4>>(fst_file, clock_period_ps);
  if (is(132, 4)) return std::make_unique<RtlSluiceTop<Vsluice_top_132, 4>>(fst_file, clock_period_ps);
  throw InputError(
      fmt::format("the RTL is Verilated for 4 kernel slots and 64 region units, on 14 or 16 SMs with 2 schedulers each "
                  "and on 8, 15, 30 or 132 SMs with 4; this run has {}, {}, {} and {}: use --partitioner twin",
                  parameters.max_kernels, parameters.region_units, parameters.num_sm, parameters.num_sched));
}

}  // namespace sluice
