// SPDX-License-Identifier: Apache-2.0
// Properties of sluice_csr with 5 SMs, 2 kernel slots and 4 CTAs an SM: for any manager and any reports of the other
// blocks. `watch` is any address: what is proven of it is proven of every register.
module sluice_csr_props (
  input logic                          clk_i,
  input logic                          rst_ni,
  input sluice_pkg::axi_request_t      axi_i,
  input logic [3:0]                    slot_state_i,
  input logic [31:0]                   resident_i,
  input logic [63:0]                   dispatched_i,
  input logic [1:0]                    evict_done_i,
  input logic [1:0]                    kernel_done_i,
  input logic [3:0]                    num_present_i,
  input logic [11:0]                   ctas_i,
  input logic [4:0]                    sm_busy_i,
  input sluice_pkg::decision_status_t  status_i,
  input sluice_pkg::dispatch_error_t   error_i
);
  localparam int unsigned NumSm   = 5;
  localparam int unsigned Ctas    = 4;
  localparam int unsigned AmountW = sluice_pkg::AmountW;

  sluice_pkg::axi_response_t    axi;
  sluice_pkg::decision_config_t configured;
  sluice_pkg::amounts_t         sm, of_kernel;   // capacity of an SM; demand of the kernel that `watch` is of
  logic [5:0]                   capacity_slots;
  logic [2*AmountW-1:0]         demand;
  logic [63:0]                  grid;
  logic [5:0]                   priorities;
  logic [1:0]                   repeats, launch, stop, evict, resume, flush;
  logic [15:0]                  evict_count;
  logic [11:0]                  quota;
  logic [9:0]                   mask;
  logic [4:0]                   sm_enable, errors;
  logic                         static_write, enable_write, irq, idle;
  assign errors = {error_i.port_stuck, error_i.bad_kernel, error_i.slot_busy, error_i.cannot_fit, error_i.bad_done};

  sluice_csr #(
    .NUM_SM (NumSm), .MAX_KERNELS (2), .MAX_CTAS (Ctas), .NUM_SCHED (1), .REGION_UNITS (0), .SM_ENABLE (1), .FLUSH (1),
    .PRIORITY (1)
  ) dut (
    .clk_i,
    .rst_ni,
    .axi_i,
    .axi_o                (axi),
    .irq_o                (irq),
    .config_o             (configured),
    .capacity_o           (sm),
    .capacity_slots_o     (capacity_slots),
    .demand_o             (demand),
    .grid_o               (grid),
    .repeat_o             (repeats),
    .priority_o           (priorities),
    .launch_o             (launch),
    .stop_o               (stop),
    .flush_o              (flush),
    .evict_o              (evict),
    .resume_o             (resume),
    .evict_count_o        (evict_count),
    .quota_o              (quota),
    .mask_o               (mask),
    .static_write_o       (static_write),
    .sm_enable_o          (sm_enable),
    .enable_write_o       (enable_write),
    .sm_busy_i,
    .idle_o               (idle),
    .slot_state_i,
    .resident_i,
    .dispatched_i,
    .evict_done_i,
    .kernel_done_i,
    .num_present_i,
    .ctas_i,
    .status_i,
    .error_i
  );

  // A write as axi_lite_subordinate gives it, and the sticky registers.
  (* hierconn *) wire        \dut.write ;
  (* hierconn *) wire [11:0] \dut.waddr ;
  (* hierconn *) wire [31:0] \dut.wdata ;
  (* hierconn *) wire        \dut.i_config.lock_q ;
  (* hierconn *) wire [7:0]  \dut.i_status.error_q ;
  (* hierconn *) wire [3:0]  \dut.i_status.irq_status_q ;
  (* hierconn *) wire [3:0]  \dut.i_status.irq_enable_q ;
  (* hierconn *) wire [1:0]  \dut.i_status.kernel_done_q ;
  (* hierconn *) wire [1:0]  \dut.i_status.evict_done_q ;
  (* hierconn *) wire [2:0]  \dut.i_status.info_cause_q ;
  (* hierconn *) wire [2:0]  \dut.i_status.info_kernel_q ;
  (* hierconn *) wire [7:0]  \dut.i_status.info_sm_q ;
  (* hierconn *) wire [4:0]  \dut.i_status.info_slot_q ;
  (* hierconn *) wire [1:0]  \dut.i_status.done_enable_q ;
  (* hierconn *) wire [31:0] \dut.i_status.decisions_q ;
  (* hierconn *) wire [2:0]  \dut.i_status.full_q ;
  logic        write;
  logic [11:0] waddr;
  logic [31:0] wdata;
  assign write = \dut.write ;
  assign waddr = \dut.waddr ;
  assign wdata = \dut.wdata ;

  (* anyconst *) logic [11:0] watch;
  logic       in_slot, which;   // watch is in a kernel slot: which
  logic [6:0] offset;
  assign in_slot = watch[11:8] == 4'h4;
  assign which   = watch[7];
  assign offset  = watch[6:0];
  assign of_kernel = which ? demand[2*AmountW-1:AmountW] : demand[AmountW-1:0];

  // The register map of this unit: contents of the configuration register at `watch`, from the ports.
  logic        rw;           // it is one
  logic        other;        // another register that can be written
  logic [31:0] value, low, high, reset_value;
  logic        capacity, descriptor, undecided;
  always_comb begin
    rw          = 1'b1;
    other       = 1'b0;
    value       = '0;
    low         = '0;
    high        = '1;
    reset_value = '0;
    capacity    = 1'b0;
    descriptor  = 1'b0;
    if (in_slot) begin
      case (offset)
        7'h00: begin value = 32'(of_kernel.warps); high = 32'h7F; descriptor = 1'b1; end
        7'h04: begin value = 32'(of_kernel.registers); high = 32'h1FFFF; descriptor = 1'b1; end
        7'h08: begin value = 32'(of_kernel.shared); high = 32'h3FFFF; descriptor = 1'b1; end
        7'h0C: begin value = which ? grid[63:32] : grid[31:0]; descriptor = 1'b1; end
        7'h2C: begin value = 32'(which ? priorities[5:3] : priorities[2:0]); high = 32'h7; descriptor = 1'b1; end
        7'h20: begin value = 32'(which ? quota[11:6] : quota[5:0]); high = Ctas; reset_value = Ctas; end
        7'h40: begin value = 32'(which ? mask[9:5] : mask[4:0]); reset_value = 32'h1F; end
        7'h44, 7'h48, 7'h4C, 7'h50, 7'h54, 7'h58, 7'h5C: ;   // SMs that do not exist
        7'h10: begin rw = 1'b0; other = 1'b1; end
        default: rw = 1'b0;
      endcase
    end else begin
      case (watch)
        12'h008: begin value = 32'(configured.mode); high = 5; end
        12'h080: begin value = 32'(sm_enable); reset_value = 32'h1F; end
        12'h084, 12'h088, 12'h08C, 12'h090, 12'h094, 12'h098, 12'h09C: ;   // SMs that do not exist
        12'h024: begin value = 32'(\dut.i_status.irq_enable_q ); high = 15; end
        12'h074: begin value = 32'(\dut.i_status.done_enable_q ); high = 32'hFF; reset_value = 3; end
        12'h030: begin value = 32'(sm.warps); low = 1; high = 32'h7F; reset_value = 48; capacity = 1'b1; end
        12'h034: begin
          value = 32'(sm.registers);
          low = 1;
          high = 32'h1FFFF;
          reset_value = 32768;
          capacity = 1'b1;
        end
        12'h038: begin value = 32'(sm.shared); high = 32'h3FFFF; reset_value = 49152; capacity = 1'b1; end
        12'h03C: begin value = 32'(capacity_slots); low = 1; high = Ctas; reset_value = Ctas; capacity = 1'b1; end
        12'h040: begin value = 32'(configured.warm_up); high = 32'hFFFFF; reset_value = 20000; end
        12'h044: begin value = 32'(configured.window); low = 1024; high = 32'hFFFF; reset_value = 5120; end
        12'h048: begin value = 32'(configured.delay); high = 32'hFFFF; end
        12'h04C: begin value = 32'(configured.epsilon); high = 16384; end
        12'h050: begin value = 32'(configured.loss_limit); high = 32'hFFFF; reset_value = 19661; end
        12'h054: begin
          value = {1'b0, configured.monitor_threshold, 15'd0, configured.monitor_enable};
          high = 32'h7FFF0001;
          reset_value = 32'h10000000;
        end
        12'h058: begin value = 32'(configured.monitor_window); low = 16; high = 32'hFFFF; reset_value = 5120; end
        12'h05C: begin value = 32'(configured.monitor_hold); low = 1; high = 32'hFF; reset_value = 2; end
        12'h060: begin value = 32'(configured.request_share); high = sluice_csr_pkg::RequestShareMax; end
        12'h064: begin value = 32'(configured.drain_limit); high = 32'hFF; reset_value = 32'hFF; end
        12'h07C: begin value = 32'(\dut.i_config.lock_q ); high = 1; end
        12'h00C, 12'h018, 12'h020, 12'h028, 12'h02C, 12'h078: begin rw = 1'b0; other = 1'b1; end
        default: rw = 1'b0;
      endcase
    end
  end

  logic locked;   // and LOCK is 1
  assign locked    = \dut.i_config.lock_q && ((watch >= 12'h030 && watch <= 12'h064) || watch == 12'h07C);
  assign undecided = watch == 12'h044 || watch == 12'h04C || watch == 12'h050 || watch == 12'h060;

  logic        hit, in_range, busy, accepted, bad_config, two_commands;
  assign two_commands = ({wdata[6], wdata[3:0]} & ({wdata[6], wdata[3:0]} - 5'd1)) != '0;
  logic [31:0] written;
  always_comb begin
    hit        = write && waddr == watch && rw;
    in_range   = wdata >= low && wdata <= high && (watch != 12'h054 || (wdata & 32'h8000FFFE) == '0);
    busy       = (descriptor && slot_state_i[2*which +: 2] != 2'd0) || (capacity && slot_state_i != 4'd0)
              || (undecided && status_i.state != 4'd0 && status_i.state != 4'd7);
    accepted   = hit && in_range && !busy && !locked;
    bad_config = (hit && ((!in_range && watch != 12'h008) || locked || (in_range && (capacity || undecided) && busy)))
              || (write && waddr == watch && in_slot && offset == 7'h10 && two_commands);
    written    = wdata;
    if (in_slot && offset[6:5] == 2'b10)        written = (offset == 7'h40) ? wdata & 32'h1F : '0;   // a bit an SM
    if (watch == 12'h074)                       written = wdata & 32'h3;
    if (!in_slot && watch[11:5] == 7'h04)       written = (watch == 12'h080) ? wdata & 32'h1F : '0;
  end

  // A command of kernel slot `which`.
  logic       command;
  logic [4:0] pulses;
  assign command = write && in_slot && waddr == watch && offset == 7'h10 && !two_commands;
  assign pulses  = {flush[which], resume[which], evict[which], stop[which], launch[which]};

  logic [11:0] commands;   // pulses, but for flushes
  assign commands = {launch, stop, evict, resume, configured.mode_write, configured.reprofile, static_write,
      enable_write};

  // Launches that wait: a LAUNCH of a FREE slot with WAIT, until CONTROL.GO or a LAUNCH without WAIT.
  (* hierconn *) wire \dut.gen_slot[0].i_slot.waits_q , \dut.gen_slot[1].i_slot.waits_q ;
  logic       go;
  logic [1:0] waits, launches_later;
  assign go = write && waddr == 12'h00C && wdata[1];
  always_comb
    for (int unsigned k = 0; k < 2; k++) launches_later[k] = wdata[5] && slot_state_i[2*k +: 2] == 2'd0;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) waits <= '0;
    else begin
      if (go) waits <= '0;
      for (int unsigned k = 0; k < 2; k++)
        if (write && waddr == 12'h410 + 12'(k << 7) && !wdata[6] && wdata[3:0] == 4'd1) waits[k] <= launches_later[k];
    end

  logic       flush_all_q;   // CONTROL.FLUSH_ALL was written in the cycle before
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) flush_all_q <= 1'b0;
    else         flush_all_q <= write && waddr == 12'h00C && wdata[3];

  logic [3:0] mode_in_decision_states;
  logic       slot_busy, bad_mode, mode_in_decision, clears_error, none_left, changes_nothing;
  assign slot_busy        = hit && descriptor && in_range && busy;
  assign bad_mode         = hit && watch == 12'h008 && !in_range;
  assign mode_in_decision = configured.mode_write && status_i.state != 4'd0 && status_i.state != 4'd7;
  assign clears_error     = write && waddr == 12'h018;
  // an error in this cycle is the first
  assign none_left        = (\dut.i_status.error_q & ~(clears_error ? wdata[7:0] : 8'd0)) == '0;
  assign changes_nothing  = !write || (waddr[11:0] != watch);

  logic reads_q;   // the address of a read of `watch` was taken in the cycle before
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) reads_q <= 1'b0;
    else         reads_q <= axi_i.arvalid && axi.arready && axi_i.araddr == watch;

  logic started;
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;
  always_comb if (!started) assume (!rst_ni);

  always_ff @(posedge clk_i) begin
    if (started && $past(rst_ni) && rst_ni) begin
      // Configuration.
      if (rw)
        register_holds_the_last_accepted_write: assert (value == ($past(accepted) ? $past(written) : $past(value)));
      if (rw) register_stays_in_range: assert (in_slot && offset[6:5] == 2'b10 || (value >= low && value <= high));
      if ($past(reads_q && rw))
        read_returns_the_register: assert (axi.rvalid && axi.rdata == $past(value) && axi.rresp == 2'b00);
      if ($past(reads_q) && watch == 12'h010) status_tells_what_is_reported:
        assert (axi.rdata[12] == $past(status_i.fell_back)
            && axi.rdata[7:0] == $past({status_i.no_profile, status_i.dropped, status_i.no_fit,
                status_i.spatial, status_i.state}));
      if ($past(descriptor && slot_state_i[2*which +: 2] != 2'd0))
        descriptor_holds_while_slot_is_busy: assert (!$past(descriptor) || value == $past(value));
      if ($past(locked && rw)) what_is_locked_stays: assert (locked && value == $past(value));
      if (undecided && $past(status_i.state != 4'd0 && status_i.state != 4'd7))
        threshold_holds_in_a_decision: assert (value == $past(value));
      if ($past(write && waddr == watch))
        write_is_okay_only_where_one_can_write: assert (axi.bvalid && axi.bresp == ((rw || other) ? 2'b00 : 2'b10));

      if ($past(reads_q) && watch == 12'h0A0)
        busy_sms_are_told: assert (axi.rdata == 32'($past(sm_busy_i)) && axi.rresp == 2'b00);

      // Commands.
      if (in_slot && offset == 7'h10)
        command_follows_an_accepted_write: assert (pulses
            == ($past(command) ? {$past(wdata[6]), $past(wdata[3:1]), $past(wdata[0]
        && !launches_later[which])}
        : {$past(flush_all_q && slot_state_i[2*which +: 2] != 2'd0), 3'd0, $past(go && waits[which])}));
      if ($past(go)) go_launches_all_that_wait: assert (launch == $past(waits) && {stop, evict, resume, flush} == '0);
      launches_that_wait_are_known: assert ({\dut.gen_slot[1].i_slot.waits_q , \dut.gen_slot[0].i_slot.waits_q }
          == waits);
      if ($past(flush_all_q))
        flush_all_is_of_all_that_are_there: assert (flush
            == {$past(slot_state_i[3:2]) != 2'd0, $past(slot_state_i[1:0]) != 2'd0});
      at_most_one_command: assert ($past(go || flush_all_q)
          || ({launch, stop, evict, resume, flush} & ({launch, stop, evict, resume, flush} - 10'd1)) == '0);
      if ($past(command) && pulses[2]) evict_count_goes_with_evict: assert (evict_count == $past(wdata[31:16]));
      if (in_slot && offset == 7'h10) repeat_is_taken_with_launch:
        assert (repeats[which] == (($past(command && wdata[0] && slot_state_i[2*which +: 2] == 2'd0)) ? $past(wdata[4])
            : $past(repeats[which])));
      if (watch == 12'h008) mode_write_follows_an_accepted_write: assert (configured.mode_write == $past(accepted));
      reprofile_follows_control: assert (configured.reprofile == $past(write && waddr == 12'h00C && wdata[0]));
      enable_write_follows_sm_enable: assert (enable_write
          == $past(write && waddr[11:5] == 7'h04 && waddr[1:0] == 2'd0));
      if (static_write)
        static_write_only_after_quota_or_mask: assert ($past(write && waddr[11:8] == 4'h4
            && (waddr[6:0] == 7'h20 || waddr[6:5] == 2'b10)));
      if ($past(accepted) && in_slot && (offset == 7'h20 || offset[6:5] == 2'b10))
        static_write_after_every_quota_or_mask: assert (static_write);

      // While idle_o is high the clock may stop: nothing changes without an input.
      if ($past(idle && !axi_i.awvalid && !axi_i.wvalid && !axi_i.arvalid && evict_done_i == '0
          && kernel_done_i == '0 && !status_i.decision && errors == '0))
        idle_changes_nothing_without_input: assert (idle && value == $past(value) && !axi.bvalid && !axi.rvalid
            && irq == $past(irq)
          && {commands, flush} == '0 && $past({commands, flush} == '0)
          && \dut.i_status.error_q == $past(\dut.i_status.error_q )
          && {axi.awready, axi.wready, axi.arready} == 3'b111);
    end
    if (started && !rst_ni) begin
      if (rw) reset_gives_the_reset_value: assert (value == reset_value);
      reset_stops_commands: assert ({commands, irq} == '0);
    end
  end

  `include "sluice_csr_errors_props.sv"
endmodule
