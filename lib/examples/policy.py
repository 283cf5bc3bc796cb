# SPDX-License-Identifier: Apache-2.0
"""A simulator in Python asks libsluice: a partition by every policy, and a scheduler over time. Usage: policy.py LIBSLUICE"""
import ctypes as c
import sys

U32, U64, SIZE = c.c_uint32, c.c_uint64, c.c_size_t


class Sm(c.Structure):
    _fields_ = [(n, U32) for n in ("threads", "registers", "shared_bytes", "cta_slots")]


class Kernel(c.Structure):
    _fields_ = [("name", c.c_char_p), *((n, U32) for n in ("grid_ctas", "block_threads", "registers_per_cta", "shared_bytes_per_cta")),
                ("ipc", c.POINTER(c.c_double)), ("num_ipc", U32)]


class Share(c.Structure):
    _fields_ = [(n, U32) for n in ("ctas", "first_sm", "num_sms")]


class JobShare(c.Structure):
    _fields_ = [("job", U32), ("share", Share), ("cta_limit", U64)]


library = c.CDLL(sys.argv[1])
library.sluice_error.restype = library.sluice_policies.restype = c.c_char_p
assert library.sluice_abi() == 1


def call(name, *arguments):
    if getattr(library, name)(*arguments) != 0:
        sys.exit(f"{name}: {library.sluice_error().decode()}")


def kernel(name, grid, threads, registers, shared, ipc):
    return Kernel(name.encode(), grid, threads, registers, shared, (c.c_double * len(ipc))(*ipc), len(ipc))


machine, sm = c.c_void_p(), Sm(1536, 32768, 49152, 8)
call("sluice_machine_new", U32(16), c.byref(sm), c.byref(machine))
kernels = (Kernel * 2)(kernel("compute", 4000, 128, 4096, 0, [1, 2, 3, 4, 4.7, 5.2, 5.5, 5.6]),  # more CTAs, more work
                       kernel("memory", 2000, 256, 4096, 2048, [2, 3, 3.2, 3.2, 3.1, 3]))  # two CTAs are as good as six
for policy in library.sluice_policies().decode().split(", "):
    shares, limited = (Share * 2)(), c.c_int()
    call("sluice_partition", machine, policy.encode(), kernels, SIZE(2), shares, c.byref(limited))
    print(f"{policy:<12}", *(f"{k.name.decode()} {s.ctas} CTAs on SMs {s.first_sm}..{s.first_sm + s.num_sms - 1}"
                             for k, s in zip(kernels, shares)), "" if limited.value else "(no quotas)", sep="  ")

scheduler = c.c_void_p()
call("sluice_scheduler_new", machine, b"warped_slicer", c.byref(scheduler))


def plan(now_ns):
    entries, count, wake = (JobShare * 8)(), SIZE(), U64()
    call("sluice_scheduler_decide", scheduler, U64(now_ns), entries, SIZE(8), c.byref(count), c.byref(wake))
    print(f"{now_ns:>6} ns", *(f"job {e.job}: {e.share.ctas} CTAs on {e.share.num_sms} SMs" for e in entries[:count.value]), sep="  ")


def arrives(k, now_ns):
    job = U32()
    call("sluice_job_arrived", scheduler, c.byref(k), c.c_int32(0), U64(now_ns), c.byref(job))
    return job


first = arrives(kernels[0], 0)
plan(0)
second = arrives(kernels[1], 1000)
plan(1000)
call("sluice_job_progress", scheduler, first, U64(4000), U64(4000), U64(90000))  # all of its CTAs have begun and ended
plan(90000)
library.sluice_scheduler_free(scheduler)
library.sluice_machine_free(machine)
