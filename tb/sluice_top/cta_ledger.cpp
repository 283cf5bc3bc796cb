// SPDX-License-Identifier: Apache-2.0
#include "tb/sluice_top/cta_ledger.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice::tb {

using regs::SlotState;

void CtaLedger::reset() {
  for (const auto& kernel : kernels_) counts_.reset += kernel ? 1 : 0;
  for (const Sm& sm : sms_) counts_.lost_in_reset += sm.ctas.size();
  sms_.assign(parameters_.num_sm, {});
  kernels_ = {};
  new_ = {};
}

bool CtaLedger::both_sides() const {
  const auto runs = [this](bool of_the_port) {
    return std::ranges::any_of(kernels_,
                               [of_the_port](const auto& k) { return k && k->running > 0 && k->of_the_port == of_the_port; });
  };
  return runs(true) && runs(false);
}

/// A launch counts when its slot is RUNNING in the cycle behind it; else it must be one that can't fit.
std::string CtaLedger::launch(const SluiceConfig& config, const PerKernel<SlotState>& state) {
  for (std::size_t k = 0; k < parameters_.max_kernels; ++k) {
    if (new_[k] && state[k] == SlotState::kFree) {
      const Kernel& kernel = *kernels_[k];
      const bool fits = kernel.warps != 0 && kernel.grid != 0 && kernel.warps <= config.capacity_warps &&
                        kernel.registers <= config.capacity_registers && kernel.shared_bytes <= config.capacity_shared;
      if (fits && parameters_.region_units == 0) return fmt::format("kernel slot {}: a launch that fits is lost", k);
      kernels_[k].reset();
      ++counts_.refused;
    } else if (new_[k]) {
      ++counts_.launched;
      counts_.by_the_port += kernels_[k]->of_the_port ? 1 : 0;
    }
    new_[k] = config.launch[k] && state[k] == SlotState::kFree;
    if (!new_[k]) continue;
    if (kernels_[k]) return fmt::format("kernel slot {} is FREE, but its kernel has not ended", k);
    kernels_[k] = Kernel{.warps = config.demand_warps[k],
                         .registers = config.demand_registers[k],
                         .shared_bytes = config.demand_shared[k],
                         .grid = config.grid[k],
                         .repeat = config.repeat[k],
                         .of_the_port = (config.port_slots >> k & 1U) != 0};
  }
  return {};
}

std::string CtaLedger::start(const SluiceTopOut& out, const SluiceConfig& config) {
  if (out.dispatch_sm >= sms_.size()) return fmt::format("a CTA starts on SM {}", out.dispatch_sm);
  if (out.dispatch_kernel >= kernels_.size() || !kernels_[out.dispatch_kernel])
    return fmt::format("a CTA of kernel slot {} starts, which has no kernel", out.dispatch_kernel);
  Kernel& kernel = *kernels_[out.dispatch_kernel];
  if (kernel.repeat && kernel.next == kernel.grid) kernel.next = 0;
  if (out.dispatch_cta != kernel.next || kernel.next >= kernel.grid)
    return fmt::format("kernel slot {}: CTA {} of {} starts, expected {}", out.dispatch_kernel, out.dispatch_cta, kernel.grid,
                       kernel.next);
  ++kernel.next;
  ++kernel.running;
  ++counts_.started;
  Sm& sm = sms_[out.dispatch_sm];
  const auto [cta, is_free] = sm.ctas.try_emplace(out.dispatch_slot, Cta{out.dispatch_kernel, out.dispatch_tag});
  if (!is_free || out.dispatch_slot >= config.capacity_slots)
    return fmt::format("SM {}: CTA slot {} is given twice, or is none of {}", out.dispatch_sm, out.dispatch_slot,
                       config.capacity_slots);
  sm.warps += kernel.warps;
  sm.registers += kernel.registers;
  sm.shared_bytes += kernel.shared_bytes;
  if (sm.warps > config.capacity_warps || sm.registers > config.capacity_registers || sm.shared_bytes > config.capacity_shared)
    return fmt::format("SM {} holds {} warps, {} registers, {} bytes: beyond {}, {}, {}", out.dispatch_sm, sm.warps, sm.registers,
                       sm.shared_bytes, config.capacity_warps, config.capacity_registers, config.capacity_shared);
  return {};
}

void CtaLedger::end(Sm& sm, std::map<std::uint32_t, Cta>::iterator cta) {
  Kernel& kernel = *kernels_[cta->second.kernel];
  --kernel.running;
  sm.warps -= kernel.warps;
  sm.registers -= kernel.registers;
  sm.shared_bytes -= kernel.shared_bytes;
  sm.ctas.erase(cta);
}

/// Reports of CTAs that are not there, or were given up, end nothing.
void CtaLedger::report(const SluiceTopIn& in) {
  if (in.done_sm >= sms_.size()) return;
  Sm& sm = sms_[in.done_sm];
  const auto cta = sm.ctas.find(in.done_slot);
  if (cta == sm.ctas.end()) return;
  if (parameters_.flush != 0 && (cta->second.kernel != in.done_kernel || cta->second.tag != in.done_tag)) return;
  end(sm, cta);
  ++counts_.ended;
}

void CtaLedger::give_up(const SluiceTopOut& out) {
  for (Sm& sm : sms_) {
    for (auto cta = sm.ctas.begin(); cta != sm.ctas.end();) {
      const auto next = std::next(cta);
      if (cta->second.kernel == out.flush_kernel && cta->second.tag == out.flush_tag) {
        end(sm, cta);
        ++counts_.given_up;
      }
      cta = next;
    }
  }
}

std::string CtaLedger::finish(std::size_t slot) {
  if (!kernels_[slot]) return fmt::format("kernel slot {} ends without a kernel", slot);
  const Kernel& kernel = *kernels_[slot];
  if (kernel.running != 0) return fmt::format("kernel slot {} ends, but {} of its CTAs run", slot, kernel.running);
  if (!kernel.stopped && (kernel.repeat || kernel.next != kernel.grid))
    return fmt::format("kernel slot {} ends after {} of {} CTAs", slot, kernel.next, kernel.grid);
  ++(kernel.flushed ? counts_.flushed : kernel.stopped ? counts_.stopped : counts_.completed);
  kernels_[slot].reset();
  return {};
}

std::string CtaLedger::observe(const SluiceTopOut& out, const SluiceTopIn& in, const SluiceConfig& config,
                               const PerKernel<SlotState>& state) {
  if (!in.rst_n) {
    reset();
    return {};
  }
  for (std::size_t k = 0; k < parameters_.max_kernels; ++k)
    if ((out.kernel_done >> k & 1U) != 0)
      if (std::string wrong = finish(k); !wrong.empty()) return wrong;
  if (std::string wrong = launch(config, state); !wrong.empty()) return wrong;
  for (std::size_t k = 0; k < parameters_.max_kernels; ++k) {
    if (!kernels_[k] || new_[k]) continue;
    kernels_[k]->flushed |= config.flush[k];
    kernels_[k]->stopped |= config.stop[k] || config.flush[k];
  }
  if (in.done_valid) report(in);
  if (out.dispatch_valid && in.dispatch_ready)
    if (std::string wrong = start(out, config); !wrong.empty()) return wrong;
  if (out.flush_valid) give_up(out);
  return {};
}

}  // namespace sluice::tb
