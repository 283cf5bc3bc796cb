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
  cmake --preset asan
  cmake --build --preset asan
  ctest --preset asan -j2 -LE "lint|formal"
  SLUICE_FULL=1 ctest --preset release -j2
else
  ctest --preset release -j2
fi
