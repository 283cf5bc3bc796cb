#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets everything up and runs the tests: lint, unit tests, benches, small runs. `--full` adds the long campaigns and the sanitizers.
set -euo pipefail
cd "$(dirname "$0")"
full=0
case "${1:-}" in
  "") ;;
  --full) full=1 ;;
  *) echo "usage: ./test.sh [--full]" >&2; exit 2 ;;
esac
./setup.sh
cmake --preset release
cmake --build --preset release
if [ "$full" = 1 ]; then
  # With nvcc the interposer is tested too, against a driver that executes nothing.
  cuda=$(command -v nvcc >/dev/null && echo ON || echo OFF)
  cmake --preset asan -D "SLUICE_CUDA=$cuda"
  cmake --build --preset asan
  SLUICE_FULL=1 ctest --preset asan -j2 -L "^(service|interpose)$"
  ctest --preset asan -j2 -LE "lint|formal|^(service|interpose)$"
  cmake --preset tsan -D "SLUICE_CUDA=$cuda"
  cmake --build --preset tsan --target test_service test_interpose
  TSAN_OPTIONS="suppressions=$PWD/tests/tsan.supp" SLUICE_FULL=1 ctest --preset tsan -j2 -L "^(service|interpose)$"
  SLUICE_FULL=1 ctest --preset release -j2
else
  ctest --preset release -j2
fi
