// SPDX-License-Identifier: Apache-2.0
// Properties of dispatch_picker that tell how long room can stay unused: M SMs, K kernel slots, any kernel and any SM
// (both constant), any inputs. The neighbours are a model: the port, which takes a pick when it is free; the table,
// which answers truly a cycle after a read and three after a pick. What it is told of the other SMs and kernels is
// anything. The truth about this kernel on this SM: one more CTA fits. It becomes true when a CTA ends there, when
// quotas change or with a launch of the kernel, and untrue when a CTA is picked for the SM or by the latter two. With P
// the wait_guard is there, too, the kernel waits, and the SM is that which is reserved for it. Then the CTAs of an SM
// end in Drain cycles, if none is picked for it, it is available, and a CTA leaves the port in its second cycle there
// at the latest. Without, its outputs are anything.
module dispatch_picker_props #(
  parameter int unsigned M = 3,
  parameter int unsigned K = 2,
  parameter int unsigned P = 0
) (
  input logic           clk_i,
  input logic           rst_ni,
  input logic [K-1:0]   can_admit_i,
  input logic [M-1:0]   available_i,
  input logic [K*K-1:0] ahead_i,
  input logic           round_robin_i,
  input logic           in_order_i,
  input logic           port_ready_i,      // of the SM that is offered a CTA
  input logic           quota_changed_i,
  input logic           profiling_i,
  input logic [K-1:0]   launched_i,
  input logic [K-1:0]   claim_i,           // without P, as the next two
  input logic [M-1:0]   reserved_i,
  input logic           sweep_i,
  input logic [K-1:0]   waits_i,
  input logic [K*sluice_pkg::CtaW-1:0] eval_quota_i,
  input logic [K*sluice_pkg::CtaW-1:0] port_quota_i,
  input logic [M-1:0]   sm_enable_i,
  input logic [M-1:0]   release_sm_i,
  input logic           fits_i,            // the truth, where it may change
  input logic           early_i,           // what a read tells of it that comes too early
  input logic [K-1:0]   eval_room_i,       // of other kernels and SMs, as the next
  input logic [K-1:0]   charged_room_i,
  input logic           eval_full_i,
  input logic           charged_full_i
);
  localparam int unsigned Wait = 2 * (M - 1);   // evaluations of other SMs that may come first
  localparam int unsigned Most = 6 + Wait;      // cycles from an end or a start on the SM until its room is known
  localparam int unsigned CountW = $clog2(Most + 1);

  (* anyconst *) logic [M-1:0] sm;       // this SM, one-hot
  (* anyconst *) logic [K-1:0] kernel;   // and this kernel

  logic         pick_valid, eval;
  logic [M-1:0] pick_sm, eval_sm, settled;
  logic [K-1:0] pick_kernel, eval_room, charged_room, claim;
  logic [M-1:0] reserved;
  logic         sweep;

  // The port, and a pick on its way behind it.
  logic         port_valid, stale_q, staler_q;
  logic [M-1:0] port_sm, fresh_sm, charge_sm, charged_sm;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      port_valid <= 1'b0;
      port_sm    <= '0;
      fresh_sm   <= '0;
      charge_sm  <= '0;
      charged_sm <= '0;
    end else begin
      fresh_sm   <= pick_sm;
      charge_sm  <= fresh_sm;
      charged_sm <= charge_sm;
      if (!port_valid || port_ready_i) begin
        port_valid <= pick_valid;
        port_sm    <= pick_sm;
      end
    end
  always_ff @(posedge clk_i) begin
    stale_q  <= quota_changed_i;
    staler_q <= quota_changed_i || stale_q;
  end

  // The truth, and what of it has been told.
  logic fits_q, gave_q, disturbed_q, answer_q, event_here;
  logic mine, ends, picked, renewed;
  assign mine    = (eval_sm & sm) != '0;
  assign ends    = (release_sm_i & sm) != '0;
  assign picked  = (pick_sm & sm) != '0;
  assign renewed = quota_changed_i || (launched_i & kernel) != '0;
  assign event_here = ends || picked || renewed;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      fits_q      <= fits_i;
      gave_q      <= 1'b0;
      disturbed_q <= 1'b0;
    end else begin
      if (renewed)     fits_q <= fits_i;
      else if (picked) fits_q <= fits_q && fits_i;
      else if (ends)   fits_q <= fits_q || fits_i;
      gave_q      <= ends;
      disturbed_q <= (disturbed_q && !picked) || ends || renewed;
    end
  always_ff @(posedge clk_i)
    if (renewed)   answer_q <= early_i;
    else if (eval) answer_q <= fits_q && (!(ends || gave_q) || early_i);
  logic answer_mine_q;   // the answer is about this SM
  always_ff @(posedge clk_i)
    if (eval) answer_mine_q <= mine;
  always_comb
    for (int unsigned k = 0; k < K; k++) begin
      eval_room[k]    = (kernel[k] && answer_mine_q) ? answer_q : eval_room_i[k];
      charged_room[k] = (kernel[k] && (charged_sm & sm) != '0) ? fits_q && (!disturbed_q || early_i)
          : charged_room_i[k];
    end

  dispatch_picker #(.NUM_SM(M), .MAX_KERNELS(K)) dut (
    .clk_i,
    .rst_ni,
    .can_admit_i,
    .available_i,
    .claim_i         (claim),
    .reserved_i      (reserved),
    .sweep_i         (sweep),
    .ahead_i,
    .round_robin_i,
    .in_order_i,
    .ready_i         (!port_valid || port_ready_i),
    .quota_changed_i,
    .profiling_i,
    .launched_i,
    .release_sm_i,
    .pick_valid_o    (pick_valid),
    .pick_sm_o       (pick_sm),
    .pick_kernel_o   (pick_kernel),
    .picked_sm_i     (port_sm),
    .charged_sm_i    (charged_sm),
    .charged_stale_i (staler_q),
    .charged_room_i  (charged_room),
    .charged_full_i,
    .eval_o          (eval),
    .eval_sm_o       (eval_sm),
    .eval_room_i     (eval_room),
    .eval_full_i,
    .settled_o       (settled)
  );

  // Cycles since the last report of an end there (two cycles before release_sm_i), the last start (at the port, a cycle
  // behind the pick), or a change.
  logic [CountW-1:0] since;
  logic              known, may_pick;
  assign known    = since == CountW'(Most) && fits_q;
  assign may_pick = (!port_valid || port_ready_i) && !quota_changed_i;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni)                               since <= '0;
    else if (picked || renewed)                since <= '0;
    else if (ends && since > CountW'(2))       since <= CountW'(3);
    else if (since != CountW'(Most))           since <= since + 1'b1;

  // Picks of others while the kernel could have had each of them, on whatever SM.
  localparam int unsigned TurnW = $clog2(K + 1);
  logic [TurnW-1:0] passed;
  logic             offered, here, head, others;
  (* hierconn *) logic [K-1:0] \dut.some ;
  assign offered = (can_admit_i & kernel & \dut.some ) != '0;
  assign here    = known && (available_i & sm) != '0 && (can_admit_i & kernel) != '0
      && ((reserved & sm) == '0 || claim == kernel);
  assign others  = (claim & ~kernel & can_admit_i & \dut.some ) != '0;   // another one goes first
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni)                                             passed <= '0;
    else if (!offered || !round_robin_i)                     passed <= '0;
    else if (pick_valid && (pick_kernel & kernel) != '0)     passed <= '0;
    else if (pick_valid && !others && passed != TurnW'(K))   passed <= passed + 1'b1;

  // In order and by age: nobody ahead of this kernel has CTAs left; and is offered any.
  logic [K-1:0] ahead;   // of this kernel
  always_comb begin
    ahead = '0;
    for (int unsigned i = 0; i < K; i++)
      for (int unsigned j = 0; j < K; j++)
        if (kernel[j] && ahead_i[i*K + j]) ahead[i] = 1'b1;
  end
  assign head = (ahead & can_admit_i) == '0;

  logic started;
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;
  always_comb begin
    assume (sm != '0 && (sm & (sm - 1'b1)) == '0);
    assume (kernel != '0 && (kernel & (kernel - 1'b1)) == '0);
    assume ((release_sm_i & (release_sm_i - 1'b1)) == '0);
    assume (!(round_robin_i && in_order_i));
    assume ((claim & (claim - 1'b1)) == '0);
    assume ((reserved & (reserved - 1'b1)) == '0 && (reserved == '0 || claim != '0));
    for (int unsigned i = 0; i < K; i++)   // an order
      for (int unsigned j = 0; j < K; j++)
        if (i == j) assume (!ahead_i[i*K + j]);
        else begin
          assume (ahead_i[i*K + j] != ahead_i[j*K + i]);
          for (int unsigned l = 0; l < K; l++)
            assume (!(ahead_i[i*K + j] && ahead_i[j*K + l] && l != i) || ahead_i[i*K + l]);
        end
    if (!started) assume (!rst_ni);
    if (started && rst_ni) begin
      room_is_known_in_time:             assert (!known || (\dut.room_q [index()] && (\dut.busy_q & sm) == '0));
      room_that_is_known_makes_a_pick:   assert (!(here && may_pick && (!in_order_i || head)) || pick_valid);
      the_first_with_room_is_picked:     assert (!(here && may_pick && head && !round_robin_i && !others)
          || pick_kernel == kernel);
      the_claim_goes_first:              assert (!(here && may_pick && claim == kernel) || pick_kernel == kernel);
      a_reserved_sm_is_for_the_claim:    assert ((pick_sm & reserved) == '0 || pick_kernel == claim);
      in_turn_nobody_waits_for_a_round:  assert (passed < TurnW'(K));
    end
  end

  if (P == 0) begin : gen_any
    assign {claim, reserved, sweep} = {claim_i, reserved_i, sweep_i};
    logic unused;
    assign unused = ^{waits_i, eval_quota_i, port_quota_i, sm_enable_i};
  end else begin : gen_guard
    localparam int unsigned Drain = 4, Port = 2;
    localparam int unsigned Serve = 6 + Wait + Drain + Most + Port;   // from the claim, until an SM is read, its CTAs
                                                                      // end, that is known, and one is picked
    localparam int unsigned ServeW = $clog2(Serve + 2);
    logic              busy, claimed, ok;
    logic [ServeW-1:0] served_in;   // cycles of the claim
    logic [3:0]        quiet;       // cycles since a pick for the SM
    logic [K-1:0]      picked_q;
    logic              waited_q;
    wait_guard #(.NUM_SM(M), .MAX_KERNELS(K), .PATIENCE(P)) i_guard (
      .clk_i,
      .rst_ni,
      .waits_i,
      .pick_kernel_i (pick_kernel),
      .quota_changed_i,
      .eval_i        (eval),
      .eval_sm_i     (eval_sm),
      .eval_quota_i,
      .port_sm_i     (port_sm),
      .port_quota_i,
      .sm_enable_i,
      .life_i        (available_i),
      .claim_o       (claim),
      .reserved_o    (reserved),
      .sweep_o       (sweep),
      .busy_o        (busy)
    );
    assign claimed = claim == kernel;
    always_ff @(posedge clk_i or negedge rst_ni)
      if (!rst_ni) begin
        served_in <= '0;
        quiet     <= '0;
        picked_q  <= '0;
        waited_q  <= 1'b0;
      end else begin
        picked_q <= pick_kernel;
        waited_q <= port_valid && !port_ready_i;
        if (!claimed || renewed || (pick_kernel & kernel) != '0) served_in <= '0;
        else if (served_in != ServeW'(Serve + 1))                served_in <= served_in + 1'b1;
        if (picked)              quiet <= '0;
        else if (quiet != 4'hf)  quiet <= quiet + 1'b1;
      end
    logic read_quota, port_quota;
    always_comb begin
      read_quota = 1'b0;
      port_quota = 1'b0;
      for (int unsigned k = 0; k < K; k++)
        if (kernel[k]) begin
          read_quota = eval_quota_i[k*sluice_pkg::CtaW +: sluice_pkg::CtaW] != '0;
          port_quota = port_quota_i[k*sluice_pkg::CtaW +: sluice_pkg::CtaW] != '0;
        end
    end
    always_comb begin
      assume ((waits_i & ~can_admit_i) == '0 && (waits_i & picked_q) == '0);
      assume ((!mine || read_quota) && ((port_sm & sm) == '0 || port_quota));
      assume ((sm_enable_i & sm) != '0 && (available_i & sm) != '0);
      assume (!claimed || reserved == '0 || reserved == sm);
      assume (quiet < 4'(Drain) || ((fits_q || renewed) && !ends));
      assume (!waited_q || port_ready_i);
      if (started && rst_ni) a_claim_is_served_in_time: assert (served_in <= ServeW'(Serve));
    end
    logic unused;
    assign unused = ^{claim_i, reserved_i, sweep_i, busy};
  end

  (* hierconn *) logic [K*M-1:0] \dut.room_q ;
  (* hierconn *) logic [M-1:0]   \dut.busy_q ;
  function automatic int unsigned index();
    index = 0;
    for (int unsigned k = 0; k < K; k++)
      for (int unsigned m = 0; m < M; m++)
        if (kernel[k] && sm[m]) index = k*M + m;
  endfunction
endmodule
