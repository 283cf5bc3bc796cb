// dispatch_picker: remembers which kernel fits on which SM, and picks one (kernel, SM) a cycle while something is eligible:
// the oldest kernel or the next in turn, then the next SM in turn. In order, a younger kernel waits until the older ones have no CTA left. What it remembers is never optimistic: all of it is dropped when
// quotas change, an SM's answers are replaced in the cycle in which it is picked, and an ended CTA only makes its SM dirty. One dirty
// SM a cycle is offered for evaluation, round robin. With regions an SM is skipped from its pick until its region check came.
module dispatch_picker #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4
) (
  input  logic                                 clk_i,
  input  logic                                 rst_ni,
  input  logic [MAX_KERNELS-1:0]               can_take_i,        // kernels that may dispatch
  input  logic [MAX_KERNELS*MAX_KERNELS-1:0]   older_i,           // bit i*K+j: i before j
  input  logic                                 round_robin_i,     // over the kernels, instead of oldest first
  input  logic                                 in_order_i,        // no kernel before an older one has issued its last CTA
  input  logic                                 regions_i,
  input  logic                                 ready_i,           // a pick can be taken in this cycle
  input  logic                                 quota_changed_i,
  input  logic [MAX_KERNELS-1:0]               launched_i,        // a new kernel in this slot
  input  logic [NUM_SM-1:0]                    give_sm_i,         // a CTA ended there; one-hot, or 0
  output logic                                         pending_o,       // something to evaluate or to pick
  output logic                                 pick_valid_o,
  output logic [NUM_SM-1:0]                    pick_sm_o,         // with pick_valid_o: one-hot, as the next
  output logic [MAX_KERNELS-1:0]               pick_kernel_o,
  input  logic [MAX_KERNELS-1:0]               pick_room_i,       // one more fits on that SM after the pick
  output logic                                 eval_valid_o,
  output logic [NUM_SM-1:0]                    eval_sm_o,         // one-hot
  input  logic [MAX_KERNELS-1:0]               eval_room_i,
  input  logic [MAX_KERNELS-1:0]               eval_regions_i,    // its gaps as they are have room
  input  logic [NUM_SM-1:0]                    alloc_sm_i,        // regions are taken there in this cycle; one-hot, or 0
  input  logic [NUM_SM-1:0]                    check_sm_i,        // region check after that; one-hot, or 0
  input  logic [MAX_KERNELS-1:0]               check_regions_i
);
  localparam int unsigned K = MAX_KERNELS;

  logic [K*NUM_SM-1:0] room_d, room_q;         // counts and quotas allow one more: bit k*NUM_SM+m
  logic [K*NUM_SM-1:0] region_d, region_q;     // so do the gaps, or regions are off; means something where room_q is set
  logic [NUM_SM-1:0]   dirty_d, dirty_q;

  // The kernel, and beside it the SM that each kernel would get.
  logic [K*NUM_SM-1:0] eligible;
  logic [K-1:0]        some, contend, oldest, in_turn;   // some: eligible somewhere; contend: for the place of the oldest
  logic [K*NUM_SM-1:0] grants;
  logic [NUM_SM-1:0]   picked;
  always_comb begin
    eligible = room_q & region_q;
    for (int unsigned k = 0; k < K; k++) some[k] = eligible[k*NUM_SM +: NUM_SM] != '0;
    contend  = can_take_i & (some | {K{in_order_i}});
    oldest   = contend;
    for (int unsigned i = 0; i < K; i++)
      for (int unsigned j = 0; j < K; j++)
        if (contend[i] && older_i[i*K + j]) oldest[j] = 1'b0;
  end

  rr_arbiter #(.N(K)) i_kernel_arbiter (.clk_i, .rst_ni, .request_i(can_take_i & some), .grant_o(in_turn), .used_i((pick_valid_o && round_robin_i) ? pick_kernel_o : '0));

  always_comb begin
    pick_kernel_o = (round_robin_i && !in_order_i) ? in_turn : oldest;
    pick_sm_o     = '0;
    for (int unsigned k = 0; k < K; k++)
      if (pick_kernel_o[k]) pick_sm_o |= grants[k*NUM_SM +: NUM_SM];
  end

  rr_arbiter #(.N(NUM_SM), .SETS(K)) i_sm_arbiter (.clk_i, .rst_ni, .request_i(eligible), .grant_o(grants), .used_i(picked));

  logic can_pick;   // in order, the oldest may have to wait
  assign can_pick     = (pick_kernel_o & some) != '0;
  assign pick_valid_o = can_pick && ready_i && !quota_changed_i;
  assign pending_o    = can_pick || dirty_q != '0;

  // The dirty SM to evaluate.
  rr_arbiter #(.N(NUM_SM)) i_dirty_arbiter (.clk_i, .rst_ni, .request_i(dirty_q), .grant_o(eval_sm_o), .used_i(eval_sm_o));
  assign eval_valid_o = dirty_q != '0;

  logic [NUM_SM-1:0] in_flight;   // its gaps are about to change
  assign picked    = pick_valid_o ? pick_sm_o : '0;
  assign in_flight = (regions_i ? picked : '0) | alloc_sm_i;

  always_comb begin
    dirty_d = (dirty_q & ~eval_sm_o & ~picked) | give_sm_i;
    if (quota_changed_i) dirty_d = ~eval_sm_o | give_sm_i;
    if (launched_i != '0) dirty_d = '1;
    for (int unsigned k = 0; k < K; k++)
      for (int unsigned m = 0; m < NUM_SM; m++) begin
        room_d[k*NUM_SM + m]   = room_q[k*NUM_SM + m] && !quota_changed_i;
        region_d[k*NUM_SM + m] = region_q[k*NUM_SM + m];
        if (eval_sm_o[m]) begin
          room_d[k*NUM_SM + m]   = eval_room_i[k];
          region_d[k*NUM_SM + m] = eval_regions_i[k];
        end
        if (picked[m]) room_d[k*NUM_SM + m] = pick_room_i[k];
        if (check_sm_i[m]) region_d[k*NUM_SM + m] = check_regions_i[k];
        if (in_flight[m])  region_d[k*NUM_SM + m] = 1'b0;
        if (launched_i[k]) room_d[k*NUM_SM + m] = 1'b0;   // what is known is about the kernel before
        // Regions are switched on where quotas change: what is set here without a look at gaps is not used with regions.
        if (!regions_i) region_d[k*NUM_SM + m] = 1'b1;
      end
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      room_q  <= '0;
      dirty_q <= '0;
    end else begin
      room_q  <= room_d;
      dirty_q <= dirty_d;
    end
  always_ff @(posedge clk_i) region_q <= region_d;   // looked at only with room_q: no reset
endmodule
