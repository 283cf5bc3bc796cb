// SPDX-License-Identifier: Apache-2.0
// sequencer_states: the state machine of partition_sequencer, the layout by which quotas are answered, and the flags of
// the last decision (docs/reference/blocks/partition_sequencer.md). A restart makes a new plan, from any state.
module sequencer_states #(
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned CHURN       = 0    // else profiles are kept, and what is in force lives for 2**CHURN cycles
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           change_i,         // the present set changed
  input  logic                           mode_write_i,
  input  logic                           enable_write_i,   // SMs were enabled or disabled
  input  logic                           reprofile_i,
  input  logic [sluice_pkg::ModeW-1:0]   mode_i,
  input  logic                           any_present_i,
  input  logic                           delay_i,          // a decision is enforced later
  input  logic [MAX_KERNELS:1]           num_is_i,         // kernels of the plan, one-hot
  input  logic                           last_i,           // last cycle of a timed state
  input  logic                           all_settled_i,
  input  sequencer_pkg::walk_t           walk_i,
  input  logic                           no_ranges_i,      // fewer SMs than kernels, or no enabled SM for one of them
  input  logic [MAX_KERNELS-1:0]         sampled_i,        // ranks with a sample that counts
  input  logic [MAX_KERNELS-1:0]         kept_i,           // with CHURN: ranks with a curve of an earlier profile
  input  logic                           all_kept_i,       // all of the plan
  input  logic                           count_done_i,
  input  logic                           no_cta_i,         // with count_done_i: none fits
  input  logic                           core_done_i,
  input  logic                           core_no_fit_i,
  input  logic                           core_spatial_i,
  output sequencer_pkg::state_e          state_o,
  output logic [sluice_pkg::LayoutW-1:0] layout_o,
  output logic                           changed_o,        // layout_o or what it refers to is new in this cycle
  output logic                           round_robin_o,    // of Free: FCFS; registers, as picks come late
  output logic                           in_order_o,       // of Free: any other mode
  output logic                           restart_o,        // pulses, combinational
  output logic                           drained_o,        // Drain ends
  output logic                           first_window_o,   // levels begin with 1
  output logic                           next_window_o,    // levels go on
  output logic                           decided_o,        // the core's quotas come into force
  output logic                           count_start_o,
  output logic                           in_first_o,       // the profile is in its first window
  output logic                           decision_o,
  output logic                           fall_back_o,      // the plan is that of EVEN, until there are curves
  output logic                           counts_o,         // pulse: counts come into force with the next cycle
  output logic                           life_o,           // pulse: a life begins with the next cycle
  output logic                           forget_o,         // with restart_o: curves are no longer good
  output logic                           kept_start_o,     // pulse, the first cycle of Allocate: by kept curves
  output logic                           ranged_o,         // of Levels: unprofiled kernels have ranges, not counts
  output logic                           at_rest_o,        // Idle; or Monitor, and nothing is pending
  output sequencer_pkg::outcome_t        outcome_o
);
  if (!sluice_pkg::sizes_exist(1, MAX_KERNELS, 4)) $error("sequencer_states: size out of range");
  sequencer_pkg::state_e          state_d, state_q;
  logic [sluice_pkg::LayoutW-1:0] layout_d, layout_q;
  logic                           changed_d, changed_q, in_first_d, in_first_q, decision_d, decision_q;
  sequencer_pkg::outcome_t        outcome_d, outcome_q;
  logic                           starved_d, starved_q;    // an EVEN share holds no CTA of its kernel
  logic                           enforce, unsampled;      // unsampled: a kernel has no clean sample
  logic                           again_d, again_q;        // of Monitor: a new profile was asked for
  logic                           direct_d, direct_q;      // the plan is for a profile
  logic                           kept_start_d, kept_start_q;
  logic                           ranged_d, ranged_q, again, counted;

  assign again     = state_q == sequencer_pkg::Monitor && (reprofile_i || again_q);
  assign restart_o = change_i || mode_write_i || enable_write_i || (again && (CHURN == 0 || last_i))
                  || (CHURN != 0 && state_q == sequencer_pkg::FallBack && last_i);
  assign forget_o  = mode_write_i || again;
  assign fall_back_o = CHURN != 0 && mode_i == sluice_pkg::ModeDynamic && !direct_q && !all_kept_i;
  assign drained_o = all_settled_i || last_i;

  always_comb begin
    state_d        = state_q;
    layout_d       = layout_q;
    changed_d      = 1'b0;
    in_first_d     = in_first_q;
    outcome_d      = outcome_q;
    decision_d     = 1'b0;
    starved_d      = starved_q;
    count_start_o  = 1'b0;
    first_window_o = 1'b0;
    next_window_o  = 1'b0;
    enforce        = 1'b0;
    counted        = 1'b0;
    life_o         = 1'b0;
    kept_start_d   = 1'b0;
    ranged_d       = ranged_q;
    again_d        = CHURN != 0 && again;
    direct_d       = direct_q;

    unique case (state_q)
      sequencer_pkg::Plan: begin
        count_start_o = 1'b1;
        state_d       = sequencer_pkg::PlanCount;
      end
      sequencer_pkg::PlanCount: if (count_done_i) begin
        state_d   = sequencer_pkg::Plan;
        starved_d = (starved_q && !walk_i.oldest) || no_cta_i;
        if (walk_i.youngest) begin
          changed_d = 1'b1;
          state_d   = sequencer_pkg::Idle;
          if (num_is_i[1]) begin
            layout_d = sluice_pkg::LayoutAlone;
            counted  = 1'b1;
          end else if ((mode_i == sluice_pkg::ModeEven || fall_back_o) && !starved_d) begin
            layout_d = sluice_pkg::LayoutCounts;
            counted  = 1'b1;
            if (fall_back_o && !no_ranges_i) state_d = sequencer_pkg::FallBack;
          end else if (no_ranges_i) begin
            layout_d = sluice_pkg::LayoutFree;
          end else if (mode_i == sluice_pkg::ModeSpatial || mode_i == sluice_pkg::ModeEven) begin
            layout_d = sluice_pkg::LayoutRanges;
          end else if (fall_back_o) begin
            layout_d = sluice_pkg::LayoutRanges;
            state_d  = sequencer_pkg::FallBack;
          end else if (CHURN != 0 && all_kept_i) begin
            if (layout_q == sluice_pkg::LayoutHold) layout_d = sluice_pkg::LayoutRanges;
            changed_d    = layout_q == sluice_pkg::LayoutHold;
            kept_start_d = 1'b1;
            state_d      = sequencer_pkg::Allocate;
          end else begin
            ranged_d       = layout_q == sluice_pkg::LayoutRanges;
            layout_d       = sluice_pkg::LayoutLevels;
            first_window_o = 1'b1;
            in_first_d     = 1'b1;
            state_d        = sequencer_pkg::WarmUp;
          end
          if (mode_i == sluice_pkg::ModeEven && !num_is_i[1]) outcome_d.no_fit = starved_d;
          life_o = state_d == sequencer_pkg::FallBack;
        end
      end
      sequencer_pkg::WarmUp:  if (last_i) state_d = sequencer_pkg::Drain;
      sequencer_pkg::Drain:   if (drained_o) state_d = sequencer_pkg::Profile;
      sequencer_pkg::Profile: if (last_i) state_d = sequencer_pkg::Scale;
      sequencer_pkg::Scale: if (walk_i.through) begin
        state_d = sequencer_pkg::Allocate;
        if (walk_i.again) begin
          next_window_o = 1'b1;
          changed_d     = 1'b1;
          in_first_d    = 1'b0;
          state_d       = sequencer_pkg::WarmUp;
        end
      end
      sequencer_pkg::Allocate: if (core_done_i) begin
        enforce = !delay_i;
        state_d = delay_i ? sequencer_pkg::Delay : sequencer_pkg::Monitor;
      end
      sequencer_pkg::Delay: if (last_i) begin
        enforce = 1'b1;
        state_d = sequencer_pkg::Monitor;
      end
      default: state_d = state_q;
    endcase

    unsampled = 1'b0;
    for (int unsigned n = 1; n <= MAX_KERNELS; n++)
      if (num_is_i[n] && (~(sampled_i | kept_i) & MAX_KERNELS'((1 << n) - 1)) != '0) unsampled = 1'b1;
    decided_o = enforce && !core_no_fit_i && !core_spatial_i && !unsampled;
    if (enforce) begin
      life_o       = 1'b1;
      changed_d    = 1'b1;
      decision_d   = 1'b1;
      outcome_d.spatial    = core_spatial_i && !core_no_fit_i && !unsampled;
      outcome_d.no_fit     = core_no_fit_i;
      outcome_d.no_profile = unsampled && !core_no_fit_i;
      layout_d     = decided_o ? sluice_pkg::LayoutCounts : sluice_pkg::LayoutRanges;
    end

    if (restart_o) begin
      decision_d = 1'b0;
      outcome_d  = outcome_q;
      state_d    = sequencer_pkg::Idle;
      if (mode_i == sluice_pkg::ModeLeftOver || mode_i == sluice_pkg::ModeFcfs) begin
        layout_d = sluice_pkg::LayoutFree;
      end else if (mode_i == sluice_pkg::ModeStatic) begin
        layout_d = sluice_pkg::LayoutStatic;
      end else begin
        layout_d = sluice_pkg::LayoutHold;
        if (CHURN != 0)
          unique case (layout_q)   // who stays goes on
            sluice_pkg::LayoutAlone, sluice_pkg::LayoutCounts: layout_d = sluice_pkg::LayoutCounts;
            sluice_pkg::LayoutRanges:                          layout_d = sluice_pkg::LayoutRanges;
            sluice_pkg::LayoutLevels:                          layout_d = ranged_q ? sluice_pkg::LayoutRanges
              : sluice_pkg::LayoutCounts;
            default: ;
          endcase
        state_d  = any_present_i ? sequencer_pkg::Plan : sequencer_pkg::Idle;
      end
      changed_d = layout_d != layout_q;
      // by another plan
      if (layout_d == sluice_pkg::LayoutCounts || layout_d == sluice_pkg::LayoutRanges) changed_d = 1'b1;
      again_d      = 1'b0;
      kept_start_d = 1'b0;
      direct_d  = !change_i && !mode_write_i && !enable_write_i;
    end
    counts_o = (counted || decided_o) && !restart_o;
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      state_q    <= sequencer_pkg::Idle;
      layout_q   <= sluice_pkg::LayoutFree;
      changed_q  <= 1'b0;
      outcome_q  <= '0;
      decision_q <= 1'b0;
      again_q    <= 1'b0;
      kept_start_q <= 1'b0;
      round_robin_o <= 1'b0;
      in_order_o    <= 1'b1;
    end else begin
      state_q    <= state_d;
      layout_q   <= layout_d;
      changed_q  <= changed_d;
      outcome_q  <= outcome_d;
      decision_q <= decision_d;
      again_q    <= again_d;
      kept_start_q <= kept_start_d;
      round_robin_o <= layout_d == sluice_pkg::LayoutFree && mode_i == sluice_pkg::ModeFcfs;
      in_order_o    <= layout_d == sluice_pkg::LayoutFree && mode_i != sluice_pkg::ModeFcfs;
    end
  always_ff @(posedge clk_i) begin   // set before the states that look at them: no reset
    in_first_q <= in_first_d;
    starved_q  <= starved_d;
    direct_q   <= direct_d;
    ranged_q   <= ranged_d;
  end

  assign state_o    = state_q;
  assign layout_o   = layout_q;
  assign changed_o  = changed_q;
  assign in_first_o = in_first_q;
  assign decision_o = decision_q;
  assign outcome_o  = outcome_q;
  assign ranged_o   = ranged_q;
  assign kept_start_o = kept_start_q;
  assign at_rest_o  = state_q == sequencer_pkg::Idle
      || (state_q == sequencer_pkg::Monitor && (CHURN == 0 || (last_i && !again_q)));
endmodule
