// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "sw/core/kernel.h"
#include "sw/core/machine.h"

namespace sluice::test {

/// The SM of Warped-Slicer table I, 16 of them.
inline MachineConfig fermi() {
  MachineConfig machine;
  machine.name = "fermi";
  machine.num_sms = 16;
  machine.sm.capacity = {1536, 32768, 49152, 8};
  return machine;
}

inline KernelDescriptor kernel(std::string name, KernelType type, std::uint32_t threads, std::uint32_t registers,
                               std::uint32_t shared_bytes = 0) {
  KernelDescriptor k;
  k.name = std::move(name);
  k.type = type;
  k.block_threads = threads;
  k.registers_per_cta = registers;
  k.shared_bytes_per_cta = shared_bytes;
  return k;
}

// Block sizes as published; registers and shared memory of one CTA from the published utilisation at the occupancy it implies.
inline KernelDescriptor hot() { return kernel("HOT", KernelType::Compute, 256, 9216, 3072); }  // 3 CTAs: 84 %, 19 %
inline KernelDescriptor dxt() { return kernel("DXT", KernelType::Compute, 64, 2304, 2048); }   // 8 CTAs: 56 %, 33 %
inline KernelDescriptor mvp() { return kernel("MVP", KernelType::Cache, 192, 3072); }          // 8 CTAs: 75 %
inline KernelDescriptor bfs() { return kernel("BFS", KernelType::Memory, 512, 7680); }         // 3 CTAs: 70 %
inline KernelDescriptor huge() { return kernel("HUGE", KernelType::Memory, 1024, 32768); }     // 1 CTA: every register

}  // namespace sluice::test
