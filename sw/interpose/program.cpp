// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/program.h"

#include <pthread.h>

#include <algorithm>

#include <cstdlib>
#include <string_view>

#include "sw/gpu/rewrite/transform.h"
#include "sw/gpu/runtime/control.h"
#include "sw/interpose/table.h"

namespace sluice::interpose {

namespace {

/// For which a launch waits for its kernel's code, before it runs natively: SLUICE_COMPILE_WAIT_MS.
std::chrono::milliseconds compile_wait() {
  static const std::chrono::milliseconds wait = [] {
    const char* set = std::getenv("SLUICE_COMPILE_WAIT_MS");
    return std::chrono::milliseconds(set == nullptr ? 40 : std::atoi(set));
  }();
  return wait;
}

/// The driver then loads a module's kernels with it.
bool loads_eagerly() {
  static const bool eager = [] {
    const char* set = std::getenv("CUDA_MODULE_LOADING");
    return set != nullptr && std::string_view(set) == "EAGER";
  }();
  return eager;
}

}  // namespace

Program::Program() {
  std::atexit([] { instance().tell_at_exit(); });
  pthread_atfork([] { instance().lock_.lock(); }, [] { instance().lock_.unlock(); },
                 [] {
                   for (auto& [handle, kernel] : instance().kernels_) kernel.known_row = nullptr;
                   instance().coverage_.forget();
                   instance().lanes_.forget();
                   instance().drains_ = 0;
                   instance().graphs_.forget();
                   instance().lock_.unlock();
                 });
}

Program& Program::instance() {
  static auto* program = new Program;  // never destroyed: threads may launch while the process ends
  return *program;
}

void Program::module(void* handle, Prepared prepared) {
  const std::scoped_lock held(lock_);
  modules_[handle] = std::move(prepared);
  ahead_.erase(handle);
  std::erase_if(looked_at_, [&](const auto& l) {
    const auto kernel = kernels_.find(std::get<1>(l));
    return std::get<1>(l) == handle || (kernel != kernels_.end() && kernel->second.module == handle);
  });
  std::erase_if(kernels_, [&](const auto& k) { return k.second.module == handle; });
}

CUfunction Program::in_context(const Kernel& kernel, CUfunction handle) {
  CUfunction function = nullptr;
  if (!kernel.library || SLUICE_REAL(cuKernelGetFunction)(&function, reinterpret_cast<CUkernel>(handle)) != CUDA_SUCCESS)
    return handle;
  return function;
}

CUfunction Program::ours(const Kernel& kernel) const {
  if (!kernel.beside) return in_context(kernel, kernel.function);
  CUcontext context = nullptr;
  SLUICE_REAL(cuCtxGetCurrent)(&context);
  const auto loaded = beside_.find({kernel.code.get(), context});
  return loaded == beside_.end() ? nullptr : loaded->second;
}

/// A module may be loaded when its kernels are first looked at, and loading may wait for all that runs. Kernels whose handles the
/// program has are loaded with the first that is launched, so that none has to wait for one that runs.
/// @return false: it has to wait for a launch that stands still. The program's own kernel is there
bool Program::load(std::unique_lock<std::mutex>& held, CUfunction handle) {
  CUcontext context = nullptr;
  SLUICE_REAL(cuCtxGetCurrent)(&context);
  auto found = kernels_.find(handle);
  for (; found != kernels_.end() && found->second.loading; found = kernels_.find(handle))  // another thread is about it
    lanes_.wait_for_change(held);
  if (found == kernels_.end()) {
    if (!strangers_.emplace(handle, context).second) return true;
    const Drain drain(*this, held, true);
    held.unlock();
    int registers = 0;
    SLUICE_REAL(cuFuncGetAttribute)(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, handle);
    held.lock();
    return true;
  }
  if (!found->second.seen.insert(context).second) {
    if (behind_ && lanes_.outstanding() == 0) {
      const Drain drain(*this, held, true);
      load_others(held, context);
    }
    return true;
  }
  found->second.loading = true;
  const Drain drain(*this, held, !found->second.own_loaded.contains(context));
  if (!drain.reached()) {
    behind_ = true;
    if (found = kernels_.find(handle); found != kernels_.end()) {
      found->second.loading = false;
      found->second.seen.erase(context);
    }
    return false;
  }
  load_one(held, handle, context);
  load_others(held, context);
  return true;
}

/// The program's own code says how many registers ours may have, which is to be compiled.
void Program::load_own(std::unique_lock<std::mutex>& held, CUfunction handle) {
  const auto found = kernels_.find(handle);
  if (found == kernels_.end() || found->second.lazy == nullptr || found->second.registers != 0 || found->second.loading) return;
  CUcontext context = nullptr;
  SLUICE_REAL(cuCtxGetCurrent)(&context);
  found->second.loading = true;
  const Drain drain(*this, held, !found->second.own_loaded.contains(context));
  if (drain.reached())
    load_one(held, handle, context);
  else if (const auto still = kernels_.find(handle); still != kernels_.end())
    still->second.loading = false;
}

/// @pre it is marked as being loaded; nothing sleeps
void Program::load_one(std::unique_lock<std::mutex>& held, void* handle, CUcontext context) {
  const auto found = kernels_.find(handle);
  if (found == kernels_.end()) return;
  Kernel kernel = found->second;
  const CUfunction beside = kernel.beside ? ours(kernel) : nullptr;
  held.unlock();
  const CUfunction function = look_up(kernel, static_cast<CUfunction>(kernel.own), beside);
  held.lock();
  const auto still = kernels_.find(handle);
  if (still == kernels_.end()) return;
  still->second.loading = false;
  still->second.own_loaded.insert(context);
  still->second.parameters = std::move(kernel.parameters);
  still->second.registers = kernel.registers;
  if (kernel.beside && function != nullptr) beside_[{kernel.code.get(), context}] = function;
  if (!kernel.beside) still->second.function = function;
}

/// Also begins to compile them. @pre nothing sleeps
void Program::load_others(std::unique_lock<std::mutex>& held, CUcontext context) {
  constexpr std::size_t kMost = 16;  // of a module: each costs a millisecond or two, and may never be launched
  std::vector<void*> others;
  behind_ = false;
  for (const auto& [handle, k] : kernels_) {
    const bool here = k.library || k.own_loaded.contains(context);
    if (!here || k.loading || k.seen.contains(context)) continue;
    if (k.later != nullptr || ahead_[k.module]++ < kMost) others.push_back(handle);
  }
  for (void* handle : others) {
    auto found = kernels_.find(handle);
    if (found == kernels_.end() || found->second.loading) continue;
    const bool wanted = lanes_.shares().native().empty() && lanes_.gone().empty();
    if (wanted && found->second.lazy != nullptr && found->second.registers == 0) {
      found->second.loading = true;
      load_one(held, handle, context);
      if (found = kernels_.find(handle); found == kernels_.end()) continue;
    }
    if (const auto lazy = wanted ? std::exchange(found->second.lazy, nullptr) : nullptr) {
      const std::string name = found->second.name;
      const unsigned registers = found->second.registers;
      held.unlock();
      const std::shared_ptr<Later> later = lazy->kernel(name, registers, 0);
      held.lock();
      if (found = kernels_.find(handle); found == kernels_.end()) continue;
      found->second.later = later;
    }
    Kernel& kernel = found->second;
    if (kernel.later != nullptr && kernel.later->done()) adopt(kernel);
    if (kernel.later == nullptr)
      kernel.seen.insert(context);
    else
      behind_ = true;  // it is loaded when there is code
    if (kernel.later != nullptr && kernel.own_loaded.contains(context)) continue;
    kernel.loading = true;
    load_one(held, handle, context);
  }
}

/// Ours, and what the program's takes. @param own  the handle that its module gave
CUfunction Program::look_up(Kernel& kernel, CUfunction own, CUfunction function) {
  std::size_t offset = 0, bytes = 0;
  kernel.parameters.clear();
  for (std::size_t i = 0;; ++i) {
    const CUresult more = kernel.library
                              ? SLUICE_REAL(cuKernelGetParamInfo)(static_cast<CUkernel>(kernel.own), i, &offset, &bytes)
                              : SLUICE_REAL(cuFuncGetParamInfo)(own, i, &offset, &bytes);
    if (more != CUDA_SUCCESS) break;
    kernel.parameters.emplace_back(offset, bytes);
  }
  int registers = 0;
  if (SLUICE_REAL(cuFuncGetAttribute)(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, in_context(kernel, own)) == CUDA_SUCCESS)
    kernel.registers = static_cast<unsigned>(registers);
  if (kernel.form == nullptr || kernel.form->refusal) return nullptr;
  const char* entry = kernel.form->entry.c_str();
  if (kernel.beside && function == nullptr) {
    const Relaxed relaxed;
    CUmodule module = nullptr;
    if (SLUICE_REAL(cuModuleLoadData)(&module, kernel.code->cubin.data()) == CUDA_SUCCESS)
      SLUICE_REAL(cuModuleGetFunction)(&function, module, entry);
  }
  if (!kernel.beside)
    static_cast<void>(kernel.library ? SLUICE_REAL(cuLibraryGetKernel)(reinterpret_cast<CUkernel*>(&function),
                                                                       static_cast<CUlibrary>(kernel.module), entry)
                                     : SLUICE_REAL(cuModuleGetFunction)(&function, static_cast<CUmodule>(kernel.module), entry));
  if (function != nullptr) SLUICE_REAL(cuFuncGetAttribute)(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function);
  return function;
}

void Program::kernel(void* handle, void* module, const char* name, bool library) {
  const std::scoped_lock held(lock_);
  if (const auto known = kernels_.find(handle);
      known != kernels_.end() && known->second.module == module && known->second.name == name)
    return;
  Kernel kernel;
  kernel.name = name;
  kernel.why = gpu::gate_row(gpu::GateRule::NoPtx).native;
  kernel.module = module;
  kernel.own = handle;
  kernel.library = library;
  CUcontext context = nullptr;
  if ((!library || loads_eagerly()) && SLUICE_REAL(cuCtxGetCurrent)(&context) == CUDA_SUCCESS) kernel.own_loaded.insert(context);
  if (const auto found = modules_.find(module); found != modules_.end()) {
    if (!found->second.why.empty()) kernel.why = found->second.why;
    kernel.code = found->second.code;
    kernel.later = found->second.later;
    kernel.lazy = found->second.lazy;
    if (kernel.code != nullptr)
      if (const auto form = kernel.code->kernels.find(name); form != kernel.code->kernels.end()) kernel.form = &form->second;
  }
  kernels_[handle] = std::move(kernel);
}

unsigned Program::most_registers(const Kernel& kernel, const ProgramLaunch& launch) {
  int ctas = 0;
  const unsigned threads = launch.facts.block[0] * launch.facts.block[1] * launch.facts.block[2];
  const CUfunction own = in_context(kernel, static_cast<CUfunction>(kernel.own));
  if (kernel.registers == 0 || SLUICE_REAL(cuOccupancyMaxActiveBlocksPerMultiprocessor)(
                                   &ctas, own, static_cast<int>(threads), launch.facts.dynamic_shared) != CUDA_SUCCESS)
    return 0;
  return gpu::registers_for(lanes_.device().sm.registers, static_cast<unsigned>(ctas), threads, kernel.registers);
}

void Program::compile(std::unique_lock<std::mutex>& held, const ProgramLaunch& launch, bool patient) {
  const CUfunction function = launch.function;
  const auto found = kernels_.find(function);
  if (found == kernels_.end() || (found->second.lazy == nullptr && (found->second.later == nullptr || !patient))) return;
  const Clock::time_point begin = Clock::now();
  const std::shared_ptr<Lazy> lazy = std::move(found->second.lazy);
  std::shared_ptr<Later> later = found->second.later;
  found->second.lazy = nullptr;  // who launches it meanwhile does not wait
  const std::string name = found->second.name;
  const unsigned registers = found->second.registers, most = lazy == nullptr ? 0 : most_registers(found->second, launch);
  held.unlock();
  if (lazy != nullptr) later = lazy->kernel(name, registers, most);
  later->wait_until(begin + (patient ? std::chrono::hours(1) : compile_wait()));
  held.lock();
  if (const auto still = kernels_.find(function); still != kernels_.end()) still->second.later = later;
}

void Program::adopt(Kernel& kernel) {
  const std::shared_ptr<const Code> code = kernel.later->code();
  kernel.why = kernel.later->why();
  kernel.later = nullptr;
  kernel.known_row = nullptr;
  if (code == nullptr) return;
  const auto form = code->kernels.find(kernel.name);
  kernel.why = gpu::gate_row(gpu::GateRule::Unreadable).native;
  if (form == code->kernels.end()) return;
  if (form->second.refusal) {
    kernel.why = form->second.refusal->reason;
    return;
  }
  kernel.why = "compiled in the background for the next process: this one has its own copy of the module's variables";
  if (code->variables) return;
  kernel.code = code;
  kernel.form = &form->second;
  kernel.beside = true;
  kernel.seen.clear();  // what was loaded is not this
}

void Program::same_kernel(void* handle, void* known) {
  const std::scoped_lock held(lock_);
  if (const auto found = kernels_.find(known); found != kernels_.end()) {
    CUcontext context = nullptr;
    if (SLUICE_REAL(cuCtxGetCurrent)(&context) == CUDA_SUCCESS) found->second.own_loaded.insert(context);
    Kernel copy = found->second;
    kernels_[handle] = std::move(copy);
  }
}

void Program::attribute(void* handle, CUfunction_attribute which, int value) {
  const std::scoped_lock held(lock_);
  const auto found = kernels_.find(handle);
  if (found == kernels_.end()) return;
  found->second.shapes.clear();
  found->second.known_row = nullptr;
  if (which != CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) return;
  found->second.carveout = value;
  if (found->second.function != nullptr) SLUICE_REAL(cuFuncSetAttribute)(ours(found->second), which, value);
}

const Program::Shape& Program::shape(Kernel& kernel, CUfunction native, const gpu::LaunchFacts& facts) {
  const unsigned threads = facts.block[0] * facts.block[1] * facts.block[2];
  CUdevice device = 0;
  SLUICE_REAL(cuCtxGetDevice)(&device);
  const auto [at, fresh] = kernel.shapes.try_emplace({static_cast<unsigned>(device), threads, facts.dynamic_shared});
  Shape& shape = at->second;
  if (!fresh) return shape;
  native = in_context(kernel, native);
  const CUfunction transformed = ours(kernel);
  if (kernel.carveout)
    SLUICE_REAL(cuFuncSetAttribute)(transformed, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, *kernel.carveout);
  int ctas = 0, optin = 0, own = 0, allowed = 0, sms = 0, registers = 0;
  const auto device_attribute = SLUICE_REAL(cuDeviceGetAttribute);
  const auto attribute_of = SLUICE_REAL(cuFuncGetAttribute);
  device_attribute(&optin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device);
  device_attribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
  shape.sms = static_cast<std::uint32_t>(sms);
  attribute_of(&own, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, native);
  attribute_of(&allowed, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, native);
  if (facts.dynamic_shared > static_cast<unsigned>(allowed)) return shape;  // the driver refuses it
  const int taken = own + static_cast<int>(facts.dynamic_shared);
  shape.shared_left = optin > taken ? static_cast<unsigned>(optin - taken) : 0;
  const auto occupancy = SLUICE_REAL(cuOccupancyMaxActiveBlocksPerMultiprocessor);
  if (occupancy(&ctas, native, static_cast<int>(threads), facts.dynamic_shared) == CUDA_SUCCESS)
    shape.native = static_cast<unsigned>(ctas);
  const unsigned shared = facts.dynamic_shared + kernel.form->shared_behind;
  if (shared > 0) SLUICE_REAL(cuFuncSetAttribute)
  (transformed, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
   static_cast<int>(std::max(shared, static_cast<unsigned>(allowed))));
  ctas = 0;
  if (occupancy(&ctas, transformed, static_cast<int>(threads), shared) == CUDA_SUCCESS)
    shape.transformed = std::min(static_cast<unsigned>(ctas), unsigned{SLUICE_MAX_SLOTS});
  attribute_of(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, transformed);
  const unsigned of_thread = (static_cast<unsigned>(registers) + 7) / 8 * 8,
                 whole = (threads + 31) / 32 * 32;  // as the device allots
  shape.demand = {kernel.name, threads, of_thread * whole, static_cast<unsigned>(taken) + kernel.form->shared_behind,
                  shape.transformed};
  return shape;
}

std::optional<Transformed> Program::transformed(std::unique_lock<std::mutex>& held, const ProgramLaunch& launch, bool patient,
                                                std::string& name, std::string& reason) {
  if (lanes_.shares().native().empty()) {
    load_own(held, launch.function);
    compile(held, launch, patient);
  }
  if (const auto fresh = kernels_.find(launch.function);
      fresh != kernels_.end() && fresh->second.later != nullptr && fresh->second.later->done())
    adopt(fresh->second);
  const bool loaded = load(held, launch.function);
  const auto found = kernels_.find(launch.function);
  if (found == kernels_.end()) {
    name = "?";
    reason = "a kernel whose handle came by an unknown way";
    return std::nullopt;
  }
  Kernel& kernel = found->second;
  name = kernel.name;
  if (!loaded) {
    reason = kNotLoaded;
    return std::nullopt;
  }
  Transformed out;
  if (const std::optional<std::string> native = prepare(kernel, launch, out)) {
    reason = *native;
    return std::nullopt;
  }
  if (const auto [at, fresh] = originals_.try_emplace(out.function); fresh)
    at->second = {in_context(kernel, static_cast<CUfunction>(kernel.own)),
                  kernel.library ? static_cast<CUkernel>(kernel.own) : nullptr,
                  name,
                  kernel.form->shared_behind,
                  out.bytes,
                  out.waits};
  return out;
}

std::optional<Program::Original> Program::original(CUfunction ours) const {
  const auto found = originals_.find(ours);
  return found == originals_.end() ? std::nullopt : std::optional(found->second);
}

std::pair<std::string, std::string> Program::name_and_reason(CUfunction function) const {
  const auto found = kernels_.find(function);
  if (found == kernels_.end()) return {"?", "a kernel whose handle came by an unknown way"};
  return {found->second.name, found->second.why};
}

KernelDemand Program::demand(CUfunction original, unsigned threads, unsigned shared) const {
  const auto kernel = kernels_.find(original);
  if (kernel == kernels_.end()) return {};
  CUdevice device = 0;
  SLUICE_REAL(cuCtxGetDevice)(&device);
  const auto shape = kernel->second.shapes.find({static_cast<unsigned>(device), threads, shared});
  return shape == kernel->second.shapes.end() ? KernelDemand{} : shape->second.demand;
}

std::unique_ptr<Program::Drain> Program::stream_begins() {
  std::unique_lock held(lock_);
  if (!lanes_.stream_begins()) return nullptr;
  auto drain = std::make_unique<Drain>(*this, held, true);
  lanes_.make_spares(held);  // beyond the channels themselves
  return drain;
}

Program::Drain::Drain(Program& program) : program_(program) {
  std::unique_lock held(program.lock_);
  wait(held, true);
}
Program::Drain::Drain(Program& program, std::unique_lock<std::mutex>& held, bool patient) : program_(program) {
  wait(held, patient);
}
Program::Drain::~Drain() { --program_.drains_; }

void Program::Drain::wait(std::unique_lock<std::mutex>& held, bool patient) {
  ++program_.drains_;
  while (program_.lanes_.outstanding() > 0) {
    if (!patient && program_.lanes_.one_stands_still()) {
      reached_ = false;
      return;
    }
    program_.lanes_.wake();
    program_.lanes_.wait_for_change(held);
  }
}

void Program::wait_while_draining(std::unique_lock<std::mutex>& held) {
  while (drains_ > 0) lanes_.wait_for_change(held);
}

bool Program::first_look(void* of, const char* name) {
  CUcontext context = nullptr;
  SLUICE_REAL(cuCtxGetCurrent)(&context);
  const std::scoped_lock held(lock_);
  return looked_at_.emplace(context, of, name == nullptr ? "" : name).second;
}

bool Program::sleepers_possible() {
  const std::scoped_lock held(lock_);
  return lanes_.outstanding() > 0;
}

void Program::wait_for_launches(CUstream stream) {
  if (!sleepers_possible()) return;
  const Relaxed relaxed;  // the event is behind what the copy would be behind: with the legacy stream, other streams as well
  CUevent event = nullptr;
  if (SLUICE_REAL(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) return;
  if (SLUICE_REAL(cuEventRecord)(event, stream) == CUDA_SUCCESS) SLUICE_REAL(cuEventSynchronize)(event);
  SLUICE_REAL(cuEventDestroy_v2)(event);
}

void Program::stream_ends(CUstream stream) {
  const std::scoped_lock held(lock_);
  lanes_.stream_ends(stream);
}

void Program::context_ends(CUcontext context) {
  const std::scoped_lock held(lock_);
  lanes_.context_ends(context);
}

}  // namespace sluice::interpose
