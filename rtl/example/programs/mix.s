# SPDX-License-Identifier: Apache-2.0
# A program that computes: each thread iterates a linear congruential generator, for different times within a warp and
# between warps; then each adds the value of the next thread of its CTA, through the scratchpad behind a barrier.
#   result of thread g of the grid at byte 0x4000 + 4 g
        .option norelax
        csrr    a0, 0xcc1
        csrr    a1, 0xcc2
        csrr    a2, 0xcc0
        mul     a0, a0, a1
        add     a0, a0, a2          # thread in the grid
        mv      a4, a0              # the value
        andi    a3, a2, 12
        addi    a3, a3, 64          # iterations: 64, 68, 72, 76 for threads 0, 4, 8, 12 and the three behind each
        lui     t0, %hi(1664525)
        addi    t0, t0, %lo(1664525)
        lui     t1, %hi(1013904223)
        addi    t1, t1, %lo(1013904223)
next:   mul     a4, a4, t0
        add     a4, a4, t1
        srli    t2, a4, 13
        xor     a4, a4, t2
        addi    a3, a3, -1
        bnez    a3, next
        lui     t3, 0x10            # the scratchpad
        slli    t4, a2, 2
        add     t4, t4, t3
        sw      a4, 0(t4)
        .word   0x0000000b          # barrier
        addi    t4, a2, 1
        bltu    t4, a1, some
        li      t4, 0               # behind the last thread comes the first
some:   slli    t4, t4, 2
        add     t4, t4, t3
        lw      t5, 0(t4)
        add     a4, a4, t5
        lui     a7, 0x4
        slli    a0, a0, 2
        add     a0, a0, a7
        sw      a4, 0(a0)
        ecall
