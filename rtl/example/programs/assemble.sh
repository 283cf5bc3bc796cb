#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Assembles rtl/example/programs/*.s into *.hex, one word a line, with Debian's binutils-riscv64-unknown-elf. --check
# writes nothing and exits 1 when a .hex is out of date.
set -euo pipefail
cd "$(dirname "$0")"
tools=riscv64-unknown-elf
command -v $tools-as > /dev/null || { echo "assemble.sh: no $tools-as: ./setup.sh installs it" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
stale=0
for source in *.s; do
  name=${source%.s}
  $tools-as -march=rv32im_zicsr -mabi=ilp32 -o "$work/$name.o" "$source"
  $tools-objcopy -O binary "$work/$name.o" "$work/$name.bin"
  od -An -v -tx4 -w4 "$work/$name.bin" | tr -d ' ' > "$work/$name.hex"
  cmp -s "$work/$name.hex" "$name.hex" && continue
  if [ "${1:-}" = --check ]; then
    echo "$name.hex: out of date, run rtl/example/programs/assemble.sh"
    stale=1
  else
    cp "$work/$name.hex" "$name.hex"
  fi
done
exit $stale
