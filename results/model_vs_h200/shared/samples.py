#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the partition unit of the model saw before it decided: samples by CTA count, of its first decision.

usage: samples.py RUN.json ...      RUN.json: OUT/quotas/runs/A_B-dynamic_mode-twin.json of measure.sh, or of again.sh
Behind each kernel's samples, as a part of the largest, stand those of its solo curve on the model and on the H200."""
import json
import pathlib
import sys

from compare import HERE, silicon


def row(values):
    return " ".join(f"{v / max(values):.2f}" for v in values)


def main():
    model = json.loads((HERE / "model.json").read_text())["curves"]
    theirs = silicon()[0]
    for path in map(pathlib.Path, sys.argv[1:]):
        names, result = path.name.split("-")[0].split("_"), json.loads(path.read_text())["result"]
        if not result["decisions"]:
            print(f"{path.name}: over after {result['cycles']} cycles, before it decided")
            continue
        samples = result["decisions"][0]["samples"]
        print(f"{path.name}: {len(result['sms'])} SMs, {len(samples)} samples, decided at {result['decisions'][0]['decided_at']}")
        for k, name in enumerate(names):
            mine = {s["label"]: s["warp_instructions"] for s in samples if s["kernel"] == k}
            print(f"  {name}: {row([mine[n] for n in sorted(mine)])}\n    model alone {row(model[name])}\n    H200 alone  {row(theirs[name])}")


if __name__ == "__main__":
    main()
