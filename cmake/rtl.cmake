# The RTL's file list, and Verilated models of single modules for benches.
file(STRINGS ${CMAKE_SOURCE_DIR}/rtl/sluice.f SLUICE_RTL_FILES)
list(TRANSFORM SLUICE_RTL_FILES PREPEND ${CMAKE_SOURCE_DIR}/)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/rtl/sluice.f)

# sluice_verilate(<class> <module> [-GNAME=value...]): library rtl_<class> with the C++ class V<class>.
function(sluice_verilate CLASS MODULE)
  set(LIBRARY rtl_${CLASS})
  add_library(${LIBRARY} STATIC)
  verilate(${LIBRARY} SOURCES ${SLUICE_RTL_FILES} TOP_MODULE ${MODULE} PREFIX V${CLASS} VERILATOR_ARGS -Wall ${ARGN})
  set_target_properties(${LIBRARY} PROPERTIES SYSTEM ON)  # generated headers are not held to our warnings
endfunction()
