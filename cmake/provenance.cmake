# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.25)
# Run at every build: writes the commit, and hashes of the sources that simulation results depend on, into a header; touches it only
# when it changed. The RTL has a hash of its own: runs with the TLM twins do not depend on it. Reports, the command line and pages are in
# neither: changing them does not make results old.
execute_process(COMMAND git rev-parse --short=12 HEAD WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
execute_process(COMMAND git status --porcelain --untracked-files=no WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE CHANGES ERROR_QUIET)
if(NOT COMMIT)
  set(COMMIT unknown)
elseif(CHANGES)
  string(APPEND COMMIT "+changes")
endif()
function(hash_of VARIABLE)
  file(GLOB_RECURSE SOURCES ${ARGN})
  list(FILTER SOURCES EXCLUDE REGEX "/rtl/(formal/|example/|sluice_sva)|[.]md$")
  list(SORT SOURCES)
  set(HASHES "")
  foreach(SOURCE ${SOURCES})
    file(SHA256 ${SOURCE} HASH)
    string(APPEND HASHES ${HASH})
  endforeach()
  string(SHA256 ALL "${HASHES}")
  string(SUBSTRING ${ALL} 0 16 ALL)
  set(${VARIABLE} ${ALL} PARENT_SCOPE)
endfunction()
hash_of(MODEL ${SOURCE_DIR}/systemc/*.h ${SOURCE_DIR}/systemc/*.cpp ${SOURCE_DIR}/sw/core/* ${SOURCE_DIR}/sw/io/* ${SOURCE_DIR}/sw/driver/* ${SOURCE_DIR}/sw/partition/*
        ${SOURCE_DIR}/sw/policy/* ${SOURCE_DIR}/sw/scheduler/* ${SOURCE_DIR}/sw/workload/* ${SOURCE_DIR}/study/run*)
hash_of(RTL ${SOURCE_DIR}/rtl/*.sv)
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT
     "#define SLUICE_COMMIT \"@COMMIT@\"\n#define SLUICE_MODEL_HASH \"@MODEL@\"\n#define SLUICE_RTL_HASH \"@RTL@\"\n")
