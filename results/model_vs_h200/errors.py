# SPDX-License-Identifier: Apache-2.0
"""What the comparisons print of their kernels: mean and median of the absolute errors, rank correlation, of each list."""
import json
import statistics


def rank(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    out = [0] * len(values)
    for place, i in enumerate(order):
        out[i] = place
    return out


def print_lists(kernels):
    for which in ("seen", "unseen"):
        some = [k for k in kernels if k["list"] == which]
        if len(some) < 2:
            continue
        errors = [abs(k["model_cycles"] / k["h200_cycles"] - 1) for k in some]
        correlation = statistics.correlation(rank([k["h200_cycles"] for k in some]), rank([k["model_cycles"] for k in some]))
        print(f"\n{which}: {len(some)} kernels, mean absolute error {100 * statistics.mean(errors):.1f} %, median {100 * statistics.median(errors):.1f} %, "
              f"rank correlation {correlation:.3f}")


def write_results(path, **parts):
    """results.json with these parts anew, the others as they are: an entry a line."""
    kept = json.loads(path.read_text()) | parts
    lists = [json.dumps(name) + ": [\n" + ",\n".join("  " + json.dumps(entry) for entry in entries) + "\n ]" for name, entries in kept.items()]
    path.write_text("{" + ",\n ".join(lists) + "}\n")
