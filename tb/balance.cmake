# SPDX-License-Identifier: Apache-2.0
# Models of mode BALANCE: its blocks, and the unit with it.
sluice_verilate(rtl_blocks balance_search balance_search WAVES)
sluice_verilate(rtl_blocks balance_search_large balance_search WAVES -GMAX_KERNELS=8 -GMAX_CTAS=32 -GROOM=15)
sluice_verilate(rtl_blocks balance_rounds balance_rounds WAVES)
sluice_verilate(rtl_blocks balance_rounds_many balance_rounds WAVES -GNUM_SM=5 -GMAX_KERNELS=8 -GMAX_CTAS=32 -GNUM_SCHED=4)
sluice_verilate(rtl_balance_unit sluice_top_balance sluice_top WAVES -GREGION_UNITS=0 -GPRIORITY=1 -GBALANCE=1)
sluice_verilate(rtl_balance_unit sluice_top_balance_few sluice_top WAVES -GNUM_SM=5 -GMAX_KERNELS=3 -GMAX_CTAS=32 -GNUM_SCHED=4 -GREGION_UNITS=0
                -GSM_ENABLE=1 -GBALANCE=1)
sluice_verilate(rtl_balance_unit sluice_top_balance_alone sluice_top WAVES -GREGION_UNITS=0 -GSM_ENABLE=1 -GBALANCE=2)
add_executable(tb_balance_unit balance_unit/balance_unit_tb.cpp)
target_link_libraries(tb_balance_unit PRIVATE rtl_balance_unit sluice_rtl_benchmark tb_common GTest::gtest_main)
sluice_verilate(rtl_balance_modes sluice_top_dynamic sluice_top WAVES -GREGION_UNITS=0)
sluice_verilate(rtl_balance_modes sluice_top_both sluice_top WAVES -GREGION_UNITS=0 -GBALANCE=1)
sluice_verilate(rtl_balance_modes sluice_top_only_balance sluice_top WAVES -GREGION_UNITS=0 -GBALANCE=2)
add_executable(tb_balance_modes balance_unit/modes_tb.cpp)
target_link_libraries(tb_balance_modes PRIVATE rtl_balance_modes sluice_rtl_benchmark tb_common GTest::gtest_main)
