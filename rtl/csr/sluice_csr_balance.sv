// SPDX-License-Identifier: Apache-2.0
// sluice_csr_balance: the registers of sluice_csr for mode BALANCE: BALANCE, BALANCE_STATUS and BALANCE_SCORE. A write
// acts in the next cycle. What is addressed is found in the cycle before write_i: address and data are there by then.
// Read data is 0 for addresses that are not here.
module sluice_csr_balance (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        write_i,          // of a global register
  input  logic [11:0] write_addr_i,
  input  logic [31:0] write_data_i,
  output logic        write_exists_o,   // of the write_addr_i of the cycle before
  output logic        bad_config_o,     // with write_i: refused
  input  logic        refuse_i,         // the configuration stands
  input  logic [11:0] read_addr_i,
  output logic        read_exists_o,    // combinational
  output logic [31:0] read_data_o,
  output logic [31:0] balance_o,
  input  logic [31:0] status_i,
  output logic [3:0]  entry_o,          // combinational: the score of this entry is wanted
  input  logic [31:0] score_i
);
  localparam int unsigned ScoresLsb = 6;   // of sixteen registers

  logic        exists_q, in_range_q, accept, read_score;
  logic [17:0] keep_q;
  logic [3:0]  candidates_q;
  always_ff @(posedge clk_i) begin   // looked at only with write_i: no reset
    exists_q   <= write_addr_i == sluice_csr_pkg::BalanceAddr;
    in_range_q <= (write_data_i & ~sluice_csr_pkg::BalanceMask) == '0;
  end
  assign accept = write_i && exists_q && in_range_q && !refuse_i;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      keep_q       <= sluice_csr_pkg::BalanceKeepReset;
      candidates_q <= sluice_csr_pkg::BalanceCandidatesReset;
    end else if (accept) begin
      keep_q       <= write_data_i[sluice_csr_pkg::BalanceKeepLsb +: 18];
      candidates_q <= write_data_i[sluice_csr_pkg::BalanceCandidatesLsb +: 4];
    end

  assign read_score = read_addr_i[11:ScoresLsb] == sluice_csr_pkg::BalanceScoreAddr[11:ScoresLsb]
      && read_addr_i[1:0] == 2'd0;
  always_comb begin
    read_exists_o = 1'b1;
    read_data_o   = '0;
    if (read_addr_i == sluice_csr_pkg::BalanceAddr)            read_data_o = balance_o;
    else if (read_addr_i == sluice_csr_pkg::BalanceStatusAddr) read_data_o = status_i;
    else if (read_score)                                       read_data_o = score_i;
    else                                                       read_exists_o = 1'b0;
  end
  always_comb begin
    balance_o                                            = '0;
    balance_o[sluice_csr_pkg::BalanceKeepLsb +: 18]      = keep_q;
    balance_o[sluice_csr_pkg::BalanceCandidatesLsb +: 4] = candidates_q;
  end
  assign entry_o        = read_addr_i[ScoresLsb-1:2];
  assign write_exists_o = exists_q;
  assign bad_config_o   = write_i && exists_q && (!in_range_q || refuse_i);
endmodule
