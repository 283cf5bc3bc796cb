// SPDX-License-Identifier: Apache-2.0
// Files that --kernel names, as they are.
#include "sw/gpu/apps/kernel_file.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <vector>

#include "sw/gpu/apps/launch_spec.h"
#include "sw/gpu/fatbin/executable.h"
#include "sw/gpu/rewrite/kernel_name.h"
#include "tests/gpu/fatbin_writer.h"
#include "tests/support.h"

using namespace sluice;
using namespace sluice::gpu;

namespace {

const std::vector<std::string> kSymbols = {"_Z3addIfEvPT_i", "_Z3addIiEvPT_i", "_Z5scalePfi",
                                           "_ZN1n3runEPf",   "plain",          "_ZN12_GLOBAL__N_16hiddenEv"};

std::string ptx(const std::string& target, const std::vector<std::string>& kernels) {
  std::string text = "//\n// a comment\n\n.version 8.0\n.target " + target + "\n.address_size 64\n";
  for (const std::string& k : kernels) text += ".visible .entry " + k + "()\n{\n\tret;\n}\n";
  return text;
}
/// An ELF file with one section.
std::string elf(const std::string& section, const std::string& bytes, std::uint16_t machine = EM_X86_64) {
  const std::string names = std::string(1, '\0') + section + std::string(1, '\0');
  Elf64_Ehdr head{};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_ident[EI_DATA] = ELFDATA2LSB;
  head.e_machine = machine;
  head.e_shoff = sizeof head;
  head.e_shentsize = sizeof(Elf64_Shdr);
  head.e_shnum = 3;
  head.e_shstrndx = 2;
  Elf64_Shdr sections[3] = {};
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_PROGBITS;
  sections[1].sh_offset = sizeof head + sizeof sections;
  sections[1].sh_size = bytes.size();
  sections[2].sh_type = SHT_STRTAB;
  sections[2].sh_offset = sections[1].sh_offset + bytes.size();
  sections[2].sh_size = names.size();
  std::string out;
  put(out, head);
  put(out, sections[0]);
  put(out, sections[1]);
  put(out, sections[2]);
  return out + bytes + names;
}

using KernelFileTest = test::Scratch;

TEST(KernelName, SymbolsAndNamesOfTheSourceAreFound) {
  for (const auto& [name, symbol] :
       std::vector<std::pair<std::string, std::string>>{{"_Z3addIfEvPT_i", "_Z3addIfEvPT_i"},
                                                        {"add<float>", "_Z3addIfEvPT_i"},
                                                        {"add<float>(float*, int)", "_Z3addIfEvPT_i"},
                                                        {"void add<float>(float*, int)", "_Z3addIfEvPT_i"},
                                                        {"scale", "_Z5scalePfi"},
                                                        {"scale(float *,int)", "_Z5scalePfi"},
                                                        {"n::run", "_ZN1n3runEPf"},
                                                        {"run", "_ZN1n3runEPf"},
                                                        {"plain", "plain"},
                                                        {"hidden", "_ZN12_GLOBAL__N_16hiddenEv"}}) {
    std::string found;
    const std::string why = test::refusal([&, &asked = name] { found = find_kernel(kSymbols, asked, "f"); });
    EXPECT_EQ(found, symbol) << name << ": " << why;
  }
}

TEST(KernelName, SeveralOrNoneGiveOneLineWithTheCandidates) {
  const std::string several = test::refusal([] { (void)find_kernel(kSymbols, "add", "a.ptx"); });
  EXPECT_EQ(several, "a.ptx: kernel add may be void add<float>(float*, int); void add<int>(int*, int)");
  const std::string none = test::refusal([] { (void)find_kernel(kSymbols, "sub", "a.ptx"); });
  EXPECT_TRUE(none.starts_with("a.ptx: no kernel sub: must be one of void add<float>(float*, int); ")) << none;
  EXPECT_EQ(test::refusal([] { (void)find_kernel({}, "sub", "a.ptx"); }), "a.ptx: no kernel sub: it has no kernels");
}

TEST(KernelName, AKernelNamedTwiceInOneListIsOne) {
  const std::vector<std::string> twice = {"_Z5scalePfi", "_Z5scalePfi"};
  EXPECT_EQ(find_kernel(twice, "scale", "f"), "_Z5scalePfi");
}

TEST_F(KernelFileTest, PtxIsKnownByItsNameOrItsText) {
  for (const char* name : {"a.ptx", "a.txt"}) {
    const KernelFile file = read_kernel_file(write(name, ptx("sm_80", {"_Z5scalePfi"})), "scale", 90);
    EXPECT_TRUE(file.is_ptx) << name;
    EXPECT_EQ(file.symbol, "_Z5scalePfi");
  }
  EXPECT_FALSE(read_kernel_file(write("a.cu", "// .version\n__global__ void k() {}\n"), "k", 90).is_ptx);
}

TEST_F(KernelFileTest, ExecutablesHaveTheirPtxInASection) {
  const std::string first = fatbin_container(fatbin_entry(1, 80, ptx("sm_80", {"_Z5scalePfi"}), Packing::Zstd));
  const std::string second = fatbin_container(fatbin_entry(1, 80, ptx("sm_80", {"plain"}), Packing::Lz4) +
                                              fatbin_entry(1, 90, ptx("sm_90", {"plain"}), Packing::Lz4));
  for (const char* section : {".nv_fatbin", "__nv_relfatbin"}) {
    const KernelFile file = read_kernel_file(write("app", elf(section, first + second)), "plain", 90);
    EXPECT_EQ(file.symbol, "plain");
    EXPECT_NE(file.text.find("sm_90"), std::string::npos);
    EXPECT_EQ(read_kernel_file(write("app", elf(section, first + second)), "scale", 90).symbol, "_Z5scalePfi");
  }
  EXPECT_EQ(read_kernel_file(write("a.fatbin", first), "scale", 90).symbol, "_Z5scalePfi");
}

TEST_F(KernelFileTest, WhatHasNoPtxIsRefusedWithWhatItHas) {
  const auto refusal = [&](const std::string& bytes) {
    const std::string path = write("app", bytes), why = test::refusal([&] { (void)read_kernel_file(path, "k", 80); });
    return why.starts_with(path + ": ") ? why.substr(path.size() + 2) : "not of the file: " + why;
  };
  EXPECT_EQ(refusal(elf("x", "", 190)), "no PTX: a cubin has machine code alone");
  EXPECT_EQ(refusal(elf(".text", "")), "no PTX: the file has no section .nv_fatbin");
  EXPECT_EQ(refusal(elf(".nv_fatbin", fatbin_container(fatbin_entry(2, 90, "elf", Packing::None) +
                                                       fatbin_entry(1, 90, ptx("sm_90", {"k"}), Packing::Zstd)))),
            "no PTX for sm_80 or older: it has PTX sm_90, machine code sm_90");
  EXPECT_EQ(refusal(elf(".nv_fatbin", fatbin_container(""))), "no PTX for sm_80 or older: it has no code");
  EXPECT_TRUE(refusal(elf(".nv_fatbin", "garbage of some length")).starts_with("fatbin: begins with "));
}

TEST(Executable, EveryCutIsRefusedOrFindsNothingThatIsNotThere) {
  const std::string whole = elf(".nv_fatbin", "0123456789abcdef");
  ASSERT_EQ(fatbins_of(std::as_bytes(std::span(whole))).size(), 1U);
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const std::string cut = whole.substr(0, n);
    EXPECT_NE(test::refusal([&] { (void)fatbins_of(std::as_bytes(std::span(cut))); }), "accepted") << n;
  }
}

TEST(LaunchSpec, TakesAnyFileAndNamesWithParameters) {
  const LaunchSpec spec = parse_launch("dir/app:ns::add<float, 3>(float*, int),grid=4,block=32,args=i32:1");
  EXPECT_EQ(spec.file, "dir/app");
  EXPECT_EQ(spec.kernel, "ns::add<float, 3>(float*, int)");
  EXPECT_EQ(spec.grid[0], 4U);
  for (const char* bad : {"app", "app:", ":k"})
    EXPECT_NE(test::refusal([&] { (void)parse_launch(bad); }).find("must begin with FILE:NAME"), std::string::npos) << bad;
}

}  // namespace
