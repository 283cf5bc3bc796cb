// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sluice::gpu {

/// A child process with a GPU context of its own, which answers lines on its standard input with lines of JSON.
class Client {
 public:
  /// @param name  for messages; @param words  of the command, the program first; @param environment  NAME=VALUE, besides ours, or
  /// "-u", NAME
  Client(std::string name, std::vector<std::string> words, const std::vector<std::string>& environment = {});
  ~Client();  ///< ends its input, and waits for its end
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void end();  ///< what the destructor does
  void send(const std::string& line) const;
  [[nodiscard]] nlohmann::json receive();

 private:
  std::string name_;
  pid_t pid_ = 0;
  int to_ = -1;
  FILE* from_ = nullptr;
};

/// An MPS server of our own, ended with the experiment. Children that are started meanwhile are its clients.
class MpsServer {
 public:
  MpsServer();
  ~MpsServer();
  MpsServer(const MpsServer&) = delete;
  MpsServer& operator=(const MpsServer&) = delete;
};

/// `sluice serve --mps` of our own, ended with the experiment.
class SharingService {
 public:
  /// @param program  path of sluice, with lib/sluice beside its folder
  SharingService(const std::string& program, const std::string& scheduler);
  ~SharingService();
  SharingService(const SharingService&) = delete;
  SharingService& operator=(const SharingService&) = delete;

  [[nodiscard]] std::string socket() const { return (folder_ / "socket").string(); }
  /// What the decisions since the last call took, and the evictions among them: from the decision to the word that the last CTA
  /// has left.
  struct Log {
    std::vector<double> decide_us, evict_us;
    std::vector<std::string> reasons;  ///< each that differs from the one before
  };
  [[nodiscard]] Log log();

 private:
  std::filesystem::path folder_;  // of its socket and its log
  std::size_t read_ = 0;          // lines of the log
  pid_t pid_ = 0;
};

}  // namespace sluice::gpu
