// SPDX-License-Identifier: Apache-2.0
// libsluice_client. No exception leaves it, and nothing of the project is linked into it.
#include <poll.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "sw/service/protocol.h"
#include "sw/service/sluice_client.h"
#include "sw/service/socket.h"

using namespace sluice::service;
using SteadyClock = std::chrono::steady_clock;
using Deadline = std::optional<SteadyClock::time_point>;

namespace {

thread_local std::string last_error;

sluice_error fail(sluice_error code, const std::string& why) {
  last_error = why;
  return code;
}

struct Answer {
  Type type;
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

std::uint64_t load(const std::uint64_t& place) { return __atomic_load_n(&place, __ATOMIC_ACQUIRE); }

}  // namespace

struct sluice_session {
  UniqueFd socket;
  pid_t owner = ::getpid();
  const Page* page = nullptr;
  std::mutex mutex;
  std::condition_variable heard;
  bool reading = false;  ///< a thread sleeps on the socket, for all
  std::uint32_t sequence = 0;
  std::map<std::uint32_t, Answer> answers;
  std::optional<std::string> gone;  ///< why

  sluice_session() = default;
  sluice_session(const sluice_session&) = delete;
  sluice_session& operator=(const sluice_session&) = delete;
  ~sluice_session() {
    if (page != nullptr) ::munmap(const_cast<Page*>(page), sizeof(Page));
  }

  /// Until `ready`. One thread reads the socket for all others.
  template <class Ready>
  sluice_error hear(std::unique_lock<std::mutex>& lock, const Deadline& deadline, Ready ready) {
    while (!ready()) {
      if (gone) return fail(SLUICE_ERROR_GONE, *gone);
      if (deadline && SteadyClock::now() >= *deadline) return fail(SLUICE_ERROR_TIMEOUT, "the time is over");
      if (reading) {
        if (deadline) {
          heard.wait_until(lock, *deadline);
        } else {
          heard.wait(lock);
        }
        continue;
      }
      reading = true;
      lock.unlock();
      int wait = -1;
      if (deadline)
        wait = static_cast<int>(
            std::max<long long>(0, std::chrono::ceil<std::chrono::milliseconds>(*deadline - SteadyClock::now()).count()));
      pollfd fd{socket.get(), POLLIN, 0};
      const bool something = ::poll(&fd, 1, wait) > 0;
      lock.lock();
      reading = false;
      if (something) read_one();
      heard.notify_all();
    }
    return SLUICE_OK;
  }

  void read_one() {
    alignas(8) std::byte room[sizeof(Error)];
    UniqueFd file;
    const ssize_t n = receive_packet(socket.get(), room, &file, MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN) return;
    if (n < static_cast<ssize_t>(sizeof(Header))) {
      if (!gone) gone = "the service is gone";
      return;
    }
    Header header;
    std::memcpy(&header, room, sizeof header);
    Answer answer{static_cast<Type>(header.type)};
    if (answer.type == Type::Welcome && n == sizeof(Welcome) && file && page == nullptr) {
      void* at = ::mmap(nullptr, sizeof(Page), PROT_READ, MAP_SHARED, file.get(), 0);
      if (at != MAP_FAILED) page = static_cast<const Page*>(at);
    } else if (answer.type == Type::Ok && n == sizeof(Ok)) {
      Ok ok;
      std::memcpy(&ok, room, sizeof ok);
      answer.value = ok.value;
      answer.priority = ok.priority;
    } else if (answer.type == Type::Error && n == sizeof(Error)) {
      Error error;
      std::memcpy(&error, room, sizeof error);
      answer.text = std::string(to_string(static_cast<Code>(error.code))) + ": " +
                    std::string(error.text, ::strnlen(error.text, sizeof error.text));
      if (error.fatal != 0) gone = answer.text;
    }
    if (answer.type != Type::Changed) answers.emplace(header.sequence, std::move(answer));
  }

  /// One request, and its answer within a second.
  template <class Message>
  sluice_error ask(Message& message, Answer& answer) {
    if (::getpid() != owner) return fail(SLUICE_ERROR_FORKED, "the session is another process's");
    std::unique_lock lock(mutex);
    if (gone) return fail(SLUICE_ERROR_GONE, *gone);
    const std::uint32_t mine = ++sequence;
    message.header = make<Message>(mine).header;
    if (!send_packet(socket.get(), std::as_bytes(std::span(&message, 1)))) {
      read_one();  // why, if it said so
      if (!gone) gone = "the service is gone";
      return fail(SLUICE_ERROR_GONE, *gone);
    }
    const auto deadline = SteadyClock::now() + std::chrono::seconds(1);
    if (const sluice_error e = hear(lock, deadline, [&] { return answers.contains(mine); })) return e;
    answer = std::move(answers.extract(mine).mapped());
    if (answer.type != Type::Error) return SLUICE_OK;
    return fail(gone ? SLUICE_ERROR_GONE : SLUICE_ERROR_REFUSED, answer.text);
  }

  template <class Ready>
  sluice_error wait(sluice_stub stub, int timeout_ms, Ready ready) {
    if (::getpid() != owner) return fail(SLUICE_ERROR_FORKED, "the session is another process's");
    if (stub >= kStubs) return fail(SLUICE_ERROR_REFUSED, "unknown_stub");
    Deadline deadline;
    if (timeout_ms >= 0) deadline = SteadyClock::now() + std::chrono::milliseconds(timeout_ms);
    std::unique_lock lock(mutex);
    const auto state = [&] { return StubWord::of(load(page->stub[stub].word)).state; };
    return hear(lock, deadline, [&] { return ready(state()); });
  }
};

extern "C" {

sluice_error sluice_connect(const char* socket, const char* name, int32_t priority, sluice_session** session) try {
  Hello hello{};
  if (session == nullptr || !put(hello.name, name))
    return fail(SLUICE_ERROR_INVALID, "sluice_connect: name: must be 1..63 bytes");
  auto made = std::make_unique<sluice_session>();
  const std::string path = socket == nullptr ? default_socket() : socket;
  made->socket = connect_to(path);
  if (!made->socket) return fail(SLUICE_ERROR_NO_SERVICE, path + ": no service: " + std::strerror(errno));
  hello.version = kVersion;
  hello.priority = priority;
  Answer answer{};
  if (const sluice_error e = made->ask(hello, answer)) return e;
  if (made->page == nullptr) return fail(SLUICE_ERROR_GONE, "the service sent no page");
  *session = made.release();
  return SLUICE_OK;
} catch (const std::exception& error) {
  return fail(SLUICE_ERROR_INVALID, error.what());
}

void sluice_disconnect(sluice_session* session) {
  if (session != nullptr && ::getpid() == session->owner && !session->gone) {
    const Bye bye = make<Bye>(session->sequence + 1);
    (void)send_packet(session->socket.get(), std::as_bytes(std::span(&bye, 1)));
  }
  delete session;
}

sluice_error sluice_kernel_stub(sluice_session* session, const sluice_kernel* kernel, sluice_stub* stub) try {
  Register m{};
  if (session == nullptr || kernel == nullptr || stub == nullptr || !put(m.name, kernel->name))
    return fail(SLUICE_ERROR_INVALID, "sluice_kernel_stub: name: must be 1..255 bytes");
  m.block_threads = kernel->block_threads;
  m.registers = kernel->registers;
  m.shared_bytes = kernel->shared_bytes;
  Answer answer{};
  if (const sluice_error e = session->ask(m, answer)) return e;
  *stub = answer.value;
  return SLUICE_OK;
} catch (const std::exception& error) {
  return fail(SLUICE_ERROR_INVALID, error.what());
}

sluice_error sluice_set_priority(sluice_session* session, sluice_stub stub, int32_t priority, int32_t* granted) try {
  if (session == nullptr) return fail(SLUICE_ERROR_INVALID, "sluice_set_priority: no session");
  Priority m{{}, stub, priority};
  Answer answer{};
  if (const sluice_error e = session->ask(m, answer)) return e;
  if (granted != nullptr) *granted = answer.priority;
  return SLUICE_OK;
} catch (const std::exception& error) {
  return fail(SLUICE_ERROR_INVALID, error.what());
}

sluice_error sluice_submit(sluice_session* session, sluice_stub stub, uint32_t tasks, uint64_t task_ns) try {
  if (session == nullptr) return fail(SLUICE_ERROR_INVALID, "sluice_submit: no session");
  Submit m{{}, stub, tasks, task_ns};
  Answer answer{};
  return session->ask(m, answer);
} catch (const std::exception& error) {
  return fail(SLUICE_ERROR_INVALID, error.what());
}

sluice_error sluice_wait_share(sluice_session* session, sluice_stub stub, int timeout_ms) try {
  if (session == nullptr) return fail(SLUICE_ERROR_INVALID, "sluice_wait_share: no session");
  return session->wait(stub, timeout_ms,
                       [](StubState s) { return s == StubState::ToRun || s == StubState::Running || s == StubState::Done; });
} catch (const std::exception& error) {
  return fail(SLUICE_ERROR_INVALID, error.what());
}

sluice_error sluice_wait(sluice_session* session, sluice_stub stub, int timeout_ms) try {
  if (session == nullptr) return fail(SLUICE_ERROR_INVALID, "sluice_wait: no session");
  return session->wait(stub, timeout_ms, [](StubState s) { return s == StubState::Done; });
} catch (const std::exception& error) {
  return fail(SLUICE_ERROR_INVALID, error.what());
}

sluice_error sluice_read(const sluice_session* session, sluice_stub stub, sluice_progress* progress) {
  if (session == nullptr || progress == nullptr || stub >= kStubs)
    return fail(SLUICE_ERROR_INVALID, "sluice_read: stub: must be 0..62");
  const Stub& s = session->page->stub[stub];
  const StubWord word = StubWord::of(load(s.word));  // first: the counts are at least as new
  *progress = {static_cast<sluice_state>(word.state),
               word.ctas,
               word.first_sm,
               word.sms,
               load(s.tasks),
               load(s.tasks_begun),
               load(s.tasks_done),
               load(s.evictions)};
  return SLUICE_OK;
}

sluice_error sluice_release(sluice_session* session, sluice_stub stub) try {
  if (session == nullptr) return fail(SLUICE_ERROR_INVALID, "sluice_release: no session");
  Release m{{}, stub, 0};
  Answer answer{};
  return session->ask(m, answer);
} catch (const std::exception& error) {
  return fail(SLUICE_ERROR_INVALID, error.what());
}

const char* sluice_last_error(void) { return last_error.c_str(); }
}
