// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

namespace sluice::service {

/// Where clients of a service at `socket` find its MPS server; it is there while that runs.
[[nodiscard]] inline std::string mps_folder(const std::string& socket) { return socket + ".mps"; }

/// Connections to the GPU for one more program of the service whose MPS server this is: a GPU has about
/// 124 of them (H100), and each program takes as many as its CUDA_DEVICE_MAX_CONNECTIONS. The first programs get 16, later ones
/// fewer.
/// @return 16, 8, 4 or 2; they are kept by an open file that this process, what it executes, and its children hold. Nothing when
/// all are taken: the driver will make no context
[[nodiscard]] std::optional<unsigned> take_mps_connections(const std::filesystem::path& folder);

/// An MPS control daemon of our own, with its pipes and logs in a folder that nobody else can enter.
class MpsServer {
 public:
  /// Starts it. @param folder  is made, and removed at the end
  /// @throws InputError when there is no nvidia-cuda-mps-control, or it ends at once
  explicit MpsServer(const std::filesystem::path& folder);
  ~MpsServer();
  MpsServer(const MpsServer&) = delete;
  MpsServer& operator=(const MpsServer&) = delete;
  /// After the death of a client with work on the GPU: whether all others have lost their contexts. They have where a kernel of
  /// its slept; MPS ends one that runs. Takes until the server has seen the death: at most a second, or two where MPS hangs.
  /// @param died  0: one that lives, and may have had a fault
  [[nodiscard]] bool lost_contexts(pid_t died) const;
  /// After the death of a process that may have been about to connect: whether it answers nobody any more, or has a fault.
  [[nodiscard]] bool hangs(pid_t died) const;
  /// Ends it with all its servers, and starts another. @throws InputError
  void restart();
  [[nodiscard]] pid_t process() const { return control_; }

 private:
  void start();
  void end();
  [[nodiscard]] bool hangs(pid_t died, bool sure) const;  ///< @param sure  looks for a fault that comes a little later
  /// Of the control daemon. @return nothing: no answer
  [[nodiscard]] std::optional<std::string> ask(const std::string& command) const;
  std::filesystem::path folder_;
  pid_t control_ = -1;
};

}  // namespace sluice::service
