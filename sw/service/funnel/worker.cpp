// SPDX-License-Identifier: Apache-2.0
// sluice_worker SOCKET: carries out the calls of funnelled programs (sw/service/sluice_funnel.h) in one GPU context, each program
// by a thread. An ordinary program of the driver: `sluice run` in front of it puts its launches under quotas. Ends on SIGTERM.
#include <cuda.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

#include <poll.h>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "sw/service/funnel/messages.h"
#include "sw/service/socket.h"

namespace sluice::service::funnel {

namespace {

#define NAME(F) #F
#define DRIVER(F) reinterpret_cast<decltype(&F)>(driver().find(NAME(F)))  // NOLINT(bugprone-macro-parentheses): a name

/// The driver, opened at run time: this program starts without a GPU, and says so.
class Driver {
 public:
  Driver() : library_(::dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL)) {}
  [[nodiscard]] bool there() const { return library_ != nullptr; }
  [[nodiscard]] void* find(const char* name) const { return ::dlsym(library_, name); }

 private:
  void* library_;
};
const Driver& driver() {
  static const Driver one;
  return one;
}

struct Buffer {
  void* host = nullptr;
  std::size_t bytes = 0;
  CUdeviceptr device = 0;
  bool pinned = false;
};

/// One program's. Its calls come from one thread.
class Session {
 public:
  Session(UniqueFd socket, CUcontext context) : socket_(std::move(socket)), context_(context) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void run() {
    if (DRIVER(cuCtxSetCurrent)(context_) != CUDA_SUCCESS) return;
    Command c{};
    for (;;) {
      UniqueFd file;
      const ssize_t n = receive_packet(socket_.get(), std::as_writable_bytes(std::span(&c, 1)), &file);
      if (n != sizeof c) break;  // it has ended, or is none of ours
      const std::uint64_t value = obey(c, file);
      if (!is_answered(static_cast<Op>(c.op))) continue;
      Answer answer{};
      answer.failed = failure_.empty() ? 0 : 1;
      answer.value = value;
      failure_.copy(answer.text, sizeof answer.text - 1);
      failure_.clear();
      if (!send_packet(socket_.get(), std::as_bytes(std::span(&answer, 1)))) break;
    }
    end();
  }

 private:
  bool good(CUresult result, const char* what) {
    if (result == CUDA_SUCCESS) return true;
    const char* name = nullptr;
    const auto name_of = DRIVER(cuGetErrorName);
    if (name_of != nullptr) static_cast<void>(name_of(result, &name));
    refuse(std::string(what) + ": " + (name == nullptr ? std::to_string(result) : name));
    return false;
  }
  std::uint64_t refuse(const std::string& why) {
    if (failure_.empty()) failure_ = why;
    return 0;
  }
  std::uint64_t obey(const Command& c, const UniqueFd& file) {
    switch (static_cast<Op>(c.op)) {
      case Op::Malloc: return allocate(c, file);
      case Op::Free: return free(c);
      case Op::ToDevice:
      case Op::ToHost: return copy(c);
      case Op::Stream: return stream();
      case Op::Load: return load(c, file);
      case Op::Launch: return launch(c);
      case Op::Synchronize: return synchronize(c);
    }
    return refuse("an operation that there is not");
  }
  /// The file's bytes. A file that is shorter than it says would end this process at the first touch.
  static void* map(const UniqueFd& file, std::uint64_t bytes) {
    struct stat there {};
    const int seals = file ? ::fcntl(file.get(), F_GET_SEALS) : -1;
    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || ::fstat(file.get(), &there) != 0 || there.st_size <= 0 ||
        static_cast<std::uint64_t>(there.st_size) != bytes)
      return nullptr;
    void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    return at == MAP_FAILED ? nullptr : at;
  }
  std::uint64_t allocate(const Command& c, const UniqueFd& file) {
    if (buffers_.size() >= kBuffers) return refuse("malloc: a session has 4096 buffers");
    Buffer b{map(file, c.bytes), c.bytes};
    if (b.host == nullptr) return refuse("malloc: no sealed file of so many bytes came along");
    if (!good(DRIVER(cuMemAlloc_v2)(&b.device, b.bytes), "malloc")) {
      ::munmap(b.host, b.bytes);
      return 0;
    }
    const auto pin = DRIVER(cuMemHostRegister_v2);
    b.pinned = pin != nullptr && pin(b.host, b.bytes, CU_MEMHOSTREGISTER_PORTABLE) == CUDA_SUCCESS;  // else copies are slower
    buffers_[++last_buffer_] = b;
    return last_buffer_;
  }
  static void give_back(const Buffer& b) {
    if (b.pinned) DRIVER(cuMemHostUnregister)(b.host);
    DRIVER(cuMemFree_v2)(b.device);
    ::munmap(b.host, b.bytes);
  }
  std::uint64_t free(const Command& c) {
    const auto found = buffers_.find(c.buffer);
    if (found == buffers_.end()) return refuse("free: no such buffer");
    wait();
    give_back(found->second);
    buffers_.erase(found);
    return 0;
  }
  std::uint64_t copy(const Command& c) {
    const auto found = buffers_.find(c.buffer);
    const CUstream* in = stream_of(c.stream);
    if (found == buffers_.end() || in == nullptr || c.offset > found->second.bytes || c.bytes > found->second.bytes - c.offset)
      return refuse("copy: no such buffer, bytes or stream");
    char* host = static_cast<char*>(found->second.host) + c.offset;
    const CUdeviceptr device = found->second.device + c.offset;
    const bool up = static_cast<Op>(c.op) == Op::ToDevice;
    good(up ? DRIVER(cuMemcpyHtoDAsync_v2)(device, host, c.bytes, *in) : DRIVER(cuMemcpyDtoHAsync_v2)(host, device, c.bytes, *in),
         "copy");
    return 0;
  }
  std::uint64_t stream() {
    if (streams_.size() >= kStreams) return refuse("stream: a session has 64");
    CUstream made = nullptr;
    if (!good(DRIVER(cuStreamCreate)(&made, CU_STREAM_NON_BLOCKING), "stream")) return 0;
    streams_.push_back(made);
    return streams_.size() - 1;
  }
  /// @return null: there is none. The first is made when it is used.
  const CUstream* stream_of(std::uint32_t number) {
    if (streams_.empty()) stream();
    return number < streams_.size() ? &streams_[number] : nullptr;
  }
  std::uint64_t load(const Command& c, const UniqueFd& file) {
    if (modules_.size() >= kModules) return refuse("load: a session has 256 modules");
    void* image = map(file, c.bytes);
    if (image == nullptr) return refuse("load: no sealed file of so many bytes came along");
    std::vector<char> own(static_cast<char*>(image), static_cast<char*>(image) + c.bytes);
    own.push_back('\0');
    ::munmap(image, c.bytes);
    CUmodule module = nullptr;
    if (!good(DRIVER(cuModuleLoadData)(&module, own.data()), "load")) return 0;
    modules_.push_back(module);
    return modules_.size() - 1;
  }
  std::uint64_t launch(const Command& c) {
    const CUstream* in = stream_of(c.stream);
    if (c.module >= modules_.size() || in == nullptr || c.count > kArguments ||
        std::find(std::begin(c.kernel), std::end(c.kernel), '\0') == std::end(c.kernel))
      return refuse("launch: no such module or stream, a name without end, or too many arguments");
    CUfunction function = nullptr;
    if (!good(DRIVER(cuModuleGetFunction)(&function, modules_[c.module], c.kernel), c.kernel)) return 0;
    std::array<Argument, kArguments> arguments{};
    std::array<void*, kArguments> pointers{};
    for (std::uint32_t i = 0; i < c.count; ++i) {
      arguments[i] = c.arguments[i];
      pointers[i] = arguments[i].value;
      std::size_t offset = 0, bytes = 0;
      if (DRIVER(cuFuncGetParamInfo)(function, i, &offset, &bytes) != CUDA_SUCCESS || bytes > sizeof arguments[i].value)
        return refuse(std::string(c.kernel) + ": it has fewer arguments, or larger ones");
      if (arguments[i].bytes != 0) continue;
      const auto found = buffers_.find(arguments[i].value[0]);
      if (found == buffers_.end() || arguments[i].value[1] > found->second.bytes)
        return refuse(std::string(c.kernel) + ": an argument is no buffer");
      arguments[i].value[0] = found->second.device + arguments[i].value[1];
    }
    std::size_t offset = 0, bytes = 0;
    if (DRIVER(cuFuncGetParamInfo)(function, c.count, &offset, &bytes) == CUDA_SUCCESS)
      return refuse(std::string(c.kernel) + ": it has more arguments");
    good(DRIVER(cuLaunchKernel)(function, c.grid[0], c.grid[1], c.grid[2], c.block[0], c.block[1], c.block[2], c.shared_bytes,
                                *in, pointers.data(), nullptr),
         c.kernel);
    return 0;
  }
  std::uint64_t synchronize(const Command& c) {
    if (c.stream == kAllStreams) return wait(), 0;
    const CUstream* in = stream_of(c.stream);
    if (in == nullptr) return refuse("synchronise: no such stream");
    good(DRIVER(cuStreamSynchronize)(*in), "synchronise");
    return 0;
  }
  void wait() {
    for (const CUstream stream : streams_) good(DRIVER(cuStreamSynchronize)(stream), "synchronise");
  }
  void end() {
    wait();
    for (const auto& [number, buffer] : buffers_) give_back(buffer);
    for (const CUmodule module : modules_) DRIVER(cuModuleUnload)(module);
    for (const CUstream stream : streams_) DRIVER(cuStreamDestroy_v2)(stream);
  }

  UniqueFd socket_;
  CUcontext context_;
  std::map<std::uint64_t, Buffer> buffers_;
  std::uint64_t last_buffer_ = 0;
  std::vector<CUstream> streams_;
  std::vector<CUmodule> modules_;
  std::string failure_;  ///< first since the last answer
};

CUcontext the_context() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  const bool made = driver().there() && DRIVER(cuInit)(0) == CUDA_SUCCESS && DRIVER(cuDeviceGet)(&device, 0) == CUDA_SUCCESS &&
                    DRIVER(cuDevicePrimaryCtxRetain)(&context, device) == CUDA_SUCCESS;
  return made ? context : nullptr;
}

int serve(const char* path) {
  const CUcontext context = the_context();
  if (context == nullptr) return std::fprintf(stderr, "sluice_worker: no GPU\n"), 2;
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const UniqueFd stop(::signalfd(-1, &signals, SFD_CLOEXEC)), listener(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address;
  const mode_t mask = ::umask(0177);
  const bool bound = address_of(path, address) &&
                     ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
                     ::listen(listener.get(), 64) == 0;
  ::umask(mask);
  if (!bound) return std::fprintf(stderr, "sluice_worker: %s: %s\n", path, std::strerror(errno)), 2;
  for (;;) {
    std::array<pollfd, 2> fds = {{{stop.get(), POLLIN, 0}, {listener.get(), POLLIN, 0}}};
    if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) break;
    if (fds[0].revents != 0) break;
    UniqueFd socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    ucred peer{};
    socklen_t size = sizeof peer;
    if (!socket || ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != ::geteuid()) continue;
    std::thread([session = std::make_shared<Session>(std::move(socket), context)] { session->run(); }).detach();
  }
  ::unlink(path);
  std::fflush(stderr);
  return 0;
}

}  // namespace

}  // namespace sluice::service::funnel

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s SOCKET\n", argv[0]), 2;
  return sluice::service::funnel::serve(argv[1]);
}
