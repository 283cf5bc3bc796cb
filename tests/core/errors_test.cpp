// SPDX-License-Identifier: Apache-2.0
#include "sw/core/errors.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <new>

namespace sluice {
namespace {

TEST(Errors, EveryClassHasItsExitCode) {
  EXPECT_EQ(exit_code(kind_of(CheckFailed(""))), 1);
  EXPECT_EQ(exit_code(kind_of(InputError(""))), 2);
  EXPECT_EQ(exit_code(kind_of(InvalidProfile(""))), 2);
  EXPECT_EQ(exit_code(kind_of(SystemError(""))), 3);
  EXPECT_EQ(exit_code(kind_of(Interrupted(""))), 130);
}

TEST(Errors, WhatIsNoneOfOursIsADefectOrTheSystems) {
  EXPECT_EQ(kind_of(std::logic_error("")), ErrorKind::Defect);
  EXPECT_EQ(exit_code(ErrorKind::Defect), 3);
  EXPECT_EQ(kind_of(std::bad_alloc()), ErrorKind::System);
  EXPECT_EQ(kind_of(std::filesystem::filesystem_error("", std::make_error_code(std::errc::no_space_on_device))),
            ErrorKind::System);
}

TEST(Errors, AWrongPathIsBadInputAndAFullDiskIsNot) {
  for (const int error : {ENOENT, ENOTDIR, EACCES, EISDIR, EROFS}) EXPECT_THROW(throw_errno("x", error), InputError) << error;
  for (const int error : {ENOSPC, EIO, EMFILE, ENOMEM, EAGAIN, EDQUOT})
    EXPECT_THROW(throw_errno("x", error), SystemError) << error;
}

}  // namespace
}  // namespace sluice
