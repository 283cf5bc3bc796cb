# SPDX-License-Identifier: Apache-2.0
# A program that waits for memory: each thread adds 32 words of a table of 1,024, with few
# instructions between two loads.
#   table at byte 0, result of thread g of the grid at byte 0x1000 + 4 g
        .option norelax
        csrr    a0, 0xcc1           # CTA,
        csrr    a1, 0xcc2           # threads of a CTA,
        csrr    a2, 0xcc0           # thread in the CTA
        mul     a0, a0, a1
        add     a0, a0, a2          # thread in the grid
        li      a3, 32
        li      a4, 0
        mv      a5, a0              # index of the word
next:   andi    a5, a5, 1023
        slli    a6, a5, 2
        lw      a6, 0(a6)
        addi    a5, a5, 104         # a line of another place: lanes stay side by side
        add     a4, a4, a6
        addi    a3, a3, -1
        bnez    a3, next
        lui     a7, 0x1
        slli    a0, a0, 2
        add     a0, a0, a7
        sw      a4, 0(a0)
        ecall
