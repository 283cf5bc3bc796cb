# SPDX-License-Identifier: Apache-2.0
# usage: ops.py seen|unseen : one launch of each op between cudaProfilerStart and cudaProfilerStop, after a warm-up.
import sys

import torch
import torch.nn.functional as F

which = sys.argv[1]
d = "cuda"
torch.manual_seed(1)
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
rt = torch.cuda.cudart()
print("torch", torch.__version__, torch.version.cuda, torch.backends.cudnn.version(), flush=True)


def op(name, f):
    try:
        for _ in range(2):
            out = f()
        del out
        torch.cuda.synchronize()
        rt.cudaProfilerStart()
        out = f()
        torch.cuda.synchronize()
        rt.cudaProfilerStop()
        print("OP", name, flush=True)
        del out
    except Exception as e:  # the others still count
        print("FAILED", name, repr(e)[:300], flush=True)
        try:
            rt.cudaProfilerStop()
        except Exception:
            pass


with torch.no_grad():
    if which == "seen":
        n = 8192
        x = torch.rand(n, n, device=d) + 0.5
        y = torch.rand(n, n, device=d)
        m = torch.rand(4096, 4096, device=d)
        idx = torch.randint(0, n * n, (1 << 23,), device=d)
        flat = x.view(-1)
        rows, per = 1 << 20, 32
        crow = torch.arange(0, rows * per + 1, per, device=d, dtype=torch.int32)
        col = torch.randint(0, rows, (rows * per,), device=d, dtype=torch.int32).view(rows, per).sort(1)[0].reshape(-1)
        csr = torch.sparse_csr_tensor(crow, col, torch.rand(rows * per, device=d), (rows, rows))
        v = torch.rand(rows, device=d)
        z = torch.empty(1 << 20, device=d)
        op("add_8192x8192", lambda: x + y)
        op("index_8M_of_64M", lambda: flat[idx])
        op("softmax_8192x8192", lambda: torch.softmax(x, 1))
        op("fill_1M", lambda: z.fill_(0))
        op("csrmv_1M_32", lambda: csr @ v)
        op("lgamma_8192x8192", lambda: torch.lgamma(x))
        op("transpose_copy_8192", lambda: x.t().contiguous())
        op("gemm_fp32_4096", lambda: m @ m)
    else:
        a = torch.randn(4096, 1024, device=d)
        ln = torch.nn.LayerNorm(1024, device=d)
        g = torch.randn(1 << 22, device=d)
        c = torch.randn(2048, 2048, device=d)
        b = torch.randn(2048, 2048, device=d, dtype=torch.bfloat16)
        s = torch.randn(1024, 1024, device=d)
        img = torch.randn(32, 64, 56, 56, device=d, dtype=torch.float16).to(memory_format=torch.channels_last)
        w = torch.randn(64, 64, 3, 3, device=d, dtype=torch.float16).to(memory_format=torch.channels_last)
        img32 = torch.randn(16, 32, 56, 56, device=d)
        w32 = torch.randn(32, 32, 3, 3, device=d)
        table = torch.randn(1 << 18, 64, device=d)
        pick = torch.randint(0, 1 << 18, (1 << 16,), device=d)
        q = torch.randn(4, 16, 1024, 64, device=d, dtype=torch.bfloat16)
        op("softmax_4096x1024", lambda: torch.softmax(a, 1))
        op("layer_norm_4096x1024", lambda: ln(a))
        op("gelu_4M", lambda: F.gelu(g))
        op("cumsum_2048x2048", lambda: torch.cumsum(c, 1))
        op("matmul_bf16_2048", lambda: b @ b)
        op("conv_fp16_3x3_64", lambda: F.conv2d(img, w, padding=1))
        op("index_select_64K_x64", lambda: torch.index_select(table, 0, pick))
        op("matmul_fp32_1024", lambda: s @ s)
        op("sum_4M", lambda: g.sum())
        op("sum_rows_2048", lambda: c.sum(1))
        op("transpose_copy_2048", lambda: c.t().contiguous())
        op("conv_fp32_3x3_32", lambda: F.conv2d(img32, w32, padding=1))
        op("max_pool_fp32", lambda: F.max_pool2d(img32, 2))
        op("attention_bf16", lambda: F.scaled_dot_product_attention(q, q, q))
        op("cat_2048", lambda: torch.cat([c, c], 1))
