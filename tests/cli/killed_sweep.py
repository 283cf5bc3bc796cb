#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A sweep that is killed at random moments gives the table that it gives uninterrupted, and so do the jobs of its Slurm array, which are
run here one after the other. Nothing is run twice. With SLUICE_FULL=1: a thousand points, killed ten times.

  killed_sweep.py SLUICE CHECKOUT [SEED]"""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

SLUICE, CHECKOUT = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
SEEDS, KILLS = (125, 10) if os.environ.get("SLUICE_FULL") else (3, 3)
SWEEP = f"""name = "killed"
workload = "{CHECKOUT}/configs/workloads/table2.toml"
machines = ["{CHECKOUT}/configs/machines/fermi_table1.toml"]
mixes = "DXT_MVP,IMG_NN"
policies = ["left_over", "even"]
window = 2000
seeds = {list(range(1, SEEDS + 1))}
[parameters]
"num_sms" = [2, 3]
"energy.sm_clock_watts" = [1.9, 2.0]   # of equal runs
"""


def main(folder):
    (folder / "sweep.toml").write_text(SWEEP)

    def command(out, *more):
        return [SLUICE, "sweep", str(folder / "sweep.toml"), "--out", str(folder / out), "--jobs", "2", *more]

    def table(out):
        return (folder / out / "results.csv").read_bytes()

    def question(out, sql):
        return json.loads(subprocess.run([SLUICE, "report", str(folder / out), "--json", "--sql", sql], check=True, stdout=subprocess.PIPE).stdout)

    start = time.monotonic()
    subprocess.run(command("whole"), check=True)
    whole = time.monotonic() - start
    runs = question("whole", "SELECT count(*) AS runs, sum(state = 'done') AS done FROM runs")[0]
    points = question("whole", "SELECT count(*) AS n FROM points WHERE state = 'done'")[0]["n"]
    assert points == 16 * SEEDS, points
    assert runs["runs"] == runs["done"] == 2 * SEEDS * 8, runs   # two machines, four kernels alone, two mixes under two policies

    moments = random.Random(SEED)
    for _ in range(KILLS):
        running = subprocess.Popen(command("killed"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(moments.uniform(0, 1.2 * whole / KILLS))
        running.send_signal(signal.SIGKILL)
        running.wait()
    kept = question("killed", "SELECT count(*) AS n FROM runs")[0]["n"] if (folder / "killed/runs.sqlite").exists() else 0
    last = subprocess.run(command("killed"), check=True, stdout=subprocess.PIPE, text=True).stdout
    assert f"\n{runs['runs'] - kept} runs ({kept} kept from before)" in last, last
    assert table("killed") == table("whole"), f"seed {SEED}"

    script = subprocess.run(command("array", "--slurm"), check=True, stdout=subprocess.PIPE, text=True).stdout
    jobs = int(script.split("--array=0-")[1].split()[0]) + 1
    for job in moments.sample(range(jobs), jobs):
        subprocess.run(["sh", "-c", script], env=dict(os.environ, SLURM_ARRAY_TASK_ID=str(job)), check=True, stderr=subprocess.DEVNULL)
    subprocess.run(command("array", "--collect"), check=True)
    assert table("array") == table("whole")
    print(f"{points} points in {whole:.0f} s; {kept} of {runs['runs']} runs outlived {KILLS} kills; {jobs} jobs; seed {SEED}")


with tempfile.TemporaryDirectory() as made:
    main(pathlib.Path(made))
