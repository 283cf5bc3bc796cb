#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs everything that the night's figures tell of: some hours. What fails or is missing does not stop the others; the table tells.
#   tb/nightly/run.sh [--out FOLDER] [--liberty FILE] [--traces FOLDER] [--seed N]
set -uo pipefail
cd "$(dirname "$0")/../.."
out=build/nightly liberty=synth/tech/sluice45.cells traces="" seed=$(date +%Y%m%d)
while [ $# -gt 0 ]; do
  [ $# -gt 1 ] || { echo "usage: tb/nightly/run.sh [--out FOLDER] [--liberty FILE] [--traces FOLDER] [--seed N]" >&2; exit 2; }
  case "$1" in
    --out) out=$2 ;;
    --liberty) liberty=$2 ;;
    --traces) traces=$2 ;;
    --seed) seed=$2 ;;
    *) echo "tb/nightly/run.sh: $1: no such option" >&2; exit 2 ;;
  esac
  shift 2
done
mkdir -p "$out"
out=$(cd "$out" && pwd)
rm -f "$out"/*.json "$out"/*.xml
printf '{"date": "%s", "revision": "%s"}\n' "$(date +%F)" "$(git describe --always --dirty)" > "$out/night.json"
ctest --preset release --output-junit "$out/tests.xml" > "$out/tests.log" 2>&1
tb/coverage.sh --json > "$out/coverage.json" 2> "$out/coverage.log"
tb/mutation.sh --seed "$seed" --long --json > "$out/mutation.json" 2> "$out/mutation.log"
rtl/formal/run.sh --long --json > "$out/proofs.json" 2> "$out/proofs.log"
rtl/formal/run.sh --mutants --json > "$out/broken_designs.json" 2> "$out/broken_designs.log"
synth/run.sh --liberty "$liberty" --json "$out/area.json" > "$out/area.log" 2>&1
synth/options.py --liberty "$liberty" --json "$out/options.json" > "$out/options.log" 2>&1
build/release/bin/sluice bench rtl --json > "$out/rtl.json" 2> "$out/rtl.log"
[ -z "$traces" ] || build/release/bin/sluice bench model --traces "$traces" --json > "$out/speed.json" 2> "$out/speed.log"
exec python3 tb/nightly/figures.py "$out"
