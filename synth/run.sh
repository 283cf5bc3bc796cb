#!/usr/bin/env bash
# Area, timing and power of the partition unit; see --help.
exec python3 "$(dirname "$0")/flow.py" "$@"
