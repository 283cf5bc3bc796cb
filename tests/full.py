#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The long campaigns of `./test.sh --full`, one a test label and build: some hours on two cores. One that has passed is passed over until a
file changes that it depends on, so an interrupted run goes on with the same command, and parts may run on different days.

  tests/full.py [--list] [campaign ...]

A campaign is BUILD.LABEL, such as release.tb; BUILD. alone names all of a build. Logs and counts are in build/full. Exit code 1 when a campaign
failed, 2 for a name that there is not."""
import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[1]
STATE = ROOT / "build/full"
UNIT = "core partition policy report scheduler workload trace systemc study cli gpu service interpose library tb".split()
SCRIPTS = "lint build docs formal synth".split()   # they run tools, no program of a sanitizer build
THREADS = "service interpose".split()
CAMPAIGNS = [f"{build}.{label}" for build, labels in (("release", UNIT + SCRIPTS), ("asan", UNIT), ("tsan", THREADS)) for label in labels]
SHORT_WITH_ASAN = set(UNIT) - set(THREADS)         # with the sanitizer the quick tier is long enough
NOT_READ = {"build", "out", ".git", "node_modules", "runs", "__pycache__"}


def depends(label, path):
    """Does a campaign of this label read the file? Wide rather than narrow: a change that matters must not pass."""
    top = path.parts[0]
    if label in ("lint", "docs"):
        return True
    if label in ("formal", "synth"):
        return top in ("rtl", "setup.sh") or (label == "synth" and (top == "synth" or path.parts[:2] == ("tb", "verilog")))
    if path.suffix == ".md":
        return label == "gpu" and path.name == "how_sharing_works.md"   # one of its tests reads that page
    if top in ("docs", "synth", "fuzz") or path.parts[:2] == ("rtl", "formal") or path.suffix == ".html":
        return False
    if top == "tests" and len(path.parts) > 2:
        return path.parts[1] in (label, "fake_cuda") or path.suffix != ".cpp"
    return top != "tb" or label == "tb"


def files():
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(set(folders) - NOT_READ)
        yield from (pathlib.Path(folder, name).relative_to(ROOT) for name in sorted(names) if not name.endswith((".fst", ".vcd")))


def digest(label, cuda):
    found = hashlib.sha256(f"nvcc {cuda}".encode())
    for path in files():
        if depends(label, path):
            found.update(f"{path}\0".encode() + hashlib.sha256((ROOT / path).read_bytes()).digest())
    return found.hexdigest()


def kept(name):
    try:
        return json.loads((STATE / f"{name}.json").read_text())
    except (OSError, ValueError):
        return {}


def sh(*command, **env):
    return subprocess.run(command, cwd=ROOT, env=dict(os.environ, **env)).returncode == 0


def output(*command):
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def build(preset, label, cuda):
    options = [] if preset == "release" else ["-D", f"SLUICE_CUDA={cuda}"]  # with nvcc the interposer is tested against a driver that executes nothing
    return sh("cmake", "--preset", preset, *options) and sh("cmake", "--build", "--preset", preset, *([] if preset == "release" else ["--target", f"test_{label}"]))


def unknown_labels():
    """Labels of the tests that are built, and tests without any, that no campaign runs."""
    labels = set(re.findall(r"^  (\w+)$", output("ctest", "--preset", "release", "--print-labels"), re.M))
    bare = re.findall(r"Test +#\d+: (\S+)", output("ctest", "--preset", "release", "-N", "-LE", "."))
    return sorted(labels - set(UNIT + SCRIPTS)) + bare


def run(name, cuda):
    """Builds and runs one campaign; None when it failed, else what is kept of it."""
    preset, label = name.split(".")
    start, page = time.monotonic(), STATE / f"{name}.xml"
    before = digest(label, cuda)
    env = {} if preset == "asan" and label in SHORT_WITH_ASAN else {"SLUICE_FULL": "1"}
    if preset == "tsan":   # it takes clone() with shared memory for a fork, and would wait a second at each exit
        env["TSAN_OPTIONS"] = f"suppressions={ROOT}/tests/tsan.supp:die_after_fork=0:atexit_sleep_ms=0"
    if not build(preset, label, cuda):
        return None
    if preset == "release" and (strangers := unknown_labels()):
        print(f"tests/full.py: no campaign runs {', '.join(strangers)}", file=sys.stderr)
        return None
    if not sh("ctest", "--preset", preset, "-j2", "-L", f"^{label}$", "--no-tests=error", "--output-junit", str(page), **env):
        return None
    suite = xml.etree.ElementTree.parse(page).getroot()
    return {"digest": before, "revision": output("git", "describe", "--always", "--dirty").strip(), "date": time.strftime("%F"),
            "seconds": round(time.monotonic() - start), "tests": int(suite.get("tests")), "skipped": int(suite.get("skipped")) + int(suite.get("disabled"))}


def line(name, state):
    return f"{name:20} {state['tests']:5} tests, {state['skipped']} skipped, {state['seconds']} s, {state['date']}, {state['revision']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("campaign", nargs="*")
    parser.add_argument("--list", action="store_true", help="what has passed, on which revision; runs nothing")
    args = parser.parse_args()
    for name in args.campaign:
        if name not in CAMPAIGNS and name not in ("release.", "asan.", "tsan."):
            parser.error(f"{name}: no such campaign; there are: {', '.join(CAMPAIGNS)}")
    chosen = [c for c in CAMPAIGNS if not args.campaign or c in args.campaign or c[:c.index(".") + 1] in args.campaign]
    cuda = "ON" if shutil.which("nvcc") else "OFF"
    STATE.mkdir(parents=True, exist_ok=True)
    failed = []
    for name in chosen:
        state, now = kept(name), digest(name.split(".")[1], cuda)
        if state.get("digest") == now:
            print(line(name, state) + ": passed", flush=True)
        elif args.list:
            print(f"{name:20} {'to be run again: files changed' if state else 'to be run'}")
        else:
            print(f"== {name}", flush=True)
            (STATE / f"{name}.json").unlink(missing_ok=True)
            if state := run(name, cuda):
                part = STATE / f"{name}.part"
                part.write_text(json.dumps(state))
                os.replace(part, STATE / f"{name}.json")
                print(line(name, state) + ": passed", flush=True)
            else:
                failed.append(name)
    if not args.list:
        print(f"campaigns: {len(chosen) - len(failed)} passed, {len(failed)} failed" + (f": {', '.join(failed)}" if failed else ""))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("\ninterrupted; the same command goes on")
