// SPDX-License-Identifier: Apache-2.0
#include "study/waveform_file.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <set>

#include "sw/core/errors.h"
#include "sw/io/atomic_file.h"

namespace sluice {

namespace fs = std::filesystem;

namespace {

/// Blocks follow each other to the end of the file: a byte of type, and eight of length, highest first, which count themselves. A
/// waveform that was closed has the header, the geometry and the hierarchy.
bool is_whole(const fs::path& file) {
  constexpr int kHeader = 0, kGeometry = 3, kHierarchies[] = {4, 6, 7};
  std::ifstream in(file, std::ios::binary);
  std::error_code error;
  const std::uint64_t size = fs::file_size(file, error);
  std::set<int> types;
  std::uint64_t at = 0;
  while (in && !error && at < size) {
    in.seekg(static_cast<std::streamoff>(at));
    types.insert(in.get());
    std::uint64_t length = 0;
    for (int i = 0; i < 8; ++i) length = length << 8 | static_cast<unsigned char>(in.get());
    if (length < 8 || length >= size - at) return false;
    at += 1 + length;
  }
  bool hierarchy = false;
  for (const int type : kHierarchies) hierarchy = hierarchy || types.contains(type);
  return in && at == size && types.contains(kHeader) && types.contains(kGeometry) && hierarchy;
}

/// Why a file in this folder could not grow; 0: nothing is known.
int reason(const fs::path& folder) {
  constexpr std::uint64_t kRoom = 1UL << 20;  // more than the file of the hierarchy, which is gone again, took
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) == 0 && disk.f_bavail * disk.f_frsize < kRoom) return ENOSPC;
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? EFBIG : 0;
}

}  // namespace

WaveformFile::WaveformFile(fs::path target) : target_(std::move(target)) {
  std::error_code ignored;
  const bool device = fs::exists(target_, ignored) && !fs::is_regular_file(target_, ignored);  // it is written, not replaced
  if (fs::is_directory(target_, ignored)) throw_errno(fmt::format("{}: can't write the waveform", target_.string()), EISDIR);
  const fs::path folder = device ? fs::temp_directory_path() : fs::absolute(target_).parent_path();
  scratch_ = folder / fmt::format(".{}.{}.tmp", target_.filename().string(), ::getpid());
  if (!std::ofstream(scratch_)) throw_errno(fmt::format("{}: can't write the waveform", target_.string()), errno);
}

WaveformFile::~WaveformFile() {
  std::error_code ignored;
  fs::remove(scratch_, ignored);
  fs::remove(scratch_.string() + ".hier", ignored);  // of a process that ended early
}

void WaveformFile::explain() const {
  if (is_whole(scratch_)) return;
  if (const int error = reason(scratch_.parent_path()); error != 0)
    throw_errno(fmt::format("{}: can't write the waveform", target_.string()), error);
}

void WaveformFile::keep() {
  explain();
  if (!is_whole(scratch_))
    throw SystemError(fmt::format("{}: can't write the waveform: it is cut off: was the disk, or that of {}, full?",
                                  target_.string(), fs::temp_directory_path().string()));
  if (scratch_.parent_path() == fs::absolute(target_).parent_path()) {
    if (::rename(scratch_.c_str(), target_.c_str()) != 0)
      throw_errno(fmt::format("{}: can't write the waveform", target_.string()), errno);
  } else {
    write_file_atomically(target_, read_file(scratch_));
  }
}

}  // namespace sluice
