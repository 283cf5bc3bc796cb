// SPDX-License-Identifier: Apache-2.0
#include "study/sweep_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "study/evaluation.h"
#include "sw/core/errors.h"
#include "sw/io/csv_reader.h"
#include "sw/policy/names.h"
#include "sw/report/summary.h"

namespace sluice {

namespace {

constexpr std::size_t kTasksAtOnce = 1000;

EvaluationPlan plan_of(const Sweep& sweep, std::size_t index) {
  const Sweep::Task task = sweep.task(index);
  EvaluationPlan plan;
  plan.machine = sweep.machines[task.machine].config;
  plan.machine_text = sweep.machines[task.machine].text;
  plan.workload = sweep.workload;
  plan.mixes = sweep.mixes[task.mix];
  plan.policies = sweep.policies;
  plan.window = sweep.window;
  plan.curve_window = 0;
  plan.seed = sweep.seeds[task.seed];
  plan.partitioner = sweep.partitioner == "rtl" ? PartitionerKind::Rtl : PartitionerKind::Twin;
  return plan;
}

struct Attempt {
  std::vector<EvalRun> runs;
  std::string error;
};

Attempt attempt(EvaluationPlan plan, std::vector<std::string> policies) try {
  plan.policies = std::move(policies);
  return {evaluate(plan).results.runs, {}};
} catch (const std::runtime_error& e) {
  if (kind_of(e) != ErrorKind::CheckFailed && kind_of(e) != ErrorKind::BadInput) throw;
  return {{}, e.what()};
}

/// One row of `points` a policy. A policy whose run failed fails alone.
std::vector<nlohmann::json> points_of(const Sweep& sweep, std::size_t index, RunBatch& batch) {
  EvaluationPlan plan = plan_of(sweep, index);
  plan.find = [&](const std::vector<NamedRun>& runs) { return batch.find(runs); };
  const Attempt all = attempt(plan, sweep.policies);
  const bool normalized = std::ranges::find(sweep.policies, kLeftOver) != sweep.policies.end();
  std::vector<nlohmann::json> rows;
  for (const std::string& policy : sweep.policies) {
    Attempt own;
    if (!all.error.empty()) {
      own = attempt(plan, normalized && policy != kLeftOver ? std::vector<std::string>{kLeftOver, policy} : std::vector{policy});
      if (!own.error.empty()) own = attempt(plan, {policy});
    }
    const SweepMachine& machine = sweep.machines[sweep.task(index).machine];
    nlohmann::json row = {sweep.name,
                          index,
                          machine.config.name,
                          machine.parameters.dump(),
                          plan.seed,
                          plan.mixes,
                          policy,
                          own.error.empty() ? "done" : "failed",
                          own.error};
    const std::vector<EvalRun>& runs = all.error.empty() ? all.runs : own.runs;
    const auto run = std::ranges::find(runs, policy, &EvalRun::policy);
    if (run == runs.end())
      row.insert(row.end(), 8, nullptr);
    else
      for (const nlohmann::json& value :
           {nlohmann::json(run->cycles), nlohmann::json(run->ipc), nlohmann::json(run->normalized_ipc), nlohmann::json(run->stp),
            nlohmann::json(run->antt), nlohmann::json(run->min_speedup), nlohmann::json(run->average_watts),
            nlohmann::json(partition_label(run->partition))})
        row.push_back(value);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

void check_sweep(const Sweep& sweep) {
  for (std::size_t i = 0; i < sweep.tasks(); ++i) check_evaluation(plan_of(sweep, i));
}

SweepOutcome run_sweep(const Sweep& sweep, std::size_t first, std::size_t last, RunStore& store, unsigned jobs,
                       Database* points) {
  SweepOutcome outcome;
  const auto sql = [&](const char* text, const nlohmann::json& parameters = nlohmann::json::array()) {
    if (points != nullptr) (void)points->query(text, parameters);
  };
  sql("DELETE FROM points WHERE sweep = ?", {sweep.name});
  for (std::size_t begin = first; begin <= last; begin += kTasksAtOnce) {
    RunBatch batch(store, true);
    std::vector<std::size_t> open(std::min(kTasksAtOnce, last + 1 - begin));
    const std::string what = fmt::format("{}, tasks {} to {}", sweep.name, begin, begin + open.size() - 1);
    std::iota(open.begin(), open.end(), begin);
    do {
      sql("BEGIN");
      std::erase_if(open, [&](std::size_t task) {
        try {
          for (const nlohmann::json& row : points_of(sweep, task, batch)) {
            sql("INSERT INTO points VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row);
            const auto error = row.at(8).get<std::string>();
            if (!error.empty() && outcome.failed++ == 0) outcome.error = error;
          }
          return true;
        } catch (const RunBatch::Missing&) {
          return false;
        }
      });
      sql("COMMIT");
    } while (jobs != 0 && batch.make(jobs, what));
    outcome.missing.insert(outcome.missing.end(), open.begin(), open.end());
  }
  return outcome;
}

std::string sweep_csv(Database& points, const Sweep& sweep) {
  std::string csv = "machine,seed,mix,policy,cycles,ipc,normalized_ipc,stp,antt,min_speedup,partition\n";
  const auto answer = points.query(
      "SELECT task, seed, mix, policy, cycles, ipc, normalized_ipc, stp, antt, min_speedup, partition FROM points "
      "WHERE sweep = ? AND state = 'done' ORDER BY task, rowid",
      {sweep.name});
  for (const nlohmann::json& row : answer.rows) {
    const auto number = [&](std::size_t i, int digits) {
      return fmt::format("{:.{}f}", row[i].is_null() ? std::numeric_limits<double>::quiet_NaN() : row[i].get<double>(), digits);
    };
    csv += format_csv({sweep.machines[sweep.task(row[0]).machine].label, row[1].dump(), row[2], row[3], row[4].dump(),
                       number(5, 4), number(6, 5), number(7, 5), number(8, 5), number(9, 5), row[10]});
  }
  return csv;
}

}  // namespace sluice
