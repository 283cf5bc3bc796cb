#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Mutation score of the benches; see --help.
exec python3 "$(dirname "$0")/mutation.py" "$@"
