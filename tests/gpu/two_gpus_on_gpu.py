#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The service on a machine with two GPUs: two_gpus_on_gpu.py SLUICE PROGRAM (two_gpus.cu). A program with both GPUs, beside one that sees the
second alone, and beside one that sees them the other way round. Prints one line a check, exit code 1 if one fails."""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SECONDS = 4


class Check:
    def __init__(self):
        self.bad = 0

    def __call__(self, good, what, *more):
        self.bad += not good
        print("ok   " if good else "FAIL ", what, *more, flush=True)


def lines(process):
    """By UUID, in the order in which the program numbers its GPUs: launches and wrong words."""
    out, _ = process.communicate(timeout=120)
    return process.returncode, {f[1]: (int(f[2]), int(f[3])) for f in sorted(map(str.split, out.splitlines()))}


def main():
    sluice, program = map(os.path.abspath, sys.argv[1:])
    check = Check()
    with tempfile.TemporaryDirectory() as folder:
        socket = str(pathlib.Path(folder) / "s")
        environment = {**os.environ, "XDG_STATE_HOME": folder, "SLUICE_COMPILE_WAIT_MS": "10000"}

        def run(name, visible=None, native=False):
            words = [program, str(SECONDS)]
            ours = {**environment, "SLUICE_REPORT": str(pathlib.Path(folder) / name)} | ({"CUDA_VISIBLE_DEVICES": visible} if visible else {})
            return subprocess.Popen(words if native else [sluice, "run", "--require-service", "--socket", socket, "--name", name, "--", *words],
                                    env=ours, stdout=subprocess.PIPE, text=True)

        def status():
            said = subprocess.run([sluice, "serve", "status", "--json", "--socket", socket], capture_output=True, text=True)
            return json.loads(said.stdout) if said.returncode == 0 else None

        code, alone = lines(run("native", native=True))
        check(code == 0 and len(alone) == 2, "natively: two GPUs", alone)
        first, second = alone
        for options in ([], ["--mps"]):
            daemon = subprocess.Popen([sluice, "serve", "--executor", "gpu", "--scheduler", "even", "--socket", socket, *options], env=environment)
            while status() is None:
                time.sleep(0.05)
            subprocess.run([sluice, "run", "--socket", socket, "--", program, "1"], env=environment, stdout=subprocess.DEVNULL, check=False)  # code
            for visible, both in (("1", False), ("1,0", True)):
                a, b = run("a"), run("b", visible)
                seen, shares = collections.Counter(), collections.defaultdict(list)
                while a.poll() is None:
                    time.sleep(0.1)
                    for client in (status() or {"clients": []})["clients"]:
                        seen[client["name"], client["gpu"]] += 1
                        shares[client["name"], client["gpu"]].append(client["share_ctas"])
                (code_a, of_a), (code_b, of_b) = lines(a), lines(b)
                what = f"{' '.join(options)} beside one that sees {visible}:"
                wanted = {("a", first), ("a", second), ("b", second)} | ({("b", first)} if both else set())
                check(code_a == 0 and code_b == 0, what, "results are right", of_a, of_b)
                check(set(seen) == wanted, what, "each has a session on each of its GPUs", dict(seen))
                check(set(of_b) == ({first, second} if both else {second}), what, "the other sees what it is to see")
                of_first = of_a.get(first, (0, 0))[0] / alone[first][0]
                check(of_first > 0.3 if both else of_first > 0.8, what, f"{of_first:.2f} of its native launches on the first GPU")
                of_second = of_a.get(second, (0, 0))[0] / alone[second][0]
                check(0.25 < of_second < 0.8, what, f"{of_second:.2f} of its native launches on the second")
                print("      median share_ctas", {k: sorted(v)[len(v) // 2] for k, v in shares.items()}, flush=True)
                table = json.loads((pathlib.Path(folder) / "a").read_text())
                gpus = {row["gpu"] for row in table["table"] if row["way"] == "quota"}
                check(gpus == {0, 1} and table["quota_violations"] == 0, what, "launches under quota on both, 0 violations")
            check(status()["lost"] == 0, " ".join(options), "nobody is lost")
            daemon.terminate()
            check(daemon.wait() == 130, "the service ends")
    return 1 if check.bad else 0


if __name__ == "__main__":
    sys.exit(main())
