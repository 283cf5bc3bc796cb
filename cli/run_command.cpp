// SPDX-License-Identifier: Apache-2.0
// `sluice run`: a program as it is, with our library in front of the driver's.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "sw/core/errors.h"
#include "sw/scheduler/priority.h"
#include "sw/service/daemon.h"
#include "sw/service/mps.h"

namespace sluice::cli {

namespace {

struct RunOptions {
  unsigned quota = 0;
  std::string sms, socket = service::default_socket(), name;
  std::optional<int> priority;
  bool require = false;
  std::vector<std::string> command;
};

void put_first(const char* variable, const std::string& value, char between) {
  const char* before = std::getenv(variable);
  const std::string all = before == nullptr || *before == '\0' ? value : value + between + before;
  setenv(variable, all.c_str(), 1);
}

/// The environment of a client of the service. @return false when there is none: the program runs without us
bool use_service(const RunOptions& options) {
  for (const char* fixed : {"SLUICE_QUOTA", "SLUICE_SMS", "SLUICE_REQUIRE_SERVICE", "SLUICE_NAME", "SLUICE_PRIORITY"}) unsetenv(fixed);
  try {
    (void)service::fetch_status(options.socket);
  } catch (const std::exception& error) {
    if (options.require) throw InputError(error.what());
    fmt::print(stderr, "sluice: {}: runs natively\n", error.what());
    return false;
  }
  setenv("SLUICE_SOCKET", std::filesystem::absolute(options.socket).c_str(), 1);
  if (options.require) setenv("SLUICE_REQUIRE_SERVICE", "1", 1);
  const std::string name =
      options.name.empty() ? std::filesystem::path(options.command.front()).filename().string() : options.name;
  setenv("SLUICE_NAME", name.substr(0, sizeof(service::Hello::name) - 1).c_str(), 1);
  if (options.priority) setenv("SLUICE_PRIORITY", std::to_string(*options.priority).c_str(), 1);
  const std::string mps = std::filesystem::absolute(service::mps_folder(options.socket));
  if (std::filesystem::exists(mps)) setenv("CUDA_MPS_PIPE_DIRECTORY", mps.c_str(), 1);
  return true;
}

int run(const RunOptions& options) {
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe");
  const std::filesystem::path folder = own.parent_path().parent_path() / "lib/sluice", library = folder / "libcuda.so.1";
  if (!std::filesystem::exists(library))
    throw SystemError(library.string() + " is missing: this build has no CUDA (SLUICE_CUDA)");
  bool ours = true;
  unsetenv("SLUICE_SOCKET");
  if (options.quota == 0 && options.sms.empty()) {
    ours = use_service(options);
  } else if (options.sms.empty()) {
    unsetenv("SLUICE_SMS");
    setenv("SLUICE_QUOTA", std::to_string(options.quota).c_str(), 1);
  } else {
    unsigned first = 0, last = 0;
    char rest = 0;
    if (std::sscanf(options.sms.c_str(), "%u-%u%c", &first, &last, &rest) != 2 || last < first || last > 255)
      throw InputError(fmt::format("--sms {}: must be A-B, 0 <= A <= B <= 255", options.sms));
    unsetenv("SLUICE_QUOTA");
    setenv("SLUICE_SMS", options.sms.c_str(), 1);
  }
  if (ours) {
    put_first("LD_LIBRARY_PATH", folder.string(), ':');
    put_first("LD_PRELOAD", library.string(), ':');
  }
  std::vector<char*> arguments;
  for (const std::string& a : options.command) arguments.push_back(const_cast<char*>(a.c_str()));  // execvp only reads
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
  throw_errno(options.command.front(), errno);
}

}  // namespace

void add_run_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Run a CUDA program as it is, under the service or a quota of its own");
  CLI::Option* quota = command->add_option("--quota", options->quota, "CTAs of one kernel on each SM")->check(CLI::Range(1, 32));
  CLI::Option* sms = command->add_option("--sms", options->sms, "the SMs A-B alone")->excludes(quota);
  command->add_option("--socket", options->socket, "where the service listens")->capture_default_str()->excludes(quota, sms);
  command->add_option("--priority", options->priority, "larger is more important; default: that of the process")
      ->check(CLI::Range(0, kMaxPriority))
      ->excludes(quota, sms);
  command->add_option("--name", options->name, "for the status; default: the program's")->excludes(quota, sms);
  command->add_flag("--require-service", options->require, "exit code 2 at once when there is no service, or it ends")
      ->excludes(quota, sms);
  command->add_option("command", options->command, "the program and its arguments, behind --")->required();
  command->callback([options, &action] {
    action = [options] { return run(*options); };
  });
}

}  // namespace sluice::cli
