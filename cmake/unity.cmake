# SPDX-License-Identifier: Apache-2.0
# sluice_unity(<target> [ALONE file...]): compiles the files of one folder up to eight at a time, where SLUICE_UNITY is on (preset release):
# a cold build takes less than half the time, as every file reads the same large headers. The files of a folder then share the names of
# their unnamed namespaces. Two of one name are one thing written twice; where they are not, the file stands in ALONE.
option(SLUICE_UNITY "Compile the files of a folder together: a cold build is faster, one of a changed file slower" OFF)

function(sluice_unity TARGET)
  cmake_parse_arguments(PARSE_ARGV 1 UNITY "" "" "ALONE")
  if(NOT SLUICE_UNITY)
    return()
  endif()
  set_target_properties(${TARGET} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(FILES ${TARGET} SOURCES)
  foreach(FILE ${FILES})
    cmake_path(ABSOLUTE_PATH FILE OUTPUT_VARIABLE PATH)
    cmake_path(RELATIVE_PATH PATH BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE NAME)
    if(NAME IN_LIST UNITY_ALONE OR NAME MATCHES "^\\.\\.|\\.c$|^$")
      continue()
    endif()
    get_filename_component(FOLDER ${NAME} DIRECTORY)
    string(MAKE_C_IDENTIFIER "in_${FOLDER}" FOLDER)
    math(EXPR COUNT_${FOLDER} "0${COUNT_${FOLDER}} + 1")
    math(EXPR GROUP "${COUNT_${FOLDER}} / 8")
    set_source_files_properties(${FILE} PROPERTIES UNITY_GROUP ${FOLDER}_${GROUP})
  endforeach()
endfunction()
