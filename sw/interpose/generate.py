#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a forwarder for every function that the toolkit's stub libcuda.so exports: generate.py STUB FORWARDERS.S SYMBOLS.INC

A forwarder jumps through its word of sluice_table, so that every signature stays as it is. The first call of any of them comes to
sluice_lazy, which keeps all argument registers and asks sluice_resolve(index) for the target. SYMBOLS.INC lists X(name) in the table's
order, and NATIVE(name) for what launches and has no form of ours: each of its calls comes to sluice_resolve. So do those of the spare
forwarders, for what a newer driver launches with."""
import pathlib
import re
import subprocess
import sys

SPARES = 16
# What launches, or puts work in a stream, and was looked at: the interposer stands in front of it, or it may run as it is.
KNOWN = set("""
cuEventRecord cuEventRecordWithFlags cuGraphInstantiateWithParams cuGraphLaunch cuGraphUpload cuGraphicsMapResources cuGraphicsUnmapResources
cuLaunchCooperativeKernel cuLaunchHostFunc cuLaunchKernel cuLaunchKernelEx cuMemAllocAsync cuMemAllocFromPoolAsync cuMemBatchDecompressAsync
cuMemDiscardAndPrefetchBatchAsync cuMemDiscardBatchAsync cuMemFreeAsync cuMemMapArrayAsync cuMemPrefetchAsync cuMemPrefetchBatchAsync cuMemcpy
cuMemcpy2D cuMemcpy2DAsync cuMemcpy2DUnaligned cuMemcpy3D cuMemcpy3DAsync cuMemcpy3DBatchAsync cuMemcpy3DPeer cuMemcpy3DPeerAsync cuMemcpyAsync
cuMemcpyAtoA cuMemcpyAtoD cuMemcpyAtoH cuMemcpyAtoHAsync cuMemcpyBatchAsync cuMemcpyDtoA cuMemcpyDtoD cuMemcpyDtoDAsync cuMemcpyDtoH
cuMemcpyDtoHAsync cuMemcpyHtoA cuMemcpyHtoAAsync cuMemcpyHtoD cuMemcpyHtoDAsync cuMemcpyPeer cuMemcpyPeerAsync cuMemsetD16 cuMemsetD16Async
cuMemsetD2D16 cuMemsetD2D16Async cuMemsetD2D32 cuMemsetD2D32Async cuMemsetD2D8 cuMemsetD2D8Async cuMemsetD32 cuMemsetD32Async cuMemsetD8
cuMemsetD8Async cuSignalExternalSemaphoresAsync cuStreamAddCallback cuStreamAttachMemAsync cuStreamBatchMemOp cuStreamBeginCapture
cuStreamBeginCaptureToGraph cuStreamCopyAttributes cuStreamEndCapture cuStreamGetAttribute cuStreamGetCaptureInfo cuStreamGetCtx cuStreamGetDevice
cuStreamGetFlags cuStreamGetId cuStreamGetPriority cuStreamIsCapturing cuStreamQuery cuStreamSetAttribute cuStreamSynchronize
cuStreamUpdateCaptureDependencies cuStreamWaitEvent cuStreamWaitValue32 cuStreamWaitValue64 cuStreamWriteValue32 cuStreamWriteValue64
cuWaitExternalSemaphoresAsync
""".split())

LAZY = """
  .text
sluice_lazy:  # the index is on the stack, above it the caller's return address
  push %rbp
  mov %rsp, %rbp
  push %rax
  push %rdi
  push %rsi
  push %rdx
  push %rcx
  push %r8
  push %r9
  sub $136, %rsp
  and $-16, %rsp
{save}
  mov 8(%rbp), %rdi
  call sluice_resolve
  mov %rax, %r11
{restore}
  lea -56(%rbp), %rsp
  pop %r9
  pop %r8
  pop %rcx
  pop %rdx
  pop %rsi
  pop %rdi
  pop %rax
  pop %rbp
  add $8, %rsp
  jmp *%r11
"""


def symbols(stub):
    out = subprocess.run(["nm", "-D", "--defined-only", stub], capture_output=True, text=True, check=True).stdout
    return sorted({f[2] for f in map(str.split, out.splitlines()) if len(f) == 3 and f[1] == "T" and f[2].startswith("cu")})


def launches(name, names):
    """Has a form for the threads' own default streams, or says so."""
    base = re.sub(r"_pts[zd]$", "", name)
    return re.sub(r"_v\d+$", "", base) not in KNOWN and ("Launch" in name or bool({base + "_ptsz", base + "_ptds"} & set(names)))


def assembly(names):
    moves = range(8)
    text = "# SPDX-License-Identifier: Apache-2.0\n# Written by sw/interpose/generate.py.\n" + LAZY.format(
        save="\n".join(f"  movups %xmm{i}, {16 * i}(%rsp)" for i in moves), restore="\n".join(f"  movups {16 * i}(%rsp), %xmm{i}" for i in moves))
    names = names + [f"sluice_spare_{i}" for i in range(SPARES)]
    for i, name in enumerate(names):
        text += f"  .globl {name}\n  .type {name}, @function\n{name}:\n  jmp *sluice_table+{8 * i}(%rip)\n  .size {name}, .-{name}\n"
        text += f"sluice_lazy_{i}:\n  push ${i}\n  jmp sluice_lazy\n"
    text += "  .data\n  .balign 8\n  .globl sluice_table\n  .hidden sluice_table\nsluice_table:\n"
    text += "".join(f"  .quad sluice_lazy_{i}\n" for i in range(len(names)))
    text += "  .globl sluice_spares\n  .hidden sluice_spares\nsluice_spares:\n" + "".join(f"  .quad sluice_spare_{i}\n" for i in range(SPARES))
    return text + "  .hidden sluice_resolve\n  .section .note.GNU-stack,\"\",@progbits\n"


def main():
    stub, forwarders, listing = sys.argv[1:]
    names = symbols(stub)
    if not names:
        sys.exit(f"{stub}: exports no function")
    pathlib.Path(forwarders).write_text(assembly(names))
    native = [f"NATIVE({name})\n" for name in names if launches(name, names)]
    spares = [f"X(sluice_spare_{i})\n" for i in range(SPARES)]
    pathlib.Path(listing).write_text("".join([f"X({name})\n" for name in names] + spares + native))


if __name__ == "__main__":
    main()
