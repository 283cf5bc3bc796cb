// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/warped_slicer.h"

#include "sw/partition/waterfill.h"

namespace sluice {

Partition warped_slicer_partition(std::span<const Profile> profiles, std::span<const SmResources> demand,
                                  const MachineConfig& machine) {
  const auto filled = waterfill(profiles, demand, machine.sm.capacity, machine.partitioner.epsilon);
  if (filled && loss_acceptable(filled->performance, machine.partitioner.loss_limit)) return on_every_sm(filled->ctas);
  std::vector<CtaCount> alone;
  for (const SmResources& cta : demand) alone.push_back(occupancy(cta, machine.sm.capacity));
  return on_own_sms(alone, machine.num_sms);
}

}  // namespace sluice
