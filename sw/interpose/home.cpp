// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/home.h"

#include <cstring>

#include "sw/interpose/table.h"

namespace sluice::interpose {

namespace {

constexpr std::size_t kMost = 8192, kStaging = 16 * kMost, kAllStaging = 64 * kMost, kLaterStreams = 4;
constexpr std::size_t kOnTheirWay = 8;  // orders, each in a place of its own behind what write() and read() use

unsigned attribute(CUdevice_attribute which) {
  CUdevice device = 0;
  int value = 0;
  SLUICE_REAL(cuCtxGetDevice)(&device);
  SLUICE_REAL(cuDeviceGetAttribute)(&value, which, device);
  return static_cast<unsigned>(value);
}

}  // namespace

Relaxed::Relaxed() { SLUICE_REAL(cuThreadExchangeStreamCaptureMode)(&mode_); }
Relaxed::~Relaxed() { SLUICE_REAL(cuThreadExchangeStreamCaptureMode)(&mode_); }

DeviceShape Home::shape_of_current() {
  return {attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
          {attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
           attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR),
           attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
           attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR)}};
}

std::unique_ptr<Home> Home::make() {
  const Relaxed relaxed;
  auto home = std::make_unique<Home>();
  if (SLUICE_REAL(cuCtxGetCurrent)(&home->context_) != CUDA_SUCCESS || home->context_ == nullptr ||
      SLUICE_REAL(cuCtxGetId)(home->context_, &home->id_) != CUDA_SUCCESS)
    return nullptr;
  home->shape_ = shape_of_current();
  if (SLUICE_REAL(cuStreamCreate)(&home->copies_, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS ||
      SLUICE_REAL(cuStreamCreate)(&home->setup_, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS ||
      SLUICE_REAL(cuMemHostAlloc)(&home->staging_, kStaging, CU_MEMHOSTALLOC_PORTABLE) != CUDA_SUCCESS)
    return nullptr;
  return home;
}

void Home::make_later_streams() {
  if (!later_.empty() || later_tried_) return;
  later_tried_ = true;
  const Relaxed relaxed;
  for (std::size_t i = 0; i < kLaterStreams; ++i) {  // all at once: neighbours have channels of their own
    CUstream later = nullptr;
    if (SLUICE_REAL(cuStreamCreate)(&later, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS) return;
    later_.push_back(later);
  }
}

bool Home::order(CUdeviceptr to, const void* from, std::size_t bytes) {
  if (bytes > kMost) return false;
  if (next_order_ == kOnTheirWay) {
    if (SLUICE_REAL(cuStreamSynchronize)(copies_) != CUDA_SUCCESS) return false;
    next_order_ = 0;
  }
  char* at = static_cast<char*>(staging_) + kStaging - kMost * ++next_order_;
  std::memcpy(at, from, bytes);
  return SLUICE_REAL(cuMemcpyHtoDAsync_v2)(to, at, bytes, copies_) == CUDA_SUCCESS;
}

bool Home::write(CUdeviceptr to, const void* from, std::size_t bytes) {
  if (bytes > kMost) return false;
  std::memcpy(staging_, from, bytes);
  return SLUICE_REAL(cuMemcpyHtoDAsync_v2)(to, staging_, bytes, copies_) == CUDA_SUCCESS &&
         SLUICE_REAL(cuStreamSynchronize)(copies_) == CUDA_SUCCESS;
}

bool Home::read(void* to, CUdeviceptr from, std::size_t bytes) {
  if (bytes > kMost || SLUICE_REAL(cuMemcpyDtoHAsync_v2)(staging_, from, bytes, copies_) != CUDA_SUCCESS ||
      SLUICE_REAL(cuStreamSynchronize)(copies_) != CUDA_SUCCESS)
    return false;
  std::memcpy(to, staging_, bytes);
  return true;
}

std::vector<std::byte> Home::read_each(const std::vector<CUdeviceptr>& from, std::size_t bytes) {
  if (from.empty() || from.size() * bytes > kAllStaging) return {};
  void*& staging = from.size() * bytes > kStaging - kOnTheirWay * kMost ? many_ : staging_;
  if (staging == nullptr && SLUICE_REAL(cuMemHostAlloc)(&staging, kAllStaging, CU_MEMHOSTALLOC_PORTABLE) != CUDA_SUCCESS)
    return {};
  auto* to = static_cast<std::byte*>(staging);
  for (std::size_t i = 0; i < from.size(); ++i)
    if (SLUICE_REAL(cuMemcpyDtoHAsync_v2)(to + i * bytes, from[i], bytes, copies_) != CUDA_SUCCESS) return {};
  if (SLUICE_REAL(cuStreamSynchronize)(copies_) != CUDA_SUCCESS) return {};
  return {to, to + from.size() * bytes};
}

CUdeviceptr Home::zeroed(std::size_t bytes, std::size_t at, CUdeviceptr pointer) {
  const Relaxed relaxed;
  CUdeviceptr memory = 0;
  if (SLUICE_REAL(cuMemAlloc_v2)(&memory, bytes) != CUDA_SUCCESS) return 0;
  const auto low = static_cast<unsigned>(pointer), high = static_cast<unsigned>(pointer >> 32);
  const auto set = SLUICE_REAL(cuMemsetD32Async);
  if (SLUICE_REAL(cuMemsetD8Async)(memory, 0, bytes, setup_) == CUDA_SUCCESS &&
      (pointer == 0 ||
       (set(memory + at, low, 1, setup_) == CUDA_SUCCESS && set(memory + at + 4, high, 1, setup_) == CUDA_SUCCESS)) &&
      SLUICE_REAL(cuStreamSynchronize)(setup_) == CUDA_SUCCESS)
    return memory;
  SLUICE_REAL(cuMemFree_v2)(memory);
  return 0;
}

CUstream Home::idle_stream() {
  for (CUstream stream : later_)
    if (SLUICE_REAL(cuStreamQuery)(stream) == CUDA_SUCCESS) return stream;
  return nullptr;
}

Told Home::told() {
  const std::scoped_lock held(free_lock_);
  if (free_.empty()) {
    constexpr std::size_t kWords = 512;
    const Relaxed relaxed;
    void* memory = nullptr;
    CUdeviceptr device = 0;
    if (SLUICE_REAL(cuMemHostAlloc)(&memory, kWords * 8, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP) != CUDA_SUCCESS ||
        SLUICE_REAL(cuMemHostGetDevicePointer_v2)(&device, memory, 0) != CUDA_SUCCESS)
      return {};
    for (std::size_t i = kWords; i-- > 0;) free_.push_back({static_cast<volatile std::uint64_t*>(memory) + i, device + 8 * i});
  }
  const Told told = free_.back();
  free_.pop_back();
  *told.word = 0;
  return told;
}

}  // namespace sluice::interpose
