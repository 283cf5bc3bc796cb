// SPDX-License-Identifier: Apache-2.0
#include "sw/core/errors.h"

#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>

namespace sluice {

ErrorKind kind_of(const std::exception& error) noexcept {
  if (dynamic_cast<const InputError*>(&error) != nullptr) return ErrorKind::BadInput;
  if (dynamic_cast<const CheckFailed*>(&error) != nullptr) return ErrorKind::CheckFailed;
  if (dynamic_cast<const SystemError*>(&error) != nullptr) return ErrorKind::System;
  if (dynamic_cast<const Interrupted*>(&error) != nullptr) return ErrorKind::Interrupted;
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return ErrorKind::System;
  if (const auto* refused = dynamic_cast<const std::system_error*>(&error)) return kind_of_errno(refused->code().value());
  return ErrorKind::Defect;
}

ErrorKind kind_of_errno(int error) noexcept {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EACCES:
    case EPERM:
    case EROFS:
    case EEXIST:
    case ELOOP:
    case ENAMETOOLONG:
    case ENXIO:
    case EINVAL: return ErrorKind::BadInput;
    default: return ErrorKind::System;
  }
}

int exit_code(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::CheckFailed: return 1;
    case ErrorKind::BadInput: return 2;
    case ErrorKind::Interrupted: return 130;
    case ErrorKind::System:
    case ErrorKind::Defect: break;
  }
  return 3;
}

void throw_error(ErrorKind kind, const std::string& what) {
  switch (kind) {
    case ErrorKind::CheckFailed: throw CheckFailed(what);
    case ErrorKind::BadInput: throw InputError(what);
    case ErrorKind::System: throw SystemError(what);
    case ErrorKind::Interrupted: throw Interrupted(what);
    case ErrorKind::Defect: break;
  }
  throw std::logic_error(what);
}

void throw_errno(const std::string& what, int error) { throw_error(kind_of_errno(error), what + ": " + std::strerror(error)); }

}  // namespace sluice
