# SPDX-License-Identifier: Apache-2.0
# The Verilated whole unit, for the machines that are described: SMs, and the warp schedulers of each.
option(SLUICE_ALL_UNITS "Verilate the unit of every machine; off: of the demo's, for a first result sooner" ON)
set(UNITS "16 2")
if(SLUICE_ALL_UNITS)
  list(APPEND UNITS "8 4" "14 2" "15 4" "30 4" "132 4")
endif()
set(UNIT_HEADERS "")
set(UNIT_LIST "")
foreach(SHAPE ${UNITS})
  separate_arguments(SHAPE)
  list(GET SHAPE 0 SMS)
  list(GET SHAPE 1 SCHEDULERS)
  # Made to compile in reasonable time: loops stay loops, and waveforms of the larger ones show two levels of the
  # hierarchy.
  set(LARGE_FAST "")
  set(LARGE_DEPTH "")
  if(SMS GREATER 16)
    set(LARGE_FAST OPT_FAST -O1)
    set(LARGE_DEPTH --trace-depth 2)
  endif()
  verilate(sluice_rtl SOURCES ${RTL_FILES} TOP_MODULE sluice_top PREFIX Vsluice_top_${SMS} TRACE_FST OPT_SLOW -O0
           ${LARGE_FAST} VERILATOR_ARGS -Wall -GNUM_SM=${SMS} -GNUM_SCHED=${SCHEDULERS} -GMAX_KERNELS=4 -GMAX_CTAS=32
           --unroll-count 4 ${LARGE_DEPTH})
  string(APPEND UNIT_HEADERS "#include <Vsluice_top_${SMS}.h>\n")
  string(APPEND UNIT_LIST " UNIT(${SMS}, ${SCHEDULERS})")
endforeach()
# For systemc/unit/rtl/rtl_sluice_top.cpp.
file(CONFIGURE OUTPUT units/sluice_rtl_units.h @ONLY CONTENT "${UNIT_HEADERS}#define SLUICE_RTL_UNITS(UNIT)${UNIT_LIST}
#define SLUICE_UNIT_SOURCE \"${CMAKE_SOURCE_DIR}/systemc/unit/rtl/on_demand\"
#define SLUICE_UNIT_FOLDER \"${CMAKE_BINARY_DIR}/units\"
#define SLUICE_UNIT_COMPILER \"${CMAKE_CXX_COMPILER}\"
")
target_include_directories(sluice_rtl INTERFACE ${CMAKE_CURRENT_BINARY_DIR}/units)
