// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <systemc>

namespace sluice {

/// sc_start, but an exception that leaves a process arrives here as it was thrown: SystemC itself makes it a report, which keeps
/// the text and not the class.
void run_simulation(const sc_core::sc_time& time);

}  // namespace sluice
