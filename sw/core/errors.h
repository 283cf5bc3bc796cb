// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdexcept>
#include <string>

namespace sluice {

/// Bad input: one line that names the file, the field and the allowed values.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A performance curve that is empty, negative or not finite.
class InvalidProfile : public InputError {
 public:
  using InputError::InputError;
};

/// Two things that must agree do not: RTL and twin, a protocol and its rules, a result and its bound.
class CheckFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The machine refuses: disk, memory, processes, a device or its driver. The same input may pass elsewhere.
class SystemError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Ctrl-C: the message says how to go on.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Whose fault an exception is. Defect: of this program.
enum class ErrorKind { CheckFailed, BadInput, System, Interrupted, Defect };

/// Of any exception. std::bad_alloc is the system's, std::system_error goes by its errno, what is none of ours is a defect.
[[nodiscard]] ErrorKind kind_of(const std::exception& error) noexcept;
/// A path that is not there, is of another type or not permitted is bad input; a full disk or table, a broken device is not.
[[nodiscard]] ErrorKind kind_of_errno(int error) noexcept;
/// Of the command: 1 a check fails, 2 bad input, 3 the system refuses or a defect, 130 interrupted.
[[nodiscard]] int exit_code(ErrorKind kind) noexcept;

/// Throws the class of that kind; std::logic_error for a defect.
[[noreturn]] void throw_error(ErrorKind kind, const std::string& what);
/// Throws InputError or SystemError `what: the system's reason`.
[[noreturn]] void throw_errno(const std::string& what, int error);

}  // namespace sluice
