// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fmt/format.h>
#include <spdlog/async.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/spdlog.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.h"
#include "cli/common.h"
#include "sw/policy/names.h"
#include "sw/scheduler/live_scheduler.h"
#include "sw/scheduler/registry.h"
#include "sw/service/daemon.h"
#include "sw/service/learning_scheduler.h"
#include "sw/service/measuring_scheduler.h"
#include "sw/service/metrics.h"
#include "sw/service/mps.h"
#include "sw/service/real_clock.h"
#include "sw/workload/machine_file.h"

namespace sluice::cli {

namespace {

struct ServeOptions {
  std::string socket = service::default_socket(), scheduler = "even", executor, machine, ctas, balance, log, metrics;
  double time_scale = 1;
  std::uint64_t memory = 0;
  bool mps = false, isolate = false, json = false;
};

/// Where no machine file is given: an SM count and an SM as an H200 has them.
MachineConfig default_machine() {
  MachineConfig machine;
  machine.name = "default";
  machine.num_sms = 132;
  machine.sm.capacity = {2048, 65536, 233472, 32};
  return machine;
}

/// A driver is installed, and says that there is a GPU. Asked in a process of its own: a driver leaves threads behind.
bool has_gpu() {
  const pid_t child = ::fork();
  if (child == 0) {
    void* driver = ::dlopen("libcuda.so.1", RTLD_NOW);
    const auto init = driver == nullptr ? nullptr : reinterpret_cast<int (*)(unsigned)>(::dlsym(driver, "cuInit"));
    ::_exit(init != nullptr && init(0) == 0 ? 0 : 1);
  }
  int status = 1;
  return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

/// What the service learns outlives it there. @return empty: nowhere
std::filesystem::path learned_folder() {
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return std::filesystem::path(value == nullptr || *value != '/' ? "" : value);
  };
  const std::filesystem::path state = set("XDG_STATE_HOME"), home = set("HOME");
  if (!state.empty()) return state / "sluice";
  return home.empty() ? home : home / ".local/state/sluice";
}

/// The log of decisions, which begins anew at 32 MiB and keeps what was before once.
std::shared_ptr<spdlog::logger> open_log(const std::string& file) try {
  auto log = spdlog::rotating_logger_st("decisions", file, 32U << 20U, 1);
  log->set_pattern("%v");
  log->flush_on(spdlog::level::info);
  return log;
} catch (const spdlog::spdlog_ex&) {
  throw InputError(fmt::format("--log {}: cannot write", file));
}

/// What is said of clients goes to the terminal by a thread of its own, and is dropped where that stands still.
void say_without_waiting() {
  spdlog::init_thread_pool(1024, 1);
  const auto& sinks = spdlog::default_logger()->sinks();
  spdlog::set_default_logger(std::make_shared<spdlog::async_logger>("serve", sinks.begin(), sinks.end(), spdlog::thread_pool(),
                                                                    spdlog::async_overflow_policy::overrun_oldest));
}

int serve(ServeOptions options) {
  const bool chosen = !options.executor.empty();
  if (!chosen) options.executor = options.time_scale == 1 && has_gpu() ? "gpu" : "fake";
  const bool gpu = options.executor == "gpu";
  if (!gpu && options.executor != "fake") throw InputError(fmt::format("--executor {}: must be gpu or fake", options.executor));
  if (!gpu && (options.mps || options.isolate)) throw InputError("--mps and --isolate go with --executor gpu");
  if (gpu && options.time_scale != 1) throw InputError("--time-scale goes with --executor fake");
  if (!options.balance.empty() && options.scheduler != kBalance) throw InputError("--balance goes with --scheduler balance");
  MachineConfig machine = options.machine.empty() ? default_machine() : read_machine(options.machine);
  const auto wishes = set_balance(options.balance, machine);
  const auto ctas = parse_counts(options.ctas);
  const auto times = std::make_shared<service::KernelTimes>();
  const auto make = [&](const MachineConfig& m, const std::shared_ptr<service::KernelTimes>& t) -> std::unique_ptr<IScheduler> {
    if (gpu && options.scheduler == "adaptive") return std::make_unique<service::LearningScheduler>(m, t);
    if (gpu && options.scheduler == kBalance) return std::make_unique<service::MeasuringScheduler>(m, t);
    return make_live_scheduler(options.scheduler, m, ctas);
  };
  auto scheduler = make(machine, times);
  std::shared_ptr<spdlog::logger> log;
  service::ServiceOptions settings;
  settings.scheduler = options.scheduler;
  settings.executor = gpu ? service::ExecutorKind::Gpu : service::ExecutorKind::Fake;
  settings.isolate = options.isolate;
  std::optional<service::MpsServer> mps;  // ends behind the clients' sessions
  if (options.mps) {
    settings.takes_others = [&mps](pid_t died) { return mps->lost_contexts(died); };
    settings.blocks_others = [&mps](pid_t died) { return mps->hangs(died); };
  }
  settings.times = gpu ? times : nullptr;
  settings.learned = learned_folder();
  settings.memory = options.memory;
  settings.wishes = wishes;
  settings.hold = options.isolate || scheduler_row(options.scheduler).ranks;
  settings.make_scheduler = make;
  settings.any_machine = options.machine.empty();
  settings.hello_within = std::chrono::duration_cast<Time>(std::chrono::duration<double>(options.time_scale));
  service::Service service(
      machine, std::move(scheduler), settings, [&log](const std::string& line) { log->info("{}", line); },
      [](const std::string& line) { spdlog::warn("{}", line); });
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  if (pthread_sigmask(SIG_BLOCK, &signals, nullptr) != 0) throw SystemError("signals cannot be blocked");
  const service::UniqueFd stop(::signalfd(-1, &signals, SFD_CLOEXEC));
  if (!stop) throw_errno("signalfd", errno);
  say_without_waiting();  // its thread has the signals blocked, too
  service::RealClock clock(options.time_scale);
  {
    service::Daemon daemon(options.socket, service, clock);
    log = open_log(options.log.empty() ? options.socket + ".log" : options.log);  // its folder is known to be safe
    std::optional<service::MetricsEndpoint> metrics;
    if (!options.metrics.empty()) metrics.emplace(options.metrics, [&] { return service::fetch_status(options.socket); });
    if (options.mps) {
      mps.emplace(service::mps_folder(options.socket));
      daemon.on_context_loss([&] {
        mps->restart();
        spdlog::warn("MPS was started anew");
      });
    }
    spdlog::info("serves at {} with scheduler {}, executor {}", options.socket, options.scheduler, options.executor);
    if (!chosen && !gpu) spdlog::warn("no GPU: the executor fake keeps time and executes nothing");
    daemon.run(stop.get());
  }
  throw Interrupted(fmt::format("the service has ended; {} decisions", service.decisions()));
}

int status(const ServeOptions& options) {
  const std::string text = service::fetch_status(options.socket);
  if (options.json) {
    fmt::print("{}\n", text);
    return 0;
  }
  const auto json = nlohmann::json::parse(text);
  fmt::print("scheduler {}, {} decisions, {} clients lost\n", json["scheduler"].get<std::string>(),
             json["decisions"].get<std::uint64_t>(), json["lost"].get<std::uint64_t>());
  for (const auto& c : json["clients"])
    fmt::print(
        "{:>8}  {:24} priority {:2}  {:8}  {} launches, {:.3f} ms on the GPU; {} native, {:.3f} ms; {:.1f} MiB, {} refused {}\n",
        c["pid"].get<int>(), c["name"].get<std::string>(), c["priority"].get<int>(), c["state"].get<std::string>(),
        c["kernels"]["quota"]["launches"].get<std::uint64_t>(), c["kernels"]["quota"]["gpu_ms"].get<double>(),
        c["kernels"]["native"]["launches"].get<std::uint64_t>(), c["kernels"]["native"]["gpu_ms"].get<double>(),
        static_cast<double>(c["memory"]["used"].get<std::uint64_t>()) / (1U << 20U), c["memory"]["refused"].get<std::uint64_t>(),
        c["gpu"].get<std::string>());
  return 0;
}

}  // namespace

void add_serve_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* command = app.add_subcommand("serve", "Shares each GPU among the programs of one user, until SIGTERM or Ctrl-C");
  command->add_option("--socket", options->socket, "where clients connect")->capture_default_str();
  command->add_option("--scheduler", options->scheduler, "who decides, e.g. even, piv, dprr")->capture_default_str();
  command->add_option(
      "--executor", options->executor,
      "what carries decisions out: gpu (programs under `sluice run`, each its own part), fake (executes nothing, keeps time); "
      "default: gpu where there is one");
  command->add_option("--machine", options->machine,
                      "machine description (TOML); default: gpu: as clients report their GPUs, fake: 132 SMs as an H200 has");
  command->add_option("--ctas", options->ctas, "scheduler static: CTAs of the oldest job, the second oldest, ...");
  command->add_option("--balance", options->balance,
                      "scheduler balance: what it is to keep for clients by their names, e.g. floor.decode=0.8,weight.decode=2");
  CLI::Option* mps = command->add_flag("--mps", options->mps, "executor gpu: clients run in an MPS server of the service's own");
  command->add_flag("--isolate", options->isolate, "executor gpu: one program holds the GPU at a time, in turns")->excludes(mps);
  command->add_option("--time-scale", options->time_scale, "executor fake: so many times as fast as the clock")
      ->capture_default_str()
      ->check(CLI::Range(1e-6, 1e6));
  command->add_option("--memory", options->memory, "bytes of the GPU's memory that a client may allocate, e.g. 8G; default: any")
      ->transform(CLI::AsSizeValue(false));
  command->add_option("--log", options->log, "gets a JSON line for each decision; default SOCKET.log");
  command->add_option("--metrics", options->metrics,
                      "answers GET /metrics in Prometheus' text format there: the path of a Unix socket, or 127.0.0.1:PORT");
  CLI::App* report = command->add_subcommand("status", "Who shares the GPU now");
  report->add_option("--socket", options->socket, "where the service listens")->capture_default_str();
  report->add_flag("--json", options->json, "result as JSON on standard output");
  command->callback([options, &action, report] {
    action = [options, report] { return report->parsed() ? status(*options) : serve(*options); };
  });
}

}  // namespace sluice::cli
