#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs' small model once more in PyTorch, in float. with_torch.py FOLDER, which has prefill and decode. Exit code 1 where they differ.

Each program writes its weights, its cache and what it computed (--dump). PyTorch begins with the tokens and goes through all layers by
itself; it reads the cache of decode's earlier tokens by the table of pages.
"""
import math
import os
import subprocess
import sys
import tempfile

import torch
import torch.nn.functional as F

HIDDEN, HEADS, KV, INNER, VOCABULARY, LAYERS, HEAD, PAGE = 512, 16, 2, 1024, 1024, 2, 128, 64
TOLERANCE = 0.03  # of two layers and the logits
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
torch.backends.cuda.matmul.allow_tf32 = False


def turned(x, positions):
    """x: [tokens, heads, HEAD]."""
    angle = positions[:, None].double() * 10000.0 ** (-torch.arange(HEAD // 2, device=DEVICE).double() / (HEAD // 2))
    cos, sin = angle.cos().float()[:, None], angle.sin().float()[:, None]
    a, b = x[..., :HEAD // 2], x[..., HEAD // 2:]
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


def outputs(read, prompt):
    """Of each layer, and the logits; `read` gives what the program wrote."""
    tokens, lengths = read("tokens", torch.int32).long(), read("lengths", torch.int32).long()
    rows = len(tokens)
    positions = torch.arange(rows, device=DEVICE) if prompt else lengths[:rows]
    table = read("table", torch.int32).long().view(1 if prompt else rows, -1)
    x = read("embeddings").view(VOCABULARY, HIDDEN)[tokens]
    for layer in range(LAYERS):
        def weight(name, *shape):
            return read(f"{name}.{layer}").view(*shape)

        qkv = F.rms_norm(x, (HIDDEN,), weight("norm1", HIDDEN), 1e-5) @ weight("qkv", -1, HIDDEN).T
        q, k, v = qkv.view(rows, HEADS + 2 * KV, HEAD).split((HEADS, KV, KV), 1)
        q, k = turned(q, positions), turned(k, positions)
        if prompt:
            k, v = (t.repeat_interleave(HEADS // KV, 1).transpose(0, 1) for t in (k, v))
            attended = F.scaled_dot_product_attention(q.transpose(0, 1), k, v, is_causal=True).transpose(0, 1)
        else:
            attended = torch.stack([one_token(q[r], k[r], v[r], int(positions[r]), table[r], weight) for r in range(rows)])
        x = x + attended.reshape(rows, HEADS * HEAD) @ weight("out", HIDDEN, -1).T
        gate, up = (F.rms_norm(x, (HIDDEN,), weight("norm2", HIDDEN), 1e-5) @ weight("gate_up", -1, HIDDEN).T).view(rows, INNER // 8, 2, 8).unbind(2)
        x = x + (F.silu(gate) * up).reshape(rows, INNER) @ weight("down", HIDDEN, -1).T
        yield f"layer {layer}", x, read(f"x.{layer}").view(rows, HIDDEN)
    last = x[-1:] if prompt else x
    logits = F.rms_norm(last, (HIDDEN,), read("last_norm"), 1e-5) @ read("head").view(VOCABULARY, HIDDEN).T
    told = read("logits", torch.float32).view(len(last), VOCABULARY)
    yield "logits", logits, told
    yield "the next tokens", told.argmax(1).float(), read("next", torch.int32).float()


def one_token(q, k, v, position, pages, weight):
    kept = []
    for name, new in (("keys", k), ("values", v)):
        cache = weight(name, -1, KV, PAGE, HEAD)[pages].transpose(0, 1).reshape(KV, -1, HEAD)[:, :position]
        kept.append(torch.cat((cache, new[:, None]), 1).repeat_interleave(HEADS // KV, 0))
    scores = (q[:, None] * kept[0]).sum(-1) / math.sqrt(HEAD)
    return (scores.softmax(-1)[..., None] * kept[1]).sum(1)


def compare(program, prompt, *options):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "--check", "--dump", folder, *options], check=True, stdout=subprocess.DEVNULL)

        def read(name, kind=torch.bfloat16):
            with open(os.path.join(folder, name), "rb") as file:
                numbers = torch.frombuffer(bytearray(file.read()), dtype=kind).to(DEVICE)
            return numbers.float() if kind == torch.bfloat16 else numbers

        good = True
        for what, ours, told in outputs(read, prompt):
            error = float((told - ours).norm() / ours.norm())
            close = error <= TOLERANCE
            good &= close
            print("ok" if close else "WRONG", os.path.basename(program), *options, what, f"differs by {error:.5f} of its size (at most {TOLERANCE})")
        return good


folder = sys.argv[1]
results = [compare(f"{folder}/prefill", True)] + [compare(f"{folder}/decode", False, "--load", load) for load in ("3", "12", "32")]
sys.exit(0 if all(results) else 1)
