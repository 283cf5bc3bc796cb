# SPDX-License-Identifier: Apache-2.0
# The RTL's file list, and Verilated models of single modules for benches.
file(STRINGS ${CMAKE_SOURCE_DIR}/rtl/sluice.f SLUICE_RTL_FILES)
list(TRANSFORM SLUICE_RTL_FILES PREPEND ${CMAKE_SOURCE_DIR}/)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/rtl/sluice.f)

find_package(ZLIB REQUIRED)  # of FST waveforms

# sluice_verilate(<library> <class> <module> [WAVES] [-GNAME=value...]): adds the C++ class V<class> to a library, which it makes when there
# is none. WAVES: the model can write FST files; all models of a library alike.
function(sluice_verilate LIBRARY CLASS MODULE)
  cmake_parse_arguments(PARSE_ARGV 3 MODEL "WAVES" "" "")
  if(NOT TARGET ${LIBRARY})
    add_library(${LIBRARY} STATIC)
    set_target_properties(${LIBRARY} PROPERTIES SYSTEM ON)  # generated headers are not held to our warnings
    target_link_libraries(${LIBRARY} PRIVATE ZLIB::ZLIB)
  endif()
  if(MODEL_WAVES)
    set(WAVES TRACE_FST)
  endif()
  verilate(${LIBRARY} SOURCES ${SLUICE_RTL_FILES} TOP_MODULE ${MODULE} PREFIX V${CLASS} ${WAVES} OPT_SLOW -O0 OPT_FAST -O1  # quick to compile
           VERILATOR_ARGS -Wall ${MODEL_UNPARSED_ARGUMENTS})
endfunction()
