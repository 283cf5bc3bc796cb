# Style as tests (ctest -L lint). The RTL's lint is in rtl/CMakeLists.txt.
file(GLOB_RECURSE LINT_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/sw/*.h ${CMAKE_SOURCE_DIR}/sw/*.cpp ${CMAKE_SOURCE_DIR}/systemc/*.h
     ${CMAKE_SOURCE_DIR}/systemc/*.cpp ${CMAKE_SOURCE_DIR}/study/*.h ${CMAKE_SOURCE_DIR}/study/*.cpp ${CMAKE_SOURCE_DIR}/cli/*.h ${CMAKE_SOURCE_DIR}/cli/*.cpp ${CMAKE_SOURCE_DIR}/tb/*.h ${CMAKE_SOURCE_DIR}/tb/*.cpp ${CMAKE_SOURCE_DIR}/tests/*.h ${CMAKE_SOURCE_DIR}/tests/*.cpp ${CMAKE_SOURCE_DIR}/fuzz/*.cpp)
find_program(CLANG_FORMAT clang-format REQUIRED)
add_test(NAME lint.clang_format COMMAND ${CLANG_FORMAT} --dry-run --Werror ${LINT_SOURCES})
set_tests_properties(lint.clang_format PROPERTIES LABELS lint)

# clang-tidy is slow: the algorithms in every run, all of sw/ with SLUICE_FULL=1 (test.sh --full).
find_program(CLANG_TIDY clang-tidy REQUIRED)
file(GLOB TIDY_QUICK CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/sw/core/*.cpp ${CMAKE_SOURCE_DIR}/sw/partition/*.cpp ${CMAKE_SOURCE_DIR}/sw/policy/*.cpp)
file(GLOB TIDY_FULL CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/sw/*/*.cpp)
list(JOIN TIDY_QUICK " " TIDY_QUICK)
list(JOIN TIDY_FULL " " TIDY_FULL)
add_test(NAME lint.clang_tidy COMMAND sh -c "if [ -n \"$SLUICE_FULL\" ]; then files='${TIDY_FULL}'; else files='${TIDY_QUICK}'; fi; \
${CLANG_TIDY} --quiet -p '${CMAKE_BINARY_DIR}' $files")
set_tests_properties(lint.clang_tidy PROPERTIES LABELS lint)

# The pages: links, tables, paths and sentences in every run; the commands that they show with SLUICE_FULL=1 (they need the built programs).
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
add_test(NAME lint.pages COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/docs/check_pages.py)
add_test(NAME lint.pages_test COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/docs/test_check_pages.py)
set_tests_properties(lint.pages lint.pages_test PROPERTIES LABELS lint)
add_test(NAME docs.tour COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/docs/run_commands.py WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
set_tests_properties(docs.tour PROPERTIES LABELS docs SKIP_RETURN_CODE 77 TIMEOUT 3600 RUN_SERIAL ON)  # it writes where other tests do
