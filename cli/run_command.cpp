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
#include "cli/interposed.h"
#include "sw/core/errors.h"
#include "sw/scheduler/priority.h"
#include "sw/service/daemon.h"
#include "sw/service/mps.h"

namespace sluice::cli {

namespace {

struct RunOptions {
  unsigned quota = 0;
  std::string sms, quota_file, opaque, socket = service::default_socket(), name;
  std::optional<int> priority;
  std::uint64_t memory = 0;
  bool require = false, spin = false;
  std::vector<std::string> command;
};

/// The environment of a client of the service. @return false when there is none: the program runs without us
bool use_service(const RunOptions& options) {
  for (const char* fixed : {"SLUICE_QUOTA", "SLUICE_SMS", "SLUICE_QUOTA_FILE", "SLUICE_REQUIRE_SERVICE", "SLUICE_NAME",
                            "SLUICE_PRIORITY", "SLUICE_SPIN"})
    unsetenv(fixed);
  try {
    (void)service::fetch_status(options.socket, true);
  } catch (const std::exception& error) {
    if (options.require) throw InputError(error.what());
    fmt::print(stderr, "sluice: {}: runs natively\n", error.what());
    return false;
  }
  setenv("SLUICE_SOCKET", std::filesystem::absolute(options.socket).c_str(), 1);
  if (options.require) setenv("SLUICE_REQUIRE_SERVICE", "1", 1);
  if (options.spin) setenv("SLUICE_SPIN", "1", 1);
  const std::string name =
      options.name.empty() ? std::filesystem::path(options.command.front()).filename().string() : options.name;
  setenv("SLUICE_NAME", name.substr(0, sizeof(service::Hello::name) - 1).c_str(), 1);
  if (options.priority) setenv("SLUICE_PRIORITY", std::to_string(*options.priority).c_str(), 1);
  const std::string mps = std::filesystem::absolute(service::mps_folder(options.socket));
  if (!std::filesystem::exists(mps) || !service::is_safe_folder(mps)) return true;
  setenv("CUDA_MPS_PIPE_DIRECTORY", mps.c_str(), 1);
  if (std::getenv("CUDA_DEVICE_MAX_CONNECTIONS") != nullptr) return true;
  const std::optional<unsigned> connections = service::take_mps_connections(mps);
  if (!connections)
    fmt::print(stderr, "sluice: {}: its MPS server has no connection left: the driver may say \"out of memory\"\n",
               options.socket);
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", std::to_string(connections.value_or(2)).c_str(), 1);
  return true;
}

/// The environment of a program on its own.
void use_fixed(const RunOptions& options) {
  for (const char* other : {"SLUICE_QUOTA", "SLUICE_SMS", "SLUICE_QUOTA_FILE"}) unsetenv(other);
  if (options.quota > 0) setenv("SLUICE_QUOTA", std::to_string(options.quota).c_str(), 1);
  if (!options.quota_file.empty()) setenv("SLUICE_QUOTA_FILE", std::filesystem::absolute(options.quota_file).c_str(), 1);
  if (options.sms.empty()) return;
  unsigned first = 0, last = 0;
  char rest = 0;
  if (std::sscanf(options.sms.c_str(), "%u-%u%c", &first, &last, &rest) != 2 || last < first || last > 255)
    throw InputError(fmt::format("--sms {}: must be A-B, 0 <= A <= B <= 255", options.sms));
  setenv("SLUICE_SMS", options.sms.c_str(), 1);
}

/// Triton's modules have no PTX. Our assembler keeps it, and a cache of our own makes Triton ask it once for each kernel.
void keep_triton_ptx(const std::filesystem::path& folder) {
  const std::filesystem::path wrapper = folder / "ptxas";
  if (!std::filesystem::exists(wrapper)) return;
  if (const char* real = std::getenv("TRITON_PTXAS_PATH"); real != nullptr && real != wrapper.string())
    setenv("SLUICE_REAL_PTXAS", real, 1);
  setenv("TRITON_PTXAS_PATH", wrapper.c_str(), 1);
  const char* home = std::getenv("HOME");
  if (home != nullptr) setenv("TRITON_CACHE_DIR", (std::filesystem::path(home) / ".cache/sluice-triton").c_str(), 0);
}

int run(const RunOptions& options) {
  const std::filesystem::path folder = interposer_folder();
  bool ours = true;
  unsetenv("SLUICE_SOCKET");
  if (options.quota == 0 && options.sms.empty() && options.quota_file.empty())
    ours = use_service(options);
  else
    use_fixed(options);
  setenv("SLUICE_OPAQUE", options.opaque.c_str(), 1);
  setenv("SLUICE_MEMORY", options.memory == 0 ? "" : std::to_string(options.memory).c_str(), 1);
  if (ours) {
    put_interposer_first(folder);
    keep_triton_ptx(folder);
    // Streams whose launches sleep hold a channel each; the default is 8, under MPS 2. Each takes the driver 15 ms when a context
    // is made.
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "16", 0);
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
  CLI::Option* file =
      command->add_option("--quota-file", options->quota_file, "a file with the quota, which may change at any time");
  command
      ->add_option("--opaque", options->opaque,
                   "launches that cannot be transformed: native, or hold to the program's turn; default: as the service's "
                   "scheduler needs it")
      ->check(CLI::IsMember({"native", "hold"}));
  command->add_option("--memory", options->memory, "bytes of the GPU's memory that it may allocate, e.g. 8G; default: any")
      ->transform(CLI::AsSizeValue(false));
  command->add_option("--socket", options->socket, "where the service listens")
      ->capture_default_str()
      ->excludes(quota, sms, file);
  command->add_option("--priority", options->priority, "larger is more important; default: that of the process")
      ->check(CLI::Range(0, kMaxPriority))
      ->excludes(quota, sms, file);
  command->add_option("--name", options->name, "for the status; default: the program's")->excludes(quota, sms, file);
  command->add_flag("--spin", options->spin, "hears from the service sooner, for a core of its own while it has launches");
  command->add_flag("--require-service", options->require, "exit code 2 at once when there is no service, or it ends")
      ->excludes(quota, sms, file);
  command->add_option("command", options->command, "the program and its arguments, behind --")->required();
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sluice::cli
