// SPDX-License-Identifier: Apache-2.0
#include "decode.cuh"

int main(int argc, char** argv) { return alone(Options(argc, argv), decode); }
