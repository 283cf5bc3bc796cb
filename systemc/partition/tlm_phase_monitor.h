#pragma once
#include <cstdint>

#include "systemc/partition/i_sluice_top.h"
#include "systemc/partition/tlm_sluice_csr.h"

namespace sluice {

/// The TLM twin of rtl/phase_monitor.sv, cycle for cycle alike, written from docs/blocks/phase_monitor.md.
class TlmPhaseMonitor {
 public:
  explicit TlmPhaseMonitor(unsigned max_kernels) : kernels_(max_kernels) {}

  [[nodiscard]] bool request() const { return request_; }
  /// @param issued  warp instructions of each kernel slot on its watched SM in this cycle
  void clock(const SluiceConfig& config, bool active, const PerKernel<unsigned>& issued);

 private:
  enum class Phase { Settle, Reference, Watch };
  [[nodiscard]] bool moved(const SluiceConfig& config) const;

  unsigned kernels_;
  Phase phase_ = Phase::Settle;
  std::uint32_t cycle_ = 0;  ///< of the window
  PerKernel<std::uint64_t> count_{}, reference_{}, last_{};
  unsigned comparing_ = 0;  ///< cycles until the comparison of `last_` is done; 0 = none under way
  std::uint32_t strikes_ = 0;
  bool request_ = false;
};

}  // namespace sluice
