/* SPDX-License-Identifier: Apache-2.0 */
/* A program without CUDA that computes in the context of `sluice_worker`: example SOCKET BLOCKS. Doubles numbers, prints the
 * last. */
#include <stdio.h>
#include <stdlib.h>

#include "sw/service/sluice_funnel.h"

static const char kTwice[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".visible .entry twice(.param .u64 values)\n{\n.reg .b32 %r<6>;\n.reg .b64 %rd<5>;\n"
    "ld.param.u64 %rd1, [values];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\n"
    "mov.u32 %r3, %tid.x;\nmad.lo.s32 %r4, %r1, %r2, %r3;\nmul.wide.u32 %rd3, %r4, 4;\nadd.s64 %rd4, %rd2, %rd3;\n"
    "ld.global.u32 %r5, [%rd4];\nadd.u32 %r5, %r5, %r5;\nst.global.u32 [%rd4], %r5;\nret;\n}\n";

static void check(sluice_error error) {
  if (error == SLUICE_OK) return;
  fprintf(stderr, "%s\n", sluice_last_error());
  exit(error == SLUICE_ERROR_NO_SERVICE ? 2 : 3);
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s SOCKET BLOCKS\n", argv[0]);
    return 2;
  }
  enum { kThreads = 64 };
  const uint32_t blocks = (uint32_t)atoi(argv[2]), count = blocks * kThreads;
  sluice_funnel* funnel = NULL;
  check(sluice_funnel_open(argv[1], &funnel));
  void* buffer = NULL;
  check(sluice_funnel_malloc(funnel, count * sizeof(uint32_t), &buffer));
  uint32_t* values = buffer;
  for (uint32_t i = 0; i < count; ++i) values[i] = i;
  sluice_module module = 0;
  sluice_stream stream = 0;
  check(sluice_funnel_load(funnel, kTwice, sizeof kTwice, &module));
  check(sluice_funnel_stream(funnel, &stream));
  check(sluice_funnel_to_device(funnel, values, count * sizeof(uint32_t), stream));
  const sluice_argument argument = {values, 0};
  const sluice_launch launch = {"twice", {blocks, 1, 1}, {kThreads, 1, 1}, 0, &argument, 1};
  check(sluice_funnel_launch(funnel, module, &launch, stream));
  check(sluice_funnel_synchronize(funnel, stream));
  values[count - 1] = 0; /* the shared buffer is the program's again */
  check(sluice_funnel_to_host(funnel, values, count * sizeof(uint32_t), stream));
  check(sluice_funnel_synchronize(funnel, SLUICE_ALL_STREAMS));
  printf("%u values, the last is %u\n", count, values[count - 1]);
  check(sluice_funnel_free(funnel, buffer));
  sluice_funnel_close(funnel);
  return 0;
}
