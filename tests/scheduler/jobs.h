// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "sw/core/machine.h"
#include "sw/scheduler/fake_executor.h"

// Machines and jobs of the schedulers' tests.
namespace sluice {

/// A machine of `sms` SMs that hold `capacity` each, at 1 GHz: a cycle is a nanosecond.
inline MachineConfig small_machine(std::uint32_t sms, const SmResources& capacity) {
  MachineConfig m;
  m.name = "small";
  m.num_sms = sms;
  m.core_mhz = 1000;
  m.sm.capacity = capacity;
  return m;
}

/// A job of `tasks` CTAs of 64 threads.
inline FakeJob job(const std::string& name, std::uint32_t tasks, Time task_time, Time arrival = {},
                   std::uint32_t registers = 1024) {
  FakeJob j;
  j.kernel.name = name;
  j.kernel.grid_ctas = tasks;
  j.kernel.block_threads = 64;
  j.kernel.registers_per_cta = registers;
  j.task_time = task_time;
  j.arrival = arrival;
  return j;
}

}  // namespace sluice
