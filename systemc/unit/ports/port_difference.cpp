// SPDX-License-Identifier: Apache-2.0
#include "systemc/unit/ports/i_sluice_top.h"

namespace sluice {

std::string port_difference(const SluiceTopOut& a, const SluiceTopOut& b) {
  if (a.axi != b.axi) return "s_axi_*";
  if (a.irq != b.irq) return "irq_o";
  if (a.dispatch_valid != b.dispatch_valid) return "dispatch_valid_o";
  if (a.dispatch_valid) {
    if (a.dispatch_sm != b.dispatch_sm) return "dispatch_sm_o";
    if (a.dispatch_kernel != b.dispatch_kernel) return "dispatch_kernel_o";
    if (a.dispatch_slot != b.dispatch_slot) return "dispatch_slot_o";
    if (a.dispatch_cta != b.dispatch_cta) return "dispatch_cta_o";
    if (a.dispatch_register_base != b.dispatch_register_base) return "dispatch_register_base_o";
    if (a.dispatch_shared_base != b.dispatch_shared_base) return "dispatch_shared_base_o";
    if (a.dispatch_region_valid != b.dispatch_region_valid) return "dispatch_region_valid_o";
  }
  if (a.dispatch_valid && a.dispatch_place != b.dispatch_place)
    return "dispatch_x_o, dispatch_y_o, dispatch_z_o, dispatch_context_o, dispatch_priority_o";
  if (a.dispatch_valid && a.dispatch_tag != b.dispatch_tag) return "dispatch_tag_o";
  if (a.flush_valid != b.flush_valid) return "flush_valid_o";
  if (a.flush_valid && (a.flush_kernel != b.flush_kernel || a.flush_tag != b.flush_tag)) return "flush_kernel_o, flush_tag_o";
  if (a.launch_ready != b.launch_ready) return "launch_ready_o";
  if (a.launched_valid != b.launched_valid) return "launched_valid_o";
  if (a.launched_valid && (a.launched_kernel != b.launched_kernel || a.launched_refused != b.launched_refused ||
                           a.launched_flushed != b.launched_flushed))
    return "launched_kernel_o, launched_refused_o, launched_flushed_o";
  if (a.kernel_done != b.kernel_done) return "kernel_done_o";
  if (a.profile_valid != b.profile_valid) return "profile_valid_o";
  if (a.profile_valid) {
    if (a.profile_kernel != b.profile_kernel || a.profile_ctas != b.profile_ctas) return "profile_kernel_o, profile_ctas_o";
    if (a.profile_scaled != b.profile_scaled) return "profile_scaled_o";
  }
  if (a.profile_window != b.profile_window) return "profile_window_o";
  if (a.idle != b.idle) return "idle_o";
  return "";
}

}  // namespace sluice
