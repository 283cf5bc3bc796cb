// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "sw/core/kernel.h"
#include "sw/core/machine.h"
#include "sw/core/share.h"
#include "sw/gpu/jobs/decide.h"
#include "sw/gpu/jobs/native_load.h"
#include "sw/gpu/jobs/prepared.h"
#include "sw/gpu/jobs/quota_job.h"

namespace sluice::gpu {

using PreparedMix = std::vector<const PreparedKernel*>;

/// A GPU with the applications that experiments run on it, prepared when first asked for.
class GpuSession {
 public:
  /// @param for_quotas  makes sure that the SMs can be numbered as quotas need it, which takes a GPU that nobody else keeps busy;
  /// else applications lie there untransformed only
  explicit GpuSession(int ordinal = 0, bool for_quotas = true);
  [[nodiscard]] const PreparedKernel& app(const std::string& name, AppScale scale = AppScale::Full);
  [[nodiscard]] const PreparedKernel& app(const std::string& name, const AppSize& size);
  void release(const std::string& name, AppScale scale = AppScale::Full) { apps_.erase({name, scale}); }
  [[nodiscard]] const Context& context() const { return context_; }
  [[nodiscard]] const Compiler& compiler() const { return compiler_; }
  [[nodiscard]] const DeviceTools& tools() const { return tools_; }
  /// The GPU as the policies see it: SMs and their capacity.
  [[nodiscard]] MachineConfig machine(double epsilon = 0) const;

 private:
  Context context_;
  Compiler compiler_;
  DeviceTools tools_;
  bool for_quotas_;
  std::map<std::pair<std::string, AppScale>, std::unique_ptr<PreparedKernel>> apps_;
  std::map<std::tuple<std::string, std::uint32_t, std::uint32_t>, std::unique_ptr<PreparedKernel>> sized_;
};

/// The kernel as the policies see it: what one CTA of its transformed form holds.
[[nodiscard]] KernelDescriptor descriptor(const PreparedKernel& kernel);
[[nodiscard]] std::vector<SmResources> demands(const PreparedMix& mix);
/// Carve-out hints under which the SMs have one split for all kernels of the mix (layout.h).
[[nodiscard]] std::vector<int> carveouts(const PreparedMix& mix);
/// The mix as decisions see it.
[[nodiscard]] SiliconMix silicon_mix(const GpuSession& session, const PreparedMix& mix, double epsilon = 0);
/// Tables that put a partition into force.
[[nodiscard]] std::vector<QuotaTable> tables_of(const Partition& partition, unsigned num_sms);

/// Blocks per second of each kernel of a mix, and how exactly the quotas held.
struct MixRates {
  std::vector<double> blocks_per_second;
  std::vector<std::vector<double>> per_sm;  ///< quota runs only
  std::uint32_t violations = 0;             ///< acquisitions above the quota, plus SMs that ever held more CTAs than their quota
  std::uint32_t misplaced = 0;              ///< SMs and kernels that did not hold exactly their quota at both ends of the window
  bool settled = true;                      ///< all quotas were filled
  std::vector<std::uint32_t> missing;       ///< of each kernel: CTAs that its quotas allow and the SMs did not hold
  double seconds = 0;
};

/// A mix under quotas; tables may change from window to window.
class QuotaMix {
 public:
  /// @param passes  of each kernel's grid; empty: without end
  explicit QuotaMix(const PreparedMix& mix, const std::vector<std::uint64_t>& passes = {});
  ~QuotaMix();  ///< evicts all, and waits
  QuotaMix(const QuotaMix&) = delete;
  QuotaMix& operator=(const QuotaMix&) = delete;
  static constexpr double kSettle = 10e-3;  ///< seconds that each kernel's CTAs are waited for, where some find no room
  /// Evicts all and starts under these tables. @return all quotas were filled
  bool begin(const std::vector<QuotaTable>& tables, double settle = kSettle);
  /// begin(), then `warm_up` seconds, and counts for `window`.
  [[nodiscard]] MixRates restart(const std::vector<QuotaTable>& tables, double warm_up, double window, double settle = kSettle);
  void evict();
  [[nodiscard]] QuotaJob& job(std::size_t k) { return *jobs_[k]; }

 private:
  [[nodiscard]] MixRates count(double warm_up, double window, bool settled);
  PreparedMix mix_;
  std::vector<std::unique_ptr<QuotaJob>> jobs_;
};

/// Untransformed kernels, each launched again and again in a stream of its own for `window` seconds.
[[nodiscard]] MixRates native_rates(const PreparedMix& mix, const std::vector<CUstream>& streams, double window);
/// Untransformed kernels taking turns in one stream.
[[nodiscard]] MixRates back_to_back_rates(const PreparedMix& mix, CUstream stream, double window);

void sleep_seconds(double duration);
/// Run-time of one launch by device events, seconds.
[[nodiscard]] double native_seconds(const PreparedKernel& kernel, CUstream stream);

}  // namespace sluice::gpu
