// SPDX-License-Identifier: Apache-2.0
// The C interface of libsluice_client.
#include <algorithm>
#include <memory>
#include <string>

#include "sw/service/client_session.h"

using namespace sluice::service;

namespace {

constexpr unsigned bit(StubState state) { return 1U << static_cast<unsigned>(state); }
constexpr unsigned kDone = bit(StubState::Done);

std::uint64_t load(const std::uint64_t& place) { return __atomic_load_n(&place, __ATOMIC_ACQUIRE); }

sluice_error no_session(const char* call) { return fail(SLUICE_ERROR_INVALID, std::string(call) + ": a null pointer"); }

/// Text of any length, shortened to the field.
template <std::size_t n>
void put_shortened(char (&field)[n], const char* text) {
  if (text == nullptr) return;
  std::string_view(text).copy(field, n - 1);
  for (char& c : field)
    if (c != '\0' && (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)) c = ' ';
}

}  // namespace

extern "C" {

sluice_error sluice_connect(const char* socket, const char* name, int32_t priority, sluice_session** session) {
  return guarded([&] {
    Hello hello{};
    if (session == nullptr || !put(hello.name, name))
      return fail(SLUICE_ERROR_INVALID, "sluice_connect: name: must be 1..63 bytes");
    auto made = std::make_unique<sluice_session>();
    const std::string path = socket == nullptr ? default_socket() : socket;
    made->socket = connect_to(path);
    if (!made->socket) return fail(SLUICE_ERROR_NO_SERVICE, path + ": no service: " + std::strerror(errno));
    const timeval limit{1, 0};  // a daemon that is stopped holds nobody up for longer
    ::setsockopt(made->socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    hello.version = kVersion;
    hello.priority = priority;
    Answer answer{};
    if (const sluice_error e = made->ask(hello, answer)) return e;
    if (made->page == nullptr) return fail(SLUICE_ERROR_GONE, "the service sent no page");
    *session = made.release();
    return SLUICE_OK;
  });
}

void sluice_disconnect(sluice_session* session) {
  if (session != nullptr && ::getpid() == session->owner && !session->gone) {
    Bye bye{};
    (void)session->tell(bye);
  }
  delete session;
}

sluice_error sluice_kernel_stub(sluice_session* session, const sluice_kernel* kernel, sluice_stub* stub) {
  return guarded([&] {
    if (session == nullptr || kernel == nullptr || stub == nullptr) return no_session("sluice_kernel_stub");
    TakeStub m{{}, kAnyStub, 0};
    if (const sluice_error e = session->kernel_number(*kernel, m.kernel)) return e;
    Answer answer{};
    if (const sluice_error e = session->ask(m, answer)) return e;
    *stub = answer.value;
    return SLUICE_OK;
  });
}

sluice_error sluice_next_kernel(sluice_session* session, sluice_stub stub, const sluice_kernel* kernel) {
  return guarded([&] {
    if (session == nullptr || kernel == nullptr) return no_session("sluice_next_kernel");
    TakeStub m{{}, stub, 0};
    if (stub == kAnyStub) return fail(SLUICE_ERROR_REFUSED, "unknown_stub");
    if (const sluice_error e = session->kernel_number(*kernel, m.kernel)) return e;
    Answer answer{};
    return session->ask(m, answer);
  });
}

sluice_error sluice_set_priority(sluice_session* session, sluice_stub stub, int32_t priority, int32_t* granted) {
  return guarded([&] {
    if (session == nullptr) return no_session("sluice_set_priority");
    Priority m{{}, stub, priority};
    Answer answer{};
    if (const sluice_error e = session->ask(m, answer)) return e;
    if (granted != nullptr) *granted = answer.priority;
    return SLUICE_OK;
  });
}

sluice_error sluice_submit(sluice_session* session, sluice_stub stub, uint64_t tasks, uint64_t task_ns) {
  return guarded([&] {
    if (session == nullptr) return no_session("sluice_submit");
    Submit m{{}, stub, 0, tasks, task_ns};
    Answer answer{};
    return session->ask(m, answer);
  });
}

sluice_error sluice_wait_share(sluice_session* session, sluice_stub stub, int timeout_ms, sluice_granted* granted) {
  return guarded([&] {
    if (session == nullptr) return no_session("sluice_wait_share");
    StubWord word;
    const sluice_error e = session->wait(stub, timeout_ms, bit(StubState::ToRun) | bit(StubState::Running) | kDone, &word);
    if (e != SLUICE_OK || granted == nullptr) return e;
    if (word.state == StubState::Done) word = StubWord::of(load(session->page->stub[stub].granted));
    *granted = {word.ctas, word.first_sm, word.sms};
    return SLUICE_OK;
  });
}

sluice_error sluice_wait(sluice_session* session, sluice_stub stub, int timeout_ms) {
  return guarded([&] {
    if (session == nullptr) return no_session("sluice_wait");
    return session->wait(stub, timeout_ms, kDone);
  });
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

sluice_error sluice_release(sluice_session* session, sluice_stub stub) {
  return guarded([&] {
    if (session == nullptr) return no_session("sluice_release");
    Release m{{}, stub, 0};
    Answer answer{};
    return session->ask(m, answer);
  });
}

sluice_error sluice_report(sluice_session* session, sluice_stub stub, sluice_what what, uint64_t begun, uint64_t done) {
  return guarded([&] {
    if (session == nullptr) return no_session("sluice_report");
    Report m{{}, stub, static_cast<std::uint32_t>(what), begun, done};
    return session->tell(m);
  });
}

sluice_error sluice_machine(sluice_session* session, const sluice_gpu* gpu) {
  return guarded([&] {
    if (session == nullptr || gpu == nullptr) return no_session("sluice_machine");
    Machine m{{}, gpu->sms, gpu->threads, gpu->registers, gpu->shared_bytes, gpu->ctas, 0, std::to_array(gpu->uuid)};
    Answer answer{};
    return session->ask(m, answer);
  });
}

sluice_error sluice_coverage(sluice_session* session, sluice_way way, const char* kernel, uint64_t module, const char* reason,
                             uint64_t launches, uint64_t gpu_ns) {
  return guarded([&] {
    if (session == nullptr || kernel == nullptr || *kernel == '\0') return no_session("sluice_coverage");
    Coverage m{};
    m.way = static_cast<std::uint32_t>(way);
    m.launches = launches;
    m.gpu_ns = gpu_ns;
    m.module = module;
    put_shortened(m.name, kernel);
    put_shortened(m.reason, reason);
    return session->tell(m);
  });
}

sluice_error sluice_failed(sluice_session* session) {
  return guarded([&] {
    if (session == nullptr) return no_session("sluice_failed");
    Failed m{};
    return session->tell(m);
  });
}

int sluice_descriptor(const sluice_session* session) { return session == nullptr ? -1 : session->socket.get(); }

sluice_error sluice_listen(sluice_session* session) {
  return guarded([&] { return session == nullptr ? no_session("sluice_listen") : session->listen(); });
}
}
