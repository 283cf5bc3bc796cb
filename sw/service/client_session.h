// SPDX-License-Identifier: Apache-2.0
#pragma once
// A session as libsluice_client has it. No exception leaves the library, and nothing of the project is linked into it.
#include <sys/mman.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "sw/service/protocol.h"
#include "sw/service/sluice_client.h"
#include "sw/service/socket.h"

namespace sluice::service {

using Deadline = std::optional<std::chrono::steady_clock::time_point>;

/// @return `code`, with `why` as this thread's last error
sluice_error fail(sluice_error code, const std::string& why);

struct Answer {
  Type type = Type::Error;
  std::uint32_t value = 0;
  std::int32_t priority = 0;
  std::string text{};
};

template <std::size_t n>
bool put(char (&field)[n], const char* text) {
  if (text == nullptr) return false;
  const std::string_view view(text);
  if (view.empty() || view.size() >= n) return false;
  view.copy(field, n);
  return true;
}

/// Runs a call of the C interface: what is thrown inside becomes an error.
template <class Call>
sluice_error guarded(const Call& call) try {
  return call();
} catch (const std::exception& error) {
  return fail(SLUICE_ERROR_INVALID, error.what());
}

}  // namespace sluice::service

struct sluice_session {
  sluice::service::UniqueFd socket;
  pid_t owner = ::getpid();
  const sluice::service::Page* page = nullptr;
  sluice::service::Welcome welcome{};
  std::mutex mutex;
  std::condition_variable heard;
  bool reading = false;  ///< a thread sleeps on the socket, for all
  std::uint32_t sequence = 0;
  std::set<std::uint32_t> awaited;
  std::map<std::uint32_t, sluice::service::Answer> answers;
  std::optional<std::string> gone;                                                        ///< why
  std::map<std::pair<std::string, std::array<std::uint64_t, 4>>, std::uint32_t> kernels;  ///< registered

  sluice_session() = default;
  sluice_session(const sluice_session&) = delete;
  sluice_session& operator=(const sluice_session&) = delete;
  ~sluice_session() {
    if (page != nullptr) ::munmap(const_cast<sluice::service::Page*>(page), sizeof(sluice::service::Page));
  }

  /// One request, and its answer within a second.
  template <class Message>
  sluice_error ask(Message& message, sluice::service::Answer& answer) {
    std::unique_lock lock(mutex);
    if (const sluice_error e = send(message)) return e;
    return answer_of(lock, message.header.sequence, answer);
  }
  /// A message that has no answer.
  template <class Message>
  sluice_error tell(Message& message) {
    const std::unique_lock lock(mutex);
    return send(message, false);
  }
  /// All that the service has said. @return SLUICE_ERROR_GONE when it is
  sluice_error listen();
  /// Until the stub's state is one of `states`, a bit each.
  sluice_error wait(sluice_stub stub, int timeout_ms, unsigned states, sluice::service::StubWord* word = nullptr);
  /// The number of a kernel, registered once.
  sluice_error kernel_number(const sluice_kernel& kernel, std::uint32_t& number);

 private:
  template <class Message>
  sluice_error send(Message& message, bool answered = true) {
    message.header = sluice::service::make<Message>(sequence + 1).header;
    return send_bytes(std::as_bytes(std::span(&message, 1)), answered);
  }
  sluice_error send_bytes(std::span<const std::byte> bytes, bool answered);
  sluice_error answer_of(std::unique_lock<std::mutex>& lock, std::uint32_t to, sluice::service::Answer& answer);
  template <class Ready>
  sluice_error hear(std::unique_lock<std::mutex>& lock, const sluice::service::Deadline& deadline, Ready ready);
  bool read_one();
};
