// SPDX-License-Identifier: Apache-2.0
#pragma once
// CUDA graphs: their kernel nodes hold transformed kernels, and the program sees its own. A node gets its control block when its
// graph is instantiated: executables of one graph may run at the same time.
#include <cuda.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "sw/interpose/lanes.h"

namespace sluice::interpose {

class Program;

class Graphs {
 public:
  explicit Graphs(Program& program) : program_(program) {}
  // Each stands for the driver's function of the name, without and with what version 2 of the parameters has more.
  using Params = CUDA_KERNEL_NODE_PARAMS;
  using WithParams = std::function<CUresult(const Params&)>;
  /// Calls `driver` with the parameters of the transformed kernel, or as they are.
  [[nodiscard]] CUresult set_params(CUgraph graph, const Params& params, const WithParams& driver);
  /// The same for a node of an executable, which needs a control block.
  [[nodiscard]] CUresult set_exec_params(CUgraphExec exec, CUgraphNode node, const Params& params, const WithParams& driver);
  void to_original(Params& params) const;  ///< what a node's parameters were before we changed them
  /// Gives control blocks to all nodes of the graph that are ours, calls `driver`, and remembers what the executable has.
  [[nodiscard]] CUresult instantiate(CUgraph graph, CUgraphExec* exec, const std::function<CUresult()>& driver);
  [[nodiscard]] CUresult update(CUgraphExec exec, CUgraph graph, const std::function<CUresult()>& driver);
  [[nodiscard]] CUresult launch(CUgraphExec exec, CUstream stream, const std::function<CUresult()>& driver);
  [[nodiscard]] CUresult destroy(CUgraphExec exec, const std::function<CUresult()>& driver);
  void body(CUgraph graph);  ///< of a conditional node: what is in there runs as it is
  /// A launch into `stream` becomes a node of such a graph. The stream is captured. @pre the lock is held
  [[nodiscard]] bool captured_into_body(CUstream stream) const;
  bool collect();    ///< GPU times of replays that are done. @return some are not
  void count_all();  ///< replays since the last call, to the coverage
  [[nodiscard]] bool empty() const { return execs_.empty(); }
  void forget();

 private:
  struct Node {
    std::string kernel, reason;  // reason empty: ours
    std::shared_ptr<Slot> slot;
    KernelDemand demand;
    std::uint64_t blocks = 0;
    std::vector<void*> pointers;  // to the launch's arguments
  };
  struct Exec {
    std::shared_ptr<Lane> lane;
    std::map<CUgraphNode, Node> nodes;
    CUevent last = nullptr;  // behind its last replay, where shares may change
    KernelDemand largest;
    std::uint64_t blocks = 0, replays = 0, counted = 0;
    Clock::time_point timed;
  };
  struct Timed {
    CUevent begin = nullptr, end = nullptr;
    std::vector<std::pair<std::string, std::string>> nodes;  // kernel and reason
  };
  struct Spare {
    std::shared_ptr<Slot> slot;
    ContextState* context_state;
    CUevent free;  // of the executable that had it: when its last replay has ended
  };
  void give_blocks(std::unique_lock<std::mutex>& held, CUgraph graph, Exec& exec);
  [[nodiscard]] bool give_block(std::unique_lock<std::mutex>& held, Params& params, Node& node, Exec& exec);
  [[nodiscard]] std::shared_ptr<Slot> block(std::unique_lock<std::mutex>& held, Lane& lane, unsigned ctas);
  void sum_up(Exec& exec);
  void count(Exec& exec);
  void drop(Exec& exec);
  Program& program_;
  std::unordered_map<CUgraphExec, Exec> execs_;
  std::set<CUgraph> bodies_;
  std::deque<Timed> open_;
  std::vector<Spare> spare_;
};

}  // namespace sluice::interpose
