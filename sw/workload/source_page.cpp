// SPDX-License-Identifier: Apache-2.0
#include "sw/workload/source_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "sw/core/errors.h"
#include "sw/core/hash.h"
#include "sw/io/csv_reader.h"
#include "sw/io/number_form.h"

namespace sluice {

namespace {

constexpr const char* kKernelName = "Kernel Name";
constexpr const char* kAddressName = "Address";
constexpr const char* kTextName = "Source";
constexpr std::uint64_t kMostCount = 1000000000000;  // of one instruction
constexpr std::size_t kMostInstructions = 1U << 20;  // of a kernel: 16 MB of code
constexpr std::size_t kLongestText = 1000;
constexpr std::uint64_t kInstructionBytes = 16;

/// Columns of counts.
struct CountColumn {
  const char* name;
  std::uint64_t ProgramInstruction::*member;
  bool required;
};
constexpr CountColumn kCountColumns[] = {
    {"Instructions Executed", &ProgramInstruction::warps, true},
    {"Predicated-On Thread Instructions Executed", &ProgramInstruction::threads, true},
    {"Divergent Branches", &ProgramInstruction::divergent, false},
    {"L1 Tag Requests Global", &ProgramInstruction::lines, true},
    {"L2 Theoretical Sectors Global", &ProgramInstruction::sectors, true},
    {"L1 Wavefronts Shared", &ProgramInstruction::passes, false},
};

/// "Instructions Executed [inst]" -> "Instructions Executed"
std::string_view without_unit(std::string_view name) {
  const std::size_t end = std::min(name.find(" ["), name.find(" ("));
  return name.substr(0, end);
}

class PageReader {
 public:
  PageReader(std::vector<CsvRecord> records, const std::string& source) : records_(std::move(records)), source_(source) {
    for (const CsvRecord& record : records_)
      for (const std::string& cell : record.fields) form_.see(cell, NumberForm::Kind::Count);
  }

  std::vector<KernelProgram> read() {
    std::vector<KernelProgram> kernels;
    for (std::size_t i = 0; i < records_.size(); ++i) {
      const CsvRecord& record = records_[i];
      if (record.fields[0] == kKernelName) {
        if (!kernels.empty()) end_kernel(kernels.back(), record.line);
        if (record.fields.size() < 2) fail(record, "the kernel's name should be here");
        kernels.push_back({source_, static_cast<std::uint32_t>(kernels.size()), record.fields[1], {}});
        if (i + 1 == records_.size()) fail(record, "the file ends behind the kernel's name: is it cut off?");
        read_header(records_[++i]);
      } else if (!kernels.empty()) {
        kernels.back().instructions.push_back(instruction(record));
        if (kernels.back().instructions.size() > kMostInstructions)
          fail(record, fmt::format("more than {} instructions", kMostInstructions));
        check_order(kernels.back(), record);
      }  // log lines of the profiler come before the first kernel
    }
    if (kernels.empty())
      throw InputError(
          fmt::format("{}: no row that begins with \"{}\": not a source page of Nsight Compute", source_, kKernelName));
    end_kernel(kernels.back(), records_.back().line);
    return kernels;
  }

 private:
  [[noreturn]] void fail(const CsvRecord& record, const std::string& what) const {
    throw InputError(fmt::format("{}:{}: {}", source_, record.line, what));
  }
  [[nodiscard]] std::optional<std::size_t> find(const char* name) const {
    for (std::size_t i = 0; i < header_.size(); ++i)
      if (without_unit(header_[i]) == name) return i;
    return std::nullopt;
  }

  void read_header(const CsvRecord& record) {
    header_ = record.fields;
    const auto need = [&](std::optional<std::size_t> found, const char* name) {
      if (!found)
        fail(record, fmt::format("column {} is missing: export the SASS view of the source page with all metrics "
                                 "(ncu --section SourceCounters; --page source --print-source sass --csv)",
                                 name));
      return *found;
    };
    address_ = need(find(kAddressName), kAddressName);
    const auto sass = find("SASS");  // beside a column for the CUDA source, in views of both
    text_ = sass ? *sass : need(find(kTextName), kTextName);
    for (std::size_t c = 0; c < std::size(kCountColumns); ++c) {
      column_[c] = find(kCountColumns[c].name);
      if (kCountColumns[c].required) need(column_[c], kCountColumns[c].name);
    }
  }

  [[nodiscard]] std::uint64_t count(const CsvRecord& record, std::size_t column) const {
    const std::string& cell = record.fields[column];
    if (cell.empty() || cell == "-") return 0;
    const std::optional<double> value = form_.read(cell, NumberForm::Kind::Count);  // no number: of another form than the first
    if (!value || !(*value >= 0 && *value <= kMostCount) || *value != std::floor(*value))
      fail(record, fmt::format("{} = \"{}\": must be a whole number, 0..{}", shown(header_[column]), shown(cell), kMostCount));
    return static_cast<std::uint64_t>(*value);
  }

  [[nodiscard]] ProgramInstruction instruction(const CsvRecord& record) const {
    if (record.fields.size() != header_.size())
      fail(record, fmt::format("{} fields, the header has {}: is the file cut off?", record.fields.size(), header_.size()));
    ProgramInstruction i;
    std::string digits = record.fields[address_];
    std::erase(digits, ' ');
    if (digits.starts_with("0x")) digits.erase(0, 2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), i.address, 16);
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
      fail(record,
           fmt::format("{} = \"{}\": must be a hexadecimal number", shown(header_[address_]), shown(record.fields[address_])));
    std::string_view text = record.fields[text_];
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    text = text.substr(0, text.find_last_not_of(" \t;") + 1);
    if (text.empty() || text.size() > kLongestText || std::ranges::any_of(text, [](char c) { return c < ' ' || c > '~'; }))
      fail(record,
           fmt::format("{}: must be the text of an instruction, at most {} characters", shown(header_[text_]), kLongestText));
    i.text = text;
    for (std::size_t c = 0; c < std::size(kCountColumns); ++c)
      if (column_[c]) i.*kCountColumns[c].member = count(record, *column_[c]);
    if (i.threads > i.warps * 32)
      fail(record, fmt::format("{} = {}: more than 32 for each of {} warps", shown(header_[*column_[1]]), i.threads, i.warps));
    return i;
  }

  void check_order(const KernelProgram& kernel, const CsvRecord& record) const {
    const std::vector<ProgramInstruction>& all = kernel.instructions;
    if (all.size() > 1 && all.back().address < all[all.size() - 2].address + kInstructionBytes)
      fail(record, fmt::format("{} = \"{}\": must be at least {} above that of the row before", shown(header_[address_]),
                               shown(record.fields[address_]), kInstructionBytes));
  }

  void end_kernel(const KernelProgram& kernel, std::size_t line) const {
    if (kernel.instructions.empty() || kernel.instructions.front().warps == 0)
      throw InputError(fmt::format("{}:{}: kernel {} has no instruction that was executed", source_, line, kernel.kernel + 1));
  }

  std::vector<CsvRecord> records_;
  const std::string& source_;
  std::vector<std::string> header_;
  NumberForm form_;
  std::size_t address_ = 0, text_ = 0;
  std::optional<std::size_t> column_[std::size(kCountColumns)];
};

}  // namespace

std::vector<KernelProgram> parse_source_page(const std::string& text, const std::string& source) {
  return PageReader(parse_csv(text, source), source).read();
}

std::vector<KernelProgram> read_source_page(const std::filesystem::path& path) {
  return parse_source_page(read_csv_text(path), path.string());
}

std::string format_source_page(const std::vector<KernelProgram>& kernels) {
  std::string out;
  for (const KernelProgram& kernel : kernels) {
    out += format_csv({kKernelName, kernel.name});
    std::vector<std::string> fields{kAddressName, kTextName};
    for (const CountColumn& column : kCountColumns) fields.emplace_back(column.name);
    out += format_csv(fields);
    for (const ProgramInstruction& i : kernel.instructions) {
      if (i.warps == 0) continue;
      fields = {fmt::format("0x{:x}", i.address), i.text};
      for (const CountColumn& column : kCountColumns) fields.push_back(fmt::format("{}", i.*column.member));
      out += format_csv(fields);
    }
  }
  return out;
}

std::uint64_t program_hash(const KernelProgram& program) { return fnv1a(format_source_page({program})) >> 1; }

}  // namespace sluice
