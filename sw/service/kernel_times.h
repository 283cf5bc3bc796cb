// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sw/core/units.h"
#include "sw/scheduler/job.h"

namespace sluice::service {

/// Kernels that share every SM, by name, with their CTAs on each.
using Held = std::vector<std::pair<std::string, CtaCount>>;

/// How long launches of kernels take on a GPU, by what they held, and beside whom: learned from the programs' own reports.
class KernelTimes {
 public:
  using Say = std::function<void(const std::string& line)>;
  static constexpr std::size_t kMostKernels = 4096;  ///< and as many mixes: the longest unheard of goes for each that comes
  ~KernelTimes();                                    ///< has saved

  /// Takes in what was saved there, and saves there from here on. A file that is none of ours, or cannot be had, is ignored with
  /// one line to `say`, from any thread.
  void keep(std::filesystem::path file, Say say);
  void save();  ///< what is new, by a thread of its own: no client waits for a disk
  /// Launches of the kernel took `ns` each with `ctas` CTAs on every SM. What differs by less than a tenth is no news.
  void learn(const std::string& kernel, CtaCount ctas, double ns);
  /// ns with 1, 2, ... `most` CTAs on an SM. A count that was never seen takes as the nearest one seen, in proportion: blocks
  /// come in rounds. @return nullopt when no launch was seen
  [[nodiscard]] std::optional<std::vector<double>> curve(const std::string& kernel, CtaCount most) const;

  /// This is what runs from now on. Empty: nothing is learned of it.
  void holds(Held held, Time now);
  /// Launches of the kernel, none of which ended before `since`, took `ns` together.
  void seen(const std::string& kernel, Time since, std::uint64_t launches, double ns);
  /// ns of a launch of each. @return nullopt until launches of all were seen while just this ran
  [[nodiscard]] std::optional<std::vector<double>> together(const Held& held) const;
  void forget(const Held& held, Time before);  ///< where it was last seen before then, or by an earlier service

 private:
  struct Together {
    std::vector<double> ns;
    Time at{};
    std::uint64_t heard = 0;
  };
  void keep_together(const Held& held, std::vector<double> ns, Time at);
  struct Kernel {
    std::map<std::uint32_t, double> ns;  ///< by CTAs
    std::uint64_t heard = 0;             ///< when last
  };
  std::map<std::string, Kernel> kernels_;
  std::map<Held, Together> together_;
  Held held_;  ///< now
  Time held_since_{};
  std::vector<std::pair<std::uint64_t, double>> sums_;  ///< launches and ns of each kernel of held_, since then
  std::uint64_t now_ = 0;                               ///< counts what is learned
  std::filesystem::path file_;
  Say say_;
  bool news_ = false;
  std::atomic<bool> writing_ = false;
  std::thread writer_;
};

}  // namespace sluice::service
