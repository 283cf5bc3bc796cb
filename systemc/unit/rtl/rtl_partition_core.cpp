// SPDX-License-Identifier: Apache-2.0
// The partition core as the benches use it: MAX_KERNELS 4, MAX_CTAS 32.
#include "systemc/unit/rtl/rtl_partition_core.h"

#include <Vpartition_core.h>

namespace sluice {

std::unique_ptr<IPartitionCore> make_rtl_partition_core(const std::string& fst_file, std::uint64_t clock_period_ps) {
  return std::make_unique<RtlPartitionCore<Vpartition_core, 4>>(fst_file, clock_period_ps);
}

}  // namespace sluice
