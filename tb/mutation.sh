#!/usr/bin/env bash
# Mutation score of the benches; see --help.
exec python3 "$(dirname "$0")/mutation.py" "$@"
