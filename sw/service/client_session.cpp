// SPDX-License-Identifier: Apache-2.0
#include "sw/service/client_session.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>

using namespace sluice::service;
using SteadyClock = std::chrono::steady_clock;

namespace {

thread_local std::string last_error;

/// A page that its writer could make smaller would end us when we read it.
bool keeps_its_size(int file) {
  struct stat is {};
  return ::fstat(file, &is) == 0 && is.st_size >= static_cast<off_t>(sizeof(Page)) &&
         (::fcntl(file, F_GET_SEALS) & F_SEAL_SHRINK) != 0;
}

}  // namespace

namespace sluice::service {

sluice_error fail(sluice_error code, const std::string& why) {
  last_error = why;
  return code;
}

}  // namespace sluice::service

extern "C" const char* sluice_last_error(void) { return last_error.c_str(); }

/// Until `ready`. One thread reads the socket for all others.
template <class Ready>
sluice_error sluice_session::hear(std::unique_lock<std::mutex>& lock, const Deadline& deadline, Ready ready) {
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
    if (something) (void)read_one();
    heard.notify_all();
  }
  return SLUICE_OK;
}

/// @return there was something to read
bool sluice_session::read_one() {
  alignas(8) std::byte room[sizeof(Error)];
  UniqueFd file;
  const ssize_t n = receive_packet(socket.get(), room, &file, MSG_DONTWAIT);
  if (n < 0 && errno == EAGAIN) return false;
  if (n < static_cast<ssize_t>(sizeof(Header))) {
    if (!gone) gone = "the service is gone";
    return false;
  }
  Header header;
  std::memcpy(&header, room, sizeof header);
  Answer answer{static_cast<Type>(header.type)};
  if (answer.type == Type::Welcome && n == sizeof(Welcome) && file && page == nullptr && keeps_its_size(file.get())) {
    void* at = ::mmap(nullptr, sizeof(Page), PROT_READ, MAP_SHARED, file.get(), 0);
    if (at != MAP_FAILED) page = static_cast<const Page*>(at);
    std::memcpy(&welcome, room, sizeof welcome);
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
  if (awaited.erase(header.sequence) != 0) answers.emplace(header.sequence, std::move(answer));
  return true;
}

sluice_error sluice_session::send_bytes(std::span<const std::byte> bytes, bool answered) {
  if (::getpid() != owner) return fail(SLUICE_ERROR_FORKED, "the session is another process's");
  if (gone) return fail(SLUICE_ERROR_GONE, *gone);
  ++sequence;
  if (answered) awaited.insert(sequence);
  if (send_packet(socket.get(), bytes)) return SLUICE_OK;
  while (!gone && read_one()) {  // why, if it said so
  }
  if (!gone) gone = "the service is gone";
  return fail(SLUICE_ERROR_GONE, *gone);
}

sluice_error sluice_session::answer_of(std::unique_lock<std::mutex>& lock, std::uint32_t to, Answer& answer) {
  const auto deadline = SteadyClock::now() + std::chrono::seconds(1);
  const sluice_error e = hear(lock, deadline, [&] { return answers.contains(to); });
  awaited.erase(to);
  if (e != SLUICE_OK) return e;
  answer = std::move(answers.extract(to).mapped());
  if (answer.type != Type::Error) return SLUICE_OK;
  return fail(gone ? SLUICE_ERROR_GONE : SLUICE_ERROR_REFUSED, answer.text);
}

sluice_error sluice_session::listen() {
  const std::unique_lock lock(mutex);
  while (read_one()) {
  }
  heard.notify_all();
  return gone ? fail(SLUICE_ERROR_GONE, *gone) : SLUICE_OK;
}

sluice_error sluice_session::wait(sluice_stub stub, int timeout_ms, unsigned states, StubWord* word) {
  if (::getpid() != owner) return fail(SLUICE_ERROR_FORKED, "the session is another process's");
  if (stub >= kStubs) return fail(SLUICE_ERROR_REFUSED, "unknown_stub");
  Deadline deadline;
  if (timeout_ms >= 0) deadline = SteadyClock::now() + std::chrono::milliseconds(timeout_ms);
  std::unique_lock lock(mutex);
  return hear(lock, deadline, [&] {
    const auto now = StubWord::of(__atomic_load_n(&page->stub[stub].word, __ATOMIC_ACQUIRE));
    if (word != nullptr) *word = now;
    return (states >> static_cast<unsigned>(now.state) & 1U) != 0;
  });
}

sluice_error sluice_session::kernel_number(const sluice_kernel& kernel, std::uint32_t& number) {
  const std::pair key{std::string(kernel.name == nullptr ? "" : kernel.name),
                      std::array<std::uint64_t, 4>{kernel.block_threads, kernel.registers, kernel.shared_bytes, kernel.module}};
  {
    const std::unique_lock lock(mutex);
    auto known = kernels.find(key);
    if (known == kernels.end() && kernels.size() >= kKernels) known = kernels.begin();  // the service takes no more
    if (known != kernels.end()) {
      number = known->second;
      return SLUICE_OK;
    }
  }
  Register m{};
  if (!put(m.name, kernel.name)) return fail(SLUICE_ERROR_INVALID, "a kernel's name: must be 1..255 bytes");
  m.block_threads = kernel.block_threads;
  m.registers = kernel.registers;
  m.shared_bytes = kernel.shared_bytes;
  m.module = kernel.module;
  Answer answer{};
  if (const sluice_error e = ask(m, answer)) return e;
  number = answer.value;
  const std::unique_lock lock(mutex);
  kernels.emplace(key, number);
  return SLUICE_OK;
}
