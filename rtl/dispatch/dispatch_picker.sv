// SPDX-License-Identifier: Apache-2.0
// dispatch_picker: remembers which kernel fits on which SM, and picks one (kernel, SM) a cycle while something is
// eligible: the foremost kernel or the next in turn, then the next SM in turn. In order, a kernel waits until those
// ahead of it have no CTA left. What it remembers is never optimistic: all of it is dropped when quotas change, an SM
// is forgotten when it is picked, until it is charged and its room is known, and an ended CTA only makes its SM dirty.
// One dirty SM a cycle, round robin, is evaluated: its row is read, and in the next cycle the answer is here, which
// means nothing if a CTA is on its way there. When none is dirty, the last one's answer stays and the SM behind it is
// about to be read: what is launched then has two SMs that are known at once.
module dispatch_picker #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4
) (
  input  logic                                 clk_i,
  input  logic                                 rst_ni,
  input  logic [MAX_KERNELS-1:0]               can_admit_i,        // kernels that may dispatch
  input  logic [NUM_SM-1:0]                    available_i,       // SMs that may be picked
  input  logic [MAX_KERNELS-1:0]               claim_i,           // wait_guard: this kernel goes first; one-hot, or 0
  input  logic [NUM_SM-1:0]                    reserved_i,        // an SM for it alone; one-hot, or 0
  input  logic                                 sweep_i,           // every SM is to be read
  input  logic [MAX_KERNELS*MAX_KERNELS-1:0]   ahead_i,           // bit i*K+j: i goes before j
  input  logic                                 round_robin_i,     // over the kernels, instead of the foremost first
  input  logic                                 in_order_i, // no kernel before one ahead of it has issued its grid
  input  logic                                 ready_i,           // a pick can be taken in this cycle
  input  logic                                 quota_changed_i,
  input  logic                                 profiling_i,       // settled_o stays as it is
  input  logic [MAX_KERNELS-1:0]               launched_i,        // a new kernel in this slot
  input  logic [NUM_SM-1:0]                    release_sm_i,         // a CTA ended there; one-hot, or 0
  output logic                                 pending_o,       // something to evaluate or to pick
  output logic                                 pick_valid_o,
  output logic [NUM_SM-1:0]                    pick_sm_o,         // one-hot, or 0 without a pick, as the next
  output logic [MAX_KERNELS-1:0]               pick_kernel_o,
  input  logic [NUM_SM-1:0]                    picked_sm_i,       // picked last; one-hot, or 0
  input  logic [NUM_SM-1:0]                    charged_sm_i,      // picked and charged; one-hot, or 0
  input  logic                                 charged_stale_i,   // by quotas that are no more,
  input  logic [MAX_KERNELS-1:0]               charged_room_i,    // else: one more fits there,
  input  logic                                 charged_full_i,    // and it holds just its quotas
  output logic                                 eval_o,            // read
  output logic [NUM_SM-1:0]                    eval_sm_o,         // this one; one-hot, or 0
  output logic [NUM_SM-1:0]                    eval_slots_sm_o,   // a copy, for the longest path that begins here
  input  logic [MAX_KERNELS-1:0]               eval_room_i, // from the next cycle on, until eval_o: one more fits,
  input  logic                                 eval_full_i,       // and it holds just its quotas
  output logic [NUM_SM-1:0]                    settled_o          // SMs that have held just their quotas since then
);
  if (!sluice_pkg::sizes_exist(NUM_SM, MAX_KERNELS, 4)) $error("dispatch_picker: size out of range");
  localparam int unsigned K = MAX_KERNELS;

  logic [K*NUM_SM-1:0] room_d, room_q;   // one more fits: bit k*NUM_SM+m
  logic [NUM_SM-1:0]   dirty_d, dirty_q;
  logic [NUM_SM-1:0]   busy_d, busy_q;   // picked; what is remembered of its room means nothing
  logic [K*NUM_SM-1:0] eligible;

  // The kernel, and beside it the SM that each kernel would get.
  logic [K-1:0]        some, contend, foremost, in_turn;   // some: eligible somewhere; contend: for the first place
  logic [K*NUM_SM-1:0] grants;
  logic                may_pick;
  assign may_pick = ready_i && !quota_changed_i;
  always_comb begin
    eligible = room_q & ~{K{busy_q}} & {K{available_i}};
    for (int unsigned k = 0; k < K; k++) begin
      eligible[k*NUM_SM +: NUM_SM] = eligible[k*NUM_SM +: NUM_SM] & ~(reserved_i & {NUM_SM{!claim_i[k]}});
      some[k] = eligible[k*NUM_SM +: NUM_SM] != '0;
    end
    contend  = can_admit_i & (some | {K{in_order_i}});
    foremost = contend;
    for (int unsigned i = 0; i < K; i++)
      for (int unsigned j = 0; j < K; j++)
        if (contend[i] && ahead_i[i*K + j]) foremost[j] = 1'b0;
  end

  logic first;   // the one with the claim
  assign first = (claim_i & can_admit_i & some) != '0;
  rr_arbiter #(.N(K)) i_kernel_arbiter (
    .clk_i,
    .rst_ni,
    .request_i (can_admit_i & some),
    .grant_o   (in_turn),
    .used_i    (in_turn & {K{may_pick && round_robin_i && !in_order_i && !first}})
  );

  logic [K-1:0] kernel;   // in order, the foremost may have to wait: it is eligible nowhere, and its SM none
  always_comb begin
    kernel        = (round_robin_i && !in_order_i) ? in_turn : foremost;
    if (first) kernel = claim_i;
    pick_kernel_o = kernel & some & {K{may_pick}};
    pick_sm_o     = '0;
    for (int unsigned k = 0; k < K; k++)
      if (kernel[k]) pick_sm_o |= grants[k*NUM_SM +: NUM_SM];
    pick_sm_o     = pick_sm_o & {NUM_SM{may_pick}};
  end

  rr_arbiter #(.N(NUM_SM), .SETS(K)) i_sm_arbiter (
    .clk_i,
    .rst_ni,
    .request_i (eligible),
    .grant_o   (grants),
    .used_i    (picked_sm_i)
  );

  logic can_pick;
  assign can_pick     = (kernel & some) != '0;
  assign pick_valid_o = can_pick && may_pick;
  assign pending_o    = can_pick || dirty_q != '0 || unanswered_q || new_q || renewed_q || busy_q != '0;

  // The SM to read, and the one whose answer is here.
  logic [NUM_SM-1:0] want, granted, eval_d, eval_q, behind, answer_d, answer_q;
  logic              wanted, unanswered_q, new_q;   // unanswered: eval_q is read because it was dirty; new: the answer
                                                    // was not here before,
  logic              renewed_q;                     // or is about a kernel that was not
  assign want   = dirty_q & ~busy_q;
  assign wanted = want != '0;
  rr_arbiter #(.N(NUM_SM)) i_dirty_arbiter (
    .clk_i,
    .rst_ni,
    .request_i (want),
    .grant_o   (granted),
    .used_i    (eval_q)
  );
  assign eval_o    = wanted || unanswered_q || quota_changed_i;
  assign eval_sm_o = eval_q;
  always_ff @(posedge clk_i) eval_slots_sm_o <= eval_d;
  always_comb begin
    for (int unsigned m = 0; m < NUM_SM; m++) behind[m] = eval_q[(m + NUM_SM - 1) % NUM_SM];
    // none is granted when none is wanted
    eval_d   = granted | (behind & {NUM_SM{!wanted && eval_o}}) | (eval_q & {NUM_SM{!eval_o}});
    answer_d = eval_o ? eval_q : answer_q & ~busy_q;
  end

  always_comb begin
    dirty_d = dirty_q | (answer_q & busy_q);
    if (quota_changed_i || launched_i != '0 || sweep_i) dirty_d = '1;
    dirty_d = (dirty_d & ~granted) | release_sm_i;   // read as it will be then; what ends is credited later
    busy_d  = (busy_q & ~charged_sm_i) | pick_sm_o;
    for (int unsigned k = 0; k < K; k++)
      for (int unsigned m = 0; m < NUM_SM; m++) begin
        room_d[k*NUM_SM + m] = room_q[k*NUM_SM + m];
        if (answer_q[m] && !busy_q[m] && (new_q || renewed_q)) room_d[k*NUM_SM + m] = eval_room_i[k];
        if (charged_sm_i[m])           room_d[k*NUM_SM + m] = charged_room_i[k] && !charged_stale_i;
        if (quota_changed_i || launched_i[k]) room_d[k*NUM_SM + m] = 1'b0;   // what is known is about the kernel before
      end
  end

  // Once an SM holds just its quotas it can't hold more before they change, and less only until it is refilled.
  logic [NUM_SM-1:0] settled_d, settled_q;
  always_comb begin
    settled_d = settled_q;
    if (!profiling_i && new_q && eval_full_i)             settled_d |= answer_q & ~busy_q;
    if (!profiling_i && !charged_stale_i && charged_full_i) settled_d |= charged_sm_i;
    if (quota_changed_i)                                  settled_d = '0;
  end
  assign settled_o = settled_q;

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      settled_q    <= '0;
      room_q       <= '0;
      dirty_q      <= '1;
      busy_q       <= '0;
      eval_q       <= '0;
      unanswered_q <= 1'b0;
      new_q        <= 1'b0;
      renewed_q    <= 1'b0;
      answer_q     <= '0;
    end else begin
      settled_q    <= settled_d;
      room_q       <= room_d;
      dirty_q      <= dirty_d;
      busy_q       <= busy_d;
      eval_q       <= eval_d;
      unanswered_q <= wanted;
      new_q        <= eval_o;
      renewed_q    <= launched_i != '0;
      answer_q     <= answer_d;
    end
endmodule
