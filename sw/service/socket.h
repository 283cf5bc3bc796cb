// SPDX-License-Identifier: Apache-2.0
#pragma once
// File descriptors and packets of a Unix socket, for the daemon and for clients. No exceptions but where it says so, and no other
// header of the project.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <utility>

namespace sluice::service {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// @return false when the path does not fit
inline bool address_of(const std::string& path, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return true;
}

/// Nobody but this user, or root, can put something there: its own folder, or one of root's where names belong to their makers.
inline bool is_safe_folder(const std::string& folder) {
  struct stat is {};
  if (::stat(folder.empty() ? "." : folder.c_str(), &is) != 0 || !S_ISDIR(is.st_mode)) return false;
  const bool others_write = (is.st_mode & S_IWOTH) != 0 || ((is.st_mode & S_IWGRP) != 0 && is.st_gid != ::getegid());
  return is.st_uid == ::geteuid() ? !others_write : is.st_uid == 0 && (!others_write || (is.st_mode & S_ISVTX) != 0);
}

/// @return none, with errno, when nobody listens there; EACCES: who listens is another user
inline UniqueFd connect_to(const std::string& path) {
  sockaddr_un address;
  if (!address_of(path, address)) {
    errno = ENAMETOOLONG;
    return {};
  }
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!fd || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
  ucred server{};
  socklen_t size = sizeof server;
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &server, &size) != 0) return {};
  if (server.uid == ::geteuid()) return fd;
  errno = EACCES;
  return {};
}

/// One packet, with a descriptor if `with` is one. @return false with errno
inline bool send_packet(int to, std::span<const std::byte> bytes, int with = -1) {
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (with >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof with);
    std::memcpy(CMSG_DATA(head), &with, sizeof with);
  }
  ssize_t n = -1;
  do n = ::sendmsg(to, &message, MSG_NOSIGNAL);
  while (n < 0 && errno == EINTR);
  return n >= 0;
}

/// One packet. Descriptors that come with it: the first goes to `with`, or all are closed.
/// @return its length, which may be more than the room for it; 0 at the end; -1 with errno
inline ssize_t receive_packet(int from, std::span<std::byte> room, UniqueFd* with = nullptr, int flags = 0) {
  iovec part{room.data(), room.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t n = -1;
  // A peer that closed before it had read all gives ECONNRESET once; what it had said is still there.
  int resets = 0;
  do n = ::recvmsg(from, &message, MSG_CMSG_CLOEXEC | MSG_TRUNC | flags);
  while (n < 0 && (errno == EINTR || (errno == ECONNRESET && resets++ == 0)));
  if (n < 0) return n;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(head), sizeof fd);  // there is room for one: the kernel drops the others
    UniqueFd got(fd);
    if (with != nullptr) *with = std::move(got);
  }
  return n;
}

/// Where the service listens if nobody says otherwise.
inline std::string default_socket() {
  const char* runtime = ::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/') return std::string(runtime) + "/sluice.sock";
  return "/tmp/sluice-" + std::to_string(::getuid()) + "/sluice.sock";
}

}  // namespace sluice::service
