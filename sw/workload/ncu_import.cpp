// SPDX-License-Identifier: Apache-2.0
#include "sw/workload/ncu_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "sw/core/errors.h"
#include "sw/io/csv_reader.h"
#include "sw/io/number_form.h"
#include "sw/workload/source_page.h"
#include "sw/workload/workload_file.h"

namespace sluice {

namespace {

constexpr const char* kName = "Kernel Name";
constexpr const char* kWritten =
    "lts__t_sectors_srcunit_tex_op_write.sum";  // of use where the copy engine stores; else not needed
constexpr const char* kSms = "device__attribute_multiprocessor_count";
/// A column the import uses, and the unit its figures must have; columns without one are counts, or text. Without
/// `--print-units base` Nsight Compute scales by powers of ten ("Mbyte"), and a figure read as another unit would go unnoticed.
struct Column {
  const char* name;
  const char* unit;
  [[nodiscard]] NumberForm::Kind kind() const { return *unit == '%' ? NumberForm::Kind::Percent : NumberForm::Kind::Count; }
};
// `cut_ncu` keeps these.
constexpr Column kColumns[] = {
    {"ID", ""},
    {kName, ""},
    {kSms, ""},
    {"launch__grid_size", ""},
    {"launch__block_size", ""},
    {"launch__registers_per_thread_allocated", "register/thread"},
    {"launch__shared_mem_per_block_allocated", "byte/block"},
    {"smsp__inst_executed.sum", "inst"},
    {"smsp__inst_executed_op_ldgsts.sum", "inst"},
    {"smsp__sass_inst_executed_op_global_ld.sum", "inst"},
    {"smsp__sass_inst_executed_op_global_st.sum", "inst"},
    {"smsp__sass_inst_executed_op_shared.sum", "inst"},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", ""},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", ""},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector"},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sector"},
    {"l1tex__t_sector_hit_rate.pct", "%"},
    {"lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum", "sector"},
    {"lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum", "sector"},
    {"dram__bytes_read.sum", "byte"},
    {"dram__bytes_write.sum", "byte"},
    {"sm__cycles_elapsed.max", "cycle"},
    {"sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_elapsed", "%"},
    {"sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_elapsed", "%"},
    {"sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed", "%"},
    {"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed", "%"},
};

/// Table II's threshold between memory and compute: L2 misses per thousand warp instructions.
constexpr double kMemoryMpki = 30;
constexpr std::uint32_t kL2ResidentLines = 65536;  ///< 8 MB: no counter tells how much data the L2 hits fall into

struct Page {
  std::string source;
  std::vector<std::string> header, units;
  std::vector<CsvRecord> rows;
  std::map<std::string, std::size_t> column;
  NumberForm form;
};

constexpr const char* kExport = "export the raw page (ncu --page raw --csv --print-units base)";

/// What Nsight Compute prints as its table: behind the log lines of profiler and program, and without those of the profiler in
/// and behind it.
std::vector<CsvRecord> read_table(const std::string& text, const std::string& source) {
  std::size_t line = 1;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::string_view rest = std::string_view(text).substr(begin);
    const std::size_t quotes = rest.starts_with("\"ID\"") ? 2 : 0;
    const char separator = rest.size() > 2 + quotes && (quotes != 0 || rest.starts_with("ID")) ? rest[2 + quotes] : '\0';
    if (separator == ';' || separator == '\t')
      throw InputError(fmt::format("{}:{}: the fields are separated by {}: must be commas; {}", source, line,
                                   separator == ';' ? "semicolons" : "tabs", kExport));
    if (separator == ',') {
      std::vector<CsvRecord> records = parse_csv(std::string(rest), source, line);
      std::erase_if(records, [](const CsvRecord& record) { return record.fields[0].starts_with("=="); });
      return records;
    }
    if (rest.starts_with("\"Kernel Name\",") || rest.starts_with("Kernel Name,"))
      throw InputError(fmt::format("{}:{}: is the source page, which --source takes: {}", source, line, kExport));
    begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
  }
  throw InputError(fmt::format("{}: no header row that begins with \"ID\": not a raw Nsight Compute page", source));
}

Page read_page(const std::filesystem::path& path) {
  Page page;
  page.source = path.string();
  std::vector<CsvRecord> records = read_table(read_csv_text(path), page.source);
  const auto has = [&](const char* column) { return std::ranges::count(records[0].fields, column) != 0; };
  if (has("Metric Name") || has("Section Name"))
    throw InputError(fmt::format("{}:{}: is the details page: {}", page.source, records[0].line, kExport));
  if (records.size() < 3)
    throw InputError(fmt::format("{}: header and units rows, but no kernel: is the file cut off?", page.source));
  page.header = records[0].fields;
  for (const CsvRecord& record : records) {
    if (record.fields.size() != page.header.size()) {
      throw InputError(fmt::format("{}:{}: {} fields, the header has {}: is the file cut off?", page.source, record.line,
                                   record.fields.size(), page.header.size()));
    }
  }
  page.units = records[1].fields;
  page.rows.assign(records.begin() + 2, records.end());
  for (std::size_t i = 0; i < page.header.size(); ++i) page.column.emplace(page.header[i], i);
  for (const Column& column : kColumns) {
    const auto found = page.column.find(column.name);
    if (found == page.column.end())
      throw InputError(fmt::format("{}: column {} is missing: export the raw page with all metrics (ncu --set full)", page.source,
                                   column.name));
    // A scaled figure carries its prefix in the unit, so an empty unit is unscaled.
    const std::string& unit = page.units[found->second];
    if (*column.unit != '\0' && unit != column.unit && !unit.empty())
      throw InputError(fmt::format("{}:{}: {} is in \"{}\": must be \"{}\" (export with ncu --print-units base)", page.source,
                                   records[1].line, column.name, shown(unit), column.unit));
  }
  for (const CsvRecord& row : page.rows) {
    for (const Column& column : kColumns) {
      const std::string& cell = row.fields[page.column.at(column.name)];
      if (column.name == std::string_view(kName) || page.form.see(cell, column.kind())) continue;
      throw InputError(fmt::format("{}:{}: {} = \"{}\": has another decimal sign than the cells before", page.source, row.line,
                                   column.name, shown(cell)));
    }
  }
  return page;
}

class Row {
 public:
  Row(const Page& page, const CsvRecord& record) : page_(page), record_(record) {}
  [[nodiscard]] bool has(const char* column) const { return page_.column.contains(column); }
  [[nodiscard]] const std::string& text(const char* column) const { return record_.fields[page_.column.at(column)]; }
  /// A whole number, thousands separators allowed. Above 1e18 no counter goes, and every integer type here can hold what is
  /// derived.
  [[nodiscard]] double number(const char* column) const {
    const double value = read(column, NumberForm::Kind::Count, kMaxInstructions);
    if (value != std::floor(value)) fail(column, "must be a whole number");
    return value;
  }
  [[nodiscard]] double fraction(const char* column) const { return read(column, NumberForm::Kind::Percent, 100) / 100; }
  [[nodiscard]] std::uint32_t count(const char* column, double low, double high) const {
    const double value = number(column);
    if (value < low || value > high) fail(column, fmt::format("must be {:.0f}..{:.0f}", low, high));
    return static_cast<std::uint32_t>(value);
  }
  [[noreturn]] void fail(const char* column, const std::string& what) const {
    throw InputError(fmt::format("{}:{}: {} = \"{}\": {}", page_.source, record_.line, column, shown(text(column)), what));
  }

 private:
  [[nodiscard]] double read(const char* column, NumberForm::Kind kind, double high) const {
    if (page_.form.may_be_both(text(column), kind))
      fail(column, "thousands or decimals? No cell of the page tells, as 12,345 or 0.5 would");
    const std::optional<double> value = page_.form.read(text(column), kind);
    if (!value || !(*value >= 0 && *value <= high)) fail(column, fmt::format("must be a number, 0..{}", high));
    return *value;
  }
  const Page& page_;
  const CsvRecord& record_;
};

/// "void at::native::softmax_kernel<float, 4>(...)" -> "softmax_kernel"
std::string function_name(const std::string& full) {
  std::string head = full.substr(0, full.find('('));
  int depth = 0;
  std::string plain;
  for (const char c : head) {  // template arguments, and "<unnamed>", go
    if (c == '<') ++depth;
    if (depth == 0) plain += c;
    if (c == '>') --depth;
  }
  const std::size_t start = plain.find_last_of(": ");
  return start == std::string::npos ? plain : plain.substr(start + 1);
}

/// "void at::native::softmax_kernel<float, 4>(...)" -> "softmax": last name of the function, without what every kernel is called.
std::string short_name(const std::string& full, std::set<std::string>& taken) {
  const std::string name = function_name(full);
  std::string out;
  for (const char c : name) out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
  for (const char* filler : {"-kernel", "kernel-", "-cuda"}) {
    for (std::size_t at = out.find(filler); at != std::string::npos; at = out.find(filler))
      out.erase(at, std::string(filler).size());
  }
  constexpr std::size_t kLongest = 24;
  out = out.substr(0, kLongest);
  while (!out.empty() && out.back() == '-') out.pop_back();
  if (out.empty()) out = "kernel";
  std::string unique = out;
  for (int n = 2; !taken.insert(unique).second; ++n) unique = fmt::format("{}-{}", out, n);
  return unique;
}

KernelDescriptor describe(const Row& row, std::set<std::string>& taken) {
  KernelDescriptor kernel;
  if (row.text(kName).find_first_not_of(" \t") == std::string::npos) row.fail(kName, "must not be empty");
  kernel.name = short_name(row.text(kName), taken);
  kernel.full_name = row.text(kName).substr(0, 120);
  std::ranges::replace_if(
      kernel.full_name, [](char c) { return c < ' ' || c > '~'; }, '?');  // a cut may fall into a UTF-8 sequence
  kernel.grid_ctas = row.count("launch__grid_size", 1, 4e9);
  kernel.block_threads = row.count("launch__block_size", 1, 1024);
  const std::uint32_t threads = kernel.warps_per_cta() * kWarpSize;
  kernel.registers_per_cta = row.count("launch__registers_per_thread_allocated", 0, 256) * threads;
  if (kernel.registers_per_cta > kMaxRegistersPerCta)
    row.fail("launch__registers_per_thread_allocated", fmt::format("with {} threads: an SM has 65536 registers", threads));
  kernel.shared_bytes_per_cta = row.count("launch__shared_mem_per_block_allocated", 0, kMaxSharedBytesPerCta);

  const double instructions = row.number("smsp__inst_executed.sum");
  const double per_warp = std::round(instructions / kernel.grid_ctas / kernel.warps_per_cta());
  if (instructions < 1 || instructions > kMaxInstructions / kWarpSize || per_warp > kMaxWarpInstructions) {
    row.fail("smsp__inst_executed.sum", fmt::format("must be at least 1, and at most {} a warp (there are {} CTAs of {} warps)",
                                                    kMaxWarpInstructions, kernel.grid_ctas, kernel.warps_per_cta()));
  }
  const double cycles = row.number("sm__cycles_elapsed.max"), sms = row.count(kSms, 1, 1024);
  if (cycles < 1 || cycles > static_cast<double>(kMaxReferenceCycles))
    row.fail("sm__cycles_elapsed.max", fmt::format("must be 1..{}", kMaxReferenceCycles));
  const double xu = row.fraction("sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed");

  KernelBehaviour& b = kernel.behaviour;
  b.warp_instructions = static_cast<std::uint32_t>(std::max(1.0, per_warp));
  b.sfu_fraction = std::min(0.5, xu * cycles * sms * 0.5 / instructions);  // the XU pipe takes a warp every two cycles an SM
  b.load_fraction =
      (row.number("smsp__sass_inst_executed_op_global_ld.sum") + row.number("smsp__inst_executed_op_ldgsts.sum")) / instructions;
  b.store_fraction = row.number("smsp__sass_inst_executed_op_global_st.sum") / instructions;
  b.shared_fraction = row.number("smsp__sass_inst_executed_op_shared.sum") / instructions;
  const double sum = b.sfu_fraction + b.load_fraction + b.store_fraction + b.shared_fraction;
  if (sum > 1) {
    for (double* fraction : {&b.sfu_fraction, &b.load_fraction, &b.store_fraction, &b.shared_fraction}) *fraction /= sum;
  }
  const double requests = row.number("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum") +
                          row.number("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum");
  const double sectors =
      row.number("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") + row.number("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum");
  b.transactions = requests > 0 ? std::clamp(sectors / requests / 4, 1.0, 32.0) : 1.0;  // four 32-byte sectors a line
  b.reuse_fraction = row.fraction("l1tex__t_sector_hit_rate.pct");
  const double l2_hits = row.number("lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum"),
               l2_misses = row.number("lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum");
  b.footprint_fraction = (1 - b.reuse_fraction) * (l2_hits + l2_misses > 0 ? l2_hits / (l2_hits + l2_misses) : 0);
  b.reuse_lines = 4;
  b.footprint_lines = kL2ResidentLines;
  b.row_locality = 0.9;
  b.dependency_distance = 6;

  SoloReference reference;
  reference.instructions = instructions * kWarpSize;
  reference.cycles = static_cast<std::uint64_t>(cycles);
  reference.alu_utilization = std::min(1.0, 0.5 * row.fraction("sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_elapsed") +
                                                row.fraction("sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_elapsed"));
  reference.sfu_utilization = xu;
  reference.ldst_utilization = row.fraction("sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed");
  reference.l2_mpki = (row.number("dram__bytes_read.sum") + row.number("dram__bytes_write.sum")) / 128 / instructions * 1e3;
  if (reference.l2_mpki > kMaxMpki)
    row.fail("dram__bytes_read.sum", fmt::format("more than {:.0f} lines for a thousand instructions", kMaxMpki));
  kernel.reference = reference;
  kernel.type = reference.l2_mpki >= kMemoryMpki ? KernelType::Memory
                : b.reuse_fraction > 0.5         ? KernelType::Cache
                                                 : KernelType::Compute;
  return kernel;
}

/// Sectors that the copy engine moved, which no instruction's line has: the same for each copy by an instruction of these names.
void spread_bulk(KernelProgram& program, std::initializer_list<const char*> names, double sectors) {
  constexpr double kSectorsALine = 4;
  std::vector<ProgramInstruction*> copies;
  double executed = 0;
  for (ProgramInstruction& i : program.instructions) {
    const auto in_text = [&](const char* name) { return i.text.find(name) != std::string::npos; };
    if (i.warps == 0 || std::ranges::none_of(names, in_text)) continue;
    copies.push_back(&i);
    executed += static_cast<double>(i.warps);
  }
  for (ProgramInstruction* i : copies) {
    i->sectors = static_cast<std::uint64_t>(std::round(sectors * static_cast<double>(i->warps) / executed));
    i->lines = static_cast<std::uint64_t>(std::ceil(static_cast<double>(i->sectors) / kSectorsALine));
  }
}

/// The kernel's program, with what the raw page tells of its loads.
std::shared_ptr<const KernelProgram> complete(KernelProgram program, const Row& row) {
  if (function_name(program.name) != function_name(row.text(kName)))
    row.fail(kName, fmt::format("kernel {} of {} is \"{}\": the pages must be of the same launches", program.kernel + 1,
                                program.file, shown(program.name)));
  const double sectors = row.number("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
               written = row.number("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"),
               passed = row.number("lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum") +
                        row.number("lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum"),
               fetched = row.number("dram__bytes_read.sum") / 32;
  if (sectors > 0) program.l1_misses = std::min(1.0, passed / sectors);
  if (passed > 0) program.l2_misses = std::min(1.0, fetched / passed);
  spread_bulk(program, {"UTMALDG", "UBLKCP"}, std::max(0.0, passed - sectors));
  if (row.has(kWritten)) spread_bulk(program, {"UTMASTG"}, std::max(0.0, row.number(kWritten) - written));
  return std::make_shared<KernelProgram>(std::move(program));
}

}  // namespace

Workload import_ncu(const std::filesystem::path& path) {
  const Page page = read_page(path);
  Workload workload{path.stem().string(), {}};
  std::set<std::string> taken;
  for (const CsvRecord& record : page.rows) workload.kernels.push_back(describe(Row(page, record), taken));
  return workload;
}

Workload import_ncu(const std::filesystem::path& path, const std::filesystem::path& source_page) {
  Workload workload = import_ncu(path);
  const Page page = read_page(path);
  std::vector<KernelProgram> programs = read_source_page(source_page);
  // A kernel of several launches of one function may come twice in a row, with the same counts.
  for (std::size_t i = 1; i < programs.size() && programs.size() > page.rows.size();) {
    if (programs[i].name == programs[i - 1].name && programs[i].instructions == programs[i - 1].instructions) {
      programs.erase(programs.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  for (std::size_t i = 0; i < programs.size(); ++i) programs[i].kernel = static_cast<std::uint32_t>(i);
  if (programs.size() != page.rows.size())
    throw InputError(fmt::format("{}: {} kernels, {} has {}: the pages must be of the same launches", source_page.string(),
                                 programs.size(), path.string(), page.rows.size()));
  for (std::size_t i = 0; i < programs.size(); ++i)
    workload.kernels[i].program = complete(std::move(programs[i]), Row(page, page.rows[i]));
  return workload;
}

std::string cut_ncu(const std::filesystem::path& path) {
  const Page page = read_page(path);
  const auto cut = [&](const std::vector<std::string>& fields) {
    std::vector<std::string> kept;
    for (const Column& column : kColumns) kept.push_back(fields[page.column.at(column.name)]);
    return format_csv(kept);
  };
  std::string out = cut(page.header) + cut(page.units);
  for (const CsvRecord& record : page.rows) out += cut(record.fields);
  return out;
}

}  // namespace sluice
