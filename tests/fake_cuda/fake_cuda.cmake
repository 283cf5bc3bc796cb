# SPDX-License-Identifier: Apache-2.0
# A driver that executes nothing, and a program that uses it (tests/interpose).
add_library(fake_cuda SHARED fake_cuda/fake_cuda.cpp fake_cuda/graphs.cpp fake_cuda/streams.cpp fake_cuda/waits.cpp)
set_target_properties(fake_cuda PROPERTIES SOVERSION 1 POSITION_INDEPENDENT_CODE ON)
target_sources(fake_cuda PRIVATE ${CMAKE_SOURCE_DIR}/sw/gpu/rewrite/ptx.cpp ${CMAKE_SOURCE_DIR}/sw/gpu/fatbin/fatbin.cpp ${CMAKE_SOURCE_DIR}/sw/core/errors.cpp)
target_include_directories(fake_cuda SYSTEM PRIVATE ${CUDA_BIN}/../include)
target_link_libraries(fake_cuda PRIVATE sluice_options fmt::fmt-header-only Threads::Threads ${LZ4_LIBRARY} ${ZSTD_LIBRARY})
target_link_options(fake_cuda PRIVATE -Wl,-Bsymbolic)  # its calls of itself are not the program's
add_library(fake_cuda_newer SHARED fake_cuda/newer.cpp)
set_target_properties(fake_cuda_newer PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(fake_cuda_newer SYSTEM PRIVATE ${CUDA_BIN}/../include)
target_link_libraries(fake_cuda_newer PRIVATE sluice_options fake_cuda)
target_link_options(fake_cuda_newer PRIVATE -Wl,--no-as-needed)  # it calls nothing of what it passes on
foreach(PROGRAM client client_steady client_records client_waits client_lifetimes client_process)
  add_executable(fake_cuda_${PROGRAM} fake_cuda/${PROGRAM}.cpp)
  target_include_directories(fake_cuda_${PROGRAM} SYSTEM PRIVATE ${CUDA_BIN}/../include)
  target_link_libraries(fake_cuda_${PROGRAM} PRIVATE sluice_options Threads::Threads ${CMAKE_DL_LIBS} ${LZ4_LIBRARY} ${ZSTD_LIBRARY})
endforeach()
target_compile_definitions(test_interpose PRIVATE SLUICE_FAKE_CUDA="$<TARGET_FILE:fake_cuda>" SLUICE_FAKE_NEWER="$<TARGET_FILE:fake_cuda_newer>"
                           SLUICE_FAKE_CLIENT="$<TARGET_FILE:fake_cuda_client>"
                           SLUICE_FAKE_STEADY="$<TARGET_FILE:fake_cuda_client_steady>" SLUICE_FAKE_RECORDS="$<TARGET_FILE:fake_cuda_client_records>"
                           SLUICE_FAKE_WAITS="$<TARGET_FILE:fake_cuda_client_waits>" SLUICE_FAKE_LIFETIMES="$<TARGET_FILE:fake_cuda_client_lifetimes>"
                           SLUICE_FAKE_PROCESS="$<TARGET_FILE:fake_cuda_client_process>" SLUICE_INTERPOSE="$<TARGET_FILE:sluice_interpose>" SLUICE_STUB="${STUB}")
add_dependencies(test_interpose fake_cuda fake_cuda_newer fake_cuda_client fake_cuda_client_steady fake_cuda_client_records fake_cuda_client_waits
                 fake_cuda_client_lifetimes fake_cuda_client_process sluice_interpose sluice_ptxas sluice_compiler)
