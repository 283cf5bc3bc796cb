// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/program.h"

#include <pthread.h>

#include <algorithm>

#include <cstdlib>
#include <string_view>
#include <utility>

#include "sw/gpu/rewrite/transform.h"
#include "sw/gpu/runtime/control.h"
#include "sw/interpose/memory.h"
#include "sw/interpose/table.h"

namespace sluice::interpose {

namespace {

/// For which launches of a kernel wait for its code, before they run natively: SLUICE_COMPILE_WAIT_MS.
std::chrono::milliseconds compile_wait() {
  static const std::chrono::milliseconds wait = [] {
    const char* set = std::getenv("SLUICE_COMPILE_WAIT_MS");
    return std::chrono::milliseconds(set == nullptr ? 500 : std::atoi(set));
  }();
  return wait;
}
constexpr int kKernelsAwaited = 4;  ///< as long as that many kernels may be awaited, a process waits in all

constexpr const char* kStranger = "a kernel whose handle came by an unknown way";

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
  std::atexit([] { instance().ends(); });
  static_cast<void>(Memory::instance());  // a thread that makes it while another forks leaves the child waiting for it
  pthread_atfork([] { instance().lock_.lock(); }, [] { instance().lock_.unlock(); },
                 [] {
                   for (auto& [handle, kernel] : instance().kernels_) kernel->known_row = nullptr;
                   instance().coverage_.forget();
                   instance().lanes_.forget();
                   instance().drains_ = 0;
                   instance().graphs_.forget();
                   Memory::instance().forget();
                   instance().lock_.unlock();
                 });
}

Program& Program::instance() {
  static auto* program = new Program;  // never destroyed: threads may launch while the process ends
  return *program;
}

bool Program::Kernel::loaded_in(ContextId id) const {
  const auto part = parts.find(id);
  return part != parts.end() && part->second.own_loaded;
}

Program::KernelPtr Program::find(void* handle) const {
  const auto found = kernels_.find(handle);
  return found == kernels_.end() ? nullptr : found->second;
}

void Program::module(void* handle, Prepared prepared, bool library) {
  const std::scoped_lock held(lock_);
  static_cast<void>(forget_module(handle));  // it ended without our seeing it
  modules_[handle] = {std::move(prepared), library ? 0 : current_context().value_or(0)};
}

void Program::unloaded(void* handle) {
  if (ended_) return;
  std::vector<Part> parts;
  {
    const std::scoped_lock held(lock_);
    parts = forget_module(handle);
  }
  for (const Part& part : parts) unload(part);
}

std::vector<Program::Part> Program::forget_module(void* handle) {
  std::erase_if(looked_at_, [&](const auto& l) {
    const KernelPtr kernel = find(std::get<1>(l));
    return std::get<1>(l) == handle || (kernel != nullptr && kernel->module == handle);
  });
  ahead_.erase(handle);
  modules_.erase(handle);
  return forget_kernels([&](const Kernel& k) { return k.module == handle; });
}

std::vector<Program::Part> Program::forget_kernels(const std::function<bool(const Kernel&)>& which) {
  std::vector<Part> parts;
  std::erase_if(kernels_, [&](const auto& k) {
    if (!which(*k.second)) return false;
    if (!std::exchange(k.second->gone, true))
      for (const auto& [id, part] : k.second->parts)
        if (part.beside != nullptr) parts.push_back(part);
    return true;
  });
  return parts;
}

void Program::unload(const Part& part) {
  const InContext in(part.context);
  static_cast<void>(SLUICE_REAL(cuModuleUnload)(part.beside));
}

/// A module may be loaded when its kernels are first looked at, and loading may wait for all that runs. Kernels whose handles the
/// program has are loaded with the first that is launched, so that none has to wait for one that runs.
/// @return false: it has to wait for a launch that stands still. The program's own kernel is there
bool Program::load(std::unique_lock<std::mutex>& held, CUfunction handle, const KernelPtr& kernel, ContextId here) {
  if (kernel == nullptr) {
    if (native_waits_.runs()) return true;
    if (!strangers_.emplace(here, handle).second) return true;
    const Drain drain(*this, held, true);
    held.unlock();
    int registers = 0;
    SLUICE_REAL(cuFuncGetAttribute)(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, handle);
    held.lock();
    return true;
  }
  while (kernel->loading) lanes_.wait_for_change(held);  // another thread is about it
  if (kernel->gone) return true;
  if (std::exchange(kernel->parts[here].seen, true)) {
    if (behind_ && lanes_.outstanding() == 0 && !native_waits_.runs()) {
      const Drain drain(*this, held, true);
      load_others(held, here);
    }
    return true;
  }
  kernel->loading = true;
  std::optional<Drain> drain;
  if (!native_waits_.runs()) drain.emplace(*this, held, !kernel->loaded_in(here));
  if (!drain || !drain->reached()) {
    behind_ = true;
    kernel->loading = false;
    kernel->parts[here].seen = false;
    return false;
  }
  load_one(held, kernel, here);
  load_others(held, here);
  return true;
}

/// The program's own code says how many registers ours may have, which is to be compiled.
void Program::load_own(std::unique_lock<std::mutex>& held, const KernelPtr& kernel, ContextId here) {
  if (kernel->lazy == nullptr || kernel->registers != 0 || kernel->loading || native_waits_.runs()) return;
  kernel->loading = true;
  const Drain drain(*this, held, !kernel->loaded_in(here));
  if (drain.reached())
    load_one(held, kernel, here);
  else
    kernel->loading = false;
}

/// Ours, and what the program's takes. @pre it is marked as being loaded; nothing sleeps
void Program::load_one(std::unique_lock<std::mutex>& held, const KernelPtr& kernel, ContextId here) {
  Part part = kernel->parts[here];
  const Kernel k = *kernel;
  std::vector<std::pair<std::size_t, std::size_t>> parameters;
  int registers = static_cast<int>(k.registers);
  held.unlock();
  SLUICE_REAL(cuCtxGetCurrent)(&part.context);
  if (k.library)
    static_cast<void>(SLUICE_REAL(cuKernelGetFunction)(&part.own, static_cast<CUkernel>(k.own)));
  else
    part.own = static_cast<CUfunction>(k.own);
  for (std::size_t i = 0, offset = 0, bytes = 0;; ++i) {
    const CUresult more = k.library ? SLUICE_REAL(cuKernelGetParamInfo)(static_cast<CUkernel>(k.own), i, &offset, &bytes)
                                    : SLUICE_REAL(cuFuncGetParamInfo)(part.own, i, &offset, &bytes);
    if (more != CUDA_SUCCESS) break;
    parameters.emplace_back(offset, bytes);
  }
  static_cast<void>(SLUICE_REAL(cuFuncGetAttribute)(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, part.own));
  if (k.form != nullptr && !k.form->refusal && part.ours == nullptr) {
    const char* entry = k.form->entry.c_str();
    CUkernel ours = nullptr;
    if (k.beside) {
      const Relaxed relaxed;
      if (SLUICE_REAL(cuModuleLoadData)(&part.beside, k.code->cubin.data()) == CUDA_SUCCESS)
        SLUICE_REAL(cuModuleGetFunction)(&part.ours, part.beside, entry);
    } else if (!k.library) {
      SLUICE_REAL(cuModuleGetFunction)(&part.ours, static_cast<CUmodule>(k.module), entry);
    } else if (SLUICE_REAL(cuLibraryGetKernel)(&ours, static_cast<CUlibrary>(k.module), entry) == CUDA_SUCCESS) {
      SLUICE_REAL(cuKernelGetFunction)(&part.ours, ours);
    }
    int unused = 0;
    if (part.ours != nullptr) SLUICE_REAL(cuFuncGetAttribute)(&unused, CU_FUNC_ATTRIBUTE_NUM_REGS, part.ours);
  }
  held.lock();
  kernel->loading = false;
  if (kernel->gone) {
    held.unlock();
    if (part.beside != nullptr) unload(part);
    return held.lock();
  }
  kernel->parameters = std::move(parameters);
  kernel->registers = static_cast<unsigned>(registers);
  part.own_loaded = true;
  part.seen = kernel->parts[here].seen;
  kernel->parts[here] = std::move(part);
}

/// Also begins to compile them. @pre nothing sleeps
void Program::load_others(std::unique_lock<std::mutex>& held, ContextId here) {
  constexpr std::size_t kMost = 16;  // of a module: each costs a millisecond or two, and may never be launched
  std::set<KernelPtr> others;
  behind_ = false;
  for (const auto& [handle, k] : kernels_) {
    const bool wanted = k->library ? true : k->context == here;
    const auto part = k->parts.find(here);
    if (!wanted || k->loading || others.contains(k) || (part != k->parts.end() && part->second.seen)) continue;
    if (k->later != nullptr || ahead_[k->module]++ < kMost) others.insert(k);
  }
  for (const KernelPtr& kernel : others) {
    if (kernel->loading || kernel->gone) continue;
    const bool wanted = lanes_.shares().native().empty();
    if (wanted && kernel->lazy != nullptr && kernel->registers == 0) {
      kernel->loading = true;
      load_one(held, kernel, here);
    }
    if (wanted) begin_compiling(held, kernel);
    if (kernel->gone) continue;
    if (kernel->later != nullptr && kernel->later->done()) adopt(*kernel);
    if (kernel->later == nullptr)
      kernel->parts[here].seen = true;
    else
      behind_ = true;  // it is loaded when there is code
    if (kernel->later != nullptr && kernel->loaded_in(here)) continue;
    kernel->loading = true;
    load_one(held, kernel, here);
  }
}

void Program::kernel(void* handle, void* module, const char* name, bool library) {
  const std::scoped_lock held(lock_);
  if (const KernelPtr known = find(handle); known != nullptr && known->module == module && known->name == name) return;
  const auto kernel = std::make_shared<Kernel>();
  kernel->name = name;
  kernel->why = gpu::gate_row(gpu::GateRule::NoPtx).native;
  kernel->module = module;
  kernel->own = handle;
  kernel->library = library;
  if (const auto found = modules_.find(module); found != modules_.end()) {
    const Prepared& code = found->second.code;
    kernel->text = code.text;
    kernel->context = found->second.context;
    if (!code.why.empty()) kernel->why = code.why;
    kernel->code = code.code;
    kernel->later = code.later;
    kernel->lazy = code.lazy;
    if (code.code != nullptr)
      if (const auto form = code.code->kernels.find(name); form != code.code->kernels.end()) kernel->form = &form->second;
  } else if (!library) {
    kernel->context = current_context().value_or(0);
  }
  if (!library || loads_eagerly()) kernel->parts[library ? current_context().value_or(0) : kernel->context].own_loaded = true;
  kernels_[handle] = kernel;
}

void Program::begin_compiling(std::unique_lock<std::mutex>& held, const KernelPtr& kernel) {
  const std::shared_ptr<Lazy> lazy = kernel->lazy;
  if (lazy == nullptr || kernel->later != nullptr) return;
  const unsigned registers = kernel->registers;
  held.unlock();
  const std::shared_ptr<Later> later = lazy->kernel(kernel->name, registers);
  held.lock();
  if (kernel->lazy != nullptr) kernel->later = later;  // else another thread has adopted it
}

void Program::compile(std::unique_lock<std::mutex>& held, const KernelPtr& kernel, bool patient) {
  if (kernel->lazy != nullptr && kernel->later == nullptr) begin_compiling(held, kernel);
  const std::shared_ptr<Later> later = kernel->later;
  if (later == nullptr || later->done() || (kernel->lazy == nullptr && !patient)) return;
  const Clock::duration left = std::min(compile_wait() - kernel->awaited, kKernelsAwaited * compile_wait() - awaited_);
  const Clock::time_point begin = Clock::now();
  held.unlock();
  later->wait_until(begin + (patient ? std::chrono::hours(1) : left));
  held.lock();
  if (patient) return;
  kernel->awaited += Clock::now() - begin;
  awaited_ += Clock::now() - begin;
}

void Program::adopt(Kernel& kernel) {
  const std::shared_ptr<const Code> code = kernel.later->code();
  kernel.why = kernel.later->why();
  kernel.later = nullptr;
  kernel.lazy = nullptr;
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
  for (auto& [id, part] : kernel.parts) part.seen = false;  // what was loaded is not this
}

void Program::same_kernel(void* handle, void* known) {
  const std::scoped_lock held(lock_);
  const KernelPtr kernel = find(known);
  if (kernel == nullptr) return;
  if (const auto here = current_context()) {
    kernel->parts[*here].own = static_cast<CUfunction>(handle);
    kernel->parts[*here].own_loaded = true;
  }
  kernels_[handle] = kernel;
}

void Program::attribute(void* handle, CUfunction_attribute which, int value) {
  const std::scoped_lock held(lock_);
  const KernelPtr kernel = find(handle);
  if (kernel == nullptr) return;
  kernel->known_row = nullptr;
  const bool carveout = which == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
  if (carveout) kernel->carveout = value;
  for (auto& [id, part] : kernel->parts) {
    part.shapes.clear();
    if (carveout && part.ours != nullptr) SLUICE_REAL(cuFuncSetAttribute)(part.ours, which, value);
  }
}

std::optional<Transformed> Program::transformed(std::unique_lock<std::mutex>& held, const ProgramLaunch& launch, bool patient,
                                                std::string& name, std::string& reason) {
  const KernelPtr kernel = find(launch.function);
  const ContextId here = current_context().value_or(0);
  name = kernel == nullptr ? "?" : kernel->name;
  reason = kernel == nullptr ? kStranger : kernel->library || kernel->context == here ? "" : kOtherContext;
  if (!reason.empty() && kernel != nullptr) return std::nullopt;
  if (kernel != nullptr && lanes_.shares().native().empty()) {
    load_own(held, kernel, here);
    compile(held, kernel, patient);
  }
  if (kernel != nullptr && kernel->later != nullptr && kernel->later->done()) adopt(*kernel);
  const bool loaded = load(held, launch.function, kernel, here);
  if (kernel == nullptr) return std::nullopt;
  Part& part = kernel->parts[here];
  Transformed out;
  const std::optional<std::string> native = loaded ? prepare(*kernel, part, launch, out) : kNotLoaded;
  if (native) {
    reason = *native;
    return std::nullopt;
  }
  return out;
}

std::string Program::name_of(void* function) const {
  const KernelPtr kernel = find(function);
  return kernel == nullptr ? "?" : kernel->name;
}

void Program::captured(void* handle) {
  CUkernel own = nullptr;
  {
    const std::scoped_lock held(lock_);
    const KernelPtr kernel = find(handle);
    if (kernel == nullptr || !kernel->library || kernel->own != handle) return;
    own = static_cast<CUkernel>(handle);
  }
  CUfunction function = nullptr;
  const Relaxed relaxed;
  std::optional<Drain> drain;
  if (first_look(own, nullptr)) drain.emplace(*this);
  if (SLUICE_REAL(cuKernelGetFunction)(&function, own) == CUDA_SUCCESS) same_kernel(function, own);
}

bool Program::first_look(void* of, const char* name) {
  const ContextId here = current_context().value_or(0);
  const std::scoped_lock held(lock_);
  return looked_at_.emplace(here, of, name == nullptr ? "" : name).second;
}

void Program::stream_ends(CUstream stream) {
  const InContext in(context_of(stream));
  const std::scoped_lock held(lock_);
  lanes_.stream_ends(stream);
}

void Program::context_may_end(CUcontext context) {
  const std::scoped_lock held(lock_);
  lanes_.may_end(context);
}

std::shared_ptr<void> Program::context_ends(CUcontext context, bool read) {
  const std::scoped_lock held(lock_);
  ContextId id = 0;
  const std::shared_ptr<ContextState> state = lanes_.context_ends(context, 0, read);
  if (state != nullptr)
    id = state->id();
  else if (SLUICE_REAL(cuCtxGetId)(context, &id) != CUDA_SUCCESS)
    return nullptr;
  ids_.erase(context);
  forget_context(context, id);
  return state;
}

void Program::notice_resets() {
  CUcontext context = nullptr;
  CUdevice device = 0;
  ContextId id = 0;
  if (SLUICE_REAL(cuCtxGetCurrent)(&context) == CUDA_SUCCESS && context != nullptr &&
      SLUICE_REAL(cuCtxGetId)(context, &id) == CUDA_SUCCESS && !ids_.contains(context) &&
      SLUICE_REAL(cuCtxGetDevice)(&device) == CUDA_SUCCESS)
    ids_[context] = {id, primary_of(device) == context};
  for (auto known = ids_.begin(); known != ids_.end();) {
    const auto [which, seen] = *known;
    const bool asked = which == context || seen.stays;
    const CUresult said = asked ? SLUICE_REAL(cuCtxGetId)(which, &id) : CUDA_SUCCESS;
    if (!asked ||
        (said == CUDA_SUCCESS ? id == seen.id : said != CUDA_ERROR_CONTEXT_IS_DESTROYED && said != CUDA_ERROR_INVALID_CONTEXT)) {
      ++known;
      continue;
    }
    known = ids_.erase(known);
    static_cast<void>(lanes_.context_ends(which, seen.id));
    forget_context(which, seen.id);
  }
}

void Program::forget_context(CUcontext context, ContextId id) {
  graphs_.context_ends(id);
  coverage_.context_ends(id);
  for (Followed& each : opaque_) each.context_ends(context);
  ahead_of_code_.context_ends(context);
  native_waits_.context_ends(context);
  Memory::instance().context_ends(id);
  static_cast<void>(forget_kernels([&](const Kernel& k) { return k.context == id; }));  // the driver unloads all that is there
  std::erase_if(kernels_, [&](const auto& k) {
    const auto part = k.second->parts.find(id);
    return part != k.second->parts.end() && k.first == part->second.own && k.first != k.second->own;
  });
  for (const auto& [handle, kernel] : kernels_) kernel->parts.erase(id);
  std::erase_if(modules_, [&](const auto& m) { return m.second.context == id; });
  std::erase_if(looked_at_, [&](const auto& l) { return std::get<0>(l) == id; });
  std::erase_if(strangers_, [&](const auto& s) { return s.first == id; });
}

}  // namespace sluice::interpose
