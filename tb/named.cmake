# SPDX-License-Identifier: Apache-2.0
# The named configurations (results/synth/configurations.json): small, standard, full.
set(USUAL -GSM_READY=1 -GLAUNCH_QUEUE=2 -GFLUSH=12 -GPATIENCE=16 -GPRIORITY=1)
sluice_verilate(rtl_sluice_top_named sluice_top_plain sluice_top WAVES -GREGION_UNITS=0)
sluice_verilate(rtl_sluice_top_named sluice_top_standard sluice_top WAVES -GREGION_UNITS=0 ${USUAL})
sluice_verilate(rtl_sluice_top_named sluice_top_full sluice_top WAVES -GREGION_UNITS=64 ${USUAL} -GSM_ENABLE=1 -GCHURN=15 -GTAIL=1)
