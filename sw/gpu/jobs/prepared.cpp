// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/jobs/prepared.h"

#include <fmt/format.h>

#include <cstring>

#include "sw/gpu/rewrite/ptx.h"
#include "sw/gpu/runtime/embedded.h"

namespace sluice::gpu {

namespace {

constexpr unsigned kToolThreads = 256;

void launch_tool(const Kernel& kernel, unsigned blocks, void** parameters) {
  check(driver().cuLaunchKernel(kernel.function(), blocks, 1, 1, kToolThreads, 1, 1, 0, nullptr, parameters, nullptr),
        "launching a tool kernel");
}

std::uint32_t round_up(std::uint32_t value, std::uint32_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

SmResources sm_capacity(const DeviceLimits& limits) {
  return {limits.threads_per_sm, limits.registers_per_sm, limits.shared_per_sm, limits.ctas_per_sm};
}

SmResources PreparedKernel::demand() const {
  constexpr std::uint32_t kWarp = 32, kRegisterUnit = 256, kSharedUnit = 128;  // of a warp's allocation; of a CTA's
  const std::uint32_t warps = (spec_.block_threads() + kWarp - 1) / kWarp;
  return {warps * kWarp, warps * round_up(kernel_.registers() * kWarp, kRegisterUnit),
          round_up(kernel_.static_shared() + spec_.shared_bytes, kSharedUnit) + context_.limits().reserved_shared_per_cta, 1};
}

DeviceTools::DeviceTools(const Context& context, const Compiler& compiler) : context_(context) {
  const std::string text = std::string(embedded_file("runtime/fill.h")) + std::string(embedded_file("runtime/fill_kernel.cuh"));
  const auto load = [&](const char* name) { return Kernel(context, compiler.compile(text, "fill_kernel.cuh", name).ptx, name); };
  const char* names[] = {"fill_f32", "fill_f64", "fill_1", "fill_2", "fill_4", "fill_8"};
  for (std::size_t i = 0; i < 6; ++i) fill_[i] = load(names[i]);
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
  launch_tool(fill_[which], context_.limits().sms * 8, parameters);
}

std::uint64_t DeviceTools::fingerprint(CUdeviceptr buffer, std::size_t bytes) const {
  CUdeviceptr sum = scratch_.get();
  check(driver().cuMemsetD8(sum, 0, 8), "clearing a sum");
  unsigned long long words = bytes / 4, out = 0;
  void* parameters[] = {&buffer, &words, &sum};
  launch_tool(fingerprint_, context_.limits().sms * 8, parameters);
  check(driver().cuMemcpyDtoH(&out, sum, 8), "reading a fingerprint");
  return out;
}

PreparedKernel::PreparedKernel(const Context& context, const Compiler& compiler, const DeviceTools& tools, LaunchSpec spec)
    : context_(context), tools_(tools), spec_(std::move(spec)) {
  const CompiledKernel compiled = spec_.symbol.empty() ? compiler.compile(spec_.text, spec_.file, spec_.kernel, spec_.options)
                                                       : CompiledKernel{spec_.text, spec_.symbol};
  const std::string ptx = only_kernel(normalised(compiled.ptx), compiled.symbol);
  symbol_ = compiled.symbol;
  kernel_ = Kernel(context, ptx, symbol_);
  const std::vector<std::size_t> sizes = kernel_.parameter_sizes(parameter_count(ptx, symbol_));
  if (sizes.size() != spec_.arguments.size())
    throw InputError(fmt::format("{}:{}: args= has {} arguments, the kernel takes {}", spec_.file, spec_.kernel,
                                 spec_.arguments.size(), sizes.size()));
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != spec_.arguments[i].parameter_bytes())
      throw InputError(fmt::format("{}:{}: argument {} has {} bytes, the kernel's parameter {}", spec_.file, spec_.kernel, i + 1,
                                   spec_.arguments[i].parameter_bytes(), sizes[i]));
  if (spec_.block_threads() > kernel_.max_threads())
    throw InputError(fmt::format("{}:{}: block of {} threads: the kernel's launch bounds allow {}", spec_.file, spec_.kernel,
                                 spec_.block_threads(), kernel_.max_threads()));
  kernel_.configure(spec_.shared_bytes, -1);
  occupancy_ = kernel_.occupancy(spec_.block_threads(), spec_.shared_bytes);
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

void PreparedKernel::keep_variables(const std::string& ptx) {
  for (const Item& item : items_of(ptx)) {
    if (item.kind != Item::Kind::Variable) continue;
    Variable variable;
    std::size_t bytes = 0;
    if (driver().cuLibraryGetGlobal(&variable.address, &bytes, kernel_.library(), item.name.c_str()) != CUDA_SUCCESS) continue;
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

void PreparedKernel::launch(CUstream stream) const {
  std::vector<void*> pointers = parameters();
  check(driver().cuLaunchKernel(kernel_.function(), spec_.grid[0], spec_.grid[1], spec_.grid[2], spec_.block[0], spec_.block[1],
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
