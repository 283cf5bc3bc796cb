#pragma once
#include <stdexcept>
#include <string>

namespace sluice {

/// Bad input: one line that names the file, the field and the allowed values. The command line turns it into exit code 2.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A performance curve that is empty, negative or not finite.
class InvalidProfile : public InputError {
 public:
  using InputError::InputError;
};

}  // namespace sluice
