// SPDX-License-Identifier: Apache-2.0
#include "systemc/sim/run_simulation.h"

#include <exception>
#include <utility>

namespace sluice {

namespace {

std::exception_ptr thrown;

/// Called while SystemC still handles the exception that it is about to replace.
void keep_exception(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
  if (report.get_severity() == sc_core::SC_ERROR) thrown = std::current_exception();
  sc_core::sc_report_handler::default_handler(report, actions);
}

}  // namespace

void run_simulation(const sc_core::sc_time& time) {
  sc_core::sc_report_handler::set_handler(keep_exception);
  try {
    sc_core::sc_start(time);
  } catch (const sc_core::sc_report&) {
    if (thrown) std::rethrow_exception(std::exchange(thrown, nullptr));
    throw;
  }
}

}  // namespace sluice
