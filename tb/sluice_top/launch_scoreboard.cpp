// SPDX-License-Identifier: Apache-2.0
#include "tb/sluice_top/launch_scoreboard.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice::tb {

std::string LaunchScoreboard::launched(const SluiceTopOut& out, const SluiceConfig& config) {
  if (waiting_.empty()) return "a launch is told that nobody asked for";
  const LaunchRequest launch = waiting_.front();
  waiting_.pop_front();
  if (out.launched_flushed) {
    if (parameters_.flush == 0 || out.launched_refused) return "a launch is handed back that nobody flushed";
    ++flushed_;
    return {};
  }
  const bool too_large = launch.warps > config.capacity_warps || launch.registers > config.capacity_registers ||
                         launch.shared_bytes > config.capacity_shared || launch.warps == 0 || launch.ctas == 0;
  if (too_large && !out.launched_refused) return "a launch that can't fit is made";
  if (out.launched_refused) {
    if (!too_large && parameters_.region_units == 0) return "a launch that fits is refused";
    ++refused_;
    return {};
  }
  std::optional<Running>& slot = running_[out.launched_kernel];
  if (slot) return fmt::format("kernel slot {} is given to a second launch of the port", out.launched_kernel);
  slot = Running{launch, 0, launch.start_x, launch.start_y, launch.start_z, false};
  ++made_;
  return {};
}

std::string LaunchScoreboard::start(const SluiceTopOut& out, Running& kernel) {
  const LaunchRequest& launch = kernel.launch;
  if (out.dispatch_cta != kernel.next)
    return fmt::format("CTA {} of a launch of the port, expected {}", out.dispatch_cta, kernel.next);
  const GridPlace expected{kernel.x, static_cast<std::uint16_t>(kernel.y), static_cast<std::uint16_t>(kernel.z), launch.context,
                           launch.priority};
  if (out.dispatch_place != expected)
    return fmt::format("CTA {} at {}, {}, {}, expected {}, {}, {}; or context or priority differ", out.dispatch_cta,
                       out.dispatch_place.x, out.dispatch_place.y, out.dispatch_place.z, expected.x, expected.y, expected.z);
  if (kernel.y != launch.start_y || kernel.z != launch.start_z) ++walked_;
  ++kernel.next;
  if (++kernel.x < launch.size_x) return {};
  kernel.x = 0;
  if (++kernel.y < launch.size_y) return {};
  kernel.y = 0;
  ++kernel.z;
  return {};
}

std::string LaunchScoreboard::observe(const SluiceTopOut& out, const SluiceTopIn& in, const SluiceConfig& config) {
  if (!in.rst_n) {
    *this = LaunchScoreboard(parameters_);
    return {};
  }
  if (out.launched_valid) {
    if (std::string wrong = launched(out, config); !wrong.empty()) return wrong;
  }
  if (in.launch.valid && out.launch_ready) waiting_.push_back(in.launch.launch);
  most_waiting_ = std::max(most_waiting_, waiting_.size());
  if (waiting_.size() > parameters_.launch_queue + 2U) return "more launches were taken than there are places";
  if (out.dispatch_valid && in.dispatch_ready) {
    if (std::optional<Running>& kernel = running_[out.dispatch_kernel]; kernel) {
      if (std::string wrong = start(out, *kernel); !wrong.empty()) return wrong;
    } else if (out.dispatch_place != GridPlace{out.dispatch_cta, 0, 0, 0, 0}) {
      return "a CTA of the host's kernel has a place, a context or a priority";
    }
  }
  for (unsigned k = 0; k < parameters_.max_kernels; ++k) {
    if (running_[k] && (config.stop[k] || config.flush[k])) running_[k]->stopped = true;
    if ((out.kernel_done >> k & 1U) == 0 || !running_[k]) continue;
    if (running_[k]->next != running_[k]->launch.ctas && !running_[k]->stopped)
      return fmt::format("kernel slot {} ended after {} of {} CTAs", k, running_[k]->next, running_[k]->launch.ctas);
    running_[k].reset();
    ++ended_;
  }
  return {};
}

}  // namespace sluice::tb
