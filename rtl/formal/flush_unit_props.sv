// SPDX-License-Identifier: Apache-2.0
// Properties of flush_unit among a model of its neighbours: two SMs of two CTA slots, K kernel slots. A kernel is
// launched, picked for and stopped at any time; its CTA comes to the port, has its slot from the second cycle there on,
// and waits as long as it likes
// or, with WAIT, until it is taken back. A slot is free in the second cycle after an
// end. A kernel slot that dispatches nothing more becomes FREE some time after its last CTA has gone. Nothing is picked
// while the unit is busy. Reports are anything at all.
module flush_unit_props #(
  parameter int unsigned K    = 2,   // 2 or 3
  parameter int unsigned WAIT = 0
) (
  input logic                           clk_i,
  input logic                           rst_ni,
  input logic                           tag_rst_ni,
  input logic [K-1:0]                   flush_i,
  input logic [K-1:0]                   launch_i,
  input logic [K-1:0]                   stop_i,
  input logic [K-1:0]                   leave_i,        // a kernel slot becomes FREE, if it may
  input logic                           pick_i,
  input logic [$clog2(K)-1:0]           pick_kernel_i,
  input logic [1:0]                     pick_place_i,   // SM and slot
  input logic                           ready_i,
  input logic                           done_valid_i,
  input logic [sluice_pkg::SmW-1:0]     done_sm_i,
  input logic [sluice_pkg::SlotW-1:0]   done_slot_i,
  input logic [sluice_pkg::KIndexW-1:0] done_kernel_i,
  input logic [sluice_pkg::TagW-1:0]    done_tag_i
);
  localparam int unsigned M = 2, N = 2, KW = $clog2(K);
  localparam int unsigned TagW = sluice_pkg::TagW, KIndexW = sluice_pkg::KIndexW, SmW = sluice_pkg::SmW,
    SlotW = sluice_pkg::SlotW;

  // The neighbours.
  logic [K-1:0]   running, present, had;  // dispatches; is not FREE; had a kernel since the reset
  logic [3:0]     used;                   // bit 2 * SM + slot
  logic [KW-1:0]  owner [4];              // by that
  logic           port, fresh;
  logic [KW-1:0]  port_kernel;
  logic [1:0]     port_place;
  logic           ends_q, wrong_q, wrong_before;   // an end of the cycle before; that was wrong; and in the one before
  logic [1:0]     end_place_q, end_place_before;
  logic           pick;
  logic [K-1:0]   port_kernel_hot, none_left;
  assign port_kernel_hot = port ? K'(1) << port_kernel : '0;
  assign pick            = pick_i && !busy && (!port || ready_i) && running[pick_kernel_i] && !used[pick_place_i]
      && !(port && port_place == pick_place_i);

  logic [M*N*(1+KW)-1:0]  slots;
  logic                   end_valid, giving_up, flush_valid, busy, end_there, take_back;
  logic [SmW-1:0]         end_sm, giving_sm;
  logic [SlotW-1:0]       end_slot, giving_slot;
  logic [K*TagW-1:0]      tags;
  logic [KIndexW-1:0]     flush_kernel;
  logic [TagW-1:0]        flush_tag;
  always_comb
    for (int unsigned m = 0; m < M; m++) begin
      slots[m*(1+KW)*N +: N] = used[m*N +: N];
      for (int unsigned n = 0; n < N; n++) slots[m*(1+KW)*N + N + n*KW +: KW] = owner[m*N + n];
    end
  flush_unit #(.NUM_SM(M), .MAX_KERNELS(K), .MAX_CTAS(N), .PORT_WAIT(WAIT)) dut (
    .*,
    .slot_free_i    (~present),
    .port_kernel_i  (port_kernel_hot),
    .slots_i        (slots),
    .end_valid_o    (end_valid),
    .end_sm_o       (end_sm),
    .end_slot_o     (end_slot),
    .giving_up_o    (giving_up),
    .giving_sm_o    (giving_sm),
    .giving_slot_o  (giving_slot),
    .take_back_o    (take_back),
    .tags_o         (tags),
    .flush_valid_o  (flush_valid),
    .flush_kernel_o (flush_kernel),
    .flush_tag_o    (flush_tag),
    .busy_o         (busy)
  );
  (* hierconn *) wire [1:0] \dut.state_q , \dut.ended_q , \dut.release_q ;
  (* hierconn *) wire [K-1:0] \dut.kernel_q , \dut.asked_q , \dut.begins ;
  (* hierconn *) wire       \dut.sm_q ;
  localparam logic [1:0] Rest = 2'd0, Close = 2'd1, Settle = 2'd2, Walk = 2'd3;

  logic [1:0] end_place, giving_place;
  assign giving_place = {giving_sm[0], giving_slot[0]};
  assign end_place = {end_sm[0], end_slot[0]};
  assign end_there = end_valid && end_sm < SmW'(M) && end_slot < SlotW'(N) && used[end_place]
      && !(ends_q && end_place_q == end_place);
  always_comb
    for (int unsigned k = 0; k < K; k++) begin
      none_left[k] = !(port && port_kernel == KW'(k));
      for (int unsigned i = 0; i < M*N; i++)
        if (used[i] && owner[i] == KW'(k)) none_left[k] = 1'b0;
    end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      running <= '0;
      present <= '0;
      had     <= '0;
      used    <= '0;
      port    <= 1'b0;
      fresh   <= 1'b0;
      ends_q  <= 1'b0;
      wrong_q <= 1'b0;
      wrong_before <= 1'b0;
    end else begin
      for (int unsigned k = 0; k < K; k++) begin
        if (!present[k] && launch_i[k]) begin
          present[k] <= 1'b1;
          running[k] <= 1'b1;
        end
        if (present[k] && (stop_i[k] || flush_i[k])) running[k] <= 1'b0;
        if (present[k] && !running[k] && none_left[k] && leave_i[k]) present[k] <= 1'b0;
      end
      had   <= had | present;
      port  <= pick || (port && !ready_i && !take_back);
      fresh <= pick;
      if (fresh)  used[port_place]  <= 1'b1;
      if (ends_q) used[end_place_q] <= 1'b0;
      ends_q <= end_there;
      // A report of a CTA that was not sent with this kernel and tag: the end that follows is a BAD_DONE.
      wrong_before <= wrong_q;
      wrong_q <= end_there && done_valid_i && (done_kernel_i != KIndexW'(owner[end_place]) || told[owner[end_place]]);
    end
  always_ff @(posedge clk_i) begin
    if (pick) begin
      port_kernel <= pick_kernel_i;
      port_place  <= pick_place_i;
    end
    if (fresh) owner[port_place] <= port_kernel;
    end_place_q      <= end_place;
    end_place_before <= end_place_q;
  end

  // Flushes that were asked for, and CTAs that were sent before their kernel's tag went on.
  logic       started, was_up, passed_q;
  logic [K-1:0] wanted, told, gone_q;             // asked for, and not over; its SMs were told
  logic [K*TagW-1:0] tags_q;
  logic [K-1:0]      first_life, begins_q;   // no flush since the reset; the first kernel since is there
  logic [K-1:0]      flushed_q, flush_hot, kernel_before;
  logic [1:0]        state_before;
  logic [4:0]        distance, distance_q, others, others_q;   // others: CTAs of other kernels that have not ended
  logic              steps_q, reports_q;
  initial started = 1'b0;
  assign flush_hot = flush_valid ? K'(1) << flush_kernel[KW-1:0] : '0;
  logic [KW-1:0] given;   // the kernel of the walk, by number
  always_comb begin
    given = '0;
    for (int unsigned k = 0; k < K; k++)
      if (\dut.kernel_q [k]) given |= KW'(k);
  end
  always_ff @(posedge clk_i) begin
    started       <= 1'b1;
    was_up        <= rst_ni;
    tags_q        <= tags;
    begins_q      <= \dut.begins ;
    flushed_q     <= flush_hot;
    state_before  <= \dut.state_q ;
    kernel_before <= \dut.kernel_q ;
    distance_q    <= distance;
    steps_q       <= \dut.state_q != Rest
        && !(WAIT == 0 && \dut.state_q == Close && !flush_valid && (\dut.kernel_q & present) != '0)
        && !(giving_up && done_valid_i);
    others_q      <= others;
    reports_q     <= \dut.state_q != Rest && !(\dut.state_q == Close && !flush_valid) && done_valid_i && end_there
        && owner[end_place] != given;
    gone_q        <= \dut.kernel_q & ~present;
  end
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      wanted <= '0;
      told   <= '0;
      first_life <= '1;
    end else begin
      wanted <= (wanted | flush_i) & present;
      told   <= (told | flush_hot) & present;
      first_life <= first_life & ~flush_hot;
    end
  // The tags, as told; and when the unit was reset last: the newest that its CTAs of before have.
  logic [K*TagW-1:0] tags_told, tags_before;
  always_ff @(posedge clk_i or negedge tag_rst_ni)
    if (!tag_rst_ni) tags_told <= '1;
    else
      for (int unsigned k = 0; k < K; k++)
        tags_told[k*TagW +: TagW] <= tags_told[k*TagW +: TagW] + TagW'(flush_hot[k] || \dut.begins [k]);
  always_ff @(posedge clk_i)
    if (!rst_ni) tags_before <= tags_told;
  always_comb begin
    if (!started) assume (!rst_ni && !tag_rst_ni);
    if (!tag_rst_ni) assume (!rst_ni);
    assume (32'(pick_kernel_i) < K);
  end

  // How long the flush has waited for the port.
  logic [1:0] waited;
  always_ff @(posedge clk_i) waited <= (rst_ni && \dut.state_q == Close) ? waited + 1'b1 : '0;

  logic [2:0] to_end;   // CTAs of this SM that are not ended yet
  logic       next_is_one;   // of them
  logic       ok_none_left, ok_tags, ok_reset;
  always_comb begin
    to_end      = '0;
    next_is_one = 1'b0;
    for (int unsigned s = 0; s < N; s++)
      if (used[{\dut.sm_q , s[0]}] && owner[{\dut.sm_q , s[0]}] == given && !\dut.ended_q [s]) begin
        to_end      = to_end + 1'b1;
        next_is_one = next_is_one || \dut.release_q [s];
      end
    case (\dut.state_q )
      Close:   distance = flush_valid ? 5'd17 : 5'd20 + ((WAIT != 0) ? 5'd3 - 5'(waited) : 5'd0);
      Settle:  distance = 5'd16;
      // or the next one is not found yet
      Walk:    distance = (\dut.sm_q ? 5'd1 : 5'd8) + 5'(to_end) + 5'(to_end != '0 && !next_is_one);
      default: distance = '0;
    endcase
    others = 5'(fresh && port_kernel != given);
    for (int unsigned i = 0; i < M*N; i++)
      if (used[i] && owner[i] != given && !(ends_q && end_place_q == 2'(i))) others = others + 1'b1;
    ok_none_left = 1'b1;
    ok_tags      = 1'b1;
    ok_reset     = 1'b1;
    for (int unsigned k = 0; k < K; k++) begin
      for (int unsigned i = 0; i < M*N; i++)   // the walk has come to its end: what is left is on its way out
        if (state_before == Walk && \dut.state_q == Rest && kernel_before[k] && present[k] && used[i]
            && owner[i] == KW'(k)
            && !(ends_q && end_place_q == 2'(i))) ok_none_left = 1'b0;
      if (tags[k*TagW +: TagW] != tags_q[k*TagW +: TagW] + TagW'(flushed_q[k] || begins_q[k])) ok_tags = 1'b0;
      if (first_life[k] && port_kernel_hot[k] && tags[k*TagW +: TagW] != tags_before[k*TagW +: TagW] + 1'b1)
        ok_reset = 1'b0;
    end
    if (started && rst_ni) begin
      only_a_flushed_kernel_is_given_up: assert (!giving_up || (told & \dut.kernel_q ) != '0);
      only_a_cta_of_it_is_given_up: assert (!giving_up
          || (giving_sm < SmW'(M) && giving_slot < SlotW'(N) && owner[giving_place] == given
        && (used[giving_place] || (wrong_before && end_place_before == giving_place))));
      no_cta_is_ended_twice: assert (!giving_up || done_valid_i || end_there || (wrong_q && end_place_q == end_place)
        || (wrong_before && end_place_before == end_place));
      sms_are_told_only_of_a_flushed_kernel: assert (!flush_valid || (wanted & flush_hot) != '0);
      sms_are_told_when_none_is_at_the_port: assert (!flush_valid
          || ((port_kernel_hot & flush_hot) == '0 && flush_tag == tags[32'(flush_kernel)*TagW +: TagW]));
      a_late_report_is_dropped: assert (!(done_valid_i && done_kernel_i < KIndexW'(K)
          && done_tag_i != tags[32'(done_kernel_i)*TagW +: TagW]) || !end_valid);
      a_report_in_time_passes: assert (!(done_valid_i && done_kernel_i < KIndexW'(K)
          && done_tag_i == tags[32'(done_kernel_i)*TagW +: TagW] && had[32'(done_kernel_i)])
        || (end_valid && end_sm == done_sm_i && end_slot == done_slot_i));
      a_report_from_before_a_reset_is_dropped: assert (!(done_valid_i && done_kernel_i < KIndexW'(K)
          && !had[32'(done_kernel_i)]) || !end_valid);
      only_a_cta_that_waited_is_taken_back: assert (!take_back
          || (WAIT != 0 && port && (port_kernel_hot & \dut.kernel_q ) != '0 && waited == '1));
      a_cta_is_given_up: cover (giving_up);
      a_cta_is_taken_back: cover (take_back);
      a_late_report_comes: cover (done_valid_i && !end_valid);
      one_kernel_at_a_time: assert ((\dut.kernel_q & (\dut.kernel_q - 1'b1)) == '0);
      if (was_up) none_is_left_behind_the_walk: assert (ok_none_left);
      if (was_up) a_tag_goes_on_with_its_flush_only: assert (ok_tags);
      if (was_up && steps_q) every_cycle_brings_it_nearer: assert (distance < distance_q);
      if (was_up && reports_q)
        an_end_of_another_brings_it_nearer_too: assert (distance + others < distance_q + others_q);
      a_cta_from_before_a_reset_has_another_tag: assert (ok_reset);
      what_is_wanted_is_remembered: assert ((wanted & present & ~told & ~\dut.asked_q
          & ~(\dut.kernel_q & {K{\dut.state_q == Close}})) == '0);
    end
    if (started && !tag_rst_ni) tags_begin_anew: assert (tags == '1);
    if (started && !rst_ni) reset_is_clean: assert (!busy && !giving_up && !flush_valid);
  end
endmodule
