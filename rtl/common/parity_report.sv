// SPDX-License-Identifier: Apache-2.0
// parity_report: what the guards of all tables see, in one place (docs/reference/blocks/parity.md). A word that disagrees in a cycle halts the unit in the
// next one, until a reset. What it was is told a cycle later and kept; of several at once the lowest table, and the lowest entry of any of them.
module parity_report #(
  parameter int unsigned TABLES  = 7,
  parameter int unsigned ENTRIES = 16
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic [TABLES*ENTRIES-1:0] bad_i,       // bit t*ENTRIES+e: a word of entry e of table t disagrees
  output logic                      error_o,     // pulse, a cycle after the first that disagrees, or behind one in which all agree
  output logic                      halted_o,    // since a cycle after the first
  output logic [3:0]                table_o,     // of the first, from the cycle after that
  output logic [7:0]                entry_o,
  output logic [7:0]                count_o      // of error_o; stays at 255
);
  logic [TABLES-1:0]  any_d, any_q;
  logic [ENTRIES-1:0] entries_d, entries_q;
  logic               halted_q, before_q, first;
  logic [3:0]         table_d, table_q;
  logic [7:0]         entry_d, entry_q, count_q;

  always_comb begin
    entries_d = '0;
    for (int unsigned t = 0; t < TABLES; t++) begin
      any_d[t]  = bad_i[t*ENTRIES +: ENTRIES] != '0;
      entries_d = entries_d | bad_i[t*ENTRIES +: ENTRIES];
    end
    table_d = '0;
    entry_d = '0;
    for (int unsigned t = TABLES; t > 0; t--)
      if (any_q[t-1]) table_d = 4'(t - 1);
    for (int unsigned e = ENTRIES; e > 0; e--)
      if (entries_q[e-1]) entry_d = 8'(e - 1);
  end
  assign error_o = any_q != '0 && !before_q;
  assign first   = error_o && count_q == '0;

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      any_q    <= '0;
      halted_q <= 1'b0;
      before_q <= 1'b0;
      count_q  <= '0;
      table_q  <= '0;
      entry_q  <= '0;
    end else begin
      any_q    <= any_d;
      halted_q <= halted_q || any_d != '0;
      before_q <= any_q != '0;
      if (error_o && count_q != '1) count_q <= count_q + 1'b1;
      if (first) begin
        table_q <= table_d;
        entry_q <= entry_d;
      end
    end
  always_ff @(posedge clk_i) entries_q <= entries_d;   // looked at only with any_q: no reset

  assign halted_o = halted_q;
  assign table_o  = table_q;
  assign entry_o  = entry_q;
  assign count_o  = count_q;
endmodule
