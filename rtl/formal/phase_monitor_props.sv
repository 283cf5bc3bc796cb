// Properties of phase_monitor with narrow fields, two kernels and one scheduler: it asks exactly when a comparison of whole windows, written
// as one expression, found some kernel beyond the threshold hold_i times in a row. Assumed: the settings are stable while it is active, and a
// window is longer than the comparison, one cycle a kernel.
module phase_monitor_props (
  input logic                           clk_i,
  input logic                           rst_ni,
  input logic                           active_i,
  input logic [sluice_pkg::WindowW-1:0] window_i,
  input logic [sluice_pkg::PerfW-1:0]   threshold_i,
  input logic [7:0]                     hold_i,
  input logic [1:0]                     issue_i
);
  localparam int unsigned K = 2, InstW = sluice_pkg::InstW, PerfW = sluice_pkg::PerfW, FracW = sluice_pkg::PerfFracW;
  logic request;
  phase_monitor #(.MAX_KERNELS(K), .NUM_SCHED(1)) dut (.clk_i, .rst_ni, .active_i, .window_i, .threshold_i, .hold_i, .issue_i, .request_o(request));
  (* hierconn *) wire [1:0]                     \dut.state_q ;
  (* hierconn *) wire [sluice_pkg::WindowW-1:0] \dut.timer_q ;
  (* hierconn *) wire [K*InstW-1:0]             \dut.count_q , \dut.reference_q , \dut.last_q ;
  (* hierconn *) wire                           \dut.compare_q , \dut.moved_q ;
  (* hierconn *) wire [0:0]                     \dut.kernel_q ;
  (* hierconn *) wire [7:0]                     \dut.strikes_q ;
  (* hierconn *) wire                           \dut.active_q ;

  logic started, was_active;
  logic [sluice_pkg::WindowW+PerfW+7:0] settings_q;
  initial started = 1'b0;
  always_ff @(posedge clk_i) begin
    started    <= 1'b1;
    was_active <= active_i && rst_ni;
    settings_q <= {window_i, threshold_i, hold_i};
  end
  always_comb begin
    if (!started) assume (!rst_ni);
    assume (32'(window_i) > K && hold_i != '0);
    if (started && was_active) assume ({window_i, threshold_i, hold_i} == settings_q);
  end

  function automatic far(input logic [InstW-1:0] count, input logic [InstW-1:0] reference);   // beyond the threshold
    far = 16'((count > reference) ? count - reference : reference - count) * 16'(1 << FracW) > 16'(reference) * 16'(threshold_i);
  endfunction

  // By whole windows. `wait_q`: cycles until the verdict on the last window counts.
  logic [1:0]                     phase_q;   // 0 settle, 1 reference, 2 watch
  logic [sluice_pkg::WindowW-1:0] time_q;
  logic [InstW-1:0]               sum0_q, sum1_q, sum0, sum1, before0_q, before1_q;
  logic [7:0]                     moved_windows_q;
  logic [1:0]                     wait_q;
  logic                           verdict_q, due_q, last_cycle;
  assign sum0       = (sum0_q == '1) ? '1 : sum0_q + InstW'(issue_i[0]);
  assign sum1       = (sum1_q == '1) ? '1 : sum1_q + InstW'(issue_i[1]);
  assign last_cycle = 32'(time_q) + 1 == 32'(window_i);
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      phase_q         <= '0;
      time_q          <= '0;
      sum0_q          <= '0;
      sum1_q          <= '0;
      before0_q       <= '0;
      before1_q       <= '0;
      moved_windows_q <= '0;
      wait_q          <= '0;
      verdict_q       <= 1'b0;
      due_q           <= 1'b0;
    end else begin
      due_q  <= 1'b0;
      time_q <= last_cycle ? '0 : time_q + 1'b1;
      sum0_q <= last_cycle ? '0 : sum0;
      sum1_q <= last_cycle ? '0 : sum1;
      if (wait_q != '0) wait_q <= wait_q - 1'b1;
      if (last_cycle && phase_q == 2'd0) phase_q <= 2'd1;
      if (last_cycle && phase_q == 2'd1) begin
        phase_q   <= 2'd2;
        before0_q <= sum0;
        before1_q <= sum1;
      end
      if (last_cycle && phase_q == 2'd2) begin
        wait_q    <= 2'(K);
        verdict_q <= far(sum0, before0_q) || far(sum1, before1_q);
      end
      if (wait_q == 2'd1) begin
        moved_windows_q <= verdict_q ? moved_windows_q + 1'b1 : '0;
        if (verdict_q && 9'(moved_windows_q) + 9'd1 >= 9'(hold_i)) begin
          due_q           <= 1'b1;
          moved_windows_q <= '0;
          phase_q         <= 2'd0;
          time_q          <= '0;
        end
      end
      if (!active_i) begin
        phase_q         <= '0;
        time_q          <= '0;
        sum0_q          <= '0;
        sum1_q          <= '0;
        moved_windows_q <= '0;
        wait_q          <= '0;
        due_q           <= 1'b0;
      end
    end

  logic far0, far1;   // of the window under comparison
  assign far0 = far(\dut.last_q [0 +: InstW], \dut.reference_q [0 +: InstW]);
  assign far1 = far(\dut.last_q [InstW +: InstW], \dut.reference_q [InstW +: InstW]);
  always_comb
    if (started) begin
      asks_exactly_when_enough_windows_moved: assert (request == due_q);
      asks_only_while_active:                 assert (!request || was_active);
      windows_are_counted: assert (phase_q != 2'd3 && \dut.state_q == phase_q && \dut.timer_q == time_q && \dut.count_q == {sum1_q, sum0_q}
        && (phase_q != 2'd2 || \dut.reference_q == {before1_q, before0_q}) && (wait_q == '0 || phase_q == 2'd2));
      comparison_follows_a_window: assert (\dut.compare_q == (wait_q != '0) && wait_q <= 2'(K) && \dut.strikes_q == moved_windows_q
        && (wait_q == '0 || (32'(\dut.kernel_q ) == K - 32'(wait_q) && verdict_q == (\dut.moved_q || (wait_q == 2'd2 && far0) || far1)))
        && (wait_q != 2'd2 || !\dut.moved_q ) && (wait_q == '0 || 32'(time_q) + 32'(wait_q) == K) && (!due_q || phase_q == 2'd0)
        && (!was_active || moved_windows_q < hold_i) && (was_active || moved_windows_q == '0) && time_q < window_i
        && (\dut.active_q || (\dut.state_q == '0 && \dut.timer_q == '0 && \dut.count_q == '0 && !\dut.compare_q && \dut.strikes_q == '0 && !request)));
      reset_is_clean: assert (rst_ni || (!request && \dut.state_q == '0 && \dut.timer_q == '0 && \dut.count_q == '0 && !\dut.compare_q && \dut.strikes_q == '0));
    end
endmodule
