// SPDX-License-Identifier: Apache-2.0
// `sluice run`: a program as it is, with our library in front of the driver's.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "sw/core/errors.h"

namespace sluice::cli {

namespace {

struct RunOptions {
  unsigned quota = 0;
  std::string sms;
  std::vector<std::string> command;
};

void put_first(const char* variable, const std::string& value, char between) {
  const char* before = std::getenv(variable);
  const std::string all = before == nullptr || *before == '\0' ? value : value + between + before;
  setenv(variable, all.c_str(), 1);
}

int run(const RunOptions& options) {
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe");
  const std::filesystem::path folder = own.parent_path().parent_path() / "lib/sluice", library = folder / "libcuda.so.1";
  if (!std::filesystem::exists(library))
    throw SystemError(library.string() + " is missing: this build has no CUDA (SLUICE_CUDA)");
  if (options.sms.empty()) {
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
  put_first("LD_LIBRARY_PATH", folder.string(), ':');
  put_first("LD_PRELOAD", library.string(), ':');
  std::vector<char*> arguments;
  for (const std::string& a : options.command) arguments.push_back(const_cast<char*>(a.c_str()));  // execvp only reads
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
  throw_errno(options.command.front(), errno);
}

}  // namespace

void add_run_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Run a CUDA program as it is under a quota of CTAs per SM");
  CLI::Option* quota = command->add_option("--quota", options->quota, "CTAs of one kernel on each SM")->check(CLI::Range(1, 32));
  command->add_option("--sms", options->sms, "the SMs A-B alone")->excludes(quota);
  command->add_option("command", options->command, "the program and its arguments, behind --")->required();
  command->callback([options, &action] {
    if (options->quota == 0 && options->sms.empty()) throw CLI::ValidationError("run", "--quota or --sms is needed");
    action = [options] { return run(*options); };
  });
}

}  // namespace sluice::cli
