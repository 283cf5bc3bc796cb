#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Proofs of the RTL; see --help.
exec python3 "$(dirname "$0")/run.py" "$@"
