// SPDX-License-Identifier: Apache-2.0
#pragma once
// CUDA graphs. A graph is the program's; its executables have transformed kernels, each node with a control block of its own:
// executables of one graph may run at the same time.
#include <cuda.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "sw/interpose/coverage.h"
#include "sw/interpose/lanes.h"

namespace sluice::interpose {

class Program;

class Graphs {
 public:
  explicit Graphs(Program& program) : program_(program) {}
  using Params = CUDA_KERNEL_NODE_PARAMS;
  using Driver = std::function<CUresult()>;
  // Each stands for the driver's function of the name. The graph's kernel nodes are ours while `driver` is called.
  /// @param by_device  the device may launch what is made
  [[nodiscard]] CUresult instantiate(CUgraph graph, CUgraphExec* exec, bool by_device, const Driver& driver);
  [[nodiscard]] CUresult update(CUgraphExec exec, CUgraph graph, const Driver& driver);
  [[nodiscard]] CUresult set_child(CUgraphExec exec, CUgraphNode node, CUgraph child, const Driver& driver);
  /// Calls `driver` with the parameters of the transformed kernel, or as they are.
  [[nodiscard]] CUresult set_kernel(CUgraphExec exec, CUgraphNode node, const Params& params,
                                    const std::function<CUresult(const Params&)>& driver);
  [[nodiscard]] CUresult launch(CUgraphExec exec, CUstream stream, const std::function<CUresult()>& driver);
  [[nodiscard]] CUresult destroy(CUgraphExec exec, const std::function<CUresult()>& driver);
  bool collect();    ///< GPU times of replays that are done. @return some are not
  void count_all();  ///< replays since the last call, to the coverage
  void context_ends(ContextId context);
  [[nodiscard]] bool empty() const { return execs_.empty(); }
  void forget();

 private:
  struct Node {
    std::string kernel, reason;  // reason empty: ours
    std::shared_ptr<Slot> slot;
    KernelDemand demand;
    std::uint64_t blocks = 0;
    std::vector<void*> pointers;  // to the launch's arguments
    CUgraphNode child = nullptr;  // of the graph itself, where the node is of a child graph
  };
  using Own = std::vector<std::pair<CUgraphNode, Params>>;  // nodes that are ours, and what the program has there
  struct Exec {
    std::shared_ptr<Lane> lane;
    GpuNumber gpu = current_gpu();
    std::string native;  // why all of it runs as it is
    std::map<CUgraphNode, Node> nodes;
    Event last;  // behind its last replay, which may have stood behind a launch that sleeps
    KernelDemand largest;
    std::uint64_t blocks = 0, replays = 0, counted = 0;
    Clock::time_point timed;
  };
  struct Timed {
    ContextId context = 0;
    CUevent begin = nullptr, end = nullptr;
    std::vector<Coverage::Key> nodes;
  };
  struct Spare {
    std::shared_ptr<Slot> slot;
    std::shared_ptr<ContextState> context_state;
    Event free;  // of the executable that had it: when its last replay has ended
  };
  [[nodiscard]] Own give_blocks(std::unique_lock<std::mutex>& held, CUgraph graph, CUgraphNode child, Exec& exec);
  [[nodiscard]] bool give_block(std::unique_lock<std::mutex>& held, Params& params, const std::string& native, Node& node,
                                Exec& exec);
  [[nodiscard]] CUresult replace(CUgraphExec exec, CUgraph graph, CUgraphNode child, const Driver& driver);
  [[nodiscard]] std::shared_ptr<Slot> block(std::unique_lock<std::mutex>& held, Lane& lane);
  void restrict_to_channels(CUgraph graph, Exec& exec);
  void sum_up(Exec& exec);
  void count(Exec& exec);
  [[nodiscard]] static Coverage::Key key_of(const Exec& exec, const Node& node);
  void drop(Exec& exec);
  Program& program_;
  std::unordered_map<CUgraphExec, Exec> execs_;
  std::deque<Timed> open_;
  std::vector<Spare> spare_;
};

}  // namespace sluice::interpose
