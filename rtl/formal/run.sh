#!/usr/bin/env bash
# Proofs of the RTL; see --help.
exec python3 "$(dirname "$0")/run.py" "$@"
