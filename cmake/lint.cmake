# SPDX-License-Identifier: Apache-2.0
# Style as tests (ctest -L lint). The RTL's lint is in rtl/CMakeLists.txt.
set(LINT_SOURCES "")
foreach(FOLDER sw systemc study cli tb tests fuzz)
  file(GLOB_RECURSE FOUND CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${FOLDER}/*.h ${CMAKE_SOURCE_DIR}/${FOLDER}/*.cpp)
  list(APPEND LINT_SOURCES ${FOUND})
endforeach()
find_program(CLANG_FORMAT clang-format REQUIRED)
add_test(NAME lint.clang_format COMMAND ${CLANG_FORMAT} --dry-run --Werror ${LINT_SOURCES})
set_tests_properties(lint.clang_format PROPERTIES LABELS lint)

# clang-tidy is slow: the algorithms in every run, all that this build compiles with SLUICE_FULL=1 (test.sh --full); the half for GPUs where
# SLUICE_CUDA is on. It needs the command of every file, so a build tree in which none are compiled together, and
# the headers that a build makes.
set(TIDY_TREE ${CMAKE_BINARY_DIR}/tidy)
add_test(NAME lint.clang_tidy.configure
         COMMAND sh -c "[ -z \"$SLUICE_FULL\" ] || { ${CMAKE_COMMAND} -S '${CMAKE_SOURCE_DIR}' -B '${TIDY_TREE}' -G Ninja -DCMAKE_BUILD_TYPE=Release \
-DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DSLUICE_UNITY=OFF -DSLUICE_CUDA=${SLUICE_CUDA} && ${CMAKE_COMMAND} --build '${TIDY_TREE}' --target sluice_provenance \
$<$<BOOL:${SLUICE_CUDA}>:sw/interpose/interpose_symbols.inc>; }")
set_tests_properties(lint.clang_tidy.configure PROPERTIES LABELS lint FIXTURES_SETUP tidy_tree)
find_program(CLANG_TIDY clang-tidy REQUIRED)
file(GLOB TIDY_QUICK CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/sw/partition/*.cpp)
add_test(NAME lint.clang_tidy COMMAND ${CLANG_TIDY} --quiet -p ${CMAKE_BINARY_DIR} ${TIDY_QUICK})
set_tests_properties(lint.clang_tidy PROPERTIES LABELS lint)
foreach(FOLDER sw systemc study cli tb tests)
  set(TIDY_FULL ${LINT_SOURCES})
  list(FILTER TIDY_FULL INCLUDE REGEX "^${CMAKE_SOURCE_DIR}/${FOLDER}/.*\\.cpp$")
  if(FOLDER STREQUAL sw)  # its half for GPUs is compiled only where SLUICE_CUDA is on
    get_target_property(TIDY_FULL sluice_sw SOURCES)
    if(SLUICE_CUDA)
      get_target_property(WITH_CUDA sluice_cuda SOURCES)
      file(GLOB INTERPOSER CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/sw/interpose/*.cpp)
      list(APPEND TIDY_FULL ${WITH_CUDA} ${INTERPOSER})
    endif()
    list(FILTER TIDY_FULL EXCLUDE REGEX "embedded\\.cpp$")
  elseif(NOT SLUICE_CUDA)
    list(FILTER TIDY_FULL EXCLUDE REGEX "/fake_cuda/")
  endif()
  list(JOIN TIDY_FULL " " TIDY_FULL)
  add_test(NAME lint.clang_tidy.${FOLDER} COMMAND sh -c "[ -n \"$SLUICE_FULL\" ] || exit 77; ${CLANG_TIDY} --quiet -p '${TIDY_TREE}' ${TIDY_FULL}")
  set_tests_properties(lint.clang_tidy.${FOLDER} PROPERTIES LABELS lint FIXTURES_REQUIRED tidy_tree SKIP_RETURN_CODE 77)
endforeach()

# Rules of our own (Python's standard library only), and the rules' tests.
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
add_test(NAME lint.layers COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/lint_layers.py WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
add_test(NAME lint.self_test COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/test_lint.py)
add_test(NAME lint.limits COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/lint_limits.py WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
set_tests_properties(lint.layers lint.limits lint.self_test PROPERTIES LABELS lint)

# sw/ alone needs neither SystemC nor Verilator nor CUDA: configured in every run, built with SLUICE_FULL=1.
set(ALONE ${CMAKE_BINARY_DIR}/library_only)
add_test(NAME build.library_only.configure
         COMMAND ${CMAKE_COMMAND} -S ${CMAKE_SOURCE_DIR} -B ${ALONE} -G Ninja -DSLUICE_LIBRARY_ONLY=ON -DCMAKE_BUILD_TYPE=Release
                 -DCMAKE_DISABLE_FIND_PACKAGE_verilator=ON -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON)
add_test(NAME build.library_only COMMAND sh -c "[ -n \"$SLUICE_FULL\" ] || exit 77; ${CMAKE_COMMAND} --build ${ALONE}")
set_tests_properties(build.library_only.configure PROPERTIES LABELS build FIXTURES_SETUP library_only)
set_tests_properties(build.library_only PROPERTIES LABELS build FIXTURES_REQUIRED library_only SKIP_RETURN_CODE 77)

# The pages: links, tables, paths and numbers in every run; the commands that they show with SLUICE_FULL=1 (they need the built programs).
add_test(NAME lint.pages COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/docs/check_pages.py)
add_test(NAME lint.pages_test COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/docs/test_check_pages.py)
add_test(NAME lint.numbers COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/docs/fill_numbers.py)
add_test(NAME lint.numbers_test COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/docs/test_fill_numbers.py)
set_tests_properties(lint.pages lint.pages_test lint.numbers lint.numbers_test PROPERTIES LABELS lint)
# The list of campaigns of test.sh --full.
add_test(NAME lint.campaigns_test COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/test_full.py)
set_tests_properties(lint.campaigns_test PROPERTIES LABELS lint)
add_test(NAME docs.tour COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/docs/run_commands.py WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
set_tests_properties(docs.tour PROPERTIES LABELS docs SKIP_RETURN_CODE 77 TIMEOUT 3600 RUN_SERIAL ON)  # it writes where other tests do
