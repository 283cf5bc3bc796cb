#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Coverage of the benches; see --help.
exec python3 "$(dirname "$0")/coverage.py" "$@"
