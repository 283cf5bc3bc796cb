// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sw/service/clock.h"
#include "sw/service/service.h"
#include "sw/service/socket.h"

namespace sluice::service {

/// The service on a Unix socket: one thread, one epoll loop, woken by messages, by ends of clients and by the clock alone.
class Daemon {
 public:
  /// Listens at `path` when it returns. What a dead daemon left there is removed.
  /// @throws InputError when another daemon serves there, or it is no place for a socket; SystemError
  Daemon(std::string path, Service& service, IClock& clock);
  ~Daemon();  ///< tells the clients, and removes the socket
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  /// What is to be done when the clients' contexts were lost, before anybody is served again.
  void on_context_loss(std::function<void()> work) { on_context_loss_ = std::move(work); }
  /// Until `stop` is readable.
  void run(int stop);
  /// Sleeps until there is something to do, and does all of it. @return false when the `stop` of run() is readable
  bool step();
  [[nodiscard]] std::uint64_t wake_ups() const { return wake_ups_; }

 private:
  struct Connection;
  void accept_all();
  void admit(UniqueFd socket);
  void receive(Connection& c);
  void deliver();
  /// Who was told to leave answers soon, and others wait for it: waking up, or writing the log, would take longer than the
  /// answer.
  [[nodiscard]] bool an_answer_is_near() const;
  void watch(int fd, std::uint64_t tag, std::uint32_t events) const;
  void send(Connection& c, const Outgoing& out);

  std::string path_;
  Service& service_;
  IClock& clock_;
  UniqueFd lock_, listener_, epoll_, spare_;
  std::map<SessionId, Connection> connections_;
  std::map<SessionId, std::pair<pid_t, UniqueFd>> begun_;  ///< processes that became programs
  std::function<void()> on_context_loss_;
  std::uint64_t wake_ups_ = 0, orders_ = 0;
  std::chrono::steady_clock::time_point answer_by_;  ///< of the last order to leave
};

/// Whether a process of this user gets a session.
[[nodiscard]] constexpr bool admits(uid_t peer, uid_t own) { return peer == own; }

/// What a service at `path` answers to STATUS: JSON. @param begins  this process becomes a program of its. @throws InputError
/// when nobody listens there; SystemError
[[nodiscard]] std::string fetch_status(const std::string& path, bool begins = false);

}  // namespace sluice::service
