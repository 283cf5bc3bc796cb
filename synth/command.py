# SPDX-License-Identifier: Apache-2.0
"""What the commands of the flow share: they stop in one line with exit code 2, and look at their options before they work."""
import argparse
import math
import os
import pathlib
import subprocess
import sys


def run(main):
    """A command: what stops it in words, a program or file that is missing among them, is one line and exit code 2."""
    try:
        main()
    except SystemExit as stop:
        if isinstance(stop.code, str):
            print(stop.code, file=sys.stderr)
            sys.exit(2)
        raise
    except subprocess.CalledProcessError as failed:   # it has said why
        print(f"synth: {failed.cmd[0]}: exit code {failed.returncode}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError) and error.filename and "/" not in str(error.filename)
        print(f"synth: {error.filename or 'output'}: " + ("no such program; ./setup.sh installs it" if missing else error.strerror), file=sys.stderr)
        sys.exit(2)


def positive(kind):
    """The type of an option: an int or a float above 0."""
    def convert(text):
        try:
            value = kind(text)
        except ValueError:
            value = 0
        if not 0 < value < math.inf:
            raise argparse.ArgumentTypeError(f"{text}: must be {'1 or more' if kind is int else 'a number above 0'}")
        return value
    return convert


def readable(option, path):
    """Stops when a file that will be needed can't be read."""
    if path and not (os.path.isfile(path) and os.access(path, os.R_OK)):
        raise SystemExit(f"synth: {option} {path}: no file that can be read")


def writable(option, path):
    """Stops when a result could not be written later."""
    folder = pathlib.Path(path or ".").absolute().parent
    if path and (os.path.isdir(path) or not folder.is_dir() or not os.access(path if os.path.exists(path) else folder, os.W_OK)):
        raise SystemExit(f"synth: {option} {path}: no file can be written there")
