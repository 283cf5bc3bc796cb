// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "sw/workload/i_instruction_source.h"

namespace sluice {

/// Where a memory instruction goes.
enum class MemorySpace : std::uint8_t { None, Global, Shared, Local, Generic };

/// What the model needs to know of a SASS opcode (the part of the mnemonic before the first '.').
struct Opcode {
  OpClass op = OpClass::Alu;
  MemorySpace space = MemorySpace::None;
  Pipe pipe = Pipe::Int;  ///< Alu: since Volta
  CopyRole copies = CopyRole::None;
};

/// Every opcode of NVIDIA's instruction set tables (CUDA Binary Utilities manual) from Kepler to Hopper. One table for all: a
/// name that two architectures share means the same in both, but for Kepler's LD and ST, which are global accesses there.
/// @param binary_version  as 80
/// @return nullopt for a name that is in none of the tables
[[nodiscard]] std::optional<Opcode> find_opcode(std::string_view name, std::uint32_t binary_version);
/// Bytes a lane accesses: the first all-digit part of the mnemonic is in bits, U8 / S16 likewise; 4 when there is none. Of LDSM
/// and STSM the 16 of a matrix row.
[[nodiscard]] std::uint32_t access_bytes(std::string_view mnemonic);
/// Matrices of 8 rows that LDSM or STSM moves: 4 or 2 where the mnemonic has this part, else 1. Of other opcodes 0.
[[nodiscard]] std::uint32_t moved_matrices(std::string_view mnemonic);
/// Consecutive registers that a load of this mnemonic writes.
[[nodiscard]] std::uint32_t loaded_registers(std::string_view mnemonic);
/// The instruction keeps its place in the warp's program, and does nothing: no lane executes it, or nobody waits for it.
void make_plain(Instruction& instruction);
/// Which of an arithmetic instruction's sources have 64 bits, two registers: a mask.
[[nodiscard]] std::uint8_t source_pairs(std::string_view mnemonic, const Opcode& opcode, unsigned sources);
/// Is `part` one of those that dots divide the mnemonic into, but for the first?
[[nodiscard]] bool has_part(std::string_view mnemonic, std::string_view part);
/// Copies whole tiles, by an engine of the SM: one thread's instruction, no address of a lane.
[[nodiscard]] bool is_bulk(std::string_view name);
/// Cycles that "HGMMA.64x256x16.F32.BF16" holds the matrix unit of each of the four warps that execute it: N / 2, and at least
/// those of reading its rows of A (results/h200/hopper, matrix.jsonl). 1: the mnemonic names no such shape.
[[nodiscard]] std::uint8_t matrix_cycles(std::string_view mnemonic);

}  // namespace sluice
