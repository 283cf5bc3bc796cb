// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <optional>
#include <string>

#include "systemc/unit/ports/i_sluice_top.h"
#include "systemc/unit/twin/sluice_csr.h"

namespace sluice::tb {

/// Holds the launch port against the events at the ports alone: launches are made in their order, none is lost or made twice;
/// a CTA has the index, the place in its grid, context and priority that its launch says; a kernel ends when its CTAs have run,
/// unless the host stopped it (docs/reference/blocks/launch_port.md).
class LaunchScoreboard {
 public:
  explicit LaunchScoreboard(const regs::Parameters& parameters) : parameters_(parameters) {}

  /// One cycle: outputs and inputs of the same cycle. @param config  of that cycle: capacities, and which slots the host stops
  /// @return what is wrong; empty when nothing is
  [[nodiscard]] std::string observe(const SluiceTopOut& out, const SluiceTopIn& in, const SluiceConfig& config);

  [[nodiscard]] std::uint64_t made() const { return made_; }        ///< launches that got a slot and ran
  [[nodiscard]] std::uint64_t refused() const { return refused_; }  ///< that could not fit
  [[nodiscard]] std::uint64_t flushed() const { return flushed_; }  ///< that were handed back
  [[nodiscard]] std::uint64_t ended() const { return ended_; }
  [[nodiscard]] std::uint64_t walked() const { return walked_; }  ///< CTAs beyond the first row of their grid
  [[nodiscard]] std::size_t most_waiting() const { return most_waiting_; }

 private:
  struct Running {
    LaunchRequest launch;
    std::uint32_t next = 0;             ///< CTA to come
    std::uint32_t x = 0, y = 0, z = 0;  ///< its place
    bool stopped = false;
  };
  [[nodiscard]] std::string launched(const SluiceTopOut& out, const SluiceConfig& config);
  [[nodiscard]] std::string start(const SluiceTopOut& out, Running& kernel);

  regs::Parameters parameters_;
  std::deque<LaunchRequest> waiting_;  ///< taken at the port, not made
  PerKernel<std::optional<Running>> running_;
  std::uint64_t made_ = 0, refused_ = 0, flushed_ = 0, ended_ = 0, walked_ = 0;
  std::size_t most_waiting_ = 0;
};

}  // namespace sluice::tb
