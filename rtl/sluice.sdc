# SPDX-License-Identifier: Apache-2.0
# Constraints of sluice_top. Set sluice_period (ns) and, if your neighbours differ, the shares of it that
# they take, before this file is read.
if {![info exists sluice_period]} { set sluice_period 2.0 }
if {![info exists sluice_input_share]} { set sluice_input_share 0.4 }
if {![info exists sluice_output_share]} { set sluice_output_share 0.4 }

create_clock -name sluice_clk -period $sluice_period [get_ports clk_i]
set_clock_uncertainty [expr {0.05 * $sluice_period}] [get_clocks sluice_clk]

# Every input but clock and reset comes from a register of the same clock; every output goes to one.
foreach port [all_inputs] {
  set name [get_property $port full_name]
  if {$name ne "clk_i" && ![string match *rst_ni $name]} {
    set_input_delay [expr {$sluice_input_share * $sluice_period}] -clock sluice_clk $port
  }
}
set_output_delay [expr {$sluice_output_share * $sluice_period}] -clock sluice_clk [all_outputs]

# The reset acts at any time. Its release must be synchronous to clk_i: it comes from a register of this clock
# (docs/user/integrate.md).
set resets [get_ports *rst_ni]   ;# and that of the tags
set_input_delay [expr {$sluice_input_share * $sluice_period}] -clock sluice_clk $resets
set_false_path -hold -from $resets
