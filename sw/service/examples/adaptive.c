/* SPDX-License-Identifier: Apache-2.0 */
/* SiM's three calls: example SOCKET NAME TASKS TASK_US. init; the parameters for a kernel; release when it has ended. */
#include <stdio.h>
#include <stdlib.h>

#include "sw/service/sluice_client.h"

static void check(sluice_error error) {
  if (error == SLUICE_OK) return;
  fprintf(stderr, "%s\n", sluice_last_error());
  exit(error == SLUICE_ERROR_NO_SERVICE || error == SLUICE_ERROR_REFUSED ? 2 : 3);
}

int main(int argc, char** argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: %s SOCKET NAME TASKS TASK_US\n", argv[0]);
    return 2;
  }
  sluice_session* session = NULL;
  check(sluice_connect(argv[1], argv[2], SLUICE_THREAD_PRIORITY, &session)); /* init */
  const sluice_kernel kernel = {argv[2], 128, 4096, 0, 0};
  sluice_stub stub = 0;
  check(sluice_kernel_stub(session, &kernel, &stub));
  check(sluice_submit(session, stub, (uint32_t)atol(argv[3]), (uint64_t)atol(argv[4]) * 1000)); /* obtainParameters */
  sluice_granted parameters;
  check(sluice_wait_share(session, stub, -1, &parameters));
  printf("%s: launch %u CTAs on each SM\n", argv[2], parameters.ctas);
  check(sluice_wait(session, stub, -1));
  check(sluice_release(session, stub)); /* release */
  sluice_disconnect(session);
  return 0;
}
