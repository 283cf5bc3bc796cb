/* SPDX-License-Identifier: Apache-2.0 */
/* One client of `sluice serve`: example SOCKET NAME PRIORITY TASKS TASK_US. Prints what it got, and ends when its launch has. */
#include <stdio.h>
#include <stdlib.h>

#include "sw/service/sluice_client.h"

static void check(sluice_error error) {
  if (error == SLUICE_OK) return;
  fprintf(stderr, "%s\n", sluice_last_error());
  exit(error == SLUICE_ERROR_NO_SERVICE || error == SLUICE_ERROR_REFUSED ? 2 : 3);
}

int main(int argc, char** argv) {
  if (argc != 6) {
    fprintf(stderr, "usage: %s SOCKET NAME PRIORITY TASKS TASK_US\n", argv[0]);
    return 2;
  }
  sluice_session* session = NULL;
  check(sluice_connect(argv[1], argv[2], atoi(argv[3]), &session));
  const sluice_kernel kernel = {"triad", 256, 8192, 0, 0};
  sluice_stub stub = 0;
  check(sluice_kernel_stub(session, &kernel, &stub));
  check(sluice_submit(session, stub, (uint32_t)atol(argv[4]), (uint64_t)atol(argv[5]) * 1000));
  sluice_granted share;
  check(sluice_wait_share(session, stub, -1, &share));
  printf("%s: %u CTAs on each of %u SMs from %u\n", argv[2], share.ctas, share.sms, share.first_sm);
  check(sluice_wait(session, stub, -1));
  sluice_progress p;
  check(sluice_read(session, stub, &p));
  printf("%s: %llu of %llu tasks, %llu evictions\n", argv[2], (unsigned long long)p.tasks_done, (unsigned long long)p.tasks,
         (unsigned long long)p.evictions);
  check(sluice_release(session, stub));
  sluice_disconnect(session);
  return 0;
}
