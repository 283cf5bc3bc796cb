// SPDX-License-Identifier: Apache-2.0
// Properties of launch_queue with two places and two kernel slots, for any launches and any slots that become free.
// Assumed of kernel_slots: a slot is not FREE in the second cycle after a launch that was taken. Launches are told
// apart by their grid (32 bits, anything).
module launch_queue_props (
  input logic                clk_i,
  input logic                rst_ni,
  input logic                launch_valid_i,
  input sluice_pkg::launch_t launch_i,
  input logic                purge_i,
  input logic                purge_all_i,
  input logic [sluice_pkg::ContextW-1:0] purge_context_i,
  input logic [1:0]          slot_i,
  input logic [1:0]          slot_free_i
);
  localparam int unsigned Depth = 2;
  localparam int unsigned W     = sluice_pkg::LaunchW;

  logic                           ready, launched_valid, refused, flushed, busy;
  logic [1:0]                     admit;
  sluice_pkg::launch_t            admit_launch;
  logic [sluice_pkg::KIndexW-1:0] kernel;
  launch_queue #(.MAX_KERNELS(2), .DEPTH(Depth)) dut (
    .clk_i,
    .rst_ni,
    .launch_valid_i,
    .launch_ready_o     (ready),
    .launch_i,
    .purge_i,
    .purge_all_i,
    .purge_context_i,
    .slot_i,
    .slot_free_i,
    .admit_o            (admit),
    .admit_launch_o     (admit_launch),
    .launched_valid_o   (launched_valid),
    .launched_kernel_o  (kernel),
    .launched_refused_o (refused),
    .launched_flushed_o (flushed),
    .busy_o             (busy)
  );
  (* hierconn *) wire [1:0] \dut.count_q , \dut.admitted_q , \dut.told_q , \dut.purged_q ;
  (* hierconn *) wire       \dut.hands_back , \dut.back_q , \dut.back_told_q ;

  logic started;
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;
  always_comb if (!started) assume (!rst_ni);

  // Handshakes and takes, counted; one launch, any, is followed from its handshake to its take by how many are before
  // it.
  logic [3:0]   came, went;       // modulo 16: never more than Depth apart
  logic         follow_i_q;       // a launch is followed,
  logic [1:0]   before_q;         // with so many before it
  logic [W-1:0] followed_q;
  (* anyseq *) logic choose;      // follow the one that comes now
  logic         comes, goes, back, begins, leaves;
  logic         doomed_q;         // it was purged while it was here, or when it came
  assign comes  = launch_valid_i && ready;
  assign back   = \dut.hands_back ;
  assign goes   = admit != '0 || back;
  assign begins = comes && choose && !follow_i_q;
  assign leaves = follow_i_q && goes && before_q == 2'd0;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      came       <= '0;
      went       <= '0;
      follow_i_q <= 1'b0;
      before_q   <= '0;
    end else begin
      came <= came + 4'(comes);
      went <= went + 4'(goes);
      if (begins && !(goes && came == went)) begin
        follow_i_q <= 1'b1;
        before_q   <= 2'(came - went) - 2'(goes);
      end else if (follow_i_q) begin
        follow_i_q <= !leaves;
        before_q   <= before_q - 2'(goes && before_q != 2'd0);
      end
    end
  sluice_pkg::launch_t followed;
  logic                meets, meets_new;
  assign followed  = followed_q;
  assign meets     = purge_i && (purge_all_i || followed.ctx == purge_context_i);
  assign meets_new = purge_i && (purge_all_i || launch_i.ctx == purge_context_i);
  always_ff @(posedge clk_i) begin
    if (begins) followed_q <= launch_i;
    doomed_q <= begins ? meets_new : doomed_q || meets;
  end

  (* hierconn *) wire [Depth*W-1:0] \dut.entries_q ;
  logic [1:0] admitted_before, told_before;   // admit_o of the cycle before, and of the one before that
  logic       was_up, back_before, back_before_that;
  always_ff @(posedge clk_i) begin
    was_up       <= rst_ni;
    admitted_before <= admit & {2{rst_ni}};
    told_before  <= admitted_before & {2{rst_ni}};
    back_before      <= back && rst_ni;
    back_before_that <= back_before && rst_ni;
  end

  always_comb if (started) begin
    count_is_what_came_and_did_not_go: assert (4'(\dut.count_q ) == came - went && \dut.count_q <= 2'(Depth));
    ready_while_a_place_is_free: assert (ready == (\dut.count_q != 2'(Depth)));
    the_followed_waits_in_its_place: assert (!follow_i_q
        || (before_q < \dut.count_q && \dut.entries_q [32'(before_q[0])*W +: W] == followed_q && before_q < 2'(Depth)));
    launches_leave_in_their_order: assert (!leaves || back || admit_launch == followed_q);
    what_is_purged_gets_no_slot: assert (!(leaves && !back && (doomed_q || meets))
        && !(admit != '0 && \dut.count_q == '0 && meets_new));
    only_what_is_purged_is_handed_back: assert (!(leaves && back) || doomed_q);
    a_mark_is_its_launch_s: assert (!follow_i_q || \dut.purged_q [before_q[0]] == doomed_q);
    a_launch_that_finds_all_free_is_taken_at_once: assert (!(launch_valid_i && \dut.count_q == '0 && !purge_i
        && (slot_i & slot_free_i & ~admitted_before) != '0
      && was_up && rst_ni)
      || (goes && admit_launch == launch_i));
    nothing_is_taken_that_did_not_come: assert (!goes || launch_valid_i || came != went);
    one_slot_at_a_time: assert ((admit & (admit - 2'd1)) == '0);
    only_a_free_slot_of_the_port_is_taken: assert ((admit & ~(slot_i & slot_free_i)) == '0);
    a_slot_is_not_taken_while_it_is_launched: assert (!was_up || !rst_ni || (admit & admitted_before) == '0);
    each_take_is_told_two_cycles_later: assert (!was_up || !rst_ni
        || (launched_valid == (told_before != '0 || back_before_that)
      && flushed == back_before_that && (told_before == '0
      || (told_before == 2'd1 << kernel[0] && !back_before_that && refused == ((told_before & slot_free_i) != '0)))));
    where_it_rests_nothing_changes: assert (busy || (launch_valid_i && ready) || purge_i ||
      (admit == '0 && !back && !\dut.back_q && !\dut.back_told_q && \dut.admitted_q == '0 && \dut.told_q == '0));
    a_launch_that_waited_gets_a_slot: cover (leaves && !back);
    a_launch_is_handed_back: cover (leaves && back);
    reset_is_clean: assert (rst_ni || (\dut.count_q == '0 && !launched_valid && ready));
    what_is_told_is_remembered: assert (!was_up || !rst_ni
        || (\dut.admitted_q == admitted_before && \dut.told_q == told_before && \dut.back_q == back_before
      && \dut.back_told_q == back_before_that && !(back_before && admitted_before != '0)));
  end
endmodule
