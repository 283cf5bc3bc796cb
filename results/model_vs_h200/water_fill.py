# SPDX-License-Identifier: Apache-2.0
CAPACITY = {"registers": 65536, "shared_memory_bytes": 233472, "threads": 2048, "cta_slots": 32}  # of an SM of the GPU


def water_fill(curves, demands):
    """Warped-Slicer's algorithm 1, as sw/partition/waterfill.h has it, without an epsilon."""
    left = {what: CAPACITY[what] - sum(d[what] for d in demands) for what in CAPACITY}
    ctas, full = [1] * len(curves), [False] * len(curves)
    while not all(full):
        worst = min((k for k in range(len(curves)) if not full[k]), key=lambda k: curves[k][ctas[k] - 1] / max(curves[k]))
        now = curves[worst][ctas[worst] - 1]
        more = next((n - ctas[worst] for n in range(ctas[worst] + 1, len(curves[worst]) + 1) if curves[worst][n - 1] > now), None)
        if more is None or any(demands[worst][what] * more > left[what] for what in left):
            full[worst] = True
            continue
        left = {what: left[what] - demands[worst][what] * more for what in left}
        ctas[worst] += more
    return ctas
