// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/jobs/prepared.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>

#include "sw/gpu/rewrite/gate.h"
#include "sw/gpu/rewrite/ptx.h"
#include "sw/gpu/rewrite/transform.h"
#include "sw/gpu/runtime/embedded.h"
#include "sw/gpu/source/ptxas.h"

namespace sluice::gpu {

namespace {

constexpr unsigned kToolThreads = 256;

void launch(const Kernel& kernel, unsigned blocks, void** parameters) {
  check(driver().cuLaunchKernel(kernel.function(), blocks, 1, 1, kToolThreads, 1, 1, 0, nullptr, parameters, nullptr),
        "launching a tool kernel");
}

std::uint32_t round_up(std::uint32_t value, std::uint32_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

SmResources sm_capacity(const DeviceLimits& limits) {
  return {limits.threads_per_sm, limits.registers_per_sm, limits.shared_per_sm, limits.ctas_per_sm};
}

DeviceTools::DeviceTools(const Context& context, const Compiler& compiler) : context_(context) {
  const std::string text = std::string(embedded_file("runtime/fill.h")) + std::string(embedded_file("runtime/fill_kernel.cuh"));
  const auto load = [&](const char* name) { return Kernel(context, compiler.compile(text, "fill_kernel.cuh", name).ptx, name); };
  const char* names[] = {"fill_f32", "fill_f64", "fill_1", "fill_2", "fill_4", "fill_8"};
  for (std::size_t i = 0; i < 6; ++i) fill_[i] = load(names[i]);
  seen_ = load("seen_sms");
  fingerprint_ = load("fingerprint");
  scratch_ = allocate(4096, "scratch memory");
}

void DeviceTools::fill(CUdeviceptr to, const ArgumentSpec& a) const {
  if (a.fill == SLUICE_FILL_POISON || a.fill == SLUICE_FILL_ZERO) {
    check(driver().cuMemsetD8(to, a.fill == SLUICE_FILL_POISON ? 0xa5 : 0, a.bytes()), "filling a buffer");
    return;
  }
  std::size_t which = 0;
  if (a.type == ElementType::F64)
    which = 1;
  else if (a.type != ElementType::F32)
    which = size_of(a.type) == 1 ? 2 : size_of(a.type) == 2 ? 3 : size_of(a.type) == 4 ? 4 : 5;
  unsigned long long count = a.count;
  int kind = a.fill;
  unsigned seed = a.seed;
  float low = a.a, high = a.b;
  void* parameters[] = {&to, &count, &kind, &seed, &low, &high};
  launch(fill_[which], context_.limits().sms * 8, parameters);
}

std::uint64_t DeviceTools::fingerprint(CUdeviceptr buffer, std::size_t bytes) const {
  CUdeviceptr sum = scratch_.get();
  check(driver().cuMemsetD8(sum, 0, 8), "clearing a sum");
  unsigned long long words = bytes / 4, out = 0;
  void* parameters[] = {&buffer, &words, &sum};
  launch(fingerprint_, context_.limits().sms * 8, parameters);
  check(driver().cuMemcpyDtoH(&out, sum, 8), "reading a fingerprint");
  return out;
}

unsigned DeviceTools::highest_sm() const {
  CUdeviceptr seen = scratch_.get(), nsmid = scratch_.get() + 2048;
  check(driver().cuMemsetD8(seen, 0, 4096), "clearing the list of SMs");
  void* parameters[] = {&seen, &nsmid};
  launch(seen_, context_.limits().sms * 16, parameters);
  std::vector<unsigned> flags(1024);
  check(driver().cuMemcpyDtoH(flags.data(), seen, 4096), "reading the list of SMs");
  unsigned highest = 0, number = 0;
  for (unsigned sm = 0; sm < 256; ++sm)
    if (flags[sm] != 0) {
      highest = sm;
      ++number;
    }
  if (highest + 1 != number || number != context_.limits().sms)
    throw GpuError(fmt::format("{} of {} SMs seen, highest identifier {}: quotas need identifiers 0..{} (is this a MIG slice?)",
                               number, context_.limits().sms, highest, context_.limits().sms - 1));
  return highest;
}

PreparedKernel::PreparedKernel(const Context& context, const Compiler& compiler, const DeviceTools& tools, LaunchSpec spec,
                               bool transformed)
    : context_(context), tools_(tools), spec_(std::move(spec)) {
  const CompiledKernel native = spec_.symbol.empty() ? compiler.compile(spec_.text, spec_.file, spec_.kernel, spec_.options)
                                                     : CompiledKernel{spec_.text, spec_.symbol};
  const std::string ptx = only_kernel(normalised(native.ptx), native.symbol);
  native_ = Kernel(context, ptx, native.symbol);
  const std::vector<std::size_t> sizes = native_.parameter_sizes(parameter_count(ptx, native.symbol));
  if (sizes.size() != spec_.arguments.size())
    throw InputError(fmt::format("{}:{}: args= has {} arguments, the kernel takes {}", spec_.file, spec_.kernel,
                                 spec_.arguments.size(), sizes.size()));
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != spec_.arguments[i].parameter_bytes())
      throw InputError(fmt::format("{}:{}: argument {} has {} bytes, the kernel's parameter {}", spec_.file, spec_.kernel, i + 1,
                                   spec_.arguments[i].parameter_bytes(), sizes[i]));
  if (spec_.block_threads() > native_.max_threads())
    throw InputError(fmt::format("{}:{}: block of {} threads: the kernel's launch bounds allow {}", spec_.file, spec_.kernel,
                                 spec_.block_threads(), native_.max_threads()));
  native_.configure(spec_.shared_bytes, -1);
  native_occupancy_ = native_.occupancy(spec_.block_threads(), spec_.shared_bytes);
  if (transformed)
    transform_kernel(compiler, ptx, native.symbol);
  else
    refusal_ = "it was not asked for";
  keep_variables(ptx);
  for (const ArgumentSpec& a : spec_.arguments) {
    // A word more, so that the comparison by words covers the last bytes.
    buffers_.push_back(a.is_buffer()
                           ? allocate((a.bytes() + 7) / 4 * 4, fmt::format("{} buffer of {} bytes", spec_.label, a.bytes()))
                           : DeviceMemory());
    std::vector<char> bytes(a.parameter_bytes());
    const CUdeviceptr address = buffers_.back().get();
    if (a.is_buffer())
      std::memcpy(bytes.data(), &address, sizeof address);
    else
      std::memcpy(bytes.data(), a.value.data(), bytes.size());
    parameters_.push_back(std::move(bytes));
  }
  reset_buffers();
}

void PreparedKernel::transform_kernel(const Compiler& compiler, const std::string& ptx, const std::string& symbol) {
  const DeviceLimits& limits = context_.limits();
  const auto refuse = [&](const Refusal& why) {
    refusal_ = why.reason;
    rule_ = gate_row(why.rule).name;
  };
  const KernelStudy study = study_kernel(ptx, symbol, spec_.block);
  waits_ = study.waits;
  const std::uint32_t taken = native_.static_shared() + spec_.shared_bytes;
  const DeviceFacts device{limits.sms, native_occupancy_,
                           limits.shared_per_cta_optin - std::min(limits.shared_per_cta_optin, taken)};
  const LaunchFacts launch{spec_.grid, spec_.block, spec_.shared_bytes};
  if (const auto why = refuse_launch({study.refusal, "", 0, study.waits}, launch, device)) return refuse(*why);
  const std::string runtime = normalised(compiler.compile_functions(std::string(embedded_file("runtime/control.h")) +
                                                                        std::string(embedded_file("runtime/quota_access.cuh")) +
                                                                        std::string(embedded_file("runtime/quota_runtime.cuh")),
                                                                    "quota_runtime.cuh"));
  const int axes = spec_.grid[2] > 1 ? 3 : spec_.grid[1] > 1 ? 2 : 1;
  TransformSpec form{symbol, spec_.block, 0, study.threads_leave, axes, waits_};
  form.registers = registers_for(limits.registers_per_sm, native_occupancy_, warps() * kWarpSize, native_.registers());
  Library library;
  try {
    const auto load = [&](unsigned ctas) {
      form.ctas_per_sm = ctas;
      // The driver makes the machine code that runs; ptxas makes some to look at.
      const Assembled module = assembled(ptx, runtime, {{symbol, transform(ptx, runtime, form)}}, [&](const std::string& text) {
        return cubin_by_ptxas(text, limits.compute_major * 10 + limits.compute_minor);
      });
      const Transformed& transformed = module.kernels.at(symbol);
      shared_behind_ = transformed.shared_behind;
      counterweight_ = transformed.spec.counterweight;
      library = load_library(context_, module.text, symbol);
      Kernel kernel(context_, library, transformed.entry);
      if (persistent_shared() > 0) kernel.configure(persistent_shared(), -1);
      return kernel;
    };
    // Not by .minnctapersm: under that, the assembler keeps fewer loads on their way.
    persistent_ = load(0);
    if (device.shared_left < shared_behind_)
      return refuse({GateRule::SharedRoom, std::string(gate_row(GateRule::SharedRoom).native)});
    if (persistent_.occupancy(warps() * kWarpSize, persistent_shared()) < native_occupancy_)
      persistent_ = load(native_occupancy_);
    constexpr unsigned kFew = 16;  // bytes that a thread may spill
    if (persistent_.local_bytes() > native_.local_bytes() + kFew && native_occupancy_ > 1) {
      const Library tight = library;
      const unsigned counterweight = counterweight_;
      Kernel roomier = load(native_occupancy_ - 1);  // one CTA fewer, and registers for the others
      if (roomier.local_bytes() + 16 < persistent_.local_bytes()) {
        persistent_ = std::move(roomier);
      } else {
        library = tight;
        counterweight_ = counterweight;
      }
    }
  } catch (const std::exception& e) {
    return refuse({GateRule::Assembles, fmt::format("{}: {}", gate_row(GateRule::Assembles).native, e.what())});
  }
  native_ = Kernel(context_, library, symbol);  // beside the transformed one: both see one set of variables
  native_.configure(spec_.shared_bytes, -1);
  persistent_.configure(persistent_shared(), -1);
  occupancy_ = persistent_.occupancy(warps() * kWarpSize, persistent_shared());
  constexpr std::uint32_t kRegisterUnit = 256, kSharedUnit = 128;  // of a warp's allocation; of a CTA's
  demand_ = {warps() * kWarpSize, warps() * round_up(persistent_.registers() * kWarpSize, kRegisterUnit),
             round_up(persistent_.static_shared() + persistent_shared(), kSharedUnit) + limits.reserved_shared_per_cta, 1};
}

void PreparedKernel::keep_variables(const std::string& ptx) {
  for (const Item& item : items_of(ptx)) {
    if (item.kind != Item::Kind::Variable) continue;
    Variable variable;
    std::size_t bytes = 0;
    if (driver().cuLibraryGetGlobal(&variable.address, &bytes, native_.library(), item.name.c_str()) != CUDA_SUCCESS) continue;
    variable.bytes.resize(bytes);
    check(driver().cuMemcpyDtoH(variable.bytes.data(), variable.address, bytes), "reading a variable of the module");
    variables_.push_back(std::move(variable));
  }
}

void PreparedKernel::reset_buffers() const {
  for (const Variable& v : variables_)
    check(driver().cuMemcpyHtoD(v.address, v.bytes.data(), v.bytes.size()), "setting a variable of the module back");
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    if (spec_.arguments[i].is_buffer()) tools_.fill(buffers_[i].get(), spec_.arguments[i]);
  check(driver().cuCtxSynchronize(), spec_.label + ": filling buffers");
}

void PreparedKernel::poison_outputs() const {
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    if (spec_.arguments[i].kind == ArgumentSpec::Kind::Out) tools_.fill(buffers_[i].get(), spec_.arguments[i]);
  check(driver().cuCtxSynchronize(), spec_.label + ": poisoning outputs");
}

void PreparedKernel::launch_native(CUstream stream) const {
  std::vector<void*> pointers = parameters();
  check(driver().cuLaunchKernel(native_.function(), spec_.grid[0], spec_.grid[1], spec_.grid[2], spec_.block[0], spec_.block[1],
                                spec_.block[2], spec_.shared_bytes, stream, pointers.data(), nullptr),
        spec_.label + ": launch");
}

std::vector<void*> PreparedKernel::parameters() const {
  std::vector<void*> pointers;
  for (const std::vector<char>& p : parameters_) pointers.push_back(const_cast<char*>(p.data()));  // the driver only reads
  return pointers;
}

HostBuffers PreparedKernel::download() const {
  HostBuffers out(buffers_.size());
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (!spec_.arguments[i].is_buffer()) continue;
    out[i].resize(spec_.arguments[i].bytes());
    check(driver().cuMemcpyDtoH(out[i].data(), buffers_[i].get(), out[i].size()), spec_.label + ": reading results");
  }
  return out;
}

std::vector<std::uint64_t> PreparedKernel::fingerprints() const {
  std::vector<std::uint64_t> out;
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    if (spec_.arguments[i].is_buffer())
      out.push_back(tools_.fingerprint(buffers_[i].get(), (spec_.arguments[i].bytes() + 3) / 4 * 4));
  return out;
}

}  // namespace sluice::gpu
