// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sw/gpu/source/program.h"

namespace sluice::gpu {

/// A child process with a GPU context of its own, which answers lines on its standard input with lines of JSON.
class Client {
 public:
  /// @param name  for messages; @param words  of the command, the program first; @param environment  NAME=VALUE, besides ours
  /// @param report  where the process reports at its end; empty: it does not
  Client(std::string name, std::vector<std::string> words, const std::vector<std::string>& environment = {},
         std::filesystem::path report = {});
  ~Client();  ///< ends its input, and waits for its end
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  nlohmann::json end();  ///< what the destructor does. @return its report
  void send(const std::string& line) const;
  /// @throws InputError, GpuError what the client says of an error, or that it has ended
  [[nodiscard]] nlohmann::json receive();
  nlohmann::json ask(const std::string& line) {
    send(line);
    return receive();
  }

 private:
  std::string name_;
  std::filesystem::path report_;
  pid_t pid_ = 0;
  int to_ = -1;
  FILE* from_ = nullptr;
};

/// Starts kernels as a program of their own, whose first answer is that it is ready.
/// @param program  path of sluice; @param kernels  options of `sluice gpu client`
/// @param run      options of `sluice run`, which it is put under; nothing: as it is
/// @param report   as Client's
[[nodiscard]] std::unique_ptr<Client> start_kernels(const std::string& program, const std::string& name,
                                                    const std::vector<std::string>& kernels,
                                                    const std::optional<std::vector<std::string>>& run = {},
                                                    const std::filesystem::path& report = {},
                                                    std::vector<std::string> environment = {});

/// An MPS server of our own, ended with the experiment. Children that are started meanwhile are its clients.
class MpsServer {
 public:
  MpsServer();
  ~MpsServer();
  MpsServer(const MpsServer&) = delete;
  MpsServer& operator=(const MpsServer&) = delete;

 private:
  Scratch folder_;
};

/// `sluice serve` of our own, ended with the experiment.
class SharingService {
 public:
  /// @param program  path of sluice, with lib/sluice beside its folder; @param options  of `sluice serve`
  SharingService(const std::string& program, const std::string& scheduler, const std::vector<std::string>& options = {"--mps"});
  ~SharingService();
  SharingService(const SharingService&) = delete;
  SharingService& operator=(const SharingService&) = delete;

  [[nodiscard]] std::string socket() const { return (folder_.path() / "socket").string(); }
  /// What the decisions since the last call took, and the evictions among them: from the decision to the word that the last CTA
  /// has left.
  struct Log {
    std::vector<double> decide_us, evict_us;
    std::vector<std::string> reasons;  ///< each that differs from the one before
    nlohmann::json shares;             ///< of the last decision on so many jobs
  };
  [[nodiscard]] Log log(std::size_t jobs = 0);

 private:
  Scratch folder_;        // of its socket and its log
  std::size_t read_ = 0;  // lines of the log
  pid_t pid_ = 0;
};

}  // namespace sluice::gpu
