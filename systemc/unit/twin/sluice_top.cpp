#include "systemc/unit/twin/sluice_top.h"

namespace sluice {

std::unique_ptr<ISluiceTop> make_tlm_sluice_top(const regs::Parameters& parameters) {
  return std::make_unique<TlmSluiceTop>(parameters);
}

}  // namespace sluice
