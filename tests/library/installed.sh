#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs the library and builds its examples outside of the tree: with find_package, with pkg-config, and through ctypes.
# Usage: installed.sh SOURCE BUILD
set -eu
source=$1 build=$2 work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" --component library > "$work/log"
cp -r "$source/lib/examples" "$work/examples"  # nothing of the tree beside it
cmake -S "$work/examples" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" >> "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$work/build" >> "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
export PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig LD_LIBRARY_PATH=$work/prefix/lib
# shellcheck disable=SC2046
c++ -std=c++17 -Wall -Wextra -Werror "$work/examples/cycle_loop.cpp" $(pkg-config --cflags --libs sluice) -o "$work/by_pkg_config"
echo '#include <sluice.h>
int main(void) { return sluice_abi() == SLUICE_ABI ? 0 : 1; }' > "$work/c.c"
# shellcheck disable=SC2046
cc -std=c99 -Wall -Wextra -Wpedantic -Werror "$work/c.c" $(pkg-config --cflags --libs sluice) -o "$work/c" && "$work/c"
expect() { grep -qF -- "$1" "$work/out" || { echo "no '$1' in:"; cat "$work/out"; exit 1; }; }
for program in "$work/build/cycle_loop" "$work/by_pkg_config"; do
  "$program" > "$work/out"
  expect "left_over: 150030 cycles"
  expect "quotas 5 and 3: 100027 cycles"
done
"$work/build/in_systemc" > "$work/out"
expect "kernel 1 ended after 2746 ns"
python3 "$work/examples/policy.py" "$work/prefix/lib/libsluice.so" > "$work/out"
expect "solo_curve    compute 6 CTAs on SMs 0..15  memory 2 CTAs on SMs 0..15"
expect "1000 ns  job 0: 6 CTAs on 16 SMs  job 1: 2 CTAs on 16 SMs"
