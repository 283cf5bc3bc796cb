// SPDX-License-Identifier: Apache-2.0
// SiM's kernels alone (tables 2 and 3, figures 2, 3, 7 and 9), its example (section 3.7, figure 6), and its pairs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sw/report/paper_figures.h"
#include "sw/scheduler/decision_log.h"
#include "sw/scheduler/fake_executor.h"
#include "sw/scheduler/registry.h"

namespace sluice::figures {

namespace {

constexpr double kLow = 0.5;  // section 4.4: "an ISU of less than 50%"

/// A table cell of text or a number as it is to be printed.
double per_cycle(std::uint64_t events, std::uint64_t cycles) {
  return static_cast<double>(events) / static_cast<double>(std::max<std::uint64_t>(cycles, 1));
}

std::uint32_t fitting(const SimKernel& k, const MachineConfig& machine) {
  return occupancy(k.kernel.demand(), machine.sm.capacity).value();
}

/// CTA counts that are no faster than a smaller one: what SiM leaves out.
std::vector<std::size_t> pruned(const std::vector<double>& times) {
  std::vector<std::size_t> out;
  double best = INFINITY;
  for (std::size_t j = 0; j < times.size(); ++j) {
    if (times[j] >= best) out.push_back(j + 1);
    best = std::min(best, times[j]);
  }
  return out;
}

constexpr const char* kSchedulers[] = {"pt", "even", "adaptive"};

/// Mean over the pairs of a group.
template <class Value>
double mean(const std::vector<SimPair>& pairs, bool low, const Value& value) {
  double sum = 0;
  std::size_t n = 0;
  for (const SimPair& pair : pairs) {
    if (pair.low != low) continue;
    sum += value(pair);
    ++n;
  }
  return n == 0 ? NAN : sum / static_cast<double>(n);
}

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

bool SimKernel::low() const { return kernel.launch_reference->issue_utilization < kLow; }

Figure sim_table2(const MachineConfig& machine) {
  Figure figure{"table2", "What an SM holds",
                "2048 threads, 65536 registers, 48 KB of shared memory, 64 warps, 16 thread blocks."};
  const SmResources& sm = machine.sm.capacity;
  figure.data = {{"threads", sm.threads},
                 {"registers", sm.registers},
                 {"shared_memory_bytes", sm.shared_memory_bytes},
                 {"cta_slots", sm.cta_slots}};
  return figure;
}

Figure sim_table3(const std::vector<SimKernel>& kernels, const MachineConfig& machine) {
  Figure figure{"table3", "The kernels alone: length, and issue-slot utilisation (figure 3)",
                "ISU 27.5 (FD) to 97.4 % (MD); FD, PF and TP are below 50 %. Our times are scaled down together."};
  double worst_time = 0, worst_issue = 0;
  for (const SimKernel& k : kernels) {
    const LaunchReference& paper = *k.kernel.launch_reference;
    const double time = k.model.milliseconds / paper.milliseconds - 1,
                 issue = k.model.issue_utilization - paper.issue_utilization;
    worst_time = std::max(worst_time, std::abs(time));
    worst_issue = std::max(worst_issue, std::abs(issue));
    figure.data[k.kernel.name] = {{"ctas_per_sm", fitting(k, machine)},
                                  {"time_ms", k.model.milliseconds},
                                  {"published_time_ms", paper.milliseconds},
                                  {"issue_utilization", k.model.issue_utilization},
                                  {"published_issue_utilization", paper.issue_utilization}};
  }
  figure.measured = fmt::format("Fitted to these two alone: times within {:.1f} %, ISU within {:.1f} points.", 100 * worst_time,
                                100 * worst_issue);
  return figure;
}

Figure sim_spatial(const std::vector<SimKernel>& kernels, const MachineConfig& machine) {
  Figure figure{"2", "Share of an SM that each kernel occupies",
                "MD needs more than 70 % of the registers and no shared memory; LM needs more than 90 % of the shared memory."};
  constexpr const char* kNames[] = {"registers", "shared memory", "threads", "CTA slots"};
  for (const SimKernel& k : kernels) {
    const SmResources demand = k.kernel.demand(), &sm = machine.sm.capacity;
    const double n = 100.0 * fitting(k, machine);
    const std::vector<double> shares = {n * demand.registers / sm.registers,
                                        n * demand.shared_memory_bytes / sm.shared_memory_bytes, n * demand.threads / sm.threads,
                                        n * demand.cta_slots / sm.cta_slots};
    for (std::size_t i = 0; i < shares.size(); ++i) {
      figure.data[k.kernel.name][kNames[i]] = shares[i];
    }
  }
  const auto share = [&](const char* kernel, const char* of) {
    return figure.data.contains(kernel) ? figure.data[kernel][of].get<double>() : NAN;
  };
  figure.measured =
      fmt::format("MD: {:.1f} % of the registers, {:.1f} % of the shared memory. LM: {:.1f} % of the shared memory.",
                  share("MD", "registers"), share("MD", "shared memory"), share("LM", "shared memory"));
  return figure;
}

Figure sim_units(const std::vector<SimKernel>& kernels, const MachineConfig& machine) {
  Figure figure{
      "7", "What each kernel uses, of 10",
      "In words: MD and LM are compute-intensive, FD uses memory and cache much, BO, NB, PF and TP are mixed. The instruction "
      "mixes "
      "here are chosen after these words and the programs."};
  const std::vector<std::string> units = {"ALU", "SFU", "LDST", "L2", "DRAM"};
  const double peak = dram_bytes_per_cycle(machine);
  std::vector<std::string> most;
  for (const SimKernel& k : kernels) {
    const KernelCounters& c = k.run.total;
    const std::uint64_t cycles = k.run.cycles.value(), sm_cycles = k.run.sm_cycles;
    const std::vector<double> uses = {per_cycle(c.alu_busy, sm_cycles) / machine.sm.alu_pipes, per_cycle(c.sfu_busy, sm_cycles),
                                      per_cycle(c.ldst_busy, sm_cycles), per_cycle(c.l2_accesses, cycles) / machine.l2_slices,
                                      per_cycle(c.dram_bytes, cycles) / peak};
    for (std::size_t i = 0; i < uses.size(); ++i) {
      figure.data[k.kernel.name][units[i]] = 10 * uses[i];
    }
    const auto largest = static_cast<std::size_t>(std::ranges::max_element(uses) - uses.begin());
    most.push_back(fmt::format("{} {}", k.kernel.name, units[largest]));
  }
  figure.measured = fmt::format("Used most: {}.", fmt::join(most, ", "));
  return figure;
}

Figure sim_curves(const std::vector<SimKernel>& kernels) {
  Figure figure{
      "9", "Performance against CTAs on an SM",
      "The gain is marginal beyond some point. Some counts of BO and NB are slower than a smaller one, and are left out."};
  std::vector<std::string> left_out;
  for (const SimKernel& k : kernels) {
    const double best = *std::ranges::min_element(k.times);
    std::vector<double> values;
    for (const double time : k.times) values.push_back(best / time);
    const std::vector<std::size_t> none = pruned(k.times);
    if (!none.empty()) left_out.push_back(fmt::format("{} {}", k.kernel.name, fmt::join(none, " ")));
    figure.data[k.kernel.name] = {{"performance", values}, {"left_out", none}};
  }
  figure.measured = left_out.empty() ? "No count is slower than a smaller one."
                                     : fmt::format("Counts left out, as they are no faster: {}.", fmt::join(left_out, "; "));
  return figure;
}

Figure sim_pairs(const std::vector<SimPair>& pairs, bool low, bool equal) {
  Figure figure;
  figure.id = fmt::format("{}{}", low ? "10" : "11", equal ? "_equal" : "");
  figure.title = fmt::format("Normalised STP of the pairs {} a kernel of low issue-slot utilisation{}", low ? "with" : "without",
                             equal ? ", all kernels of one length" : "");
  figure.published =
      equal ? "Not in the paper."
      : low ? "SiM +9.8 % over sequential execution (up to +22.4 %), PT +5.3 %. Good: BO+TP, FD+TP. Little: FD+MD, MD+TP. "
              "LM+TP is below PT."
            : "SiM +0.3 %, PT -0.5 %.";
  const SimPair *best = nullptr, *worst = nullptr;
  std::size_t below = 0, shown = 0;
  for (const SimPair& pair : pairs) {
    if (pair.low != low) continue;
    for (const char* scheduler : kSchedulers) {
      const SimShare& share = pair.shares.at(scheduler);
      figure.data["pairs"][pair.name][scheduler] = {{"stp", share.stp},
                                                    {"antt", share.antt},
                                                    {"antt_over_sequential", share.antt_sequential},
                                                    {"worst_ntt", share.worst_ntt}};
    }
    figure.data["pairs"][pair.name]["bound"] = pair.bound;
    figure.data["pairs"][pair.name]["longer_alone"] = pair.longer_alone;
    ++shown;
    const auto stp = [](const SimPair* p) { return p->shares.at("adaptive").stp; };
    if (best == nullptr || stp(&pair) > stp(best)) best = &pair;
    if (worst == nullptr || stp(&pair) < stp(worst)) worst = &pair;
    if (stp(&pair) < pair.shares.at("even").stp) ++below;
  }
  if (best == nullptr) {
    figure.measured = "No such pair.";
    return figure;
  }
  for (const char* scheduler : kSchedulers) {
    const double value = mean(pairs, low, [&](const SimPair& p) { return p.shares.at(scheduler).stp; });
    figure.data["mean"][scheduler] = value;
  }
  const double bound = mean(pairs, low, [](const SimPair& p) { return p.bound; });
  const double longer = mean(pairs, low, [](const SimPair& p) { return p.longer_alone; });
  figure.data["mean"]["bound"] = bound;
  figure.data["mean"]["longer_alone"] = longer;
  const auto value = [&](const char* scheduler) { return figure.data["mean"][scheduler].get<double>(); };
  figure.measured = fmt::format(
      "adaptive {} (best {} {}, worst {} {}), pt {}, even {}; below even in {} of {} pairs. No schedule is above {} in the mean; "
      "where a pair takes as long as its longer kernel alone, the mean is {}.",
      gain_text(value("adaptive")), best->name, gain_text(best->shares.at("adaptive").stp), worst->name,
      gain_text(worst->shares.at("adaptive").stp), gain_text(value("pt")), gain_text(value("even")), below, shown,
      gain_text(bound), gain_text(longer));
  return figure;
}

Figure sim_antt(const std::vector<SimPair>& pairs, bool equal) {
  Figure figure{
      equal ? "antt_equal" : "antt", fmt::format("Turnaround{}", equal ? ", all kernels of one length" : ""), {}, {}, {}, {}};
  figure.published =
      equal ? "Not in the paper."
            : "ANTT rises by 49.2 % with a kernel of low issue-slot utilisation, by 78.7 % without. The text leaves open "
              "whether over the kernels alone or over sequential execution.";
  for (const bool low : {true, false}) {
    const char* group = low ? "low" : "high";
    for (const char* scheduler : kSchedulers) {
      const double antt = mean(pairs, low, [&](const SimPair& p) { return p.shares.at(scheduler).antt; });
      const double sequential = mean(pairs, low, [&](const SimPair& p) { return p.shares.at(scheduler).antt_sequential; });
      figure.data[group][scheduler] = {{"antt", antt}, {"antt_over_sequential", sequential}};
    }
  }
  const auto text = [&](const char* group) {
    const auto& share = figure.data[group]["adaptive"];
    return fmt::format("{} over the kernels alone, {} over sequential execution", gain_text(share["antt"].get<double>()),
                       gain_text(share["antt_over_sequential"].get<double>()));
  };
  figure.measured = fmt::format("adaptive, low: {}; high: {}.", text("low"), text("high"));
  return figure;
}

Figure sim_example(const MachineConfig& machine) {
  Figure figure{"6", "The example of section 3.7: CTAs on an SM", "A: 5. B arrives: A 3, B 3. B has begun its last block: A 5."};
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
