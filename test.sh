#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets everything up and runs the tests: lint, unit tests, benches, small runs. `--full`: the long campaigns and the sanitizers (tests/full.py),
# which go on where they were interrupted.
set -euo pipefail
cd "$(dirname "$0")"
full=0
case "${1:-}" in
  "") ;;
  --full) full=1 ;;
  *) echo "usage: ./test.sh [--full]" >&2; exit 2 ;;
esac
./setup.sh
[ "$full" = 0 ] || exec tests/full.py
cmake --preset release
cmake --build --preset release
ctest --preset release -j2
