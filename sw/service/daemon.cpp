// SPDX-License-Identifier: Apache-2.0
#include "sw/service/daemon.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <array>
#include <filesystem>
#include <utility>

#include "sw/core/errors.h"
#include "sw/scheduler/priority.h"

namespace sluice::service {

namespace {

/// A file in memory that nobody can resize, and nobody but who has mapped it can write.
UniqueFd sealed(UniqueFd file) {
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0)
    throw_errno("the service's shared memory", errno);
  return file;
}

}  // namespace

struct Daemon::Connection {
  UniqueFd socket, process, file;
  pid_t pid = 0;
  Page* page = nullptr;
  SessionId session{};
  bool owed = false;  ///< it missed a Changed

  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    if (page != nullptr) ::munmap(page, sizeof(Page));
  }
};

namespace {

enum class Watched : std::uint64_t { Listener, Clock, Stop, Socket, Process };
std::uint64_t tag(Watched what, SessionId session = {}) { return static_cast<std::uint64_t>(what) << 32U | session.value(); }

/// A descriptor to give up when there are no others.
UniqueFd spare() { return UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

void tell_refusal(int socket, Code code, const std::string& why) {
  const Error e = refusal(code, why);
  (void)send_packet(socket, std::as_bytes(std::span(&e, 1)));
}

constexpr std::chrono::microseconds kAnswer(300);  ///< for which the service stays awake after an order to leave

UniqueFd take_lock(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(path).parent_path();
  if (!folder.empty() && ::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) throw_errno(folder.string(), errno);
  if (!is_safe_folder(folder.string()))
    throw InputError(fmt::format("--socket {}: the folder must be this user's, and writable by nobody else", path));
  UniqueFd lock(::open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) throw_errno(path + ".lock", errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) throw_errno(path + ".lock", errno);
    throw InputError(fmt::format("--socket {}: another daemon serves it", path));
  }
  struct stat there {};
  if (::lstat(path.c_str(), &there) == 0) {
    if (!S_ISSOCK(there.st_mode)) throw InputError(fmt::format("--socket {}: there is a file that is no socket", path));
    if (::unlink(path.c_str()) != 0) throw_errno(path, errno);  // of a daemon that is dead: the lock is ours
  }
  return lock;
}

}  // namespace

Daemon::Daemon(std::string path, Service& service, IClock& clock) : path_(std::move(path)), service_(service), clock_(clock) {
  sockaddr_un address;
  if (!address_of(path_, address))
    throw InputError(fmt::format("--socket {}: must be 1..{} characters", path_, sizeof address.sun_path - 1));
  lock_ = take_lock(path_);
  spare_ = spare();
  listener_ = UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  epoll_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  if (!listener_ || !epoll_) throw_errno("the service's socket", errno);
  const mode_t mask = ::umask(0177);
  const int bound = ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::umask(mask);
  if (bound != 0 || ::listen(listener_.get(), 64) != 0) throw_errno(path_, errno);
  watch(listener_.get(), tag(Watched::Listener), EPOLLIN);
  watch(clock_.fd(), tag(Watched::Clock), EPOLLIN);
}

Daemon::~Daemon() {
  try {
    service_.shutdown(clock_.now());
    deliver();
  } catch (const std::exception&) {  // the clients see the end of the socket
  }
  ::unlink(path_.c_str());
}

void Daemon::watch(int fd, std::uint64_t what, std::uint32_t events) const {
  epoll_event event{events, {.u64 = what}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) throw_errno("the service's epoll", errno);
}

void Daemon::run(int stop) {
  watch(stop, tag(Watched::Stop), EPOLLIN);
  while (step()) {
  }
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, stop, nullptr);
}

bool Daemon::step() {
  clock_.arm(service_.next());
  std::array<epoll_event, 64> events{};
  int n = -1;
  do {
    const bool soon = an_answer_is_near();
    if (!soon) service_.tell_decisions();
    n = ::epoll_wait(epoll_.get(), events.data(), events.size(), soon ? 0 : -1);
  } while ((n < 0 && errno == EINTR) || n == 0);
  if (n < 0) throw_errno("the service's epoll", errno);
  ++wake_ups_;
  bool goes_on = true;
  for (const epoll_event& event : std::span(events).first(static_cast<std::size_t>(n))) {
    const auto what = static_cast<Watched>(event.data.u64 >> 32U);
    const SessionId session(static_cast<std::uint32_t>(event.data.u64));
    if (what == Watched::Stop) goes_on = false;
    if (what == Watched::Listener) accept_all();
    if (const auto begun = begun_.extract(session)) {
      service_.ended(begun.mapped().first, clock_.now());
      continue;
    }
    const auto found = connections_.find(session);
    if (found == connections_.end()) continue;
    if (what == Watched::Socket) receive(found->second);
    // What it sent before it died is read first: its BYE may be there.
    if (what == Watched::Process) {
      receive(found->second);
      service_.lost(session, clock_.now());
    }
  }
  service_.advance(clock_.now());
  deliver();
  if (std::exchange(orders_, service_.orders()) != service_.orders()) answer_by_ = std::chrono::steady_clock::now() + kAnswer;
  if (!goes_on || !an_answer_is_near()) service_.tell_decisions();
  return goes_on;
}

bool Daemon::an_answer_is_near() const { return service_.awaits_leaving() && std::chrono::steady_clock::now() < answer_by_; }

void Daemon::accept_all() {
  for (;;) {
    UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket && (errno == EMFILE || errno == ENFILE)) {  // else the listener stays readable, and this loop busy
      spare_ = UniqueFd();
      const UniqueFd refused(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      const bool none = !refused;
      tell_refusal(refused.get(), Code::Full, "no descriptors");
      spare_ = spare();
      if (!none) continue;
    }
    if (!socket) return;
    admit(std::move(socket));
  }
}

void Daemon::admit(UniqueFd socket) {
  const auto refuse = [&](Code code, const std::string& why) { tell_refusal(socket.get(), code, why); };
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return;
  if (!admits(peer.uid, ::geteuid()))
    return refuse(Code::NotAdmitted, fmt::format("user {}: this service is user {}'s", peer.uid, ::geteuid()));
  UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, peer.pid, 0)));
  UniqueFd file(::memfd_create("sluice_page", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!process || !file || ::ftruncate(file.get(), sizeof(Page)) != 0) return refuse(Code::Full, "no descriptors or no memory");
  void* page = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (page == MAP_FAILED) return refuse(Code::Full, "no memory");
  errno = 0;
  const int nice = ::getpriority(PRIO_PROCESS, static_cast<id_t>(peer.pid));
  const auto session =
      service_.open({peer.pid, peer.uid == 0, thread_priority(errno == 0 ? nice : 0)}, *static_cast<Page*>(page), clock_.now());
  if (!session) {
    ::munmap(page, sizeof(Page));
    return refuse(Code::Full, "too many clients");
  }
  Connection& c = connections_[*session];
  c.socket = std::move(socket);
  c.process = std::move(process);
  c.file = sealed(std::move(file));
  c.page = static_cast<Page*>(page);
  c.session = *session;
  c.pid = peer.pid;
  watch(c.socket.get(), tag(Watched::Socket, *session), EPOLLIN);
  watch(c.process.get(), tag(Watched::Process, *session), EPOLLIN);
}

void Daemon::receive(Connection& c) {
  constexpr int kAtATime = 64;  // others want to be heard, too
  for (int i = 0; i < kAtATime; ++i) {
    std::array<std::byte, kLongestMessage> room{};
    const ssize_t n = receive_packet(c.socket.get(), room, nullptr, MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN) break;
    if (n <= 0) return service_.lost(c.session, clock_.now());
    // An oversized message is refused by the length that it says.
    const auto kept = std::min(static_cast<std::size_t>(n), room.size());
    if (static_cast<std::size_t>(n) > room.size()) room[2] = room[3] = std::byte{0};
    service_.handle(c.session, std::span(room).first(kept), clock_.now());
  }
  if (!c.owed) return;
  Changed all = make<Changed>(0);
  all.stub = kAllStubs;
  c.owed = !send_packet(c.socket.get(), std::as_bytes(std::span(&all, 1)));
  if (c.owed) return;
  epoll_event event{EPOLLIN, {.u64 = tag(Watched::Socket, c.session)}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, c.socket.get(), &event);
}

void Daemon::send(Connection& c, const Outgoing& out) {
  Header header{};
  std::memcpy(&header, out.message.data(), sizeof header);
  const auto type = static_cast<Type>(header.type);
  UniqueFd text;
  if (type == Type::StatusText) {
    text = UniqueFd(::memfd_create("sluice_status", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!text || ::write(text.get(), out.text.data(), out.text.size()) != static_cast<ssize_t>(out.text.size()))
      return tell_refusal(c.socket.get(), Code::Full, "no descriptors or no memory for the status");
  }
  const int with = type == Type::Welcome ? c.file.get() : text.get();
  if (send_packet(c.socket.get(), out.message, with)) return;
  if (errno != EAGAIN) return;  // the client is gone: epoll says so, too
  if (type != Type::Changed) return service_.too_slow(c.session, clock_.now());
  if (std::exchange(c.owed, true)) return;
  epoll_event event{EPOLLIN | EPOLLOUT, {.u64 = tag(Watched::Socket, c.session)}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, c.socket.get(), &event);
}

void Daemon::deliver() {
  for (bool again = true; again;) {
    for (const Outgoing& out : service_.take_outgoing())
      if (const auto found = connections_.find(out.session); found != connections_.end()) send(found->second, out);
    const std::vector<SessionId> closed = service_.take_closed();
    for (const SessionId session : closed) {
      auto gone = connections_.extract(session);
      if (gone && service_.begun(gone.mapped().pid))
        begun_.emplace(session, std::pair(gone.mapped().pid, std::move(gone.mapped().process)));
    }
    if (!closed.empty()) service_.advance(clock_.now());  // what they held is for others
    again = !closed.empty();
  }
  if (service_.take_context_loss() && on_context_loss_) on_context_loss_();
}

std::string fetch_status(const std::string& path, bool begins) {
  const UniqueFd socket = connect_to(path);
  if (!socket)
    throw InputError(fmt::format("--socket {}: no service: start one with `sluice serve` ({})", path, std::strerror(errno)));
  Status request = make<Status>(1);
  union {
    StatusText text;
    Error error;
  } answer{};
  UniqueFd file;
  (void)send_packet(socket.get(), std::as_bytes(std::span(&request, 1)));
  Begins second = make<Begins>(2);
  if (begins) (void)send_packet(socket.get(), std::as_bytes(std::span(&second, 1)));
  constexpr int kWaits = 5000;  // ms: it may be about to start MPS anew
  pollfd ready{socket.get(), POLLIN, 0};
  if (::poll(&ready, 1, kWaits) != 1) throw SystemError(fmt::format("--socket {}: the service does not answer", path));
  const ssize_t n = receive_packet(socket.get(), std::as_writable_bytes(std::span(&answer, 1)), &file);
  if (n == sizeof(Error)) throw InputError(fmt::format("--socket {}: {}", path, std::string_view(answer.error.text)));
  if (n != sizeof(StatusText) || !file) throw SystemError(fmt::format("--socket {}: the service ended", path));
  std::string json(answer.text.length, '\0');
  if (::pread(file.get(), json.data(), json.size(), 0) != static_cast<ssize_t>(json.size())) throw_errno("the status", errno);
  return json;
}

}  // namespace sluice::service
