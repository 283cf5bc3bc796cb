// SPDX-License-Identifier: Apache-2.0
#pragma once
// What can be read from machine code of compute capability 9.0 without a disassembler: functions, loops, and what they ask of
// pipelines.
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::gpu {

/// Machine code of a cubin's functions, by name; views into `cubin`. Empty for what is no cubin, was cut, or is for another GPU.
[[nodiscard]] std::map<std::string, std::string_view> functions_of(std::string_view cubin);
/// Registers of a thread of a function; 0: it is not there, or this is no cubin.
[[nodiscard]] unsigned registers_of(std::string_view cubin, const std::string& function);

/// First and last instruction of what a branch backwards repeats.
struct Loop {
  std::size_t begin = 0, end = 0;
  [[nodiscard]] std::size_t instructions() const { return end - begin + 1; }
};
[[nodiscard]] std::vector<Loop> loops_of(std::string_view code);

/// What a transformed kernel asks of a sub-core, by the bounds of its pipelines: an instruction a cycle; two cycles for each of
/// the integer pipe and of the heavy half of the multiply-add pipes, four for a wide multiplication, one for a floating-point one
/// on either half (results/h200/hopper/README.md). The sum over the loops within the loop around the kernel, each by itself; a
/// loop that lies in another counts ten times as much. The runtime's own loops, which have atomic accesses, are left out.
struct PipeLoad {
  double cycles = 0;    ///< of a warp
  double integer = 0;   ///< of them: beyond what all else would take
  double multiply = 0;  ///< the same of the multiply-add pipes
};
[[nodiscard]] PipeLoad pipe_load(std::string_view code);

/// Lets the code read SR_VIRTID in place of `%smid`, which under MPS is another number of the same SM for each process; this_sm()
/// in quota_access.cuh takes either (docs/reference/how_sharing_works.md, "A range of SMs").
/// @return instructions that read it now; 0, and nothing is changed, where one reads `%smid` in a form that is not known
std::size_t number_sms_of_gpu(std::vector<char>& cubin);

}  // namespace sluice::gpu
