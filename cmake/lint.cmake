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

# Rules of our own (Python's standard library only), and the rules' tests.
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
add_test(NAME lint.layers COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/lint_layers.py WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
add_test(NAME lint.self_test COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/test_lint.py)
set_tests_properties(lint.layers lint.self_test PROPERTIES LABELS lint)

# sw/ alone needs neither SystemC nor Verilator nor CUDA: configured in every run, built with SLUICE_FULL=1.
set(ALONE ${CMAKE_BINARY_DIR}/library_only)
add_test(NAME build.library_only.configure
         COMMAND ${CMAKE_COMMAND} -S ${CMAKE_SOURCE_DIR} -B ${ALONE} -G Ninja -DSLUICE_LIBRARY_ONLY=ON -DCMAKE_BUILD_TYPE=Release
                 -DCMAKE_DISABLE_FIND_PACKAGE_verilator=ON -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON)
add_test(NAME build.library_only COMMAND sh -c "[ -n \"$SLUICE_FULL\" ] || exit 77; ${CMAKE_COMMAND} --build ${ALONE}")
set_tests_properties(build.library_only.configure PROPERTIES LABELS build FIXTURES_SETUP library_only)
set_tests_properties(build.library_only PROPERTIES LABELS build FIXTURES_REQUIRED library_only SKIP_RETURN_CODE 77)
