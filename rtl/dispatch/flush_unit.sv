// SPDX-License-Identifier: Apache-2.0
// flush_unit: gives up the CTAs of a kernel (docs/reference/blocks/flush.md). One kernel after the other: when none of
// its CTAs is at the port, its tag goes on by one, so that its SMs' reports are late from then on; then each of its
// CTAs is ended here, one in a cycle without a report, SM by SM. Which one is found in the cycle before, and again in
// each that a report takes.
// A reset of the unit alone leaves the tags, and the first kernel of each slot behind it has the next one: what an SM
// still reports is late. With PORT_WAIT a CTA that the port does not get rid of is taken back, and given up as the
// others.
// A report that is late is dropped. A kernel whose slot is FREE has nothing left to give up. Nothing is picked while
// busy_o is high: what still reports is on an SM already, and none of it reports twice, so reports can't hold a flush
// off for ever. Without the option reports pass as they come.
module flush_unit #(
  parameter int unsigned NUM_SM      = 16,
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned MAX_CTAS    = 8,
  parameter int unsigned PORT_WAIT   = 0    // 0, 1: waits for the port without limit; else 2**PORT_WAIT cycles
) (
  input  logic                                         clk_i,
  input  logic                                         rst_ni,
  input  logic                                         tag_rst_ni,      // high, tags outlive rst_ni; asynchronous
  input  logic [MAX_KERNELS-1:0]                       flush_i,         // pulses: a kernel that dispatches no more
  input  logic [MAX_KERNELS-1:0]                       slot_free_i,     // kernel slots that are FREE
  input  logic [MAX_KERNELS-1:0]                       port_kernel_i,   // whose CTA is at the port: one-hot, or 0
  input  logic [NUM_SM*MAX_CTAS*(1+$clog2(MAX_KERNELS))-1:0] slots_i,   // of each SM: kernel of each CTA slot, in the
                                                                        // low bits which are used
  input  logic                                         done_valid_i,    // a report
  input  logic [sluice_pkg::SmW-1:0]                   done_sm_i,
  input  logic [sluice_pkg::SlotW-1:0]                 done_slot_i,
  input  logic [sluice_pkg::KIndexW-1:0]               done_kernel_i,
  input  logic [sluice_pkg::TagW-1:0]                  done_tag_i,
  output logic                                         end_valid_o,     // the end of a CTA: reported, or given up
  output logic [sluice_pkg::SmW-1:0]                   end_sm_o,
  output logic [sluice_pkg::SlotW-1:0]                 end_slot_o,
  output logic                                         giving_up_o,     // a CTA is given up now, if no report comes:
  output logic [sluice_pkg::SmW-1:0]                   giving_sm_o,     // this one
  output logic [sluice_pkg::SlotW-1:0]                 giving_slot_o,
  output logic                                         take_back_o,     // the CTA at the port leaves it with this cycle
  output logic [MAX_KERNELS*sluice_pkg::TagW-1:0]      tags_o,          // of each kernel slot's CTAs
  output logic                                         flush_valid_o,   // pulse, combinational: SMs give up the CTAs of
                                                                        // this kernel with this tag
  output logic [sluice_pkg::KIndexW-1:0]               flush_kernel_o,
  output logic [sluice_pkg::TagW-1:0]                  flush_tag_o,
  output logic                                         busy_o // a flush runs or is asked for: nothing is picked
);
  if (!sluice_pkg::sizes_exist(NUM_SM, MAX_KERNELS, MAX_CTAS)) $error("flush_unit: size out of range");
  localparam int unsigned K       = MAX_KERNELS;
  localparam int unsigned N       = MAX_CTAS;
  localparam int unsigned KernelW = $clog2(K);
  localparam int unsigned SlotsW  = N * (1 + KernelW);
  localparam int unsigned IndexW  = (NUM_SM > 1) ? $clog2(NUM_SM) : 1;
  localparam int unsigned TagW    = sluice_pkg::TagW;
  localparam int unsigned KIndexW = sluice_pkg::KIndexW;

  // Close: waits for the port; Settle: reports that were in time are taken in; Walk: over the SMs.
  typedef enum logic [1:0] {Rest = 2'd0, Close = 2'd1, Settle = 2'd2, Walk = 2'd3} state_e;
  state_e            state_d, state_q;
  logic [K-1:0]      asked_d, asked_q, asked;   // kernels to flush; that are still there
  logic [K-1:0]      kernel_d, kernel_q;     // the one under work: one-hot, or 0
  logic [K*TagW-1:0] tags_d, tags_q;
  logic [K-1:0]      fresh_q, begins;        // slots without a kernel since the reset; whose first one is there
  logic [IndexW-1:0] sm_d, sm_q;
  logic [N-1:0]      ended, ended_d, ended_q; // CTAs of this SM that were ended here, with this cycle's; until it
  logic [N-1:0]      release_d, release_q;          // and the next one: one-hot, or 0
  logic              late, bump, over, last_sm;

  // A report, and whether it is of a CTA that was given up: by a flush, or by the reset, and then no kernel may have
  // come to its slot yet.
  logic [TagW-1:0] done_tag, kernel_tag;
  logic            done_fresh;
  always_comb begin
    done_tag   = '0;
    done_fresh = 1'b0;
    kernel_tag = '0;
    for (int unsigned k = 0; k < K; k++) begin
      if (done_kernel_i == KIndexW'(k)) done_tag   |= tags_q[k*TagW +: TagW];
      if (done_kernel_i == KIndexW'(k)) done_fresh |= fresh_q[k];
      if (kernel_q[k])                  kernel_tag |= tags_q[k*TagW +: TagW];
    end
  end
  assign late = done_tag_i != done_tag || done_fresh;

  // CTAs of the kernel on the SM under work that are left behind this cycle, and the lowest of them.
  logic [SlotsW-1:0]  slots;
  logic [KernelW-1:0] index;
  logic [N-1:0]       left;
  always_comb begin
    slots = '0;
    for (int unsigned m = 0; m < NUM_SM; m++)
      if (sm_q == IndexW'(m)) slots |= slots_i[m*SlotsW +: SlotsW];
    index = '0;
    for (int unsigned k = 0; k < K; k++)
      if (kernel_q[k]) index |= KernelW'(k);
    for (int unsigned s = 0; s < N; s++) left[s] = slots[s] && slots[N + s*KernelW +: KernelW] == index && !ended[s];
  end

  assign begins  = fresh_q & ~slot_free_i;
  assign asked   = (asked_q | flush_i) & ~slot_free_i;
  assign ended   = ended_q | (release_q & {N{!done_valid_i}});
  assign over    = state_q != Rest && (kernel_q & slot_free_i) != '0;
  assign bump    = state_q == Close && (kernel_q & port_kernel_i) == '0 && !over;
  assign last_sm = sm_q == IndexW'(NUM_SM - 1);
  assign giving_up_o = state_q == Walk && release_q != '0 && !over;
  always_comb begin
    state_d  = state_q;
    kernel_d = kernel_q;
    sm_d     = sm_q;
    ended_d  = ended;
    release_d   = left & (~left + N'(1));
    asked_d  = asked;
    tags_d   = tags_q;
    unique case (state_q)
      Rest: begin
        kernel_d = asked & (~asked + K'(1));
        asked_d  = asked & ~kernel_d;
        if (asked != '0) state_d = Close;
      end
      Close: if (bump) state_d = Settle;
      Settle: begin
        sm_d    = '0;
        ended_d = '0;
        release_d  = '0;
        state_d = Walk;
      end
      default:
        if (left == '0) begin
          ended_d = '0;
          sm_d    = sm_q + 1'b1;
          if (last_sm) state_d = Rest;
        end
    endcase
    if (over) state_d = Rest;
    for (int unsigned k = 0; k < K; k++)
      if (begins[k] || (bump && kernel_q[k])) tags_d[k*TagW +: TagW] = tags_q[k*TagW +: TagW] + 1'b1;
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      state_q  <= Rest;
      asked_q  <= '0;
      kernel_q <= '0;
      fresh_q  <= '1;
    end else begin
      state_q  <= state_d;
      asked_q  <= asked_d;
      kernel_q <= kernel_d;
      fresh_q  <= fresh_q & slot_free_i;
    end
  always_ff @(posedge clk_i or negedge tag_rst_ni)
    if (!tag_rst_ni) tags_q <= '1;
    else             tags_q <= tags_d;
  always_ff @(posedge clk_i) begin   // set before they are looked at: no reset
    sm_q    <= sm_d;
    ended_q <= ended_d;
    release_q  <= release_d;
  end

  if (PORT_WAIT > 1) begin : gen_port_wait
    logic [PORT_WAIT-1:0] waited_q;   // cycles in Close: no reset
    always_ff @(posedge clk_i) waited_q <= (state_q == Close) ? waited_q + 1'b1 : '0;
    assign take_back_o = state_q == Close && (&waited_q) && (kernel_q & port_kernel_i) != '0;
  end else begin : gen_no_port_wait
    assign take_back_o = 1'b0;
  end

  always_comb begin
    giving_slot_o = '0;
    for (int unsigned s = 0; s < N; s++)
      if (release_q[s]) giving_slot_o |= sluice_pkg::SlotW'(s);
  end
  assign giving_sm_o    = sluice_pkg::SmW'(sm_q);
  assign end_valid_o    = done_valid_i ? !late : giving_up_o;
  assign end_sm_o       = done_valid_i ? done_sm_i : giving_sm_o;
  assign end_slot_o     = done_valid_i ? done_slot_i : giving_slot_o;
  assign tags_o         = tags_q;
  assign flush_valid_o  = bump;
  assign flush_kernel_o = KIndexW'(index);
  assign flush_tag_o    = kernel_tag;
  assign busy_o     = state_q != Rest || asked_q != '0;
endmodule
