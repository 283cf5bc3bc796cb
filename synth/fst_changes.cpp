// SPDX-License-Identifier: Apache-2.0
// Prints the signals below a scope of an FST waveform: "s <name> <width> <number>", then "t <time>" and "<number> <value>" lines.
// usage: fst_changes FILE SCOPE, e.g. run.fst TOP.sluice_top.i_phase_monitor
#include <fstapi.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

static std::uint64_t now = ~0ULL;

static void change(void*, std::uint64_t time, fstHandle handle, const unsigned char* value) {
  if (time != now) std::printf("t %llu\n", static_cast<unsigned long long>(now = time));
  std::printf("%u %s\n", handle, reinterpret_cast<const char*>(value));
}

int main(int argc, char** argv) {
  void* reader = argc == 3 ? fstReaderOpen(argv[1]) : nullptr;
  if (reader == nullptr) {
    std::fprintf(stderr, "fst_changes: %s is no FST file that can be read; usage: fst_changes FILE SCOPE\n",
                 argc > 1 ? argv[1] : "");
    return 2;
  }
  const std::string below = std::string(argv[2]) + ".";
  std::vector<std::string> scopes;
  fstReaderClrFacProcessMaskAll(reader);
  unsigned found = 0;
  while (const fstHier* item = fstReaderIterateHier(reader)) {
    if (item->htyp == FST_HT_SCOPE) scopes.emplace_back(item->u.scope.name);
    if (item->htyp == FST_HT_UPSCOPE) scopes.pop_back();
    if (item->htyp != FST_HT_VAR) continue;
    std::string name;
    for (const std::string& scope : scopes) name += scope + ".";
    name += item->u.var.name;
    if (name.compare(0, below.size(), below) != 0) continue;
    name = name.substr(below.size());
    std::string plain;  // without the range behind a space
    for (const char c : name) {
      if (c == ' ') break;
      plain += c;
    }
    std::printf("s %s %u %u\n", plain.c_str(), item->u.var.length, item->u.var.handle);
    fstReaderSetFacProcessMask(reader, item->u.var.handle);
    ++found;
  }
  if (found == 0) {
    std::fprintf(stderr, "fst_changes: %s: nothing below scope %s\n", argv[1], argv[2]);
    return 2;
  }
  fstReaderIterBlocks(reader, change, nullptr, nullptr);
  fstReaderClose(reader);
}
