// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/context_state.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "sw/interpose/table.h"

namespace sluice::interpose {

namespace {

constexpr std::size_t kMost = 2048, kStaging = 16 * kMost, kAllStaging = 512 * 1024, kLaterStreams = 4;
constexpr std::chrono::milliseconds kHeldUp(25);  // a copy takes 10 us, and longer where processes take turns
constexpr std::chrono::microseconds kSpins(100);
constexpr std::size_t kWords = 512;     // that the GPU writes
constexpr std::size_t kOnTheirWay = 8;  // orders, each in a place of its own behind what write() and read() use

unsigned attribute(CUdevice_attribute which) {
  CUdevice device = 0;
  int value = 0;
  SLUICE_REAL(cuCtxGetDevice)(&device);
  SLUICE_REAL(cuDeviceGetAttribute)(&value, which, device);
  return static_cast<unsigned>(value);
}

/// Host memory that the device can use, in any context. A first cuMemHostAlloc takes the driver a millisecond, as it pins 2 MB.
std::shared_ptr<void> pinned(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  ::madvise(memory, bytes, MADV_DONTFORK);  // a child's writes would give the parent other pages than the device has
  if (SLUICE_REAL(cuMemHostRegister_v2)(memory, bytes, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP) !=
      CUDA_SUCCESS) {
    ::munmap(memory, bytes);  // there are systems that do not let memory be registered
    const unsigned flags = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP;
    if (SLUICE_REAL(cuMemHostAlloc)(&memory, bytes, flags) != CUDA_SUCCESS) return nullptr;
    return {memory, [](void*) {}};  // the context has it
  }
  return {memory, [bytes](void* m) { ::munmap(m, bytes); }};  // the driver lets it go with the context, which is about to end
}

}  // namespace

Relaxed::Relaxed() { SLUICE_REAL(cuThreadExchangeStreamCaptureMode)(&mode_); }
Relaxed::~Relaxed() { SLUICE_REAL(cuThreadExchangeStreamCaptureMode)(&mode_); }

std::optional<ContextId> current_context() {
  ContextId id = 0;
  if (SLUICE_REAL(cuCtxGetId)(nullptr, &id) != CUDA_SUCCESS) return std::nullopt;
  return id;
}

GpuNumber current_gpu() {
  static std::atomic<int> count = 0;  // not known before the driver is initialised
  CUdevice device = 0;
  if (int now = count; now == 0 && SLUICE_REAL(cuDeviceGetCount)(&now) == CUDA_SUCCESS) count = now;
  if (count > 1) SLUICE_REAL(cuCtxGetDevice)(&device);
  return device;
}

CUcontext primary_of(CUdevice device) {
  CUcontext context = nullptr;
  unsigned flags = 0;
  int active = 0;
  if (SLUICE_REAL(cuDevicePrimaryCtxGetState)(device, &flags, &active) == CUDA_SUCCESS && active != 0 &&
      SLUICE_REAL(cuDevicePrimaryCtxRetain)(&context, device) == CUDA_SUCCESS)
    SLUICE_REAL(cuDevicePrimaryCtxRelease_v2)(device);
  return context;
}

CUcontext context_of(CUstream stream) {
  CUcontext context = nullptr;
  if (stream == nullptr || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD ||
      SLUICE_REAL(cuStreamGetCtx)(stream, &context) != CUDA_SUCCESS)
    return nullptr;
  return context;
}

InContext::InContext(CUcontext context) {
  CUcontext current = nullptr;
  if (context == nullptr) return;
  SLUICE_REAL(cuCtxGetCurrent)(&current);
  pushed_ = context != current && SLUICE_REAL(cuCtxPushCurrent_v2)(context) == CUDA_SUCCESS;
}
InContext::~InContext() {
  CUcontext gone = nullptr;
  if (pushed_) SLUICE_REAL(cuCtxPopCurrent_v2)(&gone);
}

bool ContextState::is_there() const {
  ContextId now = 0;
  return SLUICE_REAL(cuCtxGetId)(context_, &now) == CUDA_SUCCESS && now == id_;
}
bool ContextState::enter() const { return is_there() && SLUICE_REAL(cuCtxSetCurrent)(context_) == CUDA_SUCCESS; }

bool ContextState::has_failed() const {
  const CUresult said = SLUICE_REAL(cuStreamQuery)(setup_);
  const bool of_a_capture = said >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && said <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  return said != CUDA_SUCCESS && said != CUDA_ERROR_NOT_READY && !of_a_capture;
}

Event ContextState::event(unsigned flags) const {
  CUevent event = nullptr;
  if (SLUICE_REAL(cuEventCreate)(&event, flags) != CUDA_SUCCESS) return nullptr;
  return {event, [lives = lives_](CUevent e) {
            if (*lives) SLUICE_REAL(cuEventDestroy_v2)(e);
          }};
}

std::size_t channels_of_process() {
  constexpr int kByDefault = 8, kMostChannels = 32;
  static const char* set = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  static const int channels = std::clamp(set == nullptr ? kByDefault : std::atoi(set), 1, kMostChannels);
  return static_cast<std::size_t>(channels);
}

DeviceShape ContextState::shape_of_current() {
  CUdevice device = 0;
  CUuuid uuid{};
  const auto ask = SLUICE_REAL(cuDeviceGetUuid_v2);  // that of the instance, where the GPU is divided
  std::array<char, 256> name{};
  SLUICE_REAL(cuCtxGetDevice)(&device);
  SLUICE_REAL(cuDeviceGetName)(name.data(), static_cast<int>(name.size()) - 1, device);
  if (ask != nullptr) ask(&uuid, device);
  return {attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
          {attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
           attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR),
           attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
           attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR)},
          std::bit_cast<std::array<std::uint8_t, 16>>(uuid),
          std::strstr(name.data(), " MIG ") != nullptr};  // "NVIDIA H200 MIG 1g.18gb"
}

std::shared_ptr<ContextState> ContextState::make() {
  const Relaxed relaxed;
  auto context_state = std::make_shared<ContextState>();
  if (SLUICE_REAL(cuCtxGetCurrent)(&context_state->context_) != CUDA_SUCCESS || context_state->context_ == nullptr ||
      SLUICE_REAL(cuCtxGetId)(context_state->context_, &context_state->id_) != CUDA_SUCCESS)
    return nullptr;
  context_state->shape_ = shape_of_current();
  if (!context_state->make_copies(context_state->copies_) ||
      SLUICE_REAL(cuStreamCreate)(&context_state->setup_, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS)
    return nullptr;
  return context_state;
}

void ContextState::make_later_streams() {
  if (looks_.stream == nullptr && !passable_.empty()) {
    looks_ = passable_.back();
    passable_.pop_back();
  }
  if (looks_.stream == nullptr && (spares_ > 0 || !make_copies(looks_))) return;  // a stream more may have to wait
  if (spares_ > 0 || !later_.empty() || later_tried_) return;
  later_tried_ = true;
  const Relaxed relaxed;
  for (std::size_t i = 0; i < kLaterStreams; ++i) {  // all at once: neighbours have channels of their own
    CUstream later = nullptr;
    if (SLUICE_REAL(cuStreamCreate)(&later, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS) return;
    later_.push_back(later);
  }
}

bool ContextState::make_copies(Copies& copies) {
  const Relaxed relaxed;
  copies.staging = pinned(kStaging + kWords * sizeof(std::uint64_t));  // one piece for both: each costs a tenth of a millisecond
  if (copies.staging != nullptr) {
    const std::scoped_lock held(free_lock_);
    add_words(copies.staging, kStaging);
  }
  return copies.staging != nullptr && SLUICE_REAL(cuStreamCreate)(&copies.stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS;
}

/// @param copy  enters the stream of copies. Where it does not come, it goes into another, with staging memory of its own: the
/// one that is held up comes when it may. It is waited for in all of them: what holds one up may wait for this copy.
bool ContextState::through_some_channel(const std::function<bool()>& copy) {
  for (;;) {
    if (!copy()) return false;
    for (const auto begin = std::chrono::steady_clock::now();;) {
      const CUresult came = SLUICE_REAL(cuStreamQuery)(copies_.stream);
      if (came != CUDA_ERROR_NOT_READY) return came == CUDA_SUCCESS;
      const auto waited = std::chrono::steady_clock::now() - begin;
      if (waited > kHeldUp) take_back();
      if (waited > kHeldUp && passable_.empty() && looks_.stream != nullptr &&
          SLUICE_REAL(cuStreamQuery)(looks_.stream) == CUDA_SUCCESS) {  // it may have the only channel that is free
        passable_.push_back(std::exchange(looks_, {}));
        looking_ = false;
      }
      if (waited > kHeldUp && !passable_.empty()) break;
      if (waited > kSpins) std::this_thread::sleep_for(kSpins / 2);
    }
    const Copies next = passable_.back();
    passable_.pop_back();
    held_up_.push_back(std::exchange(copies_, next));
    lost_orders_ = true;
  }
}

/// Streams that were held up, and are no more.
void ContextState::take_back() {
  std::erase_if(held_up_, [&](Copies& c) {
    if (SLUICE_REAL(cuStreamQuery)(c.stream) == CUDA_ERROR_NOT_READY) return false;
    c.next_order = 0;
    passable_.push_back(c);
    return lost_orders_ = true;
  });
}

bool ContextState::orders_are_lost() {
  take_back();
  return std::exchange(lost_orders_, false);
}

void ContextState::make_spares(std::mutex& lock, std::size_t count) {
  const std::size_t have = spares_.exchange(count);
  if (have >= count) return;
  std::vector<Copies> copies(count - have);
  std::vector<CUstream> later(copies.size());
  const Relaxed relaxed;
  for (Copies& c : copies)
    if (!make_copies(c)) return;
  for (CUstream& stream : later)
    if (SLUICE_REAL(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS) return;
  const std::scoped_lock held(lock);
  passable_.insert(passable_.end(), copies.begin(), copies.end());
  later_.insert(later_.end(), later.begin(), later.end());
}

bool ContextState::order(CUdeviceptr to, const void* from, std::size_t bytes) {
  if (bytes > kMost) return false;
  if (copies_.next_order == kOnTheirWay) {
    if (!through_some_channel([] { return true; })) return false;
    copies_.next_order = 0;
  }
  char* at = static_cast<char*>(copies_.staging.get()) + kStaging - kMost * ++copies_.next_order;
  std::memcpy(at, from, bytes);
  return SLUICE_REAL(cuMemcpyHtoDAsync_v2)(to, at, bytes, copies_.stream) == CUDA_SUCCESS;
}

bool ContextState::write(CUdeviceptr to, const void* from, std::size_t bytes) {
  if (bytes > kMost) return false;
  return through_some_channel([&] {
    std::memcpy(copies_.staging.get(), from, bytes);
    return SLUICE_REAL(cuMemcpyHtoDAsync_v2)(to, copies_.staging.get(), bytes, copies_.stream) == CUDA_SUCCESS;
  });
}

bool ContextState::read(void* to, CUdeviceptr from, std::size_t bytes) {
  if (bytes > kMost) return false;
  const bool came = through_some_channel(
      [&] { return SLUICE_REAL(cuMemcpyDtoHAsync_v2)(copies_.staging.get(), from, bytes, copies_.stream) == CUDA_SUCCESS; });
  if (came) std::memcpy(to, copies_.staging.get(), bytes);
  return came;
}

std::size_t ContextState::look(const std::vector<CUdeviceptr>& from, std::size_t bytes) {
  if (looking_ || looks_.stream == nullptr || from.empty()) return 0;
  bool many = from.size() * bytes > kStaging;
  if (many && many_ == nullptr) SLUICE_REAL(cuMemHostAlloc)(&many_, kAllStaging, CU_MEMHOSTALLOC_PORTABLE);
  // A look that was held up may still write there.
  many = many && many_ != nullptr && (many_in_ == nullptr || SLUICE_REAL(cuStreamQuery)(many_in_) == CUDA_SUCCESS);
  if (many) many_in_ = looks_.stream;
  seen_ = static_cast<std::byte*>(many ? many_ : looks_.staging.get());
  const std::size_t count = std::min(from.size(), (many ? kAllStaging : kStaging) / bytes);
  for (std::size_t i = 0; i < count; ++i)
    if (SLUICE_REAL(cuMemcpyDtoHAsync_v2)(seen_ + i * bytes, from[i], bytes, looks_.stream) != CUDA_SUCCESS) return 0;
  looking_since_ = std::chrono::steady_clock::now();
  looking_ = true;
  return count;
}

const std::byte* ContextState::seen() {
  if (!looking_) return nullptr;
  const CUresult came = SLUICE_REAL(cuStreamQuery)(looks_.stream);
  if (came == CUDA_ERROR_NOT_READY) {
    if (std::chrono::steady_clock::now() - looking_since_ < kHeldUp) return nullptr;
    looking_since_ = std::chrono::steady_clock::now();
    take_back();
    if (passable_.empty()) return nullptr;
    held_up_.push_back(std::exchange(looks_, passable_.back()));  // its channel may be held up: the next look has another
    passable_.pop_back();
  }
  looking_ = false;
  return came == CUDA_SUCCESS ? seen_ : nullptr;
}

bool ContextState::orders_have_come() const {
  return !lost_orders_ && SLUICE_REAL(cuStreamQuery)(copies_.stream) == CUDA_SUCCESS;
}

CUdeviceptr ContextState::zeroed(std::size_t bytes, std::size_t at, CUdeviceptr pointer) {
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

CUstream ContextState::idle_stream() {
  for (CUstream stream : later_)
    if (SLUICE_REAL(cuStreamQuery)(stream) == CUDA_SUCCESS) return stream;
  return nullptr;
}

void ContextState::add_words(const std::shared_ptr<void>& memory, std::size_t at) {
  CUdeviceptr device = 0;
  if (SLUICE_REAL(cuMemHostGetDevicePointer_v2)(&device, memory.get(), 0) != CUDA_SUCCESS) return;
  auto* const words = reinterpret_cast<volatile std::uint64_t*>(static_cast<char*>(memory.get()) + at);
  for (std::size_t i = kWords; i-- > 0;) free_.push_back({words + i, device + at + i * sizeof *words, memory});
}

Notice ContextState::told() {
  const std::scoped_lock held(free_lock_);
  if (free_.empty()) {
    const Relaxed relaxed;
    if (const std::shared_ptr<void> memory = pinned(kWords * sizeof(std::uint64_t))) add_words(memory, 0);
    if (free_.empty()) return {};
  }
  Notice told = free_.back();
  free_.pop_back();
  *told.word = 0;
  return told;
}

}  // namespace sluice::interpose
