// SPDX-License-Identifier: Apache-2.0
// libsystemc refers to sc_main; every program here has a main of its own.
#include <systemc>

int sc_main(int, char**) { return 0; }
