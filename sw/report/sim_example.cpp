// SPDX-License-Identifier: Apache-2.0
// SiM's example (section 3.7, figure 6), decided by the scheduler itself.
#include "sw/report/sim_figures.h"
#include "sw/scheduler/decision_log.h"
#include "sw/scheduler/fake_executor.h"
#include "sw/scheduler/registry.h"

namespace sluice::figures {

namespace {

using namespace std::chrono_literals;

/// `rounds` tasks for every SM, each so long.
FakeJob job(const MachineConfig& machine, const char* name, std::uint32_t rounds, std::uint32_t registers, Time arrival) {
  FakeJob made;
  made.kernel.name = name;
  made.kernel.grid_ctas = rounds * machine.num_sms;
  made.kernel.block_threads = 64;
  made.kernel.registers_per_cta = registers;
  made.task_time = 10us;
  made.arrival = arrival;
  return made;
}

}  // namespace

Figure sim_example(const MachineConfig& machine) {
  Figure figure{"6", "The example of section 3.7: CTAs on an SM", {}, {}, {}, {}};
  figure.published = "A: 5. B arrives: A 3, B 3. B has begun its last block: A 5.";
  const std::uint32_t registers = machine.sm.capacity.registers;  // five of A fill an SM, and so do three of A and three of B
  const std::vector<FakeJob> jobs = {job(machine, "A", 100, registers * 3 / 16, {}),
                                     job(machine, "B", 9, registers * 7 / 48, 175us)};
  SchedulerInput input{machine, {}};
  for (const FakeJob& j : jobs) {
    input.mix.push_back(j.kernel);
    input.times[j.kernel.name] = fake_solo_times(machine, j.kernel, j.task_time);
  }
  LoggedScheduler scheduler(make_scheduler("adaptive", input));
  (void)run_fake(machine, jobs, scheduler);
  Plan last;
  for (const LoggedDecision& d : scheduler.decisions()) {
    if (d.plan.jobs == last.jobs || d.plan.jobs.empty()) continue;
    last = d.plan;
    nlohmann::ordered_json counts;
    for (const JobShare& share : last.jobs) {
      counts[jobs.at(share.job.value()).kernel.name] = share.share.ctas.value();
    }
    figure.data.push_back({{"us", std::chrono::duration<double, std::micro>(d.now).count()}, {"ctas", counts}});
  }
  return figure;
}

}  // namespace sluice::figures
