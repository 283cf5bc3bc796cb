// SPDX-License-Identifier: Apache-2.0
// Part of sluice_csr_props: errors, interrupt, and what is counted.
  always_ff @(posedge clk_i) begin
    if (started && $past(rst_ni) && rst_ni) begin
      if (!$past(clears_error))
        errors_stay_until_cleared: assert (($past(\dut.i_status.error_q ) & ~\dut.i_status.error_q ) == '0);
      if ($past(errors[0])) bad_done_is_kept: assert (\dut.i_status.error_q [0]);
      if ($past(errors[1])) cannot_fit_is_kept: assert (\dut.i_status.error_q [1]);
      if ($past(errors[2] || slot_busy)) slot_busy_is_kept: assert (\dut.i_status.error_q [2]);
      if ($past(bad_mode)) bad_mode_is_kept: assert (\dut.i_status.error_q [3]);
      if ($past(bad_config)) bad_config_is_kept: assert (\dut.i_status.error_q [4]);
      if ($past(errors[3])) bad_kernel_is_kept: assert (\dut.i_status.error_q [5]);
      if ($past(errors[4])) port_stuck_is_kept: assert (\dut.i_status.error_q [7]);
      if ($past(mode_in_decision)) mode_in_decision_is_kept: assert (\dut.i_status.error_q [6]);
      if (waddr == watch && $past(accepted)) accepted_write_is_no_error:
        assert ($past(errors != '0 || mode_in_decision)
            || (\dut.i_status.error_q & ~$past(\dut.i_status.error_q )) == '0);
      if ($past(!none_left)) error_info_is_of_the_first_error:
        assert ({\dut.i_status.info_cause_q , \dut.i_status.info_kernel_q , \dut.i_status.info_sm_q }
            == $past({\dut.i_status.info_cause_q , \dut.i_status.info_kernel_q , \dut.i_status.info_sm_q }));
      if ($past(none_left && errors != '0)) error_info_names_the_reporter:
        assert (\dut.i_status.info_kernel_q == $past(error_i.kernel) && \dut.i_status.info_sm_q == $past(error_i.sm)
            && \dut.i_status.info_slot_q == $past(error_i.slot) && \dut.i_status.error_q [\dut.i_status.info_cause_q ]);
      if ($past(\dut.i_status.error_q == '0 && errors == '0 && bad_config)) error_info_names_the_slot:
        assert (\dut.i_status.info_kernel_q == ($past(in_slot) ? 3'($past(which)) : 3'd0)
            && \dut.i_status.info_sm_q == '0 && \dut.i_status.info_cause_q == 3'd4);
      if (!$past(write))
        kernel_done_is_kept: assert (\dut.i_status.kernel_done_q
            == ($past(\dut.i_status.kernel_done_q ) | $past(kernel_done_i)));
      if ($past((kernel_done_i & \dut.i_status.done_enable_q ) != '0))
        kernel_done_interrupts: assert (\dut.i_status.irq_status_q [1]);
      if ($past(write && waddr == 12'h078)) a_test_interrupts:
        assert (($past(wdata[3:0]) & ~\dut.i_status.irq_status_q ) == '0);
      if ($past((kernel_done_i & \dut.i_status.done_enable_q ) == '0 && !(write && waddr == 12'h078)))
        a_masked_slot_does_not_interrupt:
        assert (!\dut.i_status.irq_status_q [1] || $past(\dut.i_status.irq_status_q [1]));
      kernel_done_tells_of_all: assert (($past(kernel_done_i) & ~\dut.i_status.kernel_done_q ) == '0);
      if ($past(status_i.decision)) decision_interrupts: assert (\dut.i_status.irq_status_q [3]);
      decisions_are_counted: assert (\dut.i_status.decisions_q
          == $past(\dut.i_status.decisions_q ) + 32'($past(status_i.decision)));
      if ($past(errors != '0)) error_interrupts: assert (\dut.i_status.irq_status_q [0]);
      if ($past(rst_ni && evict_done_i[0]))
        evict_done_interrupts: assert (\dut.i_status.irq_status_q [2] && \dut.i_status.evict_done_q [0]);
    end
    if (started) full_bytes_of_the_count_are_known: assert (\dut.i_status.full_q == {&\dut.i_status.decisions_q [23:16],
      &\dut.i_status.decisions_q [15:8], &\dut.i_status.decisions_q [7:0]});
    if (started && rst_ni)
      interrupt_is_status_and_enable: assert (irq
          == ((\dut.i_status.irq_status_q & \dut.i_status.irq_enable_q ) != '0));
    if (started && !rst_ni) reset_clears_errors: assert (\dut.i_status.error_q == '0);
  end
