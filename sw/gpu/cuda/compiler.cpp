// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/cuda/compiler.h"

#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <vector>

#include "sw/core/hash.h"
#include "sw/gpu/cuda/driver.h"
#include "sw/gpu/rewrite/kernel_name.h"
#include "sw/gpu/rewrite/ptx.h"
#include "sw/gpu/source/first_error.h"
#include "sw/gpu/source/stand_ins.h"
#include "sw/io/atomic_file.h"

namespace sluice::gpu {

namespace {

void check_nvrtc(nvrtcResult result, const std::string& what) {
  if (result != NVRTC_SUCCESS) throw GpuError(fmt::format("{}: {}", what, nvrtc().nvrtcGetErrorString(result)));
}

}  // namespace

std::filesystem::path Compiler::default_cache() {
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder != nullptr && *folder != '\0')
    return std::filesystem::path(folder) / "sluice";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return std::filesystem::path(home) / ".cache/sluice";
  return {};
}

CompiledKernel Compiler::compile(const std::string& text, const std::string& file, const std::string& kernel,
                                 const CompileOptions& options) const {
  std::exception_ptr why;
  if (!kernel.starts_with("_Z")) try {
      return run(text, file, kernel, options);
    } catch (const InputError&) {
      why = std::current_exception();
    }
  CompiledKernel all;
  try {
    all = run(text, file, "", options);
  } catch (const InputError&) {  // it is not the name
    if (why) std::rethrow_exception(why);
    throw;
  }
  all.symbol = find_kernel(kernels_of(normalised(all.ptx)), kernel, file);
  return all;
}

CompiledKernel Compiler::run(const std::string& text, const std::string& file, const std::string& kernel,
                             const CompileOptions& more) const {
  const Nvrtc& n = nvrtc();
  int major = 0, minor = 0;
  check_nvrtc(n.nvrtcVersion(&major, &minor), "NVRTC");
  std::vector<std::string> options = {fmt::format("--gpu-architecture=compute_{}", arch_), "--std=c++17", "-default-device",
                                      "-w"};
  const char* home = std::getenv("CUDA_HOME");
  for (const char* root : {home, "/usr/local/cuda"}) {
    if (root == nullptr || !std::filesystem::exists(std::filesystem::path(root) / "include/cuda_runtime.h")) continue;
    options.push_back(fmt::format("--include-path={}/include", root));
    if (std::filesystem::exists(std::filesystem::path(root) / "include/cccl"))
      options.push_back(fmt::format("--include-path={}/include/cccl", root));
    break;
  }
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  if (!folder.empty() && std::filesystem::is_directory(folder)) options.push_back("--include-path=" + folder.string());
  for (const std::string& i : more.includes) options.push_back("--include-path=" + i);
  for (const std::string& d : more.defines) options.push_back("--define-macro=" + d);

  std::string key = fmt::format("{}.{}\n{}\n{}\n", major, minor, kernel, file);
  for (const std::string& o : options) key += o + "\n";
  key += text;
  const std::filesystem::path entry =
      cache_ / fmt::format("{:016x}{:016x}.ptx", fnv1a(key, 0), fnv1a(key, 0x9e3779b97f4a7c15ULL));
  const std::string mark = "// sluice ";  // "// sluice SYMBOL SIZE", then the PTX
  if (!cache_.empty() && std::filesystem::exists(entry)) {
    const std::string bytes = read_file(entry);
    const std::size_t line = bytes.find('\n'), blank = bytes.rfind(' ', line);
    if (bytes.starts_with(mark) && line != std::string::npos && blank > mark.size() &&
        bytes.substr(blank + 1, line - blank - 1) == std::to_string(bytes.size() - line - 1))
      return {bytes.substr(line + 1), bytes.substr(mark.size(), blank - mark.size())};
  }

  nvrtcProgram raw = nullptr;
  std::vector<const char*> texts, names;
  for (const StandIn& s : stand_ins()) {
    texts.push_back(s.text);
    names.push_back(s.name);
  }
  check_nvrtc(n.nvrtcCreateProgram(&raw, text.c_str(), file.c_str(), static_cast<int>(names.size()), texts.data(), names.data()),
              file);
  const std::unique_ptr<nvrtcProgram, void (*)(nvrtcProgram*)> program(&raw,
                                                                       [](nvrtcProgram* p) { nvrtc().nvrtcDestroyProgram(p); });
  if (!kernel.empty()) check_nvrtc(n.nvrtcAddNameExpression(raw, kernel.c_str()), fmt::format("{}:{}", file, kernel));
  std::vector<const char*> raw_options;
  for (const std::string& o : options) raw_options.push_back(o.c_str());
  const nvrtcResult result = n.nvrtcCompileProgram(raw, static_cast<int>(raw_options.size()), raw_options.data());
  if (result != NVRTC_SUCCESS) {
    std::size_t size = 0;
    n.nvrtcGetProgramLogSize(raw, &size);
    std::string log(size, '\0');
    if (size > 0) n.nvrtcGetProgramLog(raw, log.data());
    if (log.find("requires separate compilation mode") != std::string::npos ||
        log.find("device-side kernel launch") != std::string::npos)
      throw InputError(
          fmt::format("{}:{}: dynamic parallelism: a child grid belongs to the CTA that launched it, which a persistent CTA "
                      "outlives; such kernels are not run",
                      file, kernel));
    throw InputError(
        fmt::format("{}:{} does not compile: {} (NVRTC takes no host code: --nvcc does)", file, kernel, first_error(log)));
  }
  CompiledKernel compiled;
  compiled.symbol = "-";
  if (!kernel.empty()) {
    const char* lowered = nullptr;
    check_nvrtc(n.nvrtcGetLoweredName(raw, kernel.c_str(), &lowered), fmt::format("{}:{}", file, kernel));
    compiled.symbol = lowered;
  }
  std::size_t size = 0;
  check_nvrtc(n.nvrtcGetPTXSize(raw, &size), file);
  compiled.ptx.resize(size);
  check_nvrtc(n.nvrtcGetPTX(raw, compiled.ptx.data()), file);
  while (!compiled.ptx.empty() && compiled.ptx.back() == '\0') compiled.ptx.pop_back();
  if (!cache_.empty()) {
    make_folder(cache_);
    write_file_atomically(entry, fmt::format("{}{} {}\n{}", mark, compiled.symbol, compiled.ptx.size(), compiled.ptx));
  }
  return compiled;
}

}  // namespace sluice::gpu
