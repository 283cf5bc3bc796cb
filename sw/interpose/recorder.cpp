// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/recorder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "sw/gpu/rewrite/instrument.h"
#include "sw/gpu/rewrite/ptx.h"
#include "sw/interpose/compile.h"
#include "sw/interpose/ptx_in_memory.h"
#include "sw/interpose/table.h"

namespace sluice::interpose {

namespace {

constexpr auto kLongest = std::chrono::seconds(30);  ///< for which a launch that logs is waited for
constexpr std::uint64_t kRowBytes = 128, kLeast = 1ULL << 24;

std::uint64_t number_in(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : std::strtoull(value, nullptr, 10);
}

/// The logging kernels of a module, by the names of those that they log.
struct AllLogging {
  std::string text;
  std::map<std::string, std::string> refused;
};
AllLogging all_logging(const std::string& ptx) {
  AllLogging out{ptx, {}};
  for (const gpu::Item& item : gpu::items_of(ptx)) {
    if (item.kind != gpu::Item::Kind::Kernel || !item.has_body()) continue;
    try {
      const gpu::Instrumented one = gpu::instrument(gpu::only_kernel(ptx, item.name), item.name);
      const gpu::Item entry = gpu::find_entry(one.ptx, one.entry);
      out.text += fmt::format("\n{}\n", std::string_view(one.ptx).substr(entry.begin, entry.end - entry.begin));
    } catch (const std::exception& e) {
      out.refused[item.name] = e.what();
    }
  }
  return out;
}

/// @return false: not within the time
bool ended(CUevent event) {
  const auto until = std::chrono::steady_clock::now() + kLongest;
  const auto query = SLUICE_REAL(cuEventQuery);
  while (query(event) == CUDA_ERROR_NOT_READY) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return true;
}

/// A pair of events around something in a stream.
class Span {
 public:
  explicit Span(CUstream stream) : stream_(stream) {
    for (CUevent* e : {&begin_, &end_}) SLUICE_REAL(cuEventCreate)(e, CU_EVENT_DEFAULT);
    SLUICE_REAL(cuEventRecord)(begin_, stream_);
  }
  ~Span() {
    for (CUevent e : {begin_, end_}) SLUICE_REAL(cuEventDestroy_v2)(e);
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  [[nodiscard]] std::optional<double> milliseconds() {
    float ms = 0;
    if (SLUICE_REAL(cuEventRecord)(end_, stream_) != CUDA_SUCCESS || !ended(end_) ||
        SLUICE_REAL(cuEventElapsedTime)(&ms, begin_, end_) != CUDA_SUCCESS)
      return std::nullopt;
    return ms;
  }

 private:
  CUstream stream_;
  CUevent begin_ = nullptr, end_ = nullptr;
};

/// Device memory for the time of a recording.
class Memory {
 public:
  explicit Memory(std::size_t bytes) {
    if (SLUICE_REAL(cuMemAlloc_v2)(&at_, bytes) != CUDA_SUCCESS) at_ = 0;
  }
  ~Memory() {
    if (at_ != 0 && !kept_) SLUICE_REAL(cuMemFree_v2)(at_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  [[nodiscard]] CUdeviceptr get() const { return at_; }
  void keep() { kept_ = true; }  ///< a kernel may still write it

 private:
  CUdeviceptr at_ = 0;
  bool kept_ = false;
};

}  // namespace

struct Recorder::Device {
  CUstream stream = nullptr;
  std::uint64_t shared_window = 0, local_window = 0;
  std::string name;
  int driver = 0;
  [[nodiscard]] bool write(CUdeviceptr to, const void* from, std::size_t bytes) const {
    return SLUICE_REAL(cuMemcpyHtoDAsync_v2)(to, from, bytes, stream) == CUDA_SUCCESS &&
           SLUICE_REAL(cuStreamSynchronize)(stream) == CUDA_SUCCESS;
  }
  [[nodiscard]] bool read(void* to, CUdeviceptr from, std::size_t bytes) const {
    return SLUICE_REAL(cuMemcpyDtoHAsync_v2)(to, from, bytes, stream) == CUDA_SUCCESS &&
           SLUICE_REAL(cuStreamSynchronize)(stream) == CUDA_SUCCESS;
  }
};

Recorder::Recorder()
    : folder_(std::getenv("SLUICE_RECORD")),
      ctas_(number_in("SLUICE_RECORD_CTAS", 64)),
      limit_(number_in("SLUICE_RECORD_LIMIT", 1ULL << 30)),
      total_(number_in("SLUICE_RECORD_TOTAL", 8ULL << 30)),
      launches_(number_in("SLUICE_RECORD_LAUNCHES", 1)) {
  std::istringstream names(std::getenv("SLUICE_RECORD_ONLY") == nullptr ? "" : std::getenv("SLUICE_RECORD_ONLY"));
  for (std::string name; std::getline(names, name);) only_.insert(name);
}

Recorder* Recorder::instance() {
  static Recorder* const one = [] {
    const char* folder = std::getenv("SLUICE_RECORD");
    return folder == nullptr || *folder == '\0' ? nullptr : new Recorder;  // never destroyed: as Program
  }();
  return one;
}

void Recorder::write_note(const std::string& line) {
  std::FILE* notes = std::fopen((folder_ / fmt::format("{}.notes", ::getpid())).c_str(), "a");
  if (notes == nullptr) return;
  std::fprintf(notes, "%s\n", line.c_str());
  std::fclose(notes);
}

void Recorder::note(const std::string& kernel, const std::string& reason, bool lost) {
  {
    const std::scoped_lock held(lock_);
    if (!noted_.emplace(std::pair(kernel, reason), true).second) return;
  }
  const nlohmann::json out = {{"name", kernel}, {"reason", reason}, {"lost", lost}};
  write_note(out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

Recorder::Image Recorder::image(const void* image) {
  Image out;
  try {
    const SomeContext context;
    const unsigned sm = device_sm();
    const std::string ptx = ptx_of(image, sm);
    out.why = "the program has no PTX of it for this GPU";
    if (ptx.empty()) return out;
    out.ptx = std::make_shared<const std::string>(gpu::normalised(ptx));
    out.why.clear();
    if (has_variables(*out.ptx)) out.in_place = all_logging(*out.ptx).text;  // a second module would have its own variables
  } catch (const std::exception& e) {
    out = {nullptr, "", e.what()};
  }
  return out;
}

void Recorder::module(void* handle, Image image) {
  const std::scoped_lock held(lock_);
  modules_[handle] = std::move(image);
  std::erase_if(kernels_, [&](const auto& k) { return k.second->module == handle; });
}

void Recorder::kernel(void* handle, void* module, const char* name, bool library) {
  const std::scoped_lock held(lock_);
  if (const auto known = kernels_.find(handle);
      known != kernels_.end() && known->second->module == module && known->second->name == name)
    return;
  auto kernel = std::make_shared<Kernel>();
  kernel->name = name;
  kernel->own = handle;
  kernel->module = module;
  kernel->library = library;
  kernel->why = "a module that was loaded in an unknown way";
  if (const auto found = modules_.find(module); found != modules_.end()) {
    kernel->ptx = found->second.ptx;
    kernel->why = found->second.why;
    kernel->in_place = !found->second.in_place.empty();
  }
  std::size_t offset = 0, bytes = 0;
  for (std::size_t i = 0; kernel->ptx != nullptr; ++i) {
    const CUresult more = library ? SLUICE_REAL(cuKernelGetParamInfo)(static_cast<CUkernel>(handle), i, &offset, &bytes)
                                  : SLUICE_REAL(cuFuncGetParamInfo)(static_cast<CUfunction>(handle), i, &offset, &bytes);
    if (more != CUDA_SUCCESS) break;
    kernel->parameters.emplace_back(offset, bytes);
  }
  kernels_[handle] = std::move(kernel);
}

void Recorder::same_kernel(void* handle, void* known) {
  const std::scoped_lock held(lock_);
  if (const auto found = kernels_.find(known); found != kernels_.end()) {
    const std::shared_ptr<Kernel> same = found->second;
    kernels_[handle] = same;
  }
}

/// In the current context; loaded the first time.
CUfunction Recorder::logging(Kernel& kernel) {
  CUcontext context = nullptr;
  SLUICE_REAL(cuCtxGetCurrent)(&context);
  if (const auto found = kernel.logging.find(context); found != kernel.logging.end()) return found->second;
  const Relaxed relaxed;
  CUfunction function = nullptr;
  if (kernel.alone.empty()) {
    kernel.alone = gpu::only_kernel(*kernel.ptx, kernel.name);
    kernel.entry = kernel.name + "__sluice_record";
  }
  if (!kernel.in_place) {
    CUmodule module = nullptr;
    const std::string text = gpu::instrument(kernel.alone, kernel.name).ptx;
    if (SLUICE_REAL(cuModuleLoadData)(&module, text.c_str()) == CUDA_SUCCESS)
      SLUICE_REAL(cuModuleGetFunction)(&function, module, kernel.entry.c_str());
  } else if (kernel.library) {
    CUkernel ours = nullptr;
    if (SLUICE_REAL(cuLibraryGetKernel)(&ours, static_cast<CUlibrary>(kernel.module), kernel.entry.c_str()) == CUDA_SUCCESS)
      SLUICE_REAL(cuKernelGetFunction)(&function, ours);
  } else {
    SLUICE_REAL(cuModuleGetFunction)(&function, static_cast<CUmodule>(kernel.module), kernel.entry.c_str());
  }
  if (function == nullptr && kernel.in_place) static_cast<void>(gpu::instrument(kernel.alone, kernel.name));  // says why
  return kernel.logging[context] = function;
}

Recorder::Device* Recorder::device(const std::string& ptx) {
  CUcontext context = nullptr;
  SLUICE_REAL(cuCtxGetCurrent)(&context);
  std::unique_ptr<Device>& known = devices_[context];
  if (known != nullptr) return known.get();
  const Relaxed relaxed;
  auto made = std::make_unique<Device>();
  CUdevice device = 0;
  std::array<char, 256> name{};
  CUmodule module = nullptr;
  CUfunction windows = nullptr;
  const Memory out(16);
  SLUICE_REAL(cuCtxGetDevice)(&device);
  SLUICE_REAL(cuDriverGetVersion)(&made->driver);
  SLUICE_REAL(cuDeviceGetName)(name.data(), static_cast<int>(name.size()) - 1, device);
  made->name = name.data();
  CUdeviceptr address = out.get();
  void* parameters[] = {&address};
  std::uint64_t found[2] = {};
  if (address == 0 || SLUICE_REAL(cuStreamCreate)(&made->stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS ||
      SLUICE_REAL(cuModuleLoadData)(&module, gpu::windows_module(ptx).c_str()) != CUDA_SUCCESS ||
      SLUICE_REAL(cuModuleGetFunction)(&windows, module, gpu::kWindowsEntry) != CUDA_SUCCESS ||
      SLUICE_REAL(cuLaunchKernel)(windows, 1, 1, 1, 1, 1, 1, 0, made->stream, parameters, nullptr) != CUDA_SUCCESS ||
      !made->read(found, address, sizeof found))
    return nullptr;
  made->shared_window = found[0];
  made->local_window = found[1];
  known = std::move(made);
  return known.get();
}

/// @return what the launch returned; nothing: it was not made, and a note says why
std::optional<CUresult> Recorder::record(Kernel& kernel, std::uint32_t number, const ProgramLaunch& launch, const As& with) {
  const std::scoped_lock one(one_);
  const auto refuse = [&](const std::string& reason) {
    note(kernel.name, reason);
    return std::nullopt;
  };
  const CUfunction function = logging(kernel);
  if (function == nullptr) return refuse("the driver does not load the kernel that logs");
  Device* const device = this->device(*kernel.ptx);
  if (device == nullptr) return refuse("the driver has no memory or stream for the recording");
  const auto attribute = [](CUfunction_attribute which, CUfunction of) {
    int value = 0;
    SLUICE_REAL(cuFuncGetAttribute)(&value, which, of);
    return static_cast<std::uint32_t>(value);
  };
  CUfunction native = launch.function;
  if (kernel.library && SLUICE_REAL(cuKernelGetFunction)(&native, static_cast<CUkernel>(kernel.own)) != CUDA_SUCCESS)
    native = launch.function;
  gpu::RawRecording out;
  gpu::RecordedLog& log = out.log;
  out.ptx = kernel.alone;
  out.symbol = kernel.name;
  out.grid = launch.facts.grid;
  out.block = launch.facts.block;
  out.registers = attribute(CU_FUNC_ATTRIBUTE_NUM_REGS, native);
  out.shared_bytes = attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, native) + launch.facts.dynamic_shared;
  out.sm = device_sm();
  out.shared_window = device->shared_window;
  out.local_window = device->local_window;
  out.gpu = device->name;
  out.driver_version = device->driver;
  out.launch = number;
  const std::uint64_t blocks = std::uint64_t{out.grid[0]} * out.grid[1] * out.grid[2];
  log.threads = out.block[0] * out.block[1] * out.block[2];
  log.ctas = static_cast<std::uint32_t>(std::min(ctas_, blocks));
  if (const std::uint32_t most = attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function); log.threads > most)
    return refuse(fmt::format("the kernel that logs can have {} threads a CTA, the launch has {}", most, log.threads));
  if (const auto allowed = attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, native); allowed > 0)
    SLUICE_REAL(cuFuncSetAttribute)(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(allowed));

  // How long a thread's log is turns out in the launch itself, which is made once: every warp gets the same room.
  const std::uint64_t warps = std::uint64_t{log.ctas} * log.warps();
  std::uint64_t bytes = std::min<std::uint64_t>(limit_, 0xffffffffULL * kRowBytes);
  std::unique_ptr<Memory> rows;
  const Relaxed relaxed;
  for (;; bytes /= 2) {
    rows = std::make_unique<Memory>(bytes);
    if (rows->get() != 0 || bytes < 2 * kLeast) break;
  }
  Memory starts((warps + 1) * 4), counts(warps * 32 * 4);
  const std::uint64_t room = bytes / kRowBytes / warps;
  if (rows->get() == 0 || starts.get() == 0 || counts.get() == 0) return refuse("the GPU has no memory for the log");
  if (room < 2) return refuse(fmt::format("--limit {}: no room for the log of {} CTAs", limit_, log.ctas));
  log.starts.resize(warps + 1);
  log.counts.assign(warps * 32, 0);
  for (std::uint64_t w = 0; w <= warps; ++w) log.starts[w] = static_cast<std::uint32_t>(w * room);
  if (!device->write(starts.get(), log.starts.data(), log.starts.size() * 4) ||
      !device->write(counts.get(), log.counts.data(), log.counts.size() * 4))
    return refuse("the driver does not copy to the log");

  char* buffer = nullptr;
  for (void** e = launch.extra; e != nullptr && *e != CU_LAUNCH_PARAM_END; e += 2)
    if (*e == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = static_cast<char*>(e[1]);
  if (!kernel.parameters.empty() && buffer == nullptr && launch.parameters == nullptr) return refuse("no arguments are given");
  std::vector<void*> parameters;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
    parameters.push_back(buffer != nullptr ? buffer + kernel.parameters[i].first : launch.parameters[i]);
  gpu::RecordJob job{rows->get(), starts.get(), counts.get(), log.ctas, log.warps()};
  parameters.push_back(&job);
  Span span(launch.stream);
  const CUresult result = with(function, parameters.data());
  if (result != CUDA_SUCCESS)
    return refuse(fmt::format("the driver does not launch the kernel that logs (error {})", static_cast<int>(result)));
  const std::optional<double> ms = span.milliseconds();
  if (!ms) {
    for (Memory* m : {rows.get(), &starts, &counts}) m->keep();
    note(kernel.name, fmt::format("launch {} did not end within {} s, or failed", number, kLongest.count()), true);
    return result;
  }
  out.recorded_ms = *ms;
  if (!device->read(log.counts.data(), counts.get(), log.counts.size() * 4)) {
    note(kernel.name, "the log cannot be read", true);
    return result;
  }
  // As much as was written, warp behind warp, with a row more: a pair of words ends there.
  std::vector<std::uint32_t> packed{0};
  std::uint64_t needed = 0;
  for (std::uint64_t w = 0; w < warps; ++w) {
    std::uint32_t most = 0;
    for (std::uint32_t* c = &log.counts[w * 32]; c != &log.counts[w * 32] + 32; ++c) {
      *c -= std::min(*c, log.starts[w]);
      most = std::max(most, *c);
    }
    needed = std::max<std::uint64_t>(needed, most);
    packed.push_back(packed.back() + most + 1);
  }
  if (needed >= room) {  // a part of a grid would be another kernel
    note(kernel.name,
         fmt::format("--limit {}: launch {}: a warp has {} bytes of log, and room for {}", limit_, number, needed * kRowBytes,
                     room * kRowBytes),
         true);
    return result;
  }
  const std::uint64_t size = std::uint64_t{packed.back()} * kRowBytes;
  if (written_ + size > total_) {
    note(kernel.name,
         fmt::format("--total {}: the logs before launch {} have {} bytes, and it has {}", total_, number, written_, size), true);
    return result;
  }
  log.words.assign(std::size_t{packed.back()} * 32, 0);
  for (std::uint64_t w = 0; w < warps; ++w)
    if (const std::uint64_t own = packed[w + 1] - packed[w] - 1; own > 0)
      if (!device->read(&log.words[std::size_t{packed[w]} * 32], rows->get() + w * room * kRowBytes, own * kRowBytes)) {
        note(kernel.name, "the log cannot be read", true);
        return result;
      }
  log.starts = std::move(packed);
  try {
    const auto now = std::chrono::system_clock::now().time_since_epoch().count();
    gpu::write_raw(folder_ / fmt::format("{:020}-{}.raw", now, ::getpid()), out);
    written_ += size;
  } catch (const std::exception& e) {
    note(kernel.name, e.what(), true);
  }
  return result;
}

/// A launch of a recorded kernel in the shape that was recorded, as it is: how long it takes.
CUresult Recorder::timed(const Kernel& kernel, const ProgramLaunch& launch, const Program::Native& as_it_is) {
  const Relaxed relaxed;
  Span span(launch.stream);
  const CUresult result = as_it_is();
  if (result == CUDA_SUCCESS)
    if (const std::optional<double> ms = span.milliseconds())
      write_note(nlohmann::json{{"name", kernel.name}, {"native_ms", *ms}}.dump(-1, ' ', false,
                                                                                nlohmann::json::error_handler_t::replace));
  return result;
}

CUresult Recorder::launch(const ProgramLaunch& launch, const Program::Native& as_it_is, const As& with) {
  if (launch.function == nullptr) return as_it_is();
  std::shared_ptr<Kernel> kernel;
  std::uint32_t number = 0;
  bool times = false, other = false;
  {
    const std::scoped_lock held(lock_);
    if (const auto found = kernels_.find(launch.function); found != kernels_.end()) kernel = found->second;
    other = !only_.empty() && (kernel == nullptr || !only_.contains(kernel->name));
    if (kernel != nullptr && kernel->why.empty()) {
      if (kernel->launches < launches_) number = kernel->launches + 1;
      times = number == 0 && !kernel->timed && kernel->facts == launch.facts;
    }
  }
  std::string why = kernel == nullptr ? "a kernel whose handle came by an unknown way" : kernel->why;
  const bool wanted = !other && (kernel == nullptr || !why.empty() || number > 0 || times);
  if (!wanted) return as_it_is();
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  if (SLUICE_REAL(cuStreamIsCapturing)(launch.stream, &capture) != CUDA_SUCCESS || capture != CU_STREAM_CAPTURE_STATUS_NONE) {
    if (why.empty()) why = "a launch that is captured into a graph is not recorded";
    times = false;
  } else if (launch.facts.cooperative && why.empty() && number > 0) {
    why = "a cooperative launch is not recorded";
  }
  if (!why.empty()) {
    note(kernel == nullptr ? "?" : kernel->name, why);
    return as_it_is();
  }
  {
    const std::scoped_lock held(lock_);
    if (times) kernel->timed = true;
    if (number > 0) {
      if (kernel->launches >= launches_) number = 0;  // another thread was first
      number = number > 0 ? ++kernel->launches : 0;
      kernel->facts = launch.facts;
    }
  }
  if (times) return timed(*kernel, launch, as_it_is);
  if (number > 0) {
    try {
      if (const std::optional<CUresult> result = record(*kernel, number, launch, with)) return *result;
    } catch (const std::exception& e) {
      note(kernel->name, e.what());
      const std::scoped_lock held(lock_);
      kernel->why = e.what();
    }
  }
  return as_it_is();
}

}  // namespace sluice::interpose
