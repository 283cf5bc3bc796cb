#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what Sluice builds and tests with, from Debian's packages and only those, and says which. Does nothing when all is there.
set -euo pipefail
packages=(build-essential cmake ninja-build ccache pkg-config git libsystemc-dev verilator yosys berkeley-abc opensta iverilog python3 z3 zlib1g-dev liblzma-dev
          liblz4-dev libzstd-dev xz-utils libtomlplusplus-dev libcli11-dev libspdlog-dev libfmt-dev nlohmann-json3-dev libsqlite3-dev libgtest-dev librapidcheck-dev
          clang-format clang-tidy binutils-riscv64-unknown-elf python3-yaml)
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "setup: all ${#packages[@]} Debian packages that Sluice needs are installed; nothing is installed"
  exit 0
fi
install=(apt-get install -y --no-install-recommends "${missing[@]}")
if [ "$(id -u)" -eq 0 ]; then
  as_root=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root=(sudo)
else
  echo "Sluice needs these Debian packages; ask an administrator to run:" >&2
  echo "  ${install[*]}" >&2
  exit 2
fi
echo "setup: installs these Debian packages, and nothing else: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" "${install[@]}" >/dev/null
