// SPDX-License-Identifier: Apache-2.0
#include "sw/trace/opcodes.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string>
#include <unordered_map>

namespace sluice {

namespace {

struct Group {
  Opcode opcode;
  const char* names;
};

constexpr MemorySpace kNone = MemorySpace::None;

/// Texture and surface instructions carry no addresses in a trace, constant loads hit their cache: both are ALU latencies here.
constexpr Group kGroups[] = {
    // single precision
    {{OpClass::Alu, kNone, Pipe::Fma}, "FADD FADD32I FFMA FFMA32I FMUL FMUL32I FSWZ FSWZADD"},
    {{OpClass::Alu, kNone, Pipe::Int}, "FCHK FCMP FMNMX FSEL FSET FSETP RRO"},
    // half precision
    {{OpClass::Alu, kNone, Pipe::Half}, "HADD2 HADD2_32I HFMA2 HFMA2_32I HMNMX2 HMUL2 HMUL2_32I HSET2 HSETP2"},
    // integer
    {{OpClass::Alu, kNone, Pipe::Imad}, "IDP IDP4A IMAD IMADSP IMUL IMUL32I XMAD"},
    {{OpClass::Alu, kNone, Pipe::Int},
     "BFE BFI BMSK IABS IADD IADD3 IADD32I ICMP IMNMX ISAD ISCADD ISCADD32I ISET "
     "ISETP ISUB LEA LOP LOP3 LOP32I SHF SHL SHR VABSDIFF VABSDIFF4 VADD VHMNMX "
     "VIADD VIADDMNMX VIMNMX VIMNMX3 VMNMX"},
    {{OpClass::Alu, kNone, Pipe::Xu}, "BREV FLO POPC"},
    // conversion and movement
    {{OpClass::Alu, kNone, Pipe::Xu}, "F2F F2I FRND I2F I2I"},
    {{OpClass::Alu, kNone, Pipe::Int}, "F2FP F2IP I2FP I2IP MOV MOV32I P2R PRMT PSET PSETP PLOP3 R2P SEL SGXT CSET CSETP"},
    {{OpClass::Alu, kNone, Pipe::Lane}, "MOVM SHFL REDUX MATCH"},
    // uniform data path
    {{OpClass::Alu, kNone, Pipe::None},
     "R2UR S2UR UBMSK UBREV UCLEA UF2FP UFLO UIADD3 UIMAD UISETP ULDC ULEA ULOP ULOP3 ULOP32I UMOV UP2UR UPLOP3 UPOPC "
     "UPRMT UPSETP UR2UP USEL USGXT USHF USHL USHR VOTEU"},
    // control
    {{OpClass::Alu, kNone, Pipe::None},
     "ARRIVES BMOV BPT BRA BREAK BRK BRX BRXU BSSY BSYNC CAL CALL CONT ELECT ENDCOLLECTIVE EXIT JCAL JMP JMX JMXU KILL NANOSLEEP "
     "PBK "
     "PCNT PEXIT PRET RET "
     "PREEXIT RPCMOV RTT SSY SYNC UCGABAR_ARV UCGABAR_GET UCGABAR_SET UCGABAR_WAIT ULEPC USETMAXREG USETSHMSZ WARPGROUP "
     "WARPGROUPSET WARPSYNC YIELD"},
    // miscellaneous, cache control, constants
    {{OpClass::Alu, kNone, Pipe::Constant}, "LDC"},
    {{OpClass::Alu, kNone, Pipe::Special}, "B2R CS2R S2R"},
    {{OpClass::Alu, kNone, Pipe::Int}, "VOTE VOTE_VTG"},
    {{OpClass::Alu, kNone, Pipe::None},
     "ACQBULK CCTL CCTLL CCTLT CGAERRBAR CSMTEST ERRBAR FENCE GETLMEMBASE LEPC MEMBAR NOP "
     "PMTRIG QSPC R2B "
     "SETCTAID SETLMEMBASE UTMACCTL UTMACMDFLUSH"},
    {{OpClass::Alu, kNone, Pipe::None, CopyRole::Commit}, "LDGDEPBAR"},
    {{OpClass::Alu, kNone, Pipe::None, CopyRole::Wait}, "DEPBAR"},
    // texture and surface
    {{OpClass::Alu, kNone, Pipe::Int},
     "SUATOM SUBFM SUCLAMP SUEAU SULD SULDGA SUQUERY SURED SUST SUSTGA TEX TEXS TLD TLD4 TLD4S TLDS TMML TXD TXQ"},
    {{OpClass::Sfu, kNone}, "MUFU"},
    {{OpClass::Dp, kNone}, "DADD DFMA DMNMX DMUL DSET DSETP"},
    {{OpClass::Tensor, kNone}, "BGMMA BMMA DMMA HGMMA HMMA IGMMA IMMA QGMMA"},
    {{OpClass::Barrier, kNone}, "BAR"},
    {{OpClass::Load, MemorySpace::Global}, "LDG"},
    {{OpClass::Load, MemorySpace::Global, Pipe::None, CopyRole::Copy}, "LDGSTS"},
    {{OpClass::Load, MemorySpace::Local}, "LDL"},
    {{OpClass::Load, MemorySpace::Generic}, "LD"},
    {{OpClass::Store, MemorySpace::Global}, "STG"},
    {{OpClass::Store, MemorySpace::Local}, "STL"},
    {{OpClass::Store, MemorySpace::Generic}, "ST"},
    {{OpClass::Atomic, MemorySpace::Global}, "ATOM ATOMG RED REDG"},
    {{OpClass::Shared, MemorySpace::Shared}, "ATOMS LDS LDSLK LDSM REDAS STAS STS STSCUL STSM"},
    // Hopper's engine for copies, and barriers in shared memory: traces have no addresses of them, so the reader makes them ALU
    // ones
    {{OpClass::Load, MemorySpace::Global}, "UBLKCP UBLKPF UTMALDG UTMAPF"},
    {{OpClass::Store, MemorySpace::Global}, "UTMASTG"},
    {{OpClass::Atomic, MemorySpace::Global}, "UBLKRED UTMAREDG"},
    {{OpClass::Shared, MemorySpace::Shared}, "SYNCS"},
};

std::unordered_map<std::string, Opcode> make_table() {
  std::unordered_map<std::string, Opcode> table;
  for (const Group& group : kGroups) {
    std::istringstream names(group.names);
    for (std::string name; names >> name;) table.emplace(name, group.opcode);
  }
  return table;
}

constexpr std::uint32_t kKepler = 35;

}  // namespace

std::optional<Opcode> find_opcode(std::string_view name, std::uint32_t binary_version) {
  static const std::unordered_map<std::string, Opcode> table = make_table();
  const auto found = table.find(std::string(name));
  if (found == table.end()) return std::nullopt;
  Opcode opcode = found->second;
  if (binary_version == kKepler && opcode.space == MemorySpace::Generic) opcode.space = MemorySpace::Global;
  return opcode;
}

std::uint32_t access_bytes(std::string_view mnemonic) {
  if (moved_matrices(mnemonic) != 0) return 16;  // a lane's address is a matrix row
  for (std::size_t dot = mnemonic.find('.'); dot != std::string_view::npos;) {
    const std::size_t next = mnemonic.find('.', dot + 1);
    std::string_view part = mnemonic.substr(dot + 1, next == std::string_view::npos ? next : next - dot - 1);
    dot = next;
    if (part.size() > 1 && (part[0] == 'U' || part[0] == 'S')) part.remove_prefix(1);
    if (part.empty() || part.size() > 3 || part.find_first_not_of("0123456789") != std::string_view::npos) continue;
    const unsigned bits = static_cast<unsigned>(std::stoul(std::string(part)));
    if (bits >= 8 && bits <= 128) return bits / 8;
  }
  return 4;
}

bool has_part(std::string_view mnemonic, std::string_view part) {
  for (std::size_t dot = mnemonic.find('.'); dot != std::string_view::npos;) {
    const std::size_t next = mnemonic.find('.', dot + 1);
    if (mnemonic.substr(dot + 1, next == std::string_view::npos ? next : next - dot - 1) == part) return true;
    dot = next;
  }
  return false;
}

std::uint32_t moved_matrices(std::string_view mnemonic) {
  if (!mnemonic.starts_with("LDSM") && !mnemonic.starts_with("STSM")) return 0;
  return has_part(mnemonic, "4") ? 4 : has_part(mnemonic, "2") ? 2 : 1;
}

std::uint32_t loaded_registers(std::string_view mnemonic) {
  const std::uint32_t matrices = moved_matrices(mnemonic);
  return matrices != 0 ? matrices : std::max(1U, access_bytes(mnemonic) / 4);
}

void make_plain(Instruction& instruction) {
  instruction.op = OpClass::Alu;
  instruction.pipe = Pipe::None;
  instruction.copies = CopyRole::None;
}

std::uint8_t source_pairs(std::string_view mnemonic, const Opcode& opcode, unsigned sources) {
  if (sources == 0) return 0;
  if (opcode.op == OpClass::Dp) return static_cast<std::uint8_t>((1U << sources) - 1);
  const bool wide = opcode.pipe == Pipe::Imad && sources > 1 && has_part(mnemonic, "WIDE");
  return static_cast<std::uint8_t>(wide ? 1U << (sources - 1) : 0);
}

bool is_bulk(std::string_view name) {
  return name == "UBLKCP" || name == "UTMALDG" || name == "UTMASTG" || name == "UBLKRED" || name == "UTMAREDG";
}

std::uint8_t matrix_cycles(std::string_view mnemonic) {
  constexpr std::string_view kRows = ".64x";
  const std::size_t at = mnemonic.find(kRows);
  if (at == std::string_view::npos) return 1;
  unsigned columns = 0;
  std::from_chars(mnemonic.data() + at + kRows.size(), mnemonic.data() + mnemonic.size(), columns);
  columns = std::min(columns, 256U);
  return static_cast<std::uint8_t>(std::max(columns / 2, 16 + columns / 4));
}

}  // namespace sluice
