#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kernels of user_kernels.cu under quotas, on a GPU: user_kernels_on_gpu.py SLUICE. `sluice gpu run` compares their outputs with those of
the untransformed kernels, bit by bit. Prints one line a kernel, exit code 1 if one differs."""
import pathlib
import subprocess
import sys

FILE = pathlib.Path(__file__).with_name("user_kernels.cu")
LAUNCHES = """
early_return,grid=3000,block=192,args=in:u32:575000:uniform:0:4e9;out:u32:575000;u32:575000
early_return_and_barriers,grid=5000,block=128,args=in:u32:640000:uniform:0:4e9;out:u32:640000
static_shared,grid=60x50,block=16x16,args=in:f32:768000:uniform:-1:1;out:f32:768000;i32:960
dynamic_shared,grid=4000,block=160,smem=1280,args=in:f64:640000:uniform:-9:9;out:f64:640000
templated<float, 9>,grid=4000,block=128,args=in:f32:512000:uniform:-1:1;out:f32:512000;f32:1.25
templated<unsigned long long, 4>,grid=4000,block=128,args=in:u64:512000:uniform:0:4e9;out:u64:512000;u64:3
device_function,grid=13x11x17,block=8x4x2,args=out:u32:155584
launch_bounds,grid=7000,block=96,args=in:f32:672000:uniform:-2:2;out:f32:672000
three_dimensions,grid=9x14x23,block=8x8x4,args=out:u32:741888;u32:77
grid_stride,grid=2000,block=128,args=in:u32:700001:uniform:0:4e9;out:u32:700001;u32:700001
integer_atomics,grid=3000,block=256,args=in:u8:12288000:uniform:0:256;inout:u32:256:zero
asynchronous_copies,grid=3000,block=64,args=in:u32:1536000:uniform:0:4e9;out:u32:1536000
named_barriers,grid=3000,block=256,args=in:u32:768000:uniform:0:4e9;out:u32:768000
partial_warp,grid=60x50,block=13x11,args=in:u32:429000:uniform:0:4e9;out:u32:429000;u32:428500
partial_warp_3d,grid=9x14x23,block=7x5x3,args=out:u32:304290;u32:77
less_than_a_warp,grid=20000,block=20,args=in:u32:400000:uniform:0:4e9;out:u32:400000
many_warps,grid=700,block=1000,args=in:f32:700000:uniform:-9:9;out:f32:700000
partial_warp_atomics,grid=6000,block=75,args=in:u8:450000:uniform:0:256;inout:u32:256:zero
partial_warp_vote,grid=6000,block=75,args=in:u32:450000:uniform:0:4e9;out:u32:450000
grid_barrier,grid=100,block=64,args=out:u32:6400
cluster,grid=100,block=64,args=out:u32:6400
thread_exit,grid=100,block=64,args=out:u32:6400
early_return_and_named_barrier,grid=100,block=64,args=out:u32:6400
""".split("\n")[1:-1]


def main():
    bad = 0
    for launch in LAUNCHES:
        runs = [subprocess.run([sys.argv[1], "gpu", "run", "--kernel", f"{FILE}:{launch}", "--policy", "static", "--quota", quota],
                               capture_output=True, text=True) for quota in "137"]
        wrong = [r.stderr.strip().splitlines()[-1:] for r in runs if r.returncode != 0]
        bad += bool(wrong)
        print("FAIL " if wrong else "ok   ", launch.split(",")[0], *wrong, flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
