// SPDX-License-Identifier: Apache-2.0
#pragma once
// The program that runs under `sluice run`: its modules, its kernels, its launches.
#include <cuda.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sw/gpu/rewrite/gate.h"
#include "sw/interpose/code.h"
#include "sw/interpose/coverage.h"
#include "sw/interpose/graphs.h"
#include "sw/interpose/lanes.h"
#include "sw/interpose/threads.h"

namespace sluice::interpose {

/// One launch, as the program asked for it.
struct ProgramLaunch {
  CUfunction function = nullptr;
  CUstream stream = nullptr;
  gpu::LaunchFacts facts;
  void** parameters = nullptr;
  void** extra = nullptr;
};

/// What to launch in place of a launch.
struct Transformed {
  CUfunction function = nullptr;
  unsigned grid[2] = {1, 1}, shared = 0;
  std::vector<void*> parameters;   ///< the program's, and the job
  std::shared_ptr<SluiceJob> job;  ///< what the last of them points to
  KernelDemand demand;
  std::uint64_t blocks = 0;
  bool waits = false;
  bool small = false;                                                  ///< of less than two rounds of what the SMs hold
  bool follows_closely = false;                                        ///< its CTAs may be placed while the launch before it ends
  std::vector<std::size_t> bytes;                                      ///< of the program's parameters
  [[nodiscard]] Pending pending(const gpu::LaunchFacts& facts) const;  ///< a copy that outlives the program's arguments
};

/// The program's own kernel runs for once.
inline constexpr const char* kNotLoaded = "its code could not be loaded while a launch stood still that may wait for it";

/// This thread launches: where a signal's handler calls exit() then, the driver may be asked nothing.
inline thread_local bool in_driver = false;
inline constexpr const char* kShort = "short launches: bringing persistent CTAs would cost more than it gives";
inline constexpr const char* kOtherContext = "its context is not that of its stream";

/// Launches that run natively, and are followed to their end.
class Followed {
 public:
  explicit Followed(std::size_t most = 16) : most_(most) {}
  [[nodiscard]] bool full();                                  ///< so many are under way
  void enters() { ++entering_; }                              ///< a launch is about to be made
  void entered(CUstream stream, std::shared_ptr<Lane> lane);  ///< it is in the stream, and may stand behind launches of the lane
  [[nodiscard]] bool runs();  ///< one may be on the GPU: it does not stand behind what waits for a share
  void context_ends(CUcontext context);
  [[nodiscard]] bool told() const { return told_; }  ///< ended() has said so, and none entered since. From any thread
  [[nodiscard]] bool ended();                        ///< all that entered have, since the last call

 private:
  struct Launch {
    CUcontext context = nullptr;
    CUevent behind = nullptr;
    std::shared_ptr<Lane> lane{};
  };
  void look();
  std::deque<Launch> under_way_;
  std::vector<Launch> spare_;
  std::size_t entering_ = 0;
  const std::size_t most_;
  std::atomic<bool> told_ = true;
};

class Program {
 public:
  static Program& instance();  ///< lives as long as the process
  /// A module or library was loaded with the code, or as it is.
  void module(void* handle, Prepared prepared, bool library);
  /// It was unloaded, and what is ours of it is unloaded as well. @pre none of its launches is on the GPU
  void unloaded(void* handle);
  /// The program has a kernel's handle. @param module  it comes from; @param library  `module` is a CUlibrary
  /// A CUfunction's code is in the current context from then on; that of a CUkernel is not.
  void kernel(void* handle, void* module, const char* name, bool library);
  void same_kernel(void* handle, void* known);  ///< a CUfunction of a CUkernel
  void attribute(void* handle, CUfunction_attribute which, int value);
  /// Launches, transformed or as it is. @param as_it_is  the driver's own call; @param with  the driver's call for our launch
  using Native = std::function<CUresult()>;
  using Ours = std::function<CUresult(const Transformed&)>;
  [[nodiscard]] CUresult launch(const ProgramLaunch& launch, const Native& as_it_is, const Ours& with);
  /// The transformed form of a launch in the current context, without a control block. The lock is held, and given up while a
  /// kernel is compiled.
  /// @param patient  waits until the kernel is compiled: a node of a graph is made once
  /// @return nothing: natively, for the reason
  [[nodiscard]] std::optional<Transformed> transformed(std::unique_lock<std::mutex>& held, const ProgramLaunch& launch,
                                                       bool patient, std::string& name, std::string& reason);
  /// Why a launch runs natively although it could be ours, as far as launches of the kernel were timed; empty: it does not.
  /// @param of_graph  the node stays what it is made
  [[nodiscard]] std::string not_worth_it(const std::string& kernel, const Transformed& launch, bool of_graph);
  /// A function of the driver that launches in a way of its own is about to be called.
  void launches_natively(const std::string& entry);
  void captures() { captures_ = true; }  ///< from here on a stream may be captured
  void captured(void* handle);           ///< a launch of it: the node may have the function of the context
  [[nodiscard]] std::string name_of(void* function) const;
  /// While it lives, none of the process's launches that may sleep is on the GPU: it waits for those that are, and others do not
  /// begin.
  class Drain {
   public:
    explicit Drain(Program& program);
    /// Gives the lock up while it waits. @param patient  else not where a launch stands still that may wait for what is to come
    Drain(Program& program, std::unique_lock<std::mutex>& held, bool patient);
    [[nodiscard]] bool reached() const { return reached_; }
    ~Drain();
    Drain(const Drain&) = delete;
    Drain& operator=(const Drain&) = delete;

   private:
    void wait(std::unique_lock<std::mutex>& held, bool patient);
    Program& program_;
    bool reached_ = true;
  };
  /// A stream of the program begins. @return where it is beyond the channels: to be kept until it is there
  [[nodiscard]] std::unique_ptr<Drain> stream_begins();
  /// A thread's own stream begins with the first call that names it. Before the lock.
  void meets(CUstream stream);
  /// A graph's branches sleep in channels of the driver's choice, which orders and later grids must be able to pass.
  void make_spares(std::unique_lock<std::mutex>& held, const ContextState& of_graph);
  void wait_while_draining(std::unique_lock<std::mutex>& held);
  /// The driver may load code for it now. @param name  of what is looked for in `of`
  [[nodiscard]] bool first_look(void* of, const char* name);
  [[nodiscard]] bool sleepers_possible();  ///< launches that may sleep are on the GPU
  /// Something that is no launch enters the stream: waits where the driver would, for room in its queue.
  void make_room(CUstream stream);
  /// A stream of the program waits for another's event: first for a channel that orders can pass.
  [[nodiscard]] CUresult wait_event(CUstream stream, const Native& as_it_is);
  /// What a copy in the stream waits for, where launches that may sleep are outstanding. Else it returns at once.
  void wait_for_launches(CUstream stream);
  void stream_ends(CUstream stream);
  /// @return to be kept until the driver has ended it: memory that the GPU may still write
  [[nodiscard]] std::shared_ptr<void> context_ends(CUcontext context, bool read = false);
  void context_may_end(CUcontext context);  ///< reads what was counted there; context_ends() with `read` takes that
  /// Devices' own contexts may have been reset by a way that no hook sees: the address is the same, the id another. With the
  /// lock.
  void notice_resets();
  [[nodiscard]] std::mutex& lock() { return lock_; }
  [[nodiscard]] Coverage& coverage() { return coverage_; }
  [[nodiscard]] Lanes& lanes() { return lanes_; }
  [[nodiscard]] Graphs& graphs() { return graphs_; }
  [[nodiscard]] std::vector<CoverageLine> coverage_lines(GpuNumber gpu);
  void ends();                 ///< the process: called once
  [[nodiscard]] bool holds();  ///< launches without a transformed form, to the program's turn
  [[nodiscard]] bool held_one_runs(GpuNumber gpu);
  void look_at_admitted(GpuNumber gpu);  ///< from a thread of ours: tells who decides when what was admitted has ended

 private:
  Program();
  struct Shape {
    unsigned native = 0, transformed = 0, shared_left = 0, sms = 0;
    KernelDemand demand;
  };
  /// What there is of a kernel in one context.
  struct Part {
    CUcontext context = nullptr;
    CUfunction own = nullptr, ours = nullptr;               ///< null: not loaded, or the driver refuses
    CUmodule beside = nullptr;                              ///< ours, which `ours` is of; null: it is of the program's module
    bool own_loaded = false;                                ///< the program's own: a native launch need not wait
    bool seen = false;                                      ///< both, as far as there is code
    std::map<std::pair<unsigned, unsigned>, Shape> shapes;  ///< by threads and dynamic shared memory
  };
  /// One for a module and a name, however many handles lead to it.
  struct Kernel {
    std::string name, why;
    std::uint64_t text = 0;  ///< of its module: a hash
    void* module = nullptr;
    bool library = false;
    bool gone = false;      ///< its module was unloaded
    ContextId context = 0;  ///< of its module; a library has none
    void* own = nullptr;    ///< the handle that the module gave
    const gpu::ModuleKernel* form = nullptr;
    std::shared_ptr<const Code> code;
    bool beside = false;                                          ///< `code` is loaded beside the program's module
    bool loading = false;                                         ///< by some thread
    unsigned registers = 0;                                       ///< of a thread of the program's own, once that is loaded
    std::shared_ptr<Later> later;                                 ///< its code, or its module's, which is for the next process
    std::shared_ptr<Lazy> lazy;                                   ///< its code can be used here, once it is there
    Clock::duration awaited{};                                    ///< its code, by launches
    std::optional<int> carveout;                                  ///< as the program set it
    gpu::LaunchFacts known;                                       ///< of the last launch that ran natively
    bool never = false;                                           ///< no launch of it can be under quota, whatever its shape
    Coverage::Row* known_row = nullptr;                           ///< where such launches count; null: decide anew
    std::uint64_t short_blocks = 0, timed = 0;                    ///< of a short launch, and of its row when it was one
    std::vector<std::pair<std::size_t, std::size_t>> parameters;  ///< offset and bytes
    std::map<ContextId, Part> parts;
    [[nodiscard]] bool loaded_in(ContextId id) const;  ///< the program's own
  };
  using KernelPtr = std::shared_ptr<Kernel>;
  struct Module {
    Prepared code;
    ContextId context = 0;  ///< of a library: none
  };
  [[nodiscard]] KernelPtr find(void* handle) const;  ///< null: it came by an unknown way
  [[nodiscard]] std::optional<std::string> prepare(Kernel& kernel, Part& part, const ProgramLaunch& launch, Transformed& out);
  [[nodiscard]] static const Shape& shape(const Kernel& kernel, Part& part, const gpu::LaunchFacts& facts);
  [[nodiscard]] std::shared_ptr<Lane> enter(std::unique_lock<std::mutex>& held, CUstream stream, std::string& reason);
  mutable std::mutex lock_;
  static void adopt(Kernel& kernel);  // what was compiled for it
  [[nodiscard]] bool load(std::unique_lock<std::mutex>& held, CUfunction handle, const KernelPtr& kernel, ContextId here);
  void load_own(std::unique_lock<std::mutex>& held, const KernelPtr& kernel, ContextId here);
  void load_one(std::unique_lock<std::mutex>& held, const KernelPtr& kernel, ContextId here);
  void load_others(std::unique_lock<std::mutex>& held, ContextId here);
  void begin_compiling(std::unique_lock<std::mutex>& held, const KernelPtr& kernel);
  void compile(std::unique_lock<std::mutex>& held, const KernelPtr& kernel, bool patient);
  /// Waits while launches of a kernel run ahead of its code: the host could have them all in the driver's queue before that is
  /// there. Not for long: one may wait for what the program does next. @return the code is there
  [[nodiscard]] bool await_code(std::unique_lock<std::mutex>& held, Kernel& kernel);
  static void unload(const Part& part);  // without the lock
  /// Takes the kernels and their handles, of which it is true, away. @return what is to be unloaded
  [[nodiscard]] std::vector<Part> forget_module(void* handle);
  [[nodiscard]] std::vector<Part> forget_kernels(const std::function<bool(const Kernel&)>& which);
  [[nodiscard]] CUresult run_native(std::unique_lock<std::mutex>& held, Coverage::Row& row, CUstream stream,
                                    const Native& as_it_is, std::uint64_t short_blocks = 0);
  [[nodiscard]] CUresult run_held(std::unique_lock<std::mutex>& held, Coverage::Row& row, CUstream stream,
                                  const Native& as_it_is);
  std::unordered_map<void*, Module> modules_;
  std::unordered_map<void*, KernelPtr> kernels_;  // by every handle
  std::atomic<bool> ended_{false};                // the process ends: nothing waits any more
  std::atomic<bool> ends_in_driver_{false};       // by a call in a handler of a signal, of a thread that is there
  void tell();
  LastWork tell_{[this] { tell(); }};                    // the coverage table on standard error, and the report
  std::atomic<int> drains_{0};                           // lives of Drain
  bool behind_ = false;                                  // some kernels are to be loaded when nothing sleeps
  std::map<const void*, std::size_t> ahead_;             // kernels of a module that were loaded with another
  std::atomic<bool> captures_{false};                    // some stream has been captured
  void forget_context(CUcontext context, ContextId id);  ///< all but its lanes
  std::set<std::tuple<ContextId, void*, std::string>> looked_at_;
  struct SeenContext {
    ContextId id = 0;
    bool stays =
        false;  ///< a device's own: its address stays. Of others none may be asked: who ends a green context tells nobody
  };
  std::map<CUcontext, SeenContext> ids_;                  ///< as they were seen last
  std::set<std::pair<ContextId, CUfunction>> strangers_;  // kernels that came by an unknown way, and were launched
  Lanes lanes_{lock_};
  Graphs graphs_{*this};
  Coverage coverage_;
  static constexpr std::size_t kGpus = 32;  ///< of a process; more would share
  /// By GPU: without a transformed form, in the program's turn. That is to end soon after it is told to.
  std::array<Followed, kGpus> opaque_;
  [[nodiscard]] Followed& opaque(GpuNumber gpu) { return opaque_[static_cast<std::size_t>(gpu) % kGpus]; }
  Followed ahead_of_code_{4};
  Followed native_waits_;      ///< launches whose blocks wait for others, natively: no code is loaded beside them
  Clock::duration awaited_{};  ///< the code of kernels, by launches
};

}  // namespace sluice::interpose
