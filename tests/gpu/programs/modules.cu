// SPDX-License-Identifier: Apache-2.0
// Code by the driver's interface and at run time: modules, libraries, links, contexts, NVRTC, a library with a runtime of its
// own.
#include <dlfcn.h>
#include <nvrtc.h>

#include <filesystem>

#include "program.h"

namespace {

/// v[i] = v[i] * 5 + mark, as `name`; behind: more text of the module. Every word of it is a mark's own.
std::string ptx_of(unsigned mark, const std::string& name = "k", const std::string& before = "", const std::string& by = "") {
  return ".version 8.0\n.target sm_90\n.address_size 64\n" + before + ".visible .entry " + name + "(.param .u64 v)\n{\n" +
         ".reg .b32 %r<9>;\n.reg .b64 %rd<6>;\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
         "mad.lo.s32 %r4, %r1, %r2, %r3;\nld.param.u64 %rd1, [v];\ncvta.to.global.u64 %rd2, %rd1;\nmul.wide.u32 %rd3, %r4, 4;\n"
         "add.s64 %rd4, %rd2, %rd3;\nld.global.u32 %r5, [%rd4];\nmov.u32 %r7, " +
         std::to_string(mark) + ";\n" + by + "mad.lo.s32 %r6, %r5, 5, %r7;\nst.global.u32 [%rd4], %r6;\nret;\n}\n";
}
struct Module {
  explicit Module(const std::string& text, const char* name = "k") {
    ck(cuModuleLoadDataEx(&m, text.c_str(), 0, nullptr, nullptr));
    ck(cuModuleGetFunction(&f, m, name));
  }
  CUmodule m{};
  CUfunction f{};
};
void launch(CUfunction f, unsigned* v, CUstream s = nullptr, unsigned blocks = kBlocks) {
  void* arguments[] = {&v};
  ck(cuLaunchKernel(f, blocks, 1, 1, kThreads, 1, 1, 0, s, arguments, nullptr));
}

CASE(ptx_module, quota) {
  Words v;
  const std::string variable = ".visible .global .u32 more = 4;\n";
  Module m(ptx_of(3, "k", variable, "ld.global.u32 %r8, [more];\nadd.u32 %r7, %r7, %r8;\n"));
  CUdeviceptr at = 0;
  std::size_t bytes = 0;
  ck(cuModuleGetGlobal(&at, &bytes, m.m, "more"));
  launch(m.f, v);
  const unsigned nine = 9;
  ck(cuMemcpyHtoD(at, &nine, 4));
  auto* p = v.p;
  std::size_t size = 8;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &p, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  ck(cuLaunchKernel(m.f, kBlocks, 1, 1, kThreads, 1, 1, 0, nullptr, nullptr, extra));
  v.all(step_on_host(7, 12));
  CUfunction none{};
  std::printf("absent %d, wrong text %d\n", cuModuleGetFunction(&none, m.m, "absent"), cuModuleLoadData(&m.m, "no PTX"));
  int registers = 0, threads = 0;
  ck(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, m.f));
  ck(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, m.f));
  std::printf("%d registers, %d threads\n", registers, threads);
}
CASE(modules_come_and_go, quota) {
  Words v;
  Stream s;
  unsigned x = 0;
  for (unsigned mark = 1; mark <= 60; ++mark) {  // of one name, at addresses that come again
    Module m(ptx_of(mark));
    const int times = mark % 4 == 0 ? 3 : 1;
    for (int k = 0; k < times; ++k) launch(m.f, v, s), x = step_on_host(x, mark);
    if (mark % 5 == 0) {
      cudaGraph_t g{};
      cudaGraphExec_t exec{};
      ck(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
      launch(m.f, v, s);
      ck(cudaStreamEndCapture(s, &g));
      ck(cudaGraphInstantiate(&exec, g, 0));
      for (int k = 0; k < 2; ++k) ck(cudaGraphLaunch(exec, s)), x = step_on_host(x, mark);
      ck(cudaStreamSynchronize(s));
      ck(cudaGraphExecDestroy(exec));
      ck(cudaGraphDestroy(g));
    }
    ck(cudaStreamSynchronize(s));
    ck(cuModuleUnload(m.m));
  }
  v.all(x);
}
CASE(two_modules_of_one_name, quota) {
  Words v;
  Module one(ptx_of(1)), two(ptx_of(2)), three(ptx_of(3, "other"), "other");
  unsigned x = 0;
  for (unsigned k = 0; k < 12; ++k) {
    launch(k % 3 == 0 ? one.f : k % 3 == 1 ? two.f : three.f, v);
    x = step_on_host(x, k % 3 + 1);
  }
  v.all(x);
}
CASE(libraries, quota) {
  Words v;
  CUlibrary library{};
  CUkernel kernel{};
  CUfunction f{};
  CUdeviceptr at = 0;
  std::size_t bytes = 0;
  CUdevice device = 0;
  const std::string text =
      ptx_of(2, "k", ".visible .global .u32 more = 1;\n", "ld.global.u32 %r8, [more];\nadd.u32 %r7, %r7, %r8;\n");
  ck(cuLibraryLoadData(&library, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  ck(cuLibraryGetKernel(&kernel, library, "k"));
  ck(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000, kernel, device));
  auto* p = v.p;
  void* arguments[] = {&p};
  const auto by_handle = [&](unsigned shared) {
    return cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), kBlocks, 1, 1, kThreads, 1, 1, shared, nullptr, arguments,
                          nullptr);
  };
  ck(by_handle(0));
  ck(by_handle(100000));
  std::printf("more than it may: %d\n", by_handle(200000));
  ck(cuLibraryGetGlobal(&at, &bytes, library, "more"));
  const unsigned five = 5;
  ck(cuMemcpyHtoD(at, &five, 4));
  ck(cuKernelGetFunction(&f, kernel));
  launch(f, v);
  std::size_t offset = 0, size = 0;
  int registers = 0;
  ck(cuKernelGetParamInfo(kernel, 0, &offset, &size));
  ck(cuKernelGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, device));
  std::printf("parameter at %zu of %zu bytes, %d registers\n", offset, size, registers);
  v.all(step_on_host(step_on_host(3, 3), 7));
  ck(cuLibraryUnload(library));
  for (unsigned mark = 1; mark <= 10; ++mark) {  // the runtime's interface to the same
    const std::string again = ptx_of(mark);
    cudaLibrary_t l{};
    cudaKernel_t k{};
    Words u;
    ck(cudaLibraryLoadData(&l, again.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    ck(cudaLibraryGetKernel(&k, l, "k"));
    void* of_u[] = {&u.p};
    ck(cudaLaunchKernel(k, kBlocks, kThreads, of_u, 0, nullptr));
    u.all(mark);
    ck(cudaFree(u));
    ck(cudaLibraryUnload(l));
  }
}
CASE(linked_parts, either) {
  Words v;
  const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n";
  const std::string part = head +
                           ".visible .func (.param .b32 out) adds(.param .b32 in)\n{\n.reg .b32 %r<3>;\nld.param.b32 %r1, [in];\n"
                           "add.u32 %r2, %r1, 40;\nst.param.b32 [out], %r2;\nret;\n}\n";
  const std::string caller = ptx_of(2, "k", ".extern .func (.param .b32 out) adds(.param .b32 in);\n",
                                    "{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r7;\ncall.uni (b), adds, (a);\n"
                                    "ld.param.b32 %r7, [b];\n}\n");
  CUlinkState state{};
  void* image = nullptr;
  std::size_t bytes = 0;
  ck(cuLinkCreate(0, nullptr, nullptr, &state));
  for (const std::string* text : {&part, &caller})
    ck(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(text->c_str()), text->size() + 1, "part", 0, nullptr, nullptr));
  ck(cuLinkComplete(state, &image, &bytes));
  CUmodule m{};
  CUfunction f{};
  ck(cuModuleLoadData(&m, image));
  ck(cuLinkDestroy(state));
  ck(cuModuleGetFunction(&f, m, "k"));
  launch(f, v);
  v.all(42);
}
CASE(compiled_at_run_time, quota) {
  const char* text =
      "template <class T, int By> __global__ void grows(T* v) { v[blockIdx.x * blockDim.x + threadIdx.x] += By; }\n"
      "__constant__ unsigned many;\n"
      "extern \"C\" __global__ void adds(unsigned* v) { v[blockIdx.x * blockDim.x + threadIdx.x] += many; }\n";
  Words v;
  unsigned sum = 0;
  for (const bool machine_code : {false, true}) {
    nvrtcProgram program{};
    const char* name = nullptr;
    const char* options[] = {machine_code ? "-arch=sm_90" : "-arch=compute_90"};
    expect(nvrtcCreateProgram(&program, text, "text.cu", 0, nullptr, nullptr) == NVRTC_SUCCESS);
    expect(nvrtcAddNameExpression(program, "grows<unsigned, 7>") == NVRTC_SUCCESS);
    expect(nvrtcCompileProgram(program, 1, options) == NVRTC_SUCCESS);
    expect(nvrtcGetLoweredName(program, "grows<unsigned, 7>", &name) == NVRTC_SUCCESS);
    std::size_t bytes = 0;
    expect((machine_code ? nvrtcGetCUBINSize(program, &bytes) : nvrtcGetPTXSize(program, &bytes)) == NVRTC_SUCCESS);
    std::string code(bytes, 0);
    expect((machine_code ? nvrtcGetCUBIN(program, code.data()) : nvrtcGetPTX(program, code.data())) == NVRTC_SUCCESS);
    CUmodule m{};
    CUfunction grows{}, adds{};
    CUdeviceptr at = 0;
    ck(cuModuleLoadData(&m, code.data()));
    ck(cuModuleGetFunction(&grows, m, name));
    ck(cuModuleGetFunction(&adds, m, "adds"));
    ck(cuModuleGetGlobal(&at, nullptr, m, "many"));
    expect(nvrtcDestroyProgram(&program) == NVRTC_SUCCESS);
    for (unsigned k = 1; k <= 3; ++k) {
      ck(cuMemcpyHtoD(at, &k, 4));
      launch(grows, v);
      launch(adds, v);
      sum += 7 + k;
    }
    v.all(sum);
    ck(cuModuleUnload(m));
  }
}
CASE(two_contexts, quota) {
  ck(cuInit(0));
  CUdevice device = 0;
  CUcontext contexts[2] = {};
  CUstream streams[2] = {};
  CUdeviceptr v[2] = {};
  std::vector<Module> modules;
  const std::string variable = ".visible .global .u32 more = 1;\n", by = "ld.global.u32 %r8, [more];\nadd.u32 %r7, %r7, %r8;\n";
  for (int c = 0; c < 2; ++c) {
    ck(cuCtxCreate(&contexts[c], nullptr, 0, device));
    modules.emplace_back(ptx_of(10 * (static_cast<unsigned>(c) + 1), "k", variable, by));
    ck(cuStreamCreate(&streams[c], CU_STREAM_NON_BLOCKING));
    ck(cuMemAlloc(&v[c], kWords * 4));
    ck(cuMemsetD32(v[c], 0, kWords));
    CUdeviceptr at = 0;
    ck(cuModuleGetGlobal(&at, nullptr, modules[c].m, "more"));
    ck(cuMemsetD32(at, static_cast<unsigned>(c), 1));
    ck(cuCtxSynchronize());
  }
  unsigned x[2] = {};
  for (int k = 0; k < 20; ++k) {
    const int c = k % 3 == 0 ? 0 : 1;
    ck(cuCtxSetCurrent(contexts[c]));
    launch(modules[c].f, reinterpret_cast<unsigned*>(v[c]), streams[c]);
    x[c] = step_on_host(x[c], 11U * static_cast<unsigned>(c) + 10);
  }
  unsigned word = 0;
  for (const int c : {1, 0}) {
    ck(cuCtxSetCurrent(contexts[c]));
    ck(cuCtxSynchronize());
    for (const unsigned at : {0U, kWords / 2, kWords - 1}) {
      ck(cuMemcpyDtoH(&word, v[c] + at * 4ULL, 4));
      expect(word == x[c]);
    }
  }
  ck(cuCtxDestroy(contexts[0]));  // the other, and the device's own, go on
  ck(cuCtxSetCurrent(contexts[1]));
  launch(modules[1].f, reinterpret_cast<unsigned*>(v[1]), streams[1]);
  ck(cuCtxSynchronize());
  ck(cuMemcpyDtoH(&word, v[1], 4));
  expect(word == step_on_host(x[1], 21));
  ck(cuCtxDestroy(contexts[1]));
  ck(cudaSetDevice(0));
  Words own;
  launch_step(own, 3);
  own.all(3);
}
/// Two parts of the GPU, made anew in each turn; the ended ones' addresses may come again.
CASE(green_contexts_come_and_go, either) {
  finish();
  Words words[2];
  Event behind[2];
  unsigned x[2] = {};
  for (unsigned turn = 0; turn < 4; ++turn) {
    CUdevResource sms, parts[2];
    unsigned groups = 1;
    ck(cuDeviceGetDevResource(0, &sms, CU_DEV_RESOURCE_TYPE_SM));
    ck(cuDevSmResourceSplitByCount(&parts[0], &groups, &sms, &parts[1], 0, sms.sm.smCount / 2));
    CUgreenCtx contexts[2];
    CUstream streams[2];
    for (int c = 0; c < 2; ++c) {
      CUdevResourceDesc part;
      ck(cuDevResourceGenerateDesc(&part, &parts[c], 1));
      ck(cuGreenCtxCreate(&contexts[c], part, 0, CU_GREEN_CTX_DEFAULT_STREAM));
      ck(cuGreenCtxStreamCreate(&streams[c], contexts[c], CU_STREAM_NON_BLOCKING, 0));
    }
    for (unsigned k = 0; k < 8; ++k) {
      const unsigned c = k % 3 == 0 ? 0 : 1;
      if (k > 0) ck(cudaStreamWaitEvent(streams[c], behind[(k - 1) % 3 == 0 ? 0 : 1]));
      launch_step(words[c], k + turn, streams[c]);
      x[c] = step_on_host(x[c], k + turn);
      ck(cudaEventRecord(behind[c], streams[c]));
    }
    if (turn % 2 == 0) {  // else a context ends with a stream in it
      finish();
      for (const CUstream s : streams) ck(cuStreamDestroy(s));
    } else {
      for (const Event& e : behind) ck(cudaEventSynchronize(e));
    }
    for (const CUgreenCtx context : contexts) ck(cuGreenCtxDestroy(context));
    launch_step(words[0], turn);  // the device's own goes on
    x[0] = step_on_host(x[0], turn);
    finish();
  }
  for (int c = 0; c < 2; ++c) words[c].all(x[c]);
}
CASE(fault_in_one_context, quota) {
  ck(cuInit(0));
  CUcontext bad{};
  ck(cuCtxCreate(&bad, nullptr, 0, 0));
  Module m(ptx_of(0, "k", "", "trap;\n"));
  CUdeviceptr v = 0;
  ck(cuMemAlloc(&v, kWords * 4));
  launch(m.f, reinterpret_cast<unsigned*>(v));
  std::printf("told %d\n", cuCtxSynchronize());
  std::printf("destroyed %d\n", cuCtxDestroy(bad));
  if (!has_gpu()) return;
  Words own;
  launch_step(own, 3);
  own.all(3);
}
CASE(everything_loaded_at_once, quota) {
  ::setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  Words v;
  for (unsigned k = 1; k <= 3; ++k) launch_step(v, k);
  v.all(step_on_host(step_on_host(1, 2), 3));
  CUmoduleLoadingMode mode{};
  ck(cuModuleGetLoadingMode(&mode));
  std::printf("mode %d\n", mode);
}
CASE(library_with_its_own_runtime, quota) {
  const std::string path = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "library.so";
  Words v;
  unsigned x = 0;
  for (int round = 0; round < 3; ++round) {  // opened, used, closed, and again
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) wrong(::dlerror());
    const auto steps = reinterpret_cast<int (*)(unsigned*, unsigned, cudaStream_t)>(::dlsym(library, "steps_in_library"));
    Stream s;
    launch_step(v, 1, s);
    expect(steps(v, 8, s) == 0);
    launch_step(v, 2, s);
    x = step_on_host(step_on_host(step_on_host(x, 1), 8), 2);
    v.all(x);
    ::dlclose(library);
  }
}

}  // namespace
