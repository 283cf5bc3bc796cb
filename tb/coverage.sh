#!/usr/bin/env bash
# Coverage of the benches; see --help.
exec python3 "$(dirname "$0")/coverage.py" "$@"
