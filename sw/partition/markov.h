// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kernelet's performance model (Zhong, He: Kernelet, IEEE TPDS 2014, section 4.3): a Markov chain of the warps of one virtual SM,
// that is, of one warp scheduler and its share of the SM. A step is a round: every ready warp issues one instruction. A state
// tells how many warps of each kernel wait, and for what. docs/papers.md says what is changed against the paper.
#include <cstddef>
#include <span>
#include <vector>

namespace sluice {

/// One kind of access that makes a warp wait. The paper has two: coalesced and uncoalesced.
struct MarkovWait {
  double ratio = 0;     ///< R_m: of the warp's instructions, those that it waits after; 0 to kMaxWaitRatio over all kinds
  double latency = 1;   ///< b_0: cycles of a wait with no request under way, 1 to kMaxWaitFigure
  double slope = 0;     ///< a_0: cycles more for each request under way, 0 to kMaxWaitFigure
  double requests = 1;  ///< requests under way for a warp that waits, 0 to kMaxWaitFigure
};

/// A kernel as one virtual SM sees it.
struct MarkovKernel {
  std::vector<MarkovWait> waits{};  ///< at most kMaxWaits; none: its warps are always ready
  double issue_cycles = 1;          ///< cycles of the scheduler an instruction, at least 1; the paper's is 1
  double traffic = 1;               ///< share of its requests that other kernels can meet, 0..1; the paper's is 1
  double exposure = 1;  ///< share of those requests that hold this kernel up when others make them, 0..1; the paper's is 1
};

/// At 1 the chain can fall into parts that never meet, and then has no one steady state.
inline constexpr double kMaxWaitRatio = 0.999;
inline constexpr double kMaxWaitFigure = 1e6;
inline constexpr std::size_t kMaxWaits = 2, kMaxMarkovWarps = 64, kMaxMarkovStates = 2048;

/// The chain itself. State 0 is that no warp waits.
struct MarkovChain {
  std::vector<double> transitions;           ///< P, row by row: probability of the column's state one round after the row's
  std::vector<double> cycles;                ///< D: length of a round that begins in the state; 1 when no warp is ready
  std::vector<std::vector<unsigned>> ready;  ///< [kernel][state]: warps that issue in that round
  [[nodiscard]] std::size_t states() const { return cycles.size(); }
};

/// Equation 1 for any number of kernels, each with `warps` of its own. The product of the kernels' own transitions; a warp that
/// waits is ready after a round of D cycles with probability min(1, D / L), L = a_0 x + b_0. Printed is (W - I) / L, which is 0
/// when all wait, so that nothing would ever be issued again.
/// @pre as many warps as kernels @throws InputError when a figure is out of its range, or there are too many warps or states
[[nodiscard]] MarkovChain markov_chain(std::span<const MarkovKernel> kernels, std::span<const unsigned> warps);

/// Equation 2: the share of rounds in each state, summing to 1. By elimination without subtraction (Grassmann, Taksar, Heyman,
/// Operations Research 1985), so that no digit cancels.
[[nodiscard]] std::vector<double> steady_state(const MarkovChain& chain);

/// Equations 3 to 5: warp instructions a cycle of each kernel on one virtual SM, together at most 1. @throws as markov_chain
[[nodiscard]] std::vector<double> markov_ipc(std::span<const MarkovKernel> kernels, std::span<const unsigned> warps);

/// The same for an SM of `schedulers` virtual SMs with `warps` of each kernel together: 0..schedulers each. Where these do not
/// divide evenly, between the whole numbers of warps on both sides. @throws as markov_chain, and InputError without a scheduler
[[nodiscard]] std::vector<double> markov_sm_ipc(std::span<const MarkovKernel> kernels, std::span<const unsigned> warps,
                                                unsigned schedulers);

/// CP = 1 - 1 / sum of (IPC together / IPC alone): 0 for as good as one after the other, below 0 for worse. The paper's formula
/// leaves IPC alone out, its sentence names both (section 2.2). @pre as many `together` as `alone`
/// @throws InputError when an IPC alone is not above 0 or one together is below 0, or none makes progress
[[nodiscard]] double co_scheduling_profit(std::span<const double> together, std::span<const double> alone);

}  // namespace sluice
