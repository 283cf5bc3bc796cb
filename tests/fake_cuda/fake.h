// SPDX-License-Identifier: Apache-2.0
#pragma once
// A driver for tests: executes nothing and tells on FAKE_CUDA_BOOKS what was asked of it. Device memory is host memory. A
// transformed launch claims its tickets by the runtime's arithmetic, and the books say how many blocks did not run exactly once.
#include <cuda.h>

#include <array>
#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "sw/gpu/rewrite/instrument.h"
#include "sw/gpu/runtime/control.h"

namespace sluice::fake {

struct Function {
  std::string name;
  std::size_t parameters = 0;
  bool ours = false;                 ///< transformed
  bool logs = false;                 ///< writes FAKE_CUDA_LOG to a recording
  std::atomic<bool> loaded = false;  ///< when it is first looked at
  std::string mark;                  ///< what its text moves to a register named %mark
  CUcontext context = nullptr;       ///< of its module; a library has none
};

/// One, or two. Streams from 5000 on are of the second, the others of the first. A kernel named "traps" leaves an error behind in
/// the first, which ends all that it has and is the answer to every call until the context ends.
struct Context {
  std::atomic<unsigned long long> id = 0;
  std::atomic<CUresult> error = CUDA_SUCCESS;
};
[[nodiscard]] Context& context(CUcontext handle);
/// FAKE_CUDA_DEVICES: 2: the second context is the second's. CUDA_VISIBLE_DEVICES says which, and in which order, as digits.
[[nodiscard]] CUdevice device_of(CUcontext handle);
[[nodiscard]] CUcontext current();
[[nodiscard]] CUcontext context_of(CUstream stream);
[[nodiscard]] CUresult error_of(CUstream stream);

/// A launch, with its arguments copied: 8 bytes each, the job as it is. Behind a logging kernel's own come a gpu::RecordJob.
struct Grid {
  const Function* function = nullptr;
  std::array<unsigned, 3> grid{1, 1, 1}, block{1, 1, 1};
  unsigned shared = 0;
  std::vector<unsigned long long> arguments;
  SluiceJob job{};
  gpu::RecordJob record{};
};
[[nodiscard]] Grid grid_of(CUfunction function, std::array<unsigned, 3> grid, std::array<unsigned, 3> block, unsigned shared,
                           void** parameters);
/// Pointers to the arguments, as a program would have them. @return valid as long as `grid` and the result
[[nodiscard]] std::vector<void*> pointers(Grid& grid);

void tell(const std::string& line);
[[nodiscard]] bool has_room(const void* at, std::size_t bytes);  ///< device memory that was allocated in one piece
/// Runs in the stream's thread, behind what is there.
void enqueue(CUstream stream, std::function<void()> work);
// Of streams: none of these is for one of their threads.
void wait_for_stream(CUstream stream);
void wait_for_streams();
[[nodiscard]] std::size_t open_in(CUstream stream);  ///< things that have not ended

// What waits (waits.cpp).
[[nodiscard]] std::unique_lock<std::mutex> in_driver();  ///< copies and launches are made inside
void wait_for_all();                                     ///< inside, until nothing is on the GPU
void others_wait_for_all();                              ///< who comes into the driver later
void wait_for_room(CUstream stream);                     ///< the stream holds more than 1,000 things. @pre inside
void loads(Function& function, bool returns_at_once);    ///< the first time alone
/// Host memory that the driver allocated: copies of other memory wait for their stream.
void knows(const void* memory, std::size_t bytes);
[[nodiscard]] bool known(const void* at);

/// Every warp writes what FAKE_CUDA_LOG says: of each lane a number of words, and the words.
void write_log(const Grid& grid);
/// Executes a launch. @return when its grid has ended
void execute(const Grid& grid);
/// Appends the launch to the graph that the stream captures into. @return false: it captures none
[[nodiscard]] bool captured(CUstream stream, const Grid& grid);

}  // namespace sluice::fake
