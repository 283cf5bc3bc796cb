#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Everything that docs/user/synthesis.md quotes of the standard point (16 SMs, K = 4, N = 8), again: area, timing and power of every block and of the
# whole unit, in the library of the published figures and in ours, and the two side by side.
set -euo pipefail
usage() {
  cat <<END
usage: synth/standard.sh --reference gscl45nm.lib [--out folder] [--sluice program] [--run unit.fst] [--jobs N]
  --reference F   the library that ours is compared with
  --out D         where results go (default: build/synth/standard)
  --run F         recorded run that power is of (default: made with --sluice: IMG_NN under warped_slicer)
  --sluice P      the sluice program (default: build/release/bin/sluice)
END
}
wrong() { if [ $# -gt 0 ]; then echo "standard.sh: $*"; else usage; fi >&2; exit 2; }
root="$(cd "$(dirname "$0")/.." && pwd)"
reference="" out="$root/build/synth/standard" sluice="$root/build/release/bin/sluice" run="" jobs=2
while [ $# -gt 0 ]; do
  case "$1" in
    -h | --help) usage; exit 0 ;;
  esac
  [ $# -ge 2 ] || wrong
  case "$1" in
    --reference) reference=$(realpath -m "$2") ;;
    --out) out=$(realpath -m "$2") ;;
    --sluice) sluice=$2 ;;
    --run) run=$(realpath -m "$2") ;;
    --jobs) jobs=$2 ;;
    *) wrong ;;
  esac
  shift 2
done
[ -n "$reference" ] || wrong
for file in "$reference" ${run:+"$run"}; do
  [ -f "$file" ] && [ -r "$file" ] || wrong "$file: no file that can be read"
done
[[ $jobs =~ ^[1-9][0-9]*$ ]] || wrong "--jobs $jobs: must be 1 or more"
[ -n "$run" ] || command -v "$sluice" > /dev/null || wrong "$sluice: no such program; --sluice names another, --run a recorded run"
mkdir -p "$out"
ours="$root/synth/tech/sluice45.cells"
measure() {   # library, further options
  local name
  name=$(basename "${1%.*}")
  "$root/synth/run.sh" --liberty "$1" --jobs "$jobs" "${@:2}" --json "$out/$name.json" | tee "$out/$name.txt"
}

if [ -z "$run" ]; then
  run="$out/run.fst"
  "$sluice" sim --machine "$root/configs/machines/fermi_table1.toml" --workload "$root/configs/workloads/table2.toml" --kernels IMG_NN \
    --policy warped_slicer --window 20000 --partitioner rtl --fst "$run"
fi
# The decision comes later than that of the recorded unit, whose table has 32 slots: until then, cycle 25,240 of that run, all outputs agree.
"$root/synth/replay.py" "$run" --alike 25240 --fst "$out/unit.fst"
measure "$reference" --activity "$out/unit.fst"
measure "$ours" --activity "$out/unit.fst"
"$root/synth/compare.py" "$out/$(basename "$reference" .lib).json" "$out/sluice45.json" | tee "$out/compare.txt"
