#pragma once
#include <vector>

#include "sw/core/partition.h"
#include "sw/core/units.h"

namespace sluice {

/// What the CTA dispatcher is told to do. LeftOver, Fcfs: by arrival order. Partitioned: quotas and SM ranges are given.
/// Dynamic: the partition sequencer profiles and decides (Warped-Slicer). Even, Spatial: the partition unit works the shares out.
enum class DispatchMode { LeftOver, Fcfs, Partitioned, Dynamic, Even, Spatial };

/// What the host programs into the dispatcher in Partitioned mode.
struct Quotas {
  std::vector<CtaCount> ctas;      ///< CTAs per SM of each kernel, in launch order; 0 = none
  std::vector<SmRange> sm_ranges;  ///< SMs of each kernel; empty = all SMs for all
};

}  // namespace sluice
