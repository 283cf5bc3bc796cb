#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs' model in PyTorch: products by cuBLAS, attention by PyTorch's flash kernels (cuDNN's give other bits now and then); none has PTX.
torch_pair.py prefill|decode [--seconds S] [--windows N] [--load SEQUENCES] [--wait]

Prints the programs' line, whose rate is the median of N windows of S seconds. Outputs are compared within the run alone: by the SMs that it is told of cuBLAS chooses its kernels.
"""
import argparse
import json
import os
import statistics
import sys
import time

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # before cuBLAS begins: the same sums in every cycle
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

HIDDEN, HEADS, KV, HEAD, INNER, VOCABULARY, LAYERS, PROMPT, CONTEXT, STEPS = 8192, 64, 8, 128, 28672, 32768, 2, 2048, 4096, 32
asks = argparse.ArgumentParser()
asks.add_argument("program", choices=["prefill", "decode"])
asks.add_argument("--seconds", type=float, default=2)
asks.add_argument("--windows", type=int, default=1)
asks.add_argument("--load", type=int, default=8)
asks.add_argument("--wait", action="store_true")
A = asks.parse_args()
PREFILL = A.program == "prefill"
ROWS = PROMPT if PREFILL else A.load


def weights(*shape):
    return (torch.rand(*shape, device="cuda", dtype=torch.bfloat16) - 0.5) * (2.0 / shape[-1] ** 0.5)


def turned(x, turns):
    """x: [sequences, heads, tokens, HEAD]; turns: of each token."""
    a, b = x.chunk(2, -1)
    cos, sin = turns
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


class Model:
    def __init__(self):
        self.embeddings, self.head = weights(VOCABULARY, HIDDEN), weights(VOCABULARY, HIDDEN)
        self.layers = [{"qkv": weights((HEADS + 2 * KV) * HEAD, HIDDEN), "out": weights(HIDDEN, HEADS * HEAD), "gate_up": weights(2 * INNER, HIDDEN),
                        "down": weights(HIDDEN, INNER)} for _ in range(LAYERS)]
        longest = PROMPT if PREFILL else CONTEXT + STEPS
        self.cache = [weights(1 if PREFILL else A.load, 2 * KV, longest, HEAD) for _ in range(LAYERS)]
        angle = torch.arange(longest, device="cuda")[:, None] * 10000.0 ** (-torch.arange(HEAD // 2, device="cuda") / (HEAD // 2))
        self.turns = angle.cos().bfloat16(), angle.sin().bfloat16()

    def next_tokens(self, tokens, begin):
        """tokens: [sequences, those that come]; they stand at `begin` and behind. @return the next of each sequence"""
        sequences, count = tokens.shape
        x = F.embedding(tokens, self.embeddings)
        turns = tuple(t[begin:begin + count] for t in self.turns)
        for w, cache in zip(self.layers, self.cache):
            rows = (F.rms_norm(x, (HIDDEN,)) @ w["qkv"].T).view(sequences, count, -1, HEAD).transpose(1, 2)
            q, k, v = rows.split((HEADS, KV, KV), 1)
            cache[:, :KV, begin:begin + count] = turned(k, turns)
            cache[:, KV:, begin:begin + count] = v
            keys, values = cache[:, :, :begin + count].chunk(2, 1)
            attended = F.scaled_dot_product_attention(turned(q, turns), keys, values, is_causal=PREFILL, enable_gqa=True)
            x = x + attended.transpose(1, 2).reshape(sequences, count, -1) @ w["out"].T
            gate, up = (F.rms_norm(x, (HIDDEN,)) @ w["gate_up"].T).chunk(2, -1)
            x = x + (F.silu(gate) * up) @ w["down"].T
        return (F.rms_norm(x[:, -1:], (HIDDEN,)) @ self.head.T).argmax(-1)


def cycle(model, start):
    """A prompt, or 32 steps. @return what came out, and when each step had ended"""
    tokens, sums, ended, times = start, torch.zeros((), dtype=torch.long, device="cuda"), [], []
    for step in range(1 if PREFILL else STEPS):  # each enqueued while the one before it runs
        tokens = model.next_tokens(tokens, 0 if PREFILL else CONTEXT + step)
        sums = sums * 31 + tokens.sum()
        ended.append(torch.cuda.Event())
        ended[-1].record()
        if step > 0:
            ended[step - 1].synchronize()
            times.append(time.perf_counter())
    ended[-1].synchronize()
    times.append(time.perf_counter())
    return int(sums), times


def part_of(values, part):
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


@torch.inference_mode()
@sdpa_kernel(SDPBackend.FLASH_ATTENTION)
def main():
    torch.manual_seed(26)
    torch.use_deterministic_algorithms(True, warn_only=True)
    model = Model()
    start = torch.randint(0, VOCABULARY, (1, PROMPT) if PREFILL else (A.load, 1), device="cuda")
    first, _ = cycle(model, start)
    if A.wait:
        print("warm", flush=True)
        sys.stdin.readline()
    wrong, rates, times = 0, [], []
    for window in range(A.windows):
        done, measured, began = 0, 0.0, time.perf_counter()
        longer = 0.15 * A.seconds * A.windows if window == A.windows - 1 else 0  # than measured: the other program has company to its end
        while time.perf_counter() - began < A.seconds + longer:
            before = time.perf_counter()
            result, at = cycle(model, start)
            wrong += result != first
            for ended, last in zip(at, [before, *at]):
                if ended - began >= A.seconds and done > 0:
                    break
                times.append(1000 * (ended - last))
                measured = ended - began
                done += 1
        rates.append(round(done * ROWS / measured, 2))
    name = "ttft" if PREFILL else "itl"
    print(json.dumps({"program": A.program, **({} if PREFILL else {"load": A.load}), "tokens_per_s": statistics.median(rates), "windows": rates,
                      f"{name}_p50_ms": round(part_of(times, 0.5), 4), f"{name}_p99_ms": round(part_of(times, 0.99), 4),
                      "checksum": "compared within the run", "wrong": wrong}))
    sys.exit(wrong != 0)


main()
