// SPDX-License-Identifier: Apache-2.0
#include "prefill.cuh"

int main(int argc, char** argv) { return alone(Options(argc, argv), prefill); }
