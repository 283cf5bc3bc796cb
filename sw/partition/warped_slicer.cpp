#include "sw/partition/warped_slicer.h"

#include "sw/partition/loss_guard.h"
#include "sw/partition/waterfill.h"

namespace sluice {

Partition warped_slicer_partition(std::span<const Profile> profiles, std::span<const SmResources> demand,
                                  const SmResources& capacity, const PartitionerConfig& config) {
  const auto filled = waterfill(profiles, demand, capacity, config.epsilon);
  if (filled && loss_acceptable(filled->performance, config.loss_limit)) return {PartitionMode::IntraSm, filled->ctas};
  Partition spatial{PartitionMode::Spatial, {}};
  for (const SmResources& cta : demand) spatial.ctas.push_back(occupancy(cta, capacity));
  return spatial;
}

}  // namespace sluice
