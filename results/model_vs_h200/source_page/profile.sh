#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Source and raw pages of PyTorch kernels: seen.* (the ops of docs/user/workloads.md) and unseen.*. Needs OUT, python3 with torch, ncu.
set -u
out=${OUT:?}
here=$(dirname "$(realpath "$0")")
ncu=$(ls -d /opt/nvidia/nsight-compute/*/ 2>/dev/null | tail -1)ncu
[[ -x $ncu ]] || ncu=$(command -v ncu)
{ date -u +%FT%TZ; "$ncu" --version | tail -2; nvidia-smi --query-gpu=name,driver_version,clocks.max.sm --format=csv,noheader; } >"$out/machine.txt" 2>&1
work=$(mktemp -d)
m=smsp__inst_executed.sum,smsp__thread_inst_executed.sum,smsp__thread_inst_executed_pred_on.sum,smsp__inst_executed_op_ldgsts.sum
m+=,smsp__sass_inst_executed_op_global_ld.sum,smsp__sass_inst_executed_op_global_st.sum,smsp__sass_inst_executed_op_shared.sum
for op in ld st red atom; do m+=,l1tex__t_requests_pipe_lsu_mem_global_op_$op.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_$op.sum; done
m+=,l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum,l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum
m+=,l1tex__t_sector_hit_rate.pct,lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum,lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum
m+=,lts__t_sectors_srcunit_tex_op_read.sum,lts__t_sectors_srcunit_tex_op_write.sum,lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum
m+=,dram__bytes_read.sum,dram__bytes_write.sum,gpu__time_duration.sum,sm__cycles_elapsed.max,gpc__cycles_elapsed.max,sm__cycles_active.avg
m+=,sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_elapsed,sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_elapsed
m+=,sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed,sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed
m+=,l1tex__m_xbar2l1tex_read_bytes.sum,l1tex__m_l1tex2xbar_write_bytes.sum,l1tex__data_bank_conflicts_pipe_lsu.sum,sass__inst_executed_per_opcode
sections=()
for s in SourceCounters MemoryWorkloadAnalysis LaunchStats SpeedOfLight Occupancy; do sections+=(--section "$s"); done
for set in seen unseen; do
  timeout -s INT -k 5 65 "$ncu" --profile-from-start off --clock-control none "${sections[@]}" --metrics "$m" -f -o "$work/$set" \
    python3 "$here/ops.py" $set >"$out/$set.log" 2>&1
  r=$work/$set.ncu-rep
  [[ -f $r ]] || continue
  "$ncu" --import "$r" --page raw --csv --print-units base >"$out/$set.raw.csv" 2>"$out/$set.raw.err"
  for more in "--print-source sass --print-details all --print-units base" "--print-source sass --print-details all" "--print-details all" ""; do
    # shellcheck disable=SC2086 # several words
    "$ncu" --import "$r" --page source --csv $more >"$out/$set.source.csv" 2>>"$out/$set.source.err"
    echo "$set: source page with [$more]: $(wc -lc <"$out/$set.source.csv")" >>"$out/machine.txt"
    [[ $(wc -c <"$out/$set.source.csv") -gt 2000 ]] && break
  done
  # as a user would do it, for the tests of the reader: the first lines without --print-units, --print-details
  "$ncu" --import "$r" --page source --csv 2>/dev/null | head -40 >"$out/$set.source-plain.csv"
  gzip -9 -c "$r" >"$out/$set.ncu-rep.gz" # the code in it has the control bits
  gzip -9 "$out/$set.source.csv" "$out/$set.raw.csv"
  find "$out" -name '*.gz' -size +9M -delete -printf 'too large, deleted: %f %s\n' >>"$out/machine.txt"
done
date -u +%FT%TZ >>"$out/machine.txt"
ls -l "$out" >>"$out/machine.txt"
