// SPDX-License-Identifier: Apache-2.0
// sluice_csr_sms: the registers of sluice_csr with a bit an SM, 32 a register: SM_ENABLE and SM_BUSY. A write acts in
// the next cycle. What is addressed is found in the cycle before write_i: address and data are there by then. Read data
// is 0 for addresses that are not here.
module sluice_csr_sms #(
  parameter int unsigned NUM_SM = 16   // 1..256
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              write_i,           // of a global register
  input  logic [11:0]       write_addr_i,
  input  logic [31:0]       write_data_i,
  output logic              write_exists_o,    // of the write_addr_i of the cycle before
  input  logic [11:0]       read_addr_i,
  output logic              read_exists_o,     // combinational
  output logic [31:0]       read_data_o,
  input  logic [NUM_SM-1:0] sm_busy_i,
  output logic [NUM_SM-1:0] sm_enable_o,
  output logic              enable_write_o     // pulse with the (new) sm_enable_o
);
  if (!sluice_pkg::sizes_exist(NUM_SM, 2, 4)) $error("sluice_csr_sms: size out of range");
  localparam int unsigned GroupLsb = 5;   // of eight registers

  logic              exists, exists_q, enable_write_q, read_enable, read_busy;
  logic [NUM_SM-1:0] enable_d, enable_q;
  assign exists      = write_addr_i[11:GroupLsb] == sluice_csr_pkg::SmEnableAddr[11:GroupLsb]
      && write_addr_i[1:0] == 2'd0;
  assign read_enable = read_addr_i[11:GroupLsb] == sluice_csr_pkg::SmEnableAddr[11:GroupLsb]
      && read_addr_i[1:0] == 2'd0;
  assign read_busy   = read_addr_i[11:GroupLsb] == sluice_csr_pkg::SmBusyAddr[11:GroupLsb] && read_addr_i[1:0] == 2'd0;
  always_comb begin
    enable_d    = enable_q;
    read_data_o = '0;
    for (int unsigned m = 0; m < NUM_SM; m++) begin
      if (write_i && exists_q && write_addr_i[4:2] == 3'(m / 32)) enable_d[m] = write_data_i[m%32];
      if (read_addr_i[4:2] == 3'(m / 32))
        read_data_o[m%32] = (read_enable && enable_q[m]) || (read_busy && sm_busy_i[m]);
    end
  end

  always_ff @(posedge clk_i) exists_q <= exists;   // looked at only with write_i: no reset
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      enable_q       <= '1;
      enable_write_q <= 1'b0;
    end else begin
      enable_q       <= enable_d;
      enable_write_q <= write_i && exists_q;
    end
  assign write_exists_o = exists_q;
  assign read_exists_o  = read_enable || read_busy;
  assign sm_enable_o    = enable_q;
  assign enable_write_o = enable_write_q;
endmodule
