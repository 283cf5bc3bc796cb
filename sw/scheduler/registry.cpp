// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sw/core/errors.h"
#include "sw/policy/names.h"
#include "sw/policy/registry.h"
#include "sw/scheduler/adaptive_scheduler.h"
#include "sw/scheduler/arrival.h"
#include "sw/scheduler/balance_scheduler.h"
#include "sw/scheduler/dprr.h"
#include "sw/scheduler/kernelet_scheduler.h"
#include "sw/scheduler/monte_carlo.h"
#include "sw/scheduler/piv.h"
#include "sw/scheduler/policy_scheduler.h"
#include "sw/scheduler/prio_np.h"
#include "sw/scheduler/rr.h"
#include "sw/scheduler/warped_slicer_scheduler.h"

namespace sluice {

namespace {

template <class Scheduler>
std::unique_ptr<IScheduler> plain(const SchedulerInput&) {
  return std::make_unique<Scheduler>();
}

template <SlateTable table>
std::unique_ptr<IScheduler> slate(const SchedulerInput& input) {
  const std::uint32_t sms = input.machine.num_sms;
  return std::make_unique<SlateScheduler>(sms, slate_table_rule(sms, input.intensities, table));
}

constexpr std::size_t kUnitSlots = 8;  ///< kernel slots of the largest partition unit

constexpr SchedulerRow kRows[] = {
    {kWarpedSlicer,
     [](const SchedulerInput& input) -> std::unique_ptr<IScheduler> {
       return std::make_unique<WarpedSlicerScheduler>(input.machine);
     }},
    {kBalance,
     [](const SchedulerInput& input) -> std::unique_ptr<IScheduler> {
       if (input.machine.partitioner.balance.unit) return unit_decides(Mode::Balance)();
       return std::make_unique<BalanceScheduler>(input.machine, input.times, input.slots);
     },
     false, Rates::None, false, true},
    {"arrival", plain<Arrival>},
    {"rr", plain<Rr>},
    {"prio_np", plain<PrioNp>, false, Rates::None, true},
    {"piv", plain<Piv>, false, Rates::None, true},
    {"dprr", plain<Dprr>, false, Rates::None, true},
    {"adaptive",
     [](const SchedulerInput& input) -> std::unique_ptr<IScheduler> {
       return std::make_unique<AdaptiveScheduler>(input.machine, input.times, input.mix, input.slots, AdaptiveScheduler::kTurn,
                                                  input.ntt);
     },
     true},
    // SiM's transformed kernels without its service: no quota holds, and each takes what those before it leave.
    {"pt", [](const SchedulerInput&) { return unit_decides(Mode::Static)(); }},
    {"slate", slate<SlateTable::Printed>, false, Rates::Alone},
    {"slate_symmetric", slate<SlateTable::Symmetric>, false, Rates::Alone},
    {"slate_measured",
     [](const SchedulerInput& input) -> std::unique_ptr<IScheduler> {
       return std::make_unique<SlateScheduler>(input.machine.num_sms,
                                               slate_measured_rule(input.machine, input.mix, input.times, input.coruns));
     },
     false, Rates::CoRuns},
    // Kernel consolidation, which Kernelet is compared with: all kernels at once, each taking what those before it leave.
    {"base", [](const SchedulerInput&) { return unit_decides(Mode::LeftOver)(); }},
    {"kernelet",
     [](const SchedulerInput& input) -> std::unique_ptr<IScheduler> {
       return std::make_unique<KerneletScheduler>(input.machine, input.predicted, input.mix, input.min_slice);
     },
     false, Rates::Predicted},
    {"kernelet_opt",
     [](const SchedulerInput& input) -> std::unique_ptr<IScheduler> {
       auto scheduler = std::make_unique<KerneletScheduler>(input.machine, input.executed, input.mix, input.min_slice);
       scheduler->prune(0, 0);
       return scheduler;
     },
     false, Rates::Executed},
    {"monte_carlo",
     [](const SchedulerInput& input) -> std::unique_ptr<IScheduler> {
       return std::make_unique<MonteCarlo>(input.machine, input.executed, input.mix, input.seed);
     },
     false, Rates::Executed},
};

}  // namespace

std::span<const SchedulerRow> scheduler_rows() { return kRows; }

std::vector<std::string_view> scheduler_names() {
  std::vector<std::string_view> names;
  for (const SchedulerRow& row : kRows) names.push_back(row.name);
  for (const PolicyRow& row : policy_rows())
    if (row.needs != PolicyNeeds::Search && row.needs != PolicyNeeds::Unit && std::ranges::find(names, row.name) == names.end())
      names.push_back(row.name);
  return names;
}

SchedulerRow scheduler_row(std::string_view name) {
  const auto* row = std::ranges::find(kRows, name, &SchedulerRow::name);
  return row == std::end(kRows) ? SchedulerRow{{}, nullptr} : *row;
}

void check_rates(std::string_view name, const SchedulerInput& input) {
  const Rates rates = scheduler_row(name).rates;
  const bool of_pairs = rates == Rates::Predicted || rates == Rates::Executed;
  const bool alike = std::ranges::all_of(input.mix, [&](const auto& k) { return k.name == input.mix.front().name; });
  const bool lacks = (rates == Rates::Alone && input.intensities.empty()) ||
                     (rates == Rates::CoRuns && input.coruns.empty() && !alike) ||
                     (rates == Rates::Predicted && input.predicted.kernels.empty()) ||
                     (rates == Rates::Executed && input.executed.kernels.empty());
  if (lacks)
    throw InputError(fmt::format(
        "scheduler {}: decides by {}", name,
        of_pairs ? "a table of pairs: give one with --pairs" : "rates that executor fake does not have: use --executor model"));
}

MakeScheduler scheduler_of(const PolicyPlan& plan, const MachineConfig& machine) {
  return [plan, machine]() -> std::unique_ptr<IScheduler> {
    if (plan.mode == Mode::Dynamic) return std::make_unique<WarpedSlicerScheduler>(machine);
    return std::make_unique<PolicyScheduler>(plan, kUnitSlots);
  };
}

std::unique_ptr<IScheduler> make_scheduler(std::string_view name, const SchedulerInput& input) {
  if (const SchedulerRow row = scheduler_row(name); row.make != nullptr) return row.make(input);
  const std::vector<std::string_view> names = scheduler_names();
  if (std::ranges::find(names, name) == names.end())
    throw InputError(fmt::format("scheduler {}: must be one of {}", name, fmt::join(names, ", ")));
  return std::make_unique<PolicyScheduler>(policy_plans(name, input.machine, input.mix, input.ctas, input.curves).front(),
                                           input.slots);
}

}  // namespace sluice
