// SPDX-License-Identifier: Apache-2.0
// example_sm: one SM of the example GPU (docs/reference/blocks/example_gpu.md). A warp is picked in one cycle and
// executes in the next; it is not picked again for three more, and not while a load waits. Each lane has its own
// program counter: the lowest of a warp executes, so lanes that diverged meet again, and a load or store that not all
// lanes could do at once comes again for the others.
module example_sm #(
  parameter int unsigned WARPS = 8,     // warps, and CTA slots
  parameter int unsigned LINES = 1024   // of the shared memory
) (
  input  logic                            clk_i,
  input  logic                            rst_ni,
  // A CTA starts: the dispatch port of the unit, when it names this SM.
  input  logic                            start_valid_i,
  output logic                            start_ready_o,
  input  logic [sluice_pkg::SlotW-1:0]    start_slot_i,
  input  logic [sluice_pkg::KIndexW-1:0]  start_kernel_i,
  input  logic [sluice_pkg::TagW-1:0]     start_tag_i,
  input  logic [sluice_pkg::GridW-1:0]    start_cta_i,
  input  logic [example_pkg::WarpW-1:0]   start_warps_i,    // warps of the CTA
  input  logic [example_pkg::PcW-1:0]     start_entry_i,
  // Pulse: the CTAs of this kernel slot with this tag are given up. They never report.
  input  logic                            flush_valid_i,
  input  logic [sluice_pkg::KIndexW-1:0]  flush_kernel_i,
  input  logic [sluice_pkg::TagW-1:0]     flush_tag_i,
  output logic                            done_valid_o,      // a CTA ended
  input  logic                            done_ready_i,
  output logic [sluice_pkg::SlotW-1:0]    done_slot_o,
  output logic [sluice_pkg::KIndexW-1:0]  done_kernel_o,
  output logic [sluice_pkg::TagW-1:0]     done_tag_o,
  output logic                            issue_valid_o,     // what the unit counts
  output logic [sluice_pkg::KIndexW-1:0]  issue_kernel_o,
  // Program, read in the same cycle.
  output logic [example_pkg::PcW-1:0]     fetch_pc_o,
  input  logic [31:0]                     fetch_inst_i,
  // Shared memory.
  output logic                            request_valid_o,
  input  logic                            request_ready_i,
  output logic                            request_write_o,
  output logic [$clog2(WARPS)-1:0]        request_warp_o,
  output logic [$clog2(LINES)-1:0]        request_line_o,
  output logic [example_pkg::Lanes-1:0]   request_mask_o,
  output logic [example_pkg::LineW-1:0]   request_data_o,
  input  logic                            answer_valid_i,
  input  logic [$clog2(WARPS)-1:0]        answer_warp_i,
  input  logic [example_pkg::LineW-1:0]   answer_data_i,
  output logic                            illegal_o         // pulse: an instruction or address outside the subset
);
  localparam int unsigned Lanes    = example_pkg::Lanes;
  localparam int unsigned LineW    = example_pkg::LineW;
  localparam int unsigned PcW      = example_pkg::PcW;
  localparam int unsigned LocalW   = example_pkg::LocalW;
  localparam int unsigned LocalBit = example_pkg::LocalBit;
  localparam int unsigned IndexW   = $clog2(WARPS);
  localparam int unsigned LineAW   = $clog2(LINES);
  localparam int unsigned SlotW    = sluice_pkg::SlotW;
  localparam int unsigned KIndexW  = sluice_pkg::KIndexW;
  localparam int unsigned CountW   = example_pkg::WarpW;

  // Warps: bit w, or field w.
  logic [WARPS-1:0]           live_d, live_q;         // holds a warp of a CTA
  logic [WARPS-1:0]           waits_d, waits_q;       // for the answer to a load
  logic [WARPS*Lanes-1:0]     ended_d, ended_q;       // lanes that have ended,
  logic [WARPS*Lanes-1:0]     barred_d, barred_q;     // or wait at a barrier
  logic [WARPS*Lanes*PcW-1:0] pc_d, pc_q;
  logic [SlotW-1:0]           slot_q [WARPS];
  logic [KIndexW-1:0]         kernel_q [WARPS];
  logic [31:0]                cta_q [WARPS], first_thread_q [WARPS], threads_q [WARPS];
  logic [4:0]                 load_register_q [WARPS];   // of the load that waits: where to,
  logic [Lanes-1:0]           load_lanes_q [WARPS];      // for whom,
  logic [Lanes*3-1:0]         load_words_q [WARPS];      // which word of the line
  logic [LineW-1:0]           registers_q [WARPS*32];
  logic [LineW-1:0]           local_q [WARPS*(1<<LocalW)];

  // Pick: round robin over the warps that have a lane to run.
  logic [WARPS-1:0]   can_run, pick, run_q;       // run_q: executes in this cycle, one-hot, or 0
  logic [3*WARPS-1:0] ran_q;                      // executed one, two, three cycles ago
  logic [IndexW-1:0]  warp;
  always_comb begin
    warp = '0;
    for (int unsigned w = 0; w < WARPS; w++) begin
      can_run[w] = live_q[w] && !waits_q[w] && !(&(ended_q[w*Lanes +: Lanes] | barred_q[w*Lanes +: Lanes]))
                && !run_q[w] && !ran_q[w] && !ran_q[WARPS + w] && !ran_q[2*WARPS + w];
      if (run_q[w]) warp |= IndexW'(w);
    end
  end
  rr_arbiter #(.N(WARPS)) i_rr_arbiter (
    .clk_i,
    .rst_ni,
    .request_i (can_run),
    .grant_o   (pick),
    .used_i    (pick)
  );

  // Execute: the lanes at the lowest program counter.
  logic             running;
  logic [Lanes-1:0] may, active, served;
  logic [PcW-1:0]   pc;
  always_comb begin
    running = run_q != '0;
    may     = ~(ended_q[32'(warp)*Lanes +: Lanes] | barred_q[32'(warp)*Lanes +: Lanes]);
    pc      = '1;
    for (int unsigned l = 0; l < Lanes; l++)
      if (may[l] && pc_q[(32'(warp)*Lanes + l)*PcW +: PcW] < pc) pc = pc_q[(32'(warp)*Lanes + l)*PcW +: PcW];
    for (int unsigned l = 0; l < Lanes; l++)
      active[l] = running && may[l] && pc_q[(32'(warp)*Lanes + l)*PcW +: PcW] == pc;
  end
  assign fetch_pc_o = pc;

  logic        compute, jump, branch, load, store, barrier, ends;
  logic [31:0] immediate;
  example_decode i_example_decode (
    .inst_i      (fetch_inst_i),
    .immediate_o (immediate),
    .compute_o   (compute),
    .jump_o      (jump),
    .branch_o    (branch),
    .load_o      (load),
    .store_o     (store),
    .barrier_o   (barrier),
    .end_o       (ends)
  );

  logic [LineW-1:0]     a, b, result, address;
  logic [Lanes*PcW-1:0] next;
  assign a = (fetch_inst_i[19:15] == '0) ? '0 : registers_q[{warp, fetch_inst_i[19:15]}];
  assign b = (fetch_inst_i[24:20] == '0) ? '0 : registers_q[{warp, fetch_inst_i[24:20]}];
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    example_lane i_example_lane (
      .opcode_i    (fetch_inst_i[6:0]),
      .funct3_i    (fetch_inst_i[14:12]),
      .alternate_i (fetch_inst_i[30]),
      .multiply_i  (fetch_inst_i[25]),
      .identity_i  (fetch_inst_i[21:20]),
      .immediate_i (immediate),
      .pc_i        (pc),
      .a_i         (a[l*32 +: 32]),
      .b_i         (b[l*32 +: 32]),
      .thread_i    (first_thread_q[warp] + 32'(l)),
      .cta_i       (cta_q[warp]),
      .threads_i   (threads_q[warp]),
      .result_o    (result[l*32 +: 32]),
      .address_o   (address[l*32 +: 32]),
      .next_o      (next[l*PcW +: PcW])
    );
  end

  // A line: that of the lowest active lane. The lanes in it are served, with one store or load.
  logic              memory, is_local, illegal, misaligned, stalled;
  logic [LineAW-1:0] line;
  logic [Lanes-1:0]  words;      // that a store writes
  logic [LineW-1:0]  data, local_line;
  logic [IndexW+LocalW-1:0] local_index;
  logic              request_valid_q, request_write_q;
  logic [IndexW-1:0] request_warp_q;
  logic [LineAW-1:0] request_line_q;
  logic [Lanes-1:0]  request_mask_q;
  logic [LineW-1:0]  request_data_q;
  assign memory = load || store;
  always_comb begin
    is_local   = 1'b0;
    line       = '0;
    misaligned = 1'b0;
    for (int unsigned l = Lanes; l > 0; l--)
      if (active[l-1]) begin
        is_local = address[(l-1)*32 + LocalBit];
        line     = address[(l-1)*32 + 5 +: LineAW];
        if (address[(l-1)*32 +: 2] != '0) misaligned = memory;
      end
    words = '0;
    data  = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      served[l] = active[l] && (!memory || misaligned
          || (address[l*32 + LocalBit] == is_local && address[l*32 + 5 +: LineAW] == line));
      if (served[l]) begin
        words[address[l*32 + 2 +: 3]]            = 1'b1;
        data[address[l*32 + 2 +: 3] * 32 +: 32] = b[l*32 +: 32];
      end
    end
    illegal = running && (misaligned || !(compute || jump || branch || memory || barrier || ends));
    stalled = memory && !misaligned && !is_local && request_valid_q && !request_ready_i;   // comes again
  end
  assign local_index = {slot_q[warp][IndexW-1:0], line[LocalW-1:0]};
  assign local_line  = local_q[local_index];

  // CTA slots: whose warps have all left, and whose lanes all wait at a barrier or have ended.
  logic             start;
  logic [WARPS-1:0] taken, over, met, given_up, stopped;   // stopped: warps of CTAs that are given up
  example_cta_slots #(.SLOTS(WARPS)) i_example_cta_slots (
    .clk_i,
    .rst_ni,
    .start_i      (start),
    .start_slot_i (start_slot_i[IndexW-1:0]),
    .start_kernel_i,
    .start_tag_i,
    .flush_valid_i,
    .flush_kernel_i,
    .flush_tag_i,
    .over_i       (over),
    .may_report_i (!request_valid_q),   // when the memory has what they stored
    .taken_o      (taken),
    .given_up_o   (given_up),
    .done_valid_o,
    .done_ready_i,
    .done_slot_o,
    .done_kernel_o,
    .done_tag_o
  );

  // Start: one warp a cycle, into free places; the unit knows that there are enough.
  logic [CountW-1:0]  starting_q, started_q, of_q;   // warps to start, and started, of how many
  logic [SlotW-1:0]   start_slot_q;
  logic [KIndexW-1:0] start_kernel_q;
  logic [31:0]        start_cta_q;
  logic [PcW-1:0]     start_entry_q;
  logic [WARPS-1:0]   place;                         // the lowest free, one-hot
  assign start_ready_o = starting_q == '0;
  assign start         = start_valid_i && start_ready_o;
  assign place         = ~live_q & (live_q + WARPS'(1))
      & {WARPS{starting_q != '0 && !given_up[start_slot_q[IndexW-1:0]]}};

  always_comb begin
    over    = '1;
    met     = taken;
    stopped = '0;
    for (int unsigned w = 0; w < WARPS; w++)
      if (live_q[w]) begin
        stopped[w] = given_up[slot_q[w][IndexW-1:0]];
        over[slot_q[w][IndexW-1:0]] = 1'b0;
        if (!(&(ended_q[w*Lanes +: Lanes] | barred_q[w*Lanes +: Lanes]))) met[slot_q[w][IndexW-1:0]] = 1'b0;
      end
    if (starting_q != '0) begin
      over[start_slot_q[IndexW-1:0]] = 1'b0;
      met[start_slot_q[IndexW-1:0]]  = 1'b0;
    end
  end

  always_comb begin
    live_d   = live_q | place;
    waits_d  = waits_q;
    ended_d  = ended_q;
    barred_d = barred_q;
    pc_d     = pc_q;
    if (answer_valid_i) waits_d[answer_warp_i] = 1'b0;
    for (int unsigned w = 0; w < WARPS; w++) begin
      if (live_q[w] && (&ended_q[w*Lanes +: Lanes]) && !waits_q[w]) live_d[w] = 1'b0;
      if (met[slot_q[w][IndexW-1:0]]) barred_d[w*Lanes +: Lanes] = '0;
      for (int unsigned l = 0; l < Lanes; l++)
        if (run_q[w] && served[l]) begin
          if (illegal || ends) ended_d[w*Lanes + l] = 1'b1;
          else if (!stalled) pc_d[(w*Lanes + l)*PcW +: PcW] = next[l*PcW +: PcW];
          if (barrier) barred_d[w*Lanes + l] = 1'b1;
        end
      if (run_q[w] && load && !is_local && !stalled && !illegal) waits_d[w] = 1'b1;
      if (stopped[w]) ended_d[w*Lanes +: Lanes] = '1;
      if (place[w]) begin
        ended_d[w*Lanes +: Lanes]        = '0;
        barred_d[w*Lanes +: Lanes]       = '0;
        pc_d[w*Lanes*PcW +: Lanes*PcW]   = {Lanes{start_entry_q}};
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      live_q          <= '0;
      waits_q         <= '0;
      run_q           <= '0;
      ran_q           <= '0;
      starting_q      <= '0;
      request_valid_q <= 1'b0;
    end else begin
      live_q          <= live_d;
      waits_q         <= waits_d;
      run_q           <= pick & ~stopped;
      ran_q           <= {ran_q[2*WARPS-1:0], run_q};
      starting_q      <= start ? start_warps_i : given_up[start_slot_q[IndexW-1:0]] ? '0
          : starting_q - CountW'(place != '0);
      request_valid_q <= (running && memory && !is_local && !stalled && !illegal)
          || (request_valid_q && !request_ready_i);
    end

  always_ff @(posedge clk_i) begin   // looked at only with what says that it is there: no reset
    ended_q  <= ended_d;
    barred_q <= barred_d;
    pc_q     <= pc_d;
    if (start_ready_o) begin
      start_slot_q   <= start_slot_i;
      start_kernel_q <= start_kernel_i;
      start_cta_q    <= start_cta_i;
      start_entry_q  <= start_entry_i;
      of_q           <= start_warps_i;
    end
    started_q <= start_ready_o ? '0 : started_q + CountW'(place != '0);
    for (int unsigned w = 0; w < WARPS; w++)
      if (place[w]) begin
        slot_q[w]         <= start_slot_q;
        kernel_q[w]       <= start_kernel_q;
        cta_q[w]          <= start_cta_q;
        first_thread_q[w] <= 32'(started_q) * Lanes;
        threads_q[w]      <= 32'(of_q) * Lanes;
      end
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (served[l] && !illegal && fetch_inst_i[11:7] != '0) begin
        if (compute || jump) registers_q[{warp, fetch_inst_i[11:7]}][l*32 +: 32] <= result[l*32 +: 32];
        if (load && is_local)
          registers_q[{warp, fetch_inst_i[11:7]}][l*32 +: 32] <= local_line[address[l*32 + 2 +: 3] * 32 +: 32];
      end
      if (answer_valid_i && load_lanes_q[answer_warp_i][l] && load_register_q[answer_warp_i] != '0)
        registers_q[{answer_warp_i, load_register_q[answer_warp_i]}][l*32 +: 32] <=
            answer_data_i[load_words_q[answer_warp_i][l*3 +: 3] * 32 +: 32];
      if (running && store && is_local && !illegal && words[l]) local_q[local_index][l*32 +: 32] <= data[l*32 +: 32];
      if (running && load && !is_local && !stalled) load_words_q[warp][l*3 +: 3] <= address[l*32 + 2 +: 3];
    end
    if (running && load && !is_local && !stalled) begin
      load_register_q[warp] <= fetch_inst_i[11:7];
      load_lanes_q[warp]    <= served;
    end
    if (!request_valid_q || request_ready_i) begin
      request_write_q <= store;
      request_warp_q  <= warp;
      request_line_q  <= line;
      request_mask_q  <= words;
      request_data_q  <= data;
    end
  end

  assign request_valid_o = request_valid_q;
  assign {request_write_o, request_warp_o, request_line_o, request_mask_o, request_data_o}
       = {request_write_q, request_warp_q, request_line_q, request_mask_q, request_data_q};
  assign issue_valid_o   = running && served == active && !stalled;
  assign issue_kernel_o  = kernel_q[warp];
  assign illegal_o       = illegal;

  logic unused_upper_bits;   // of addresses
  assign unused_upper_bits = ^address;
endmodule
