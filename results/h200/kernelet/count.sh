#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Counts that Kernelet's model is made from, of its eight kernels alone. usage: count.sh SLUICE OUT.csv
set -euo pipefail
metrics=device__attribute_clock_rate,device__attribute_num_schedulers_per_multiprocessor,launch__sm_count,launch__grid_size,gpu__time_duration.sum
metrics+=,dram__bytes_read.sum,dram__bytes_write.sum,smsp__inst_executed.sum,smsp__sass_inst_executed_op_global_ld.sum
metrics+=,l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
metrics+=,lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum,lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum
metrics+=,smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio,smsp__average_warp_latency_per_inst_issued.ratio
metrics+=,smsp__issue_active.avg.pct_of_peak_sustained_active
ncu --clock-control none --metrics "$metrics" --csv --page raw "$1" gpu run --policy native \
  --app LAT --app SAD --app SPMV --app HOT --app BLK --app MM --app MRIQ --app TEA >"$2"
