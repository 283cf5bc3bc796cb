// SPDX-License-Identifier: Apache-2.0
// The program's side of a funnelled session, as libsluice_client has it.
#include <fcntl.h>
#include <sys/mman.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "sw/service/client_session.h"
#include "sw/service/funnel/messages.h"
#include "sw/service/sluice_funnel.h"

using namespace sluice::service;
using namespace sluice::service::funnel;

struct sluice_funnel {
  struct Buffer {
    std::size_t bytes;
    std::uint64_t number;
  };
  struct Place {
    std::uint64_t buffer, offset;
  };
  UniqueFd socket;
  pid_t owner = ::getpid();
  std::mutex lock;
  std::map<const char*, Buffer> buffers;  // by where they begin

  ~sluice_funnel() {
    for (const auto& [at, buffer] : buffers) ::munmap(const_cast<char*>(at), buffer.bytes);
  }
  sluice_error say(const Command& command, int with = -1) {
    if (::getpid() != owner) return fail(SLUICE_ERROR_FORKED, "the session is another process's");
    if (send_packet(socket.get(), std::as_bytes(std::span(&command, 1)), with)) return SLUICE_OK;
    return fail(SLUICE_ERROR_GONE, "the worker is gone");
  }
  sluice_error ask(const Command& command, std::uint64_t& value, int with = -1) {
    if (const sluice_error e = say(command, with)) return e;
    funnel::Answer answer{};
    const ssize_t n = receive_packet(socket.get(), std::as_writable_bytes(std::span(&answer, 1)));
    if (n != sizeof answer) return fail(SLUICE_ERROR_GONE, "the worker is gone");
    value = answer.value;
    if (answer.failed == 0) return SLUICE_OK;
    return fail(SLUICE_ERROR_REFUSED, std::string(answer.text, ::strnlen(answer.text, sizeof answer.text)));
  }
  /// @return nothing when the bytes do not lie in one buffer
  [[nodiscard]] std::optional<Place> place(const void* address, std::size_t bytes) const {
    const auto* at = static_cast<const char*>(address);
    auto buffer = buffers.upper_bound(at);
    if (buffer == buffers.begin()) return {};
    --buffer;
    const auto offset = static_cast<std::size_t>(at - buffer->first);
    if (offset > buffer->second.bytes || bytes > buffer->second.bytes - offset) return {};
    return Place{buffer->second.number, offset};
  }
};

namespace {

Command command(Op op, std::uint32_t stream = 0) {
  Command c{};
  c.op = static_cast<std::uint32_t>(op);
  c.stream = stream;
  return c;
}

sluice_error no_funnel() { return fail(SLUICE_ERROR_INVALID, "a null pointer"); }

sluice_error copy(sluice_funnel* funnel, Op op, const void* shared, std::size_t bytes, sluice_stream stream) {
  return guarded([&] {
    if (funnel == nullptr) return no_funnel();
    const std::scoped_lock held(funnel->lock);
    const auto place = funnel->place(shared, bytes);
    if (!place) return fail(SLUICE_ERROR_INVALID, "a copy: the bytes do not lie in a shared buffer");
    Command c = command(op, stream);
    c.buffer = place->buffer;
    c.offset = place->offset;
    c.bytes = bytes;
    return funnel->say(c);
  });
}

/// A file in memory of so many bytes, mapped. @return null when there is no memory
void* mapped(std::size_t bytes, UniqueFd& file) {
  file = UniqueFd(::memfd_create("sluice_buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  constexpr int kSize = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  if (!file || ::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0 || ::fcntl(file.get(), F_ADD_SEALS, kSize) != 0)
    return nullptr;
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  return at == MAP_FAILED ? nullptr : at;
}

}  // namespace

extern "C" {

sluice_error sluice_funnel_open(const char* socket, sluice_funnel** funnel) {
  return guarded([&] {
    if (socket == nullptr || funnel == nullptr) return no_funnel();
    auto made = std::make_unique<sluice_funnel>();
    made->socket = connect_to(socket);
    if (!made->socket) return fail(SLUICE_ERROR_NO_SERVICE, std::string(socket) + ": no worker: " + std::strerror(errno));
    *funnel = made.release();
    return SLUICE_OK;
  });
}

void sluice_funnel_close(sluice_funnel* funnel) { delete funnel; }

sluice_error sluice_funnel_malloc(sluice_funnel* funnel, size_t bytes, void** shared) {
  return guarded([&] {
    if (funnel == nullptr || shared == nullptr) return no_funnel();
    if (bytes == 0 || bytes > (std::size_t{1} << 46)) return fail(SLUICE_ERROR_INVALID, "a buffer: must be 1..2^46 bytes");
    const std::scoped_lock held(funnel->lock);
    UniqueFd file;
    void* at = mapped(bytes, file);
    if (at == nullptr) return fail(SLUICE_ERROR_REFUSED, std::string("a buffer: ") + std::strerror(errno));
    Command c = command(Op::Malloc);
    c.bytes = bytes;
    std::uint64_t number = 0;
    if (const sluice_error e = funnel->ask(c, number, file.get())) {
      ::munmap(at, bytes);
      return e;
    }
    funnel->buffers[static_cast<char*>(at)] = {bytes, number};
    *shared = at;
    return SLUICE_OK;
  });
}

sluice_error sluice_funnel_free(sluice_funnel* funnel, void* shared) {
  return guarded([&] {
    if (funnel == nullptr) return no_funnel();
    const std::scoped_lock held(funnel->lock);
    const auto found = funnel->buffers.find(static_cast<char*>(shared));
    if (found == funnel->buffers.end()) return fail(SLUICE_ERROR_INVALID, "free: no shared buffer begins there");
    Command c = command(Op::Free);
    c.buffer = found->second.number;
    ::munmap(shared, found->second.bytes);
    funnel->buffers.erase(found);
    return funnel->say(c);
  });
}

sluice_error sluice_funnel_to_device(sluice_funnel* funnel, const void* shared, size_t bytes, sluice_stream stream) {
  return copy(funnel, Op::ToDevice, shared, bytes, stream);
}
sluice_error sluice_funnel_to_host(sluice_funnel* funnel, void* shared, size_t bytes, sluice_stream stream) {
  return copy(funnel, Op::ToHost, shared, bytes, stream);
}

sluice_error sluice_funnel_stream(sluice_funnel* funnel, sluice_stream* stream) {
  return guarded([&] {
    if (funnel == nullptr || stream == nullptr) return no_funnel();
    const std::scoped_lock held(funnel->lock);
    std::uint64_t number = 0;
    const sluice_error e = funnel->ask(command(Op::Stream), number);
    if (e == SLUICE_OK) *stream = static_cast<sluice_stream>(number);
    return e;
  });
}

sluice_error sluice_funnel_load(sluice_funnel* funnel, const void* image, size_t bytes, sluice_module* module) {
  return guarded([&] {
    if (funnel == nullptr || image == nullptr || module == nullptr || bytes == 0) return no_funnel();
    const std::scoped_lock held(funnel->lock);
    UniqueFd file;
    void* at = mapped(bytes, file);
    if (at == nullptr) return fail(SLUICE_ERROR_REFUSED, std::string("a module: ") + std::strerror(errno));
    std::memcpy(at, image, bytes);
    ::munmap(at, bytes);
    Command c = command(Op::Load);
    c.bytes = bytes;
    std::uint64_t number = 0;
    const sluice_error e = funnel->ask(c, number, file.get());
    if (e == SLUICE_OK) *module = static_cast<sluice_module>(number);
    return e;
  });
}

sluice_error sluice_funnel_launch(sluice_funnel* funnel, sluice_module module, const sluice_launch* launch,
                                  sluice_stream stream) {
  return guarded([&] {
    if (funnel == nullptr || launch == nullptr || (launch->count > 0 && launch->arguments == nullptr)) return no_funnel();
    if (launch->count > kArguments) return fail(SLUICE_ERROR_INVALID, "a launch: at most 32 arguments");
    const std::scoped_lock held(funnel->lock);
    Command c = command(Op::Launch, stream);
    if (!put(c.kernel, launch->kernel)) return fail(SLUICE_ERROR_INVALID, "a kernel's name: must be 1..255 bytes");
    c.module = module;
    std::copy(std::begin(launch->grid), std::end(launch->grid), c.grid);
    std::copy(std::begin(launch->block), std::end(launch->block), c.block);
    c.shared_bytes = launch->shared_bytes;
    c.count = launch->count;
    for (std::uint32_t i = 0; i < launch->count; ++i) {
      const sluice_argument& from = launch->arguments[i];
      Argument& to = c.arguments[i];
      to.bytes = from.bytes;
      if (from.bytes > sizeof to.value || from.value == nullptr) return fail(SLUICE_ERROR_INVALID, "an argument: 1..16 bytes");
      if (from.bytes > 0) {
        std::memcpy(to.value, from.value, from.bytes);
        continue;
      }
      const auto place = funnel->place(from.value, 0);
      if (!place) return fail(SLUICE_ERROR_INVALID, "an argument: no address in a shared buffer");
      to.value[0] = place->buffer;
      to.value[1] = place->offset;
    }
    return funnel->say(c);
  });
}

sluice_error sluice_funnel_synchronize(sluice_funnel* funnel, sluice_stream stream) {
  return guarded([&] {
    if (funnel == nullptr) return no_funnel();
    const std::scoped_lock held(funnel->lock);
    std::uint64_t nothing = 0;
    return funnel->ask(command(Op::Synchronize, stream), nothing);
  });
}
}
