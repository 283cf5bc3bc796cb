# SPDX-License-Identifier: Apache-2.0
# The test plan names tests and bins that exist, and every one of them. Tests of the tools that judge the benches.
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
add_test(NAME lint.testplan COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/check_testplan.py ${CMAKE_BINARY_DIR})
add_test(NAME lint.designs COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/check_designs.py)
add_test(NAME lint.faults COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/faults.py --check)
add_test(NAME lint.testplan_test COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/test_check_testplan.py)
add_test(NAME lint.coverage_test COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/test_coverage.py)
add_test(NAME lint.mutation_test COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/test_mutation.py)
add_test(NAME lint.nightly_test COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/nightly/test_figures.py)
set_tests_properties(lint.designs lint.faults lint.testplan lint.testplan_test lint.coverage_test lint.mutation_test lint.nightly_test PROPERTIES LABELS lint SKIP_RETURN_CODE 77)
# Layouts for GTKWave.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/waves/layouts.toml)
execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/waves/write.py COMMAND_ERROR_IS_FATAL ANY)
# All benches, as the test programs of tests/ are named.
get_property(BENCHES DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
list(FILTER BENCHES INCLUDE REGEX "^tb_")
add_custom_target(test_tb DEPENDS ${BENCHES})
