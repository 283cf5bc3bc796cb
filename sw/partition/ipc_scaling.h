#pragma once

namespace sluice {

/// Offsets the memory-bandwidth contention of a profile window (Warped-Slicer, equations 3 and 4):
/// IPC_scaled = IPC * (1 + phi_mem * (CTA_i / CTA_avg - 1)).
///
/// @param ipc      sampled on one SM
/// @param phi_mem  fraction of the window that SM was stalled on long memory latency, 0..1
/// @param ctas     CTAs it ran; @param cta_avg their mean over the SMs sampled for the same kernel, > 0
[[nodiscard]] constexpr double scale_ipc(double ipc, double phi_mem, double ctas, double cta_avg) {
  return ipc * (1.0 + phi_mem * (ctas / cta_avg - 1.0));
}

}  // namespace sluice
