rtl/sluice_pkg.sv
rtl/seq_reciprocal.sv
rtl/ipc_scaler.sv
rtl/perf_table.sv
rtl/waterfill_allocator.sv
rtl/loss_guard.sv
rtl/partition_core.sv
