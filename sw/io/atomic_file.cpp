// SPDX-License-Identifier: Apache-2.0
#include "sw/io/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <random>
#include <system_error>

#include "sw/core/errors.h"

namespace sluice {

namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* what, int error) {
  throw_errno(fmt::format("{}: {}", path.string(), what), error);
}

/// 0, or the errno of what went wrong.
int write_all(int fd, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t n = ::write(fd, contents.data(), contents.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    contents.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

/// A device (/dev/stdout, /dev/full) can't be replaced; it can be written.
void write_device(const std::filesystem::path& path, std::string_view contents) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) fail(path, "cannot write", errno);
  const int error = write_all(fd, contents);
  ::close(fd);
  if (error != 0) fail(path, "cannot write", error);
}

/// So that the rename itself survives a power failure. Some file systems refuse to sync a folder: nothing is lost then.
void sync_folder(const std::filesystem::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

void write_file_atomically(const std::filesystem::path& path, std::string_view contents) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail(path, "cannot write", EISDIR);
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
    return write_device(path, contents);

  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  // Hosts and containers that share the folder may share process numbers.
  const std::filesystem::path temporary =
      folder / fmt::format(".{}.{}.{:08x}.tmp", path.filename().string(), ::getpid(), std::random_device{}());
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) fail(path, "cannot write", errno);
  int error = write_all(fd, contents);
  if (error == 0 && ::fsync(fd) != 0) error = errno;
  if (::close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    fail(path, "cannot write", error);
  }
  sync_folder(folder);
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error && !std::filesystem::is_directory(folder)) error = std::make_error_code(std::errc::not_a_directory);
  if (error) fail(folder, "cannot create the folder", error.value());
}

std::string read_file(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail(path, "can't be read", errno);
  std::string contents;
  char buffer[65536];
  ssize_t n = 0;
  while ((n = ::read(fd, buffer, sizeof buffer)) != 0) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int error = errno;
      ::close(fd);
      fail(path, "can't be read", error);
    }
    contents.append(buffer, static_cast<std::size_t>(n));
  }
  ::close(fd);
  return contents;
}

}  // namespace sluice
