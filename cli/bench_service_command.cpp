// SPDX-License-Identifier: Apache-2.0
// `sluice bench service`: how long the service takes from a message, or an end of a task, to the new shares in the clients'
// pages.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <span>
#include <vector>

#include "cli/commands.h"
#include "cli/common.h"
#include "sw/scheduler/live_scheduler.h"
#include "sw/service/real_clock.h"
#include "sw/service/service.h"
#include "sw/workload/machine_file.h"

namespace sluice::cli {

namespace {

using namespace service;

struct BenchServiceOptions {
  std::string scheduler = "dprr", machine = "configs/machines/h200.toml", ctas;
  unsigned clients = 16, messages = 100000;
  std::uint64_t seed = 1;
  bool json = false;
};

/// One client: what it has said, and what it reads in its page.
struct Client {
  SessionId session;
  Page* page;
  std::uint32_t sequence = 0;
};

template <class Message>
void say(Service& service, Client& client, Message message, Time now) {
  message.header.sequence = ++client.sequence;
  service.handle(client.session, std::as_bytes(std::span(&message, 1)), now);
}

nlohmann::ordered_json percentiles(std::vector<double>& us) {
  std::ranges::sort(us);
  const auto at = [&](double part) {
    return us.empty() ? 0.0 : us[static_cast<std::size_t>(part * static_cast<double>(us.size() - 1))];
  };
  return {{"p50", at(0.5)}, {"p99", at(0.99)}, {"p999", at(0.999)}, {"max", at(1)}};
}

int run(const BenchServiceOptions& options) {
  const MachineConfig machine = read_machine(options.machine);
  std::vector<double> deciding, latency;  // of the scheduler alone, and from the message to the pages; microseconds
  ServiceOptions settings;
  settings.scheduler = options.scheduler;
  settings.hello_within = std::chrono::hours(1);
  settings.most_sessions = options.clients;
  Service service(machine, make_live_scheduler(options.scheduler, machine, parse_counts(options.ctas)), settings,
                  [&](const std::string& line) {  // its last field is "us"
                    deciding.push_back(std::stod(line.substr(line.rfind(':') + 1)));
                  });
  RealClock clock(1);
  std::deque<Page> pages(options.clients);
  std::vector<Client> clients;
  for (std::size_t k = 0; k < options.clients; ++k) {
    clients.push_back({*service.open({1, true, 0}, pages[k], clock.now()), &pages[k]});
    Hello hello = make<Hello>(0);
    hello.version = kVersion;
    hello.priority = static_cast<std::int32_t>(k % 30);
    std::strncpy(hello.name, "bench", sizeof hello.name - 1);
    say(service, clients[k], hello, clock.now());
    Register kernel = make<Register>(0);
    kernel.block_threads = 256;
    kernel.registers = 8192;
    std::strncpy(kernel.name, "k", sizeof kernel.name - 1);
    say(service, clients[k], kernel, clock.now());
    TakeStub stub = make<TakeStub>(0);
    stub.stub = kAnyStub;
    say(service, clients[k], stub, clock.now());
  }
  std::mt19937_64 random(options.seed);
  std::uint64_t said = 0;
  const auto measured = [&](const auto& work) {
    const std::uint64_t before = service.decisions();
    const auto begin = std::chrono::steady_clock::now();
    work();
    service.advance(clock.now());
    const auto end = std::chrono::steady_clock::now();
    if (service.decisions() != before) latency.push_back(std::chrono::duration<double, std::micro>(end - begin).count());
    (void)service.take_outgoing();
  };
  while (said < options.messages) {
    Client& client = clients[random() % clients.size()];
    const StubState state = StubWord::of(client.page->stub[0].word).state;
    if (state == StubState::Done || client.page->stub[0].tasks == 0) {
      Submit submit = make<Submit>(0);
      submit.tasks = 1 + static_cast<std::uint32_t>(random() % (std::uint64_t{2} * machine.num_sms));
      submit.task_ns = 20'000;
      measured([&] { say(service, client, submit, clock.now()); });
      ++said;
    } else if (const auto next = service.next(); next && *next <= clock.now()) {
      measured([] {});
    } else {
      Priority priority = make<Priority>(0);
      priority.stub = 0;
      priority.priority = static_cast<std::int32_t>(random() % 30);
      measured([&] { say(service, client, priority, clock.now()); });
      ++said;
    }
  }
  nlohmann::ordered_json out = {
      {"scheduler", options.scheduler}, {"clients", options.clients}, {"messages", said}, {"decisions", service.decisions()}};
  out["latency_us"] = percentiles(latency);
  out["scheduler_us"] = percentiles(deciding);
  if (options.json) {
    fmt::print("{}\n", out.dump());
    return 0;
  }
  fmt::print("{}: {} clients, {} messages, {} decisions\n", options.scheduler, options.clients, said, service.decisions());
  for (const char* what : {"latency_us", "scheduler_us"})
    fmt::print("{:<14} p50 {:8.2f}  p99 {:8.2f}  p99.9 {:8.2f}  max {:8.2f}\n", what, out[what]["p50"].get<double>(),
               out[what]["p99"].get<double>(), out[what]["p999"].get<double>(), out[what]["max"].get<double>());
  return 0;
}

}  // namespace

void add_bench_service_command(CLI::App& bench, Action& action) {
  auto options = std::make_shared<BenchServiceOptions>();
  CLI::App* command = bench.add_subcommand(
      "service", "Microseconds that the sharing service takes from a message or an event to the shares in its clients' pages");
  command->add_option("--scheduler", options->scheduler, "who decides, as for `sluice serve`")->capture_default_str();
  command->add_option("--ctas", options->ctas, "scheduler static: CTAs of the oldest job, the second oldest, ...");
  command->add_option("--machine", options->machine, "machine description (TOML)")->capture_default_str();
  command->add_option("--clients", options->clients, "sessions at a time")->capture_default_str()->check(CLI::Range(1, 64));
  command->add_option("--messages", options->messages, "messages of all clients together")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000000));
  command->add_option("--seed", options->seed, "of who says what")->capture_default_str();
  command->add_flag("--json", options->json, "result as JSON on standard output");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sluice::cli
