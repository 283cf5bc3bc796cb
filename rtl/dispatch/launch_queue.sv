// SPDX-License-Identifier: Apache-2.0
// launch_queue: launches that come through the port of the unit, in their order, until a kernel slot is free for them.
// A launch that finds the queue empty and a slot free goes there in the cycle in which it comes. In the next cycle the
// slot is launched; in the one behind that it is RUNNING, or the launch was refused, and launched_* tell which. A purge
// marks launches: they leave the queue in their turn without a slot, and are told of as flushed.
module launch_queue #(
  parameter int unsigned MAX_KERNELS = 4,
  parameter int unsigned DEPTH       = 2    // 1..8
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           launch_valid_i,
  output logic                           launch_ready_o,      // a place is free
  input  sluice_pkg::launch_t            launch_i,
  input  logic                           purge_i,             // pulse: those of this context are handed back
  input  logic                           purge_all_i,         // those of every context
  input  logic [sluice_pkg::ContextW-1:0] purge_context_i,
  input  logic [MAX_KERNELS-1:0]         slot_i,              // kernel slots that are the port's,
  input  logic [MAX_KERNELS-1:0]         slot_free_i,         // and FREE; known a cycle after a launch
  output logic [MAX_KERNELS-1:0]         admit_o,              // the launch goes to this slot: one-hot, or 0
  output sluice_pkg::launch_t            admit_launch_o,
  output logic                           launched_valid_o,    // pulse, two cycles later:
  output logic [sluice_pkg::KIndexW-1:0] launched_kernel_o,   // it had this slot,
  output logic                           launched_refused_o,  // and could not fit;
  output logic                           launched_flushed_o,  // or it was handed back, without a slot
  output logic [3:0]                     waiting_o,           // launches that wait
  output logic                           busy_o           // changes without an input
);
  if (!sluice_pkg::sizes_exist(1, MAX_KERNELS, 4)) $error("launch_queue: size out of range");
  localparam int unsigned K      = MAX_KERNELS;
  localparam int unsigned W      = sluice_pkg::LaunchW;
  localparam int unsigned CountW = $clog2(DEPTH + 1);
  localparam int unsigned ContextLsb = W - sluice_pkg::PriorityW - sluice_pkg::ContextW;   // of ctx in launch_t

  logic [DEPTH*W-1:0]  entries_d, entries_q;   // the oldest in the low bits
  logic [CountW-1:0]   count_d, count_q;
  logic [K-1:0]        free, admitted_q, told_q;   // taken: in the cycle before; told: in the one before that
  logic [DEPTH-1:0]    marked, purged_d, purged_q;   // by place: handed back in its turn
  logic                push, pop, takes, waits, comes_marked, hands_back, back_q, back_told_q;
  sluice_pkg::launch_t oldest;

  assign launch_ready_o = count_q != CountW'(DEPTH);
  assign free           = slot_i & slot_free_i & ~admitted_q;
  assign waits          = count_q != '0;
  assign comes_marked   = purge_i && (purge_all_i || launch_i.ctx == purge_context_i);
  // None leaves for a slot in the cycle of a purge: whether it is met is known late.
  assign takes          = (waits ? !purged_q[0] : launch_valid_i) && !purge_i && free != '0;
  assign hands_back     = waits && purged_q[0];
  assign admit_o         = free & (~free + K'(1)) & {K{takes}};
  assign oldest         = entries_q[W-1:0];
  assign admit_launch_o  = waits ? oldest : launch_i;
  assign pop            = (takes && waits) || hands_back;
  assign push           = launch_valid_i && launch_ready_o && !(takes && !waits);

  always_comb
    for (int unsigned i = 0; i < DEPTH; i++)
      marked[i] = purged_q[i] || (purge_i
          && (purge_all_i || entries_q[i*W + ContextLsb +: sluice_pkg::ContextW] == purge_context_i));

  logic [CountW-1:0] left;   // behind the pop: where a push goes
  always_comb begin
    left      = count_q - CountW'(pop);
    count_d   = left + CountW'(push);
    entries_d = pop ? entries_q >> W : entries_q;
    purged_d  = pop ? marked >> 1 : marked;
    for (int unsigned i = 0; i < DEPTH; i++)
      if (push && left == CountW'(i)) begin
        entries_d[i*W +: W] = launch_i;
        purged_d[i]         = comes_marked;
      end
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      count_q <= '0;
      admitted_q <= '0;
      told_q  <= '0;
      back_q      <= 1'b0;
      back_told_q <= 1'b0;
    end else begin
      count_q <= count_d;
      admitted_q <= admit_o;
      told_q  <= admitted_q;
      back_q      <= hands_back;
      back_told_q <= back_q;
    end
  always_ff @(posedge clk_i) begin   // looked at only as far as they count: no reset
    if (push || pop)            entries_q <= entries_d;
    if (push || pop || purge_i) purged_q  <= purged_d;
  end

  always_comb begin
    launched_kernel_o = '0;
    for (int unsigned k = 0; k < K; k++)
      if (told_q[k]) launched_kernel_o |= sluice_pkg::KIndexW'(k);
  end
  assign launched_valid_o   = told_q != '0 || back_told_q;
  assign launched_refused_o = (told_q & slot_free_i) != '0;
  assign launched_flushed_o = back_told_q;
  assign waiting_o          = 4'(count_q);
  assign busy_o         = takes || hands_back || back_q || back_told_q || (admitted_q | told_q) != '0;
endmodule
