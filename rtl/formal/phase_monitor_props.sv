// SPDX-License-Identifier: Apache-2.0
// Properties of phase_monitor with narrow fields, two kernels and one scheduler: it asks exactly when a comparison of
// whole windows, written as one expression, found some kernel beyond the threshold hold_i times in a row. Assumed: the
// settings are stable while it is active.
module phase_monitor_props (
  input logic                           clk_i,
  input logic                           rst_ni,
  input logic                           active_i,
  input logic [sluice_pkg::WindowW-1:0] window_i,
  input logic [sluice_pkg::PerfW-1:0]   threshold_i,
  input logic [7:0]                     hold_i,
  input logic [1:0]                     issue_i
);
  localparam int unsigned K = 2, WindowW = sluice_pkg::WindowW, CountW = WindowW, PerfW = sluice_pkg::PerfW,
    FracW = sluice_pkg::PerfFracW;
  localparam int unsigned Steps = 16, GapW = 6, SumW = CountW + 2;
  logic request;
  phase_monitor #(.MAX_KERNELS(K), .NUM_SCHED(1)) dut (
    .*,
    .request_o (request)
  );
  (* hierconn *) wire [1:0]          \dut.state_q ;
  (* hierconn *) wire                \dut.judge_q ;
  (* hierconn *) wire [GapW-1:0]     \dut.timer_q ;
  (* hierconn *) wire [K*CountW-1:0] \dut.count_q , \dut.reference_q ;
  (* hierconn *) wire [SumW-1:0]     \dut.sum_q ;
  (* hierconn *) wire                \dut.take_reference_q , \dut.take_count_q , \dut.moved_q ;
  (* hierconn *) wire [7:0]          \dut.left_q ;
  (* hierconn *) wire                \dut.active_q ;

  logic started, on_q;
  logic [WindowW+PerfW+7:0] settings_q;
  initial started = 1'b0;
  always_ff @(posedge clk_i) begin
    started    <= 1'b1;
    settings_q <= {window_i, threshold_i, hold_i};
  end
  always_comb begin
    if (!started) assume (!rst_ni);
    assume (window_i != '0 && hold_i != '0);
    if (started && on_q) assume ({window_i, threshold_i, hold_i} == settings_q);
  end

  function automatic far(input logic [CountW-1:0] count, input logic [CountW-1:0] reference);   // beyond the threshold
    far = 16'((count > reference) ? count - reference : reference - count) * 16'(1 << FracW)
        > 16'(reference) * 16'(threshold_i);
  endfunction

  // By whole windows. Between two of them, `gap_q` cycles are left in which nothing is counted.
  logic [1:0]         phase_q;   // 0 settle, 1 reference, 2 watch
  logic [WindowW-1:0] time_q;
  logic [GapW-1:0]    gap_q;
  logic [CountW-1:0]  sum0_q, sum1_q, before0_q, before1_q;
  logic [7:0]         moved_windows_q;
  logic               due_q;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      on_q  <= 1'b0;
      due_q <= 1'b0;
    end else begin
      on_q  <= active_i;
      due_q <= 1'b0;
      if (!on_q) begin
        phase_q         <= 2'd0;
        time_q          <= '0;
        gap_q           <= '0;
        sum0_q          <= '0;
        sum1_q          <= '0;
        moved_windows_q <= '0;
      end else if (gap_q == '0) begin
        sum0_q <= sum0_q + CountW'(issue_i[0]);
        sum1_q <= sum1_q + CountW'(issue_i[1]);
        time_q <= time_q + 1'b1;
        if (32'(time_q) + 1 == 32'(window_i)) gap_q <= GapW'(K * Steps);
      end else begin
        gap_q <= gap_q - 1'b1;
        if (gap_q == GapW'(1)) begin
          time_q <= '0;
          sum0_q <= '0;
          sum1_q <= '0;
          if (phase_q == 2'd0) phase_q <= 2'd1;
          if (phase_q == 2'd1) begin
            phase_q   <= 2'd2;
            before0_q <= sum0_q;
            before1_q <= sum1_q;
          end
          if (phase_q == 2'd2) begin
            moved_windows_q <= '0;
            if (far(sum0_q, before0_q) || far(sum1_q, before1_q)) begin
              if (9'(moved_windows_q) + 9'd1 >= 9'(hold_i)) begin
                due_q   <= active_i;
                phase_q <= 2'd0;
              end else begin
                moved_windows_q <= moved_windows_q + 1'b1;
              end
            end
          end
        end
      end
    end

  // Between windows: how far the kernel under comparison is, which is the first in both rows.
  logic                second;
  logic [3:0]          at;        // cycles of its 16 that are over
  logic [CountW-1:0]   count, reference;
  logic [SumW-1:0]     allowed, sum;
  logic                above, below, take_reference, take_count;
  assign second    = gap_q <= GapW'(Steps);
  assign at        = 4'(0 - gap_q[3:0]);
  assign count     = \dut.count_q [0 +: CountW];
  assign reference = \dut.reference_q [0 +: CountW];
  assign allowed   = SumW'((8'(reference) * 8'(threshold_i)) >> FracW);
  assign above     = 8'(count) > 8'(reference) + 8'(allowed);
  assign below     = 8'(reference) > 8'(count) + 8'(allowed);
  always_comb begin
    sum            = allowed;
    take_reference = 1'b0;
    take_count     = 1'b0;
    case (at)
      4'd1:    sum = '0;
      4'd2:    {sum, take_reference} = {SumW'(0), threshold_i[0]};
      4'd3:    {sum, take_reference} = {SumW'((8'(reference) * 8'(threshold_i[0])) >> 1), threshold_i[1]};
      4'd4:    {sum, take_reference} = {SumW'((8'(reference) * 8'(threshold_i[1:0])) >> 2), threshold_i[2]};
      4'd9:    take_reference = 1'b1;
      4'd10:   {sum, take_count}     = {allowed + SumW'(reference), 1'b1};
      4'd11:   {sum, take_count}     = {allowed + SumW'(reference) - SumW'(count), 1'b1};
      4'd12:   {sum, take_reference} = {allowed + SumW'(reference), 1'b1};
      4'd13:   take_count = 1'b1;
      4'd14:   {sum, take_reference} = {allowed + SumW'(count), 1'b1};
      4'd15:   sum = allowed + SumW'(count) - SumW'(reference);
      default: ;
    endcase
  end

  always_comb
    if (started) begin
      asks_exactly_when_enough_windows_moved: assert (request == due_q);
      asks_only_while_active:                 assert (!request || on_q);
      reset_is_clean:                         assert (rst_ni || (!request && !\dut.active_q ));
      active_is_followed:                     assert (\dut.active_q == on_q);
      if (on_q) begin
        windows_are_counted: assert (phase_q != 2'd3 && \dut.state_q == phase_q && \dut.judge_q == (gap_q != '0)
            && gap_q <= GapW'(K * Steps)
          && 32'(\dut.timer_q ) == ((gap_q != '0) ? 32'(gap_q) : 32'(window_i) - 32'(time_q))
          && (gap_q != '0 || time_q < window_i)
          && sum0_q <= time_q && sum1_q <= time_q);
        rows_move_on_by_a_kernel: assert (
          (phase_q == 2'd0 || \dut.count_q == ((gap_q != '0 && second) ? {CountW'(0), sum1_q} : {sum1_q, sum0_q}))
          && (phase_q != 2'd0 || gap_q == '0 || !second || \dut.count_q [CountW +: CountW] == '0)
          && (phase_q != 2'd1 || gap_q == '0 || !second || \dut.reference_q [CountW +: CountW] == sum0_q)
          && (phase_q != 2'd2 || \dut.reference_q
          == ((gap_q != '0 && second) ? {before0_q, before1_q} : {before1_q, before0_q})));
        sum_is_what_the_steps_make: assert (
          (gap_q == '0 || at == 4'd0
              || (\dut.sum_q == sum && \dut.take_reference_q == take_reference && \dut.take_count_q == take_count))
          && ((gap_q != '0 && (at != 4'd0 || phase_q == 2'd0)) || phase_q == 2'd0
          || (!\dut.take_reference_q && !\dut.take_count_q )));
        verdict_is_of_the_kernels_so_far: assert (phase_q != 2'd2 || gap_q == '0 || \dut.moved_q ==
          ((second && far(sum0_q, before0_q)) || (at >= 4'd11 && above) || (at == 4'd15 && below)));
        windows_in_a_row_are_counted: assert ((phase_q == 2'd0 || 9'(\dut.left_q ) + 9'(moved_windows_q) == 9'(hold_i))
            && moved_windows_q < hold_i
          && (phase_q == 2'd2 || moved_windows_q == '0));
      end
    end
endmodule
