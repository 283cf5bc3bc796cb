// SPDX-License-Identifier: Apache-2.0
#include "lib/sluice.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sw/core/errors.h"
#include "sw/driver/axi_lite_manager.h"
#include "sw/driver/sluice_driver.h"
#include "sw/policy/registry.h"
#include "sw/scheduler/job_table.h"
#include "sw/scheduler/live_scheduler.h"
#include "sw/workload/machine_file.h"
#include "systemc/unit/ports/i_cta_dispatcher.h"
#include "systemc/unit/ports/i_sluice_top.h"

struct sluice_machine {
  sluice::MachineConfig config;
};

struct sluice_scheduler {
  std::string name;
  sluice::MachineConfig machine;
  std::unique_ptr<sluice::IScheduler> decides;
  sluice::JobTable jobs;
  std::uint32_t arrived = 0;
  sluice::Time now{};
};

struct sluice_unit {
  explicit sluice_unit(const sluice::regs::Parameters& p)
      : parameters(p),
        top(sluice::make_twin_sluice_top(p)),
        bus([this](const sluice::AxiLiteIn& pins) {
          const sluice::AxiLiteOut before = top->outputs().axi;
          sluice::SluiceTopIn in;
          in.axi = pins;
          in.dispatch_ready = false;
          clock(in);
          return before;
        }),
        driver(bus) {}
  void clock(const sluice::SluiceTopIn& in) {
    top->clock(in);
    ++cycles;
  }

  sluice::regs::Parameters parameters;
  std::unique_ptr<sluice::ISluiceTop> top;
  std::uint64_t cycles = 0;
  sluice::AxiLiteBus bus;
  sluice::SluiceDriver driver;
};

namespace sluice {
namespace {

thread_local std::string last_error;

/// Runs `body`; what it throws is the thread's last error.
template <class Body>
sluice_status guarded(Body body) noexcept {
  try {
    body();
    return SLUICE_OK;
  } catch (const std::exception& error) {
    const bool theirs = kind_of(error) == ErrorKind::BadInput || dynamic_cast<const DeviceError*>(&error) != nullptr;
    try {
      last_error = error.what();
    } catch (...) {
      last_error.clear();
    }
    return theirs ? SLUICE_BAD_INPUT : SLUICE_SYSTEM;
  }
}

template <class T>
T& given(T* pointer, const char* what) {
  if (pointer == nullptr) throw InputError(fmt::format("{}: is NULL", what));
  return *pointer;
}

void in_range(const char* what, std::uint64_t value, std::uint64_t low, std::uint64_t high) {
  if (value < low || value > high) throw InputError(fmt::format("{} = {}: must be {}..{}", what, value, low, high));
}

SmResources capacity(const sluice_sm& sm) {
  constexpr std::uint32_t kMost = 1U << 20;
  in_range("threads", sm.threads, kWarpSize, kMost);
  if (sm.threads % kWarpSize != 0) throw InputError(fmt::format("threads = {}: must be a multiple of {}", sm.threads, kWarpSize));
  in_range("registers", sm.registers, 1, kMost);
  in_range("shared_bytes", sm.shared_bytes, 0, kMost);
  in_range("cta_slots", sm.cta_slots, 1, 32);
  return {sm.threads, sm.registers, sm.shared_bytes, sm.cta_slots};
}

KernelDescriptor kernel(const sluice_kernel& given_kernel) {
  KernelDescriptor k;
  k.name = &given(given_kernel.name, "kernel.name");
  if (k.name.empty()) throw InputError("kernel.name: must not be empty");
  const auto in = [&](const char* field, std::uint64_t value, std::uint64_t low, std::uint64_t high) {
    in_range(fmt::format("kernel {}: {}", k.name, field).c_str(), value, low, high);
    return static_cast<std::uint32_t>(value);
  };
  k.full_name = k.name;
  k.grid_ctas = in("grid_ctas", given_kernel.grid_ctas, 1, UINT32_MAX);
  k.block_threads = in("block_threads", given_kernel.block_threads, 1, 1024);
  k.registers_per_cta = given_kernel.registers_per_cta;
  k.shared_bytes_per_cta = given_kernel.shared_bytes_per_cta;
  return k;
}

Profile curve(const sluice_kernel& k) {
  if (k.ipc == nullptr) return {};
  in_range(fmt::format("kernel {}: num_ipc", k.name).c_str(), k.num_ipc, 1, 1024);
  Profile profile(k.ipc, k.ipc + k.num_ipc);
  try {
    static_cast<void>(performance_steps(profile));
  } catch (const InvalidProfile& error) {
    throw InputError(fmt::format("kernel {}: ipc: {}", k.name, error.what()));
  }
  return profile;
}

/// The numbers a share stands for on this machine.
sluice_share share(const Share& s, const KernelDescriptor& k, const MachineConfig& machine) {
  const std::uint32_t fit = occupancy(k.demand(), machine.sm.capacity).value();
  const std::uint32_t first = std::min(s.sms.first.value(), machine.num_sms);
  return {std::min(s.ctas.value(), fit), first, std::min(s.sms.count, machine.num_sms - first)};
}

Time at(sluice_scheduler& s, std::uint64_t now_ns) {
  const Time now = std::chrono::nanoseconds(static_cast<std::int64_t>(std::min<std::uint64_t>(now_ns, INT64_MAX / 1000)));
  if (now < s.now)
    throw InputError(fmt::format("now_ns = {}: must not be less than {} of an earlier call", now_ns,
                                 std::chrono::duration_cast<std::chrono::nanoseconds>(s.now).count()));
  return now;
}

JobView& open_job(sluice_scheduler& s, std::uint32_t job) {
  for (const JobView& view : s.jobs.jobs())
    if (view.id.value() == job && is_open(view.state)) return s.jobs.at(view.id);
  throw InputError(fmt::format("job = {}: is none that is there", job));
}

/// A job that is in the plan may begin; one that is not has to leave.
void follow(JobTable& jobs, const Plan& plan) {
  for (const JobView& job : std::vector<JobView>(jobs.jobs().begin(), jobs.jobs().end())) {
    const bool holds =
        std::ranges::any_of(plan.jobs, [&](const JobShare& s) { return s.job == job.id && s.share.ctas != CtaCount(0); });
    if (holds && job.state == JobState::Ready) jobs.move(job.id, JobState::ToRun);
    if (!holds && job.state == JobState::ToRun) jobs.move(job.id, JobState::Ready);
    if (!holds && job.state == JobState::Running) jobs.move(job.id, JobState::ToEvict);
  }
}

regs::Parameters parameters(const sluice_unit_parameters& p) {
  in_range("num_sm", p.num_sm, 1, SLUICE_MAX_SMS);
  in_range("max_kernels", p.max_kernels, 2, kMaxKernelSlots);
  in_range("max_ctas", p.max_ctas, 4, 32);
  in_range("num_sched", p.num_sched, 1, SLUICE_MAX_SCHEDULERS);
  if (p.region_units != 0) in_range("region_units", p.region_units, 16, 128);
  in_range("sm_enable", p.sm_enable, 0, 1);
  in_range("sm_ready", p.sm_ready, 0, 1);
  in_range("launch_queue", p.launch_queue, 0, 0);  // the C interface has no launch port
  in_range("flush", p.flush, 0, 20);
  if (p.patience != 0 && (p.patience > 20 || (1U << p.patience) < 2 * p.num_sm + 8))
    throw InputError(fmt::format("patience = {}: must be 0, or at most 20 with 2^patience at least 2 num_sm + 8", p.patience));
  in_range("priority", p.priority, 0, 1);
  in_range("churn", p.churn, 0, 19);
  in_range("tail", p.tail, 0, 1);
  return {p.num_sm,       p.max_kernels, p.max_ctas, p.num_sched, p.region_units, p.sm_enable, p.sm_ready,
          p.launch_queue, p.flush,       p.patience, p.priority,  p.churn,        p.tail};
}

Mode mode_of(std::string_view name) {
  constexpr Mode kModes[] = {Mode::LeftOver, Mode::Fcfs, Mode::Even, Mode::Spatial, Mode::Static, Mode::Dynamic};
  for (const Mode mode : kModes)
    if (to_string(mode) == name) return mode;
  throw InputError(fmt::format("mode '{}': must be left_over, fcfs, even, spatial, static or dynamic", name));
}

}  // namespace
}  // namespace sluice

using namespace sluice;

extern "C" {

const char* sluice_error(void) { return last_error.c_str(); }
const char* sluice_version(void) { return SLUICE_VERSION; }
unsigned sluice_abi(void) { return SLUICE_ABI; }

sluice_status sluice_machine_read(const char* file, sluice_machine** machine) {
  return guarded([&] {
    given(machine, "machine");
    *machine = new sluice_machine{read_machine(&given(file, "file"))};
  });
}
sluice_status sluice_machine_new(uint32_t num_sms, const sluice_sm* sm, sluice_machine** machine) {
  return guarded([&] {
    given(machine, "machine");
    in_range("num_sms", num_sms, 1, SLUICE_MAX_SMS);
    MachineConfig config;
    config.name = "given";
    config.num_sms = num_sms;
    config.sm.capacity = capacity(given(sm, "sm"));
    *machine = new sluice_machine{config};
  });
}
uint32_t sluice_machine_sms(const sluice_machine* machine) { return machine == nullptr ? 0 : machine->config.num_sms; }
void sluice_machine_free(sluice_machine* machine) { delete machine; }

sluice_status sluice_partition(const sluice_machine* machine, const char* policy, const sluice_kernel* kernels, size_t count,
                               sluice_share* shares, int* limited) {
  return guarded([&] {
    const MachineConfig& config = given(machine, "machine").config;
    const PolicyRow& row = policy_row(&given(policy, "policy"));
    if (row.needs != PolicyNeeds::Nothing && row.needs != PolicyNeeds::Curves)
      throw InputError(
          fmt::format("policy '{}': needs more than kernels and curves; must be one of {}", row.name, sluice_policies()));
    in_range("count", count, 1, 64);
    std::vector<KernelDescriptor> mix;
    SoloCurves curves;
    std::set<std::string> names;
    for (size_t k = 0; k < count; ++k) {
      mix.push_back(kernel((&given(kernels, "kernels"))[k]));
      if (!names.insert(mix.back().name).second) throw InputError(fmt::format("kernel {}: stands there twice", mix.back().name));
      const Profile profile = curve(kernels[k]);
      if (profile.empty() && row.needs == PolicyNeeds::Curves)
        throw InputError(fmt::format("kernel {}: ipc: policy {} needs it", mix.back().name, row.name));
      const std::uint32_t fit = occupancy(mix.back().demand(), config.sm.capacity).value();
      if (!profile.empty() && profile.size() < fit)
        throw InputError(
            fmt::format("kernel {}: num_ipc = {}: must be {}, as so many CTAs fit", mix.back().name, profile.size(), fit));
      curves[mix.back().name] = Profile(profile.begin(), profile.begin() + std::min<std::ptrdiff_t>(std::ssize(profile), fit));
    }
    const Partition partition = policy_plans(row.name, config, mix, {}, curves).front().partition;
    std::vector<sluice_share> out;
    for (size_t k = 0; k < count; ++k) out.push_back(share(partition.shares.at(k), mix[k], config));
    std::ranges::copy(out, &given(shares, "shares"));
    if (limited != nullptr) *limited = partition.mode != Mode::LeftOver && partition.mode != Mode::Fcfs ? 1 : 0;
  });
}
const char* sluice_policies(void) {
  static const std::string names = policy_names(std::vector{PolicyNeeds::Nothing, PolicyNeeds::Curves});
  return names.c_str();
}

sluice_status sluice_scheduler_new(const sluice_machine* machine, const char* name, sluice_scheduler** scheduler) {
  return guarded([&] {
    const MachineConfig& config = given(machine, "machine").config;
    given(scheduler, "scheduler");
    *scheduler = new sluice_scheduler{&given(name, "name"), config, make_live_scheduler(name, config), {}, 0, {}};
  });
}
void sluice_scheduler_free(sluice_scheduler* scheduler) { delete scheduler; }

sluice_status sluice_job_arrived(sluice_scheduler* scheduler, const sluice_kernel* k, int32_t priority, uint64_t now_ns,
                                 uint32_t* job) {
  return guarded([&] {
    sluice_scheduler& s = given(scheduler, "scheduler");
    given(job, "job");
    JobView view;
    view.id = JobId(s.arrived);
    view.kernel = kernel(given(k, "kernel"));
    check_fits(s.machine, view.kernel);
    view.profile = curve(*k);
    view.arrived = s.now = at(s, now_ns);
    view.priority = priority;
    view.tasks = view.kernel.grid_ctas;
    const JobId id = view.id;
    s.jobs.arrive(std::move(view));
    s.jobs.move(id, JobState::Ready);
    *job = s.arrived++;
  });
}
sluice_status sluice_job_progress(sluice_scheduler* scheduler, uint32_t job, uint64_t begun, uint64_t done, uint64_t now_ns) {
  return guarded([&] {
    sluice_scheduler& s = given(scheduler, "scheduler");
    JobView& view = open_job(s, job);
    in_range("begun", begun, view.tasks_begun, view.tasks);
    in_range("done", done, view.tasks_done, begun);
    const Time now = at(s, now_ns);
    if (view.state == JobState::Ready && begun > view.tasks_begun)
      throw InputError(fmt::format("job {}: begins CTAs without a share", job));
    s.now = now;
    const bool last_begins = begun == view.tasks && view.tasks_begun < view.tasks;
    view.tasks_begun = begun;
    view.tasks_done = done;
    if (view.state == JobState::ToRun && begun > 0) s.jobs.move(view.id, JobState::Running);
    if (last_begins) s.jobs.report({EventKind::LastTaskBegun, view.id});
    if (done == view.tasks) s.jobs.move(view.id, JobState::Done);
  });
}
sluice_status sluice_job_evicted(sluice_scheduler* scheduler, uint32_t job, uint64_t now_ns) {
  return guarded([&] {
    sluice_scheduler& s = given(scheduler, "scheduler");
    const JobView& view = open_job(s, job);
    if (view.state != JobState::ToEvict || view.tasks_begun == view.tasks || view.tasks_done != view.tasks_begun)
      throw InputError(fmt::format("job {}: is {}, {} of {} CTAs begun, {} done: must have lost its share and have none there",
                                   job, to_string(view.state), view.tasks_begun, view.tasks, view.tasks_done));
    s.now = at(s, now_ns);
    s.jobs.move(view.id, JobState::Ready);
  });
}
sluice_status sluice_job_lost(sluice_scheduler* scheduler, uint32_t job, uint64_t now_ns) {
  return guarded([&] {
    sluice_scheduler& s = given(scheduler, "scheduler");
    const JobId id = open_job(s, job).id;
    s.now = at(s, now_ns);
    s.jobs.move(id, JobState::Lost);
  });
}
sluice_status sluice_scheduler_decide(sluice_scheduler* scheduler, uint64_t now_ns, sluice_job_share* plan, size_t room,
                                      size_t* count, uint64_t* wake_at_ns) {
  return guarded([&] {
    sluice_scheduler& s = given(scheduler, "scheduler");
    const Time now = at(s, now_ns);
    const auto open =
        static_cast<std::size_t>(std::ranges::count_if(s.jobs.jobs(), [](const JobView& j) { return is_open(j.state); }));
    if (room < open) throw InputError(fmt::format("room = {}: must be {}, as so many jobs are there", room, open));
    given(count, "count");
    given(wake_at_ns, "wake_at_ns");
    if (open > 0) given(plan, "plan");
    const std::vector<Event> events = s.jobs.take_events();
    Plan wanted = s.decides->decide(s.jobs.jobs(), events, now);
    s.now = now;
    if (wanted.profile) {  // they are known already
      std::vector<Event> profiled;
      for (const JobView& job : s.jobs.jobs()) {
        if (!may_hold_sms(job.state)) continue;
        if (job.profile.empty()) {
          for (const Event& event : events) s.jobs.report(event);
          throw InputError(fmt::format("scheduler {}: needs kernel.ipc of every job; job {} ({}) has none", s.name,
                                       job.id.value(), job.kernel.name));
        }
        profiled.push_back({EventKind::Profiled, job.id});
      }
      wanted = s.decides->decide(s.jobs.jobs(), profiled, now);
    }
    follow(s.jobs, wanted);
    *count = 0;
    for (const JobShare& j : wanted.jobs) {
      if (j.share.ctas == CtaCount(0)) continue;
      plan[(*count)++] = {j.job.value(), share(j.share, s.jobs.at(j.job).kernel, s.machine), j.task_limit};
    }
    s.jobs.forget_closed();
    *wake_at_ns = wanted.wake_at
                      ? static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::nanoseconds>(*wanted.wake_at).count())
                      : UINT64_MAX;
  });
}

sluice_status sluice_unit_new(const sluice_unit_parameters* p, sluice_unit** unit) {
  return guarded([&] {
    given(unit, "unit");
    *unit = new sluice_unit(parameters(given(p, "parameters")));
  });
}
void sluice_unit_free(sluice_unit* unit) { delete unit; }

sluice_status sluice_unit_outputs(const sluice_unit* unit, sluice_unit_out* out) {
  return guarded([&] {
    const SluiceTopOut& o = given(unit, "unit").top->outputs();
    sluice_unit_out& to = given(out, "out");
    to = {};
    to.irq = o.irq;
    to.dispatch_valid = o.dispatch_valid;
    to.dispatch_sm = o.dispatch_sm;
    to.dispatch_kernel = o.dispatch_kernel;
    to.dispatch_slot = o.dispatch_slot;
    to.dispatch_tag = o.dispatch_tag;
    to.dispatch_cta = o.dispatch_cta;
    to.dispatch_region_valid = o.dispatch_region_valid;
    to.dispatch_register_base = o.dispatch_register_base;
    to.dispatch_shared_base = o.dispatch_shared_base;
    to.flush_valid = o.flush_valid;
    to.flush_kernel = o.flush_kernel;
    to.flush_tag = o.flush_tag;
    to.kernel_done = o.kernel_done;
    to.profile_window = o.profile_window;
    to.idle = o.idle;
  });
}
sluice_status sluice_unit_clock(sluice_unit* unit, const sluice_unit_in* in) {
  return guarded([&] {
    sluice_unit& u = given(unit, "unit");
    given(in, "in");
    SluiceTopIn to;
    if (in->done_valid != 0) {
      in_range("done_sm", in->done_sm, 0, u.parameters.num_sm - 1);
      in_range("done_slot", in->done_slot, 0, u.parameters.max_ctas - 1);
      in_range("done_kernel", in->done_kernel, 0, u.parameters.max_kernels - 1);
    }
    to.dispatch_ready = in->dispatch_ready != 0;
    to.done_valid = in->done_valid != 0;
    to.done_sm = in->done_sm;
    to.done_slot = in->done_slot;
    to.done_kernel = in->done_kernel;
    to.done_tag = in->done_tag;
    for (std::size_t m = 0; m < u.parameters.num_sm; ++m) to.sm_ready[m] = ((in->sm_busy[m / 8] >> (m % 8)) & 1) == 0;
    for (std::size_t m = 0; in->sms != nullptr && u.top->counts_activity() && m < u.parameters.num_sm; ++m) {
      const sluice_sm_activity& sm = in->sms[m];
      SmActivity activity;
      activity.issue_valid = sm.issue_valid;
      std::ranges::copy(sm.issue_kernel, activity.issue_kernel.begin());
      activity.request = sm.request != 0;
      to.sms.push_back(activity);
    }
    u.clock(to);
  });
}
uint64_t sluice_unit_cycles(const sluice_unit* unit) { return unit == nullptr ? 0 : unit->cycles; }

sluice_status sluice_unit_read32(sluice_unit* unit, uint32_t address, uint32_t* value) {
  return guarded([&] {
    const auto read = given(unit, "unit").bus.read32(address);
    if (!read) throw InputError(fmt::format("address = {:#x}: is no register", address));
    given(value, "value") = *read;
  });
}
sluice_status sluice_unit_write32(sluice_unit* unit, uint32_t address, uint32_t value) {
  return guarded([&] {
    if (!given(unit, "unit").bus.write32(address, value))
      throw InputError(fmt::format("address = {:#x}: is no register that can be written", address));
  });
}
sluice_status sluice_unit_set_machine(sluice_unit* unit, const sluice_sm* sm) {
  return guarded([&] { given(unit, "unit").driver.configure_machine(capacity(given(sm, "sm"))); });
}
sluice_status sluice_unit_set_mode(sluice_unit* unit, const char* mode) {
  return guarded([&] { given(unit, "unit").driver.set_mode(mode_of(&given(mode, "mode"))); });
}
sluice_status sluice_unit_launch(sluice_unit* unit, uint32_t slot, const sluice_kernel* k) {
  return guarded([&] {
    const KernelDescriptor launched = kernel(given(k, "kernel"));
    given(unit, "unit").driver.launch(slot, {launched.demand(), launched.grid_ctas});
  });
}
sluice_status sluice_unit_set_quota(sluice_unit* unit, uint32_t slot, uint32_t ctas) {
  return guarded([&] { given(unit, "unit").driver.set_quota(slot, ctas); });
}
sluice_status sluice_unit_set_window(sluice_unit* unit, uint32_t warm_up, uint32_t window) {
  return guarded([&] {
    SequencerSettings settings;
    settings.warm_up_cycles = warm_up;
    settings.window_cycles = window;
    given(unit, "unit").driver.configure_sequencer(settings);
  });
}
sluice_status sluice_unit_slot(sluice_unit* unit, uint32_t slot, uint32_t* resident, uint32_t* quota) {
  return guarded([&] {
    const SlotReport report = given(unit, "unit").driver.slot_report(slot);
    given(resident, "resident") = report.resident;
    given(quota, "quota") = report.ctas;
  });
}

}  // extern "C"
