// SPDX-License-Identifier: Apache-2.0
// A program for `sluice run` on a GPU: nvcc -O2 -arch=sm_90 -o probe tests/interpose/probe/*.cu. What `check` prints is to be the same
// with and without `sluice run`:
//   probe check                 fingerprints of what kernels wrote, launched in many ways
//   probe node                  what the driver says about a node of a graph
//   probe requota FILE ROUNDS   changes the quota in FILE while a graph replays; when it is in force, from the blocks' own log
#include <string>

#include "probe.cuh"

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "check") return check();
  if (what == "requota" && argc > 3) return requota(argv[2], std::atoi(argv[3]));
  if (what == "node") return node();
  std::printf("usage: probe check | requota FILE ROUNDS\n");
  return 2;
}
