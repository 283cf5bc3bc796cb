#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Area, timing and power of the partition unit; see --help.
exec python3 "$(dirname "$0")/flow.py" "$@"
