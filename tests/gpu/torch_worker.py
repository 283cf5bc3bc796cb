# SPDX-License-Identifier: Apache-2.0
"""A program for torch_on_gpu.py: torch_worker.py triton|graph|train SECONDS. Prints a checksum of what it computed once, the times that
this came out again until SECONDS were over, and the times that it did not. A Triton kernel, the same in a CUDA graph, or a training step."""
import sys
import time

import torch

torch.manual_seed(26)
torch.backends.cuda.matmul.allow_tf32 = False


def triton_kernel():
    import triton
    import triton.language as tl

    @triton.jit
    def scale_and_add(x, y, out, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = at < n
        a = tl.load(x + at, mask=inside)
        b = tl.load(y + at, mask=inside)
        for _ in range(64):
            a = a * 0.999 + b
        tl.store(out + at, a, mask=inside)

    n = 1 << 24
    x, y, out = torch.randn(n, device="cuda"), torch.randn(n, device="cuda"), torch.empty(n, device="cuda")

    def step():
        out.fill_(-1)
        scale_and_add[(triton.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)
        return out

    return step


def graph():
    step = triton_kernel()
    step()
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        result = step()

    def replay():
        captured.replay()
        return result

    replay.inputs = step  # the graph reads its tensors

    return replay


def train():
    """From the same weights each time, so that the same comes out."""
    model = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.GELU(), torch.nn.LayerNorm(1024), torch.nn.Linear(1024, 64)).cuda()
    weights = [p.detach().clone() for p in model.parameters()]
    x, target = torch.randn(2048, 512, device="cuda"), torch.randint(0, 64, (2048,), device="cuda")
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)

    def step():
        with torch.no_grad():
            for p, w in zip(model.parameters(), weights):
                p.copy_(w)
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(model(x), target).backward()
        optimiser.step()
        return torch.cat([p.detach().flatten() for p in model.parameters()])

    return step


def checksum(values):
    return values.view(torch.int32).to(torch.int64).sum().item() ^ (values[::7].view(torch.int32).to(torch.int64) * 31).sum().item()


step = {"triton": triton_kernel, "graph": graph, "train": train}[sys.argv[1]]()
first = checksum(step())
end = time.monotonic() + float(sys.argv[2])
same = other = 0
while time.monotonic() < end:
    if checksum(step()) == first:
        same += 1
    else:
        other += 1
print(f"checksum {first} same {same} other {other}")
