// SPDX-License-Identifier: Apache-2.0
#include "sw/io/csv_reader.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sw/io/atomic_file.h"
#include "sw/workload/ncu_import.h"
#include "sw/workload/workload_file.h"
#include "tests/support.h"

namespace sluice {
namespace {

std::string refusal(const std::string& text, std::size_t first_line = 1) {
  return test::refusal([&] { (void)parse_csv(text, "t.csv", first_line); });
}

TEST(CsvReader, TruncatedAtAnyByteIsRefusedExactlyInsideQuotes) {
  const std::string text = "a,\"b,\"\"c\"\"\nd\",e\r\n\"1\",\"\",3\r\n\n\"x\ny\"\n";
  for (std::size_t n = 0; n <= text.size(); ++n) {
    const std::string prefix = text.substr(0, n);
    const bool inside = std::ranges::count(prefix, '"') % 2 == 1;
    EXPECT_EQ(refusal(prefix) != "accepted", inside) << "after " << n << " bytes: " << refusal(prefix);
  }
}

TEST(CsvReader, FieldsHoldCommasQuotesAndLineBreaks) {
  const auto records = parse_csv("a,\"b,\"\"c\"\"\nd\",e\r\n1,2,3\n", "t.csv");
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].fields, (std::vector<std::string>{"a", "b,\"c\"\nd", "e"}));
  EXPECT_EQ(records[1].line, 3U);
}

TEST(CsvReader, AnOpenQuoteIsReportedWhereItsRecordBegins) {
  EXPECT_EQ(refusal("a,b\n1,\"2\n3\n4").substr(0, 9), "t.csv:2: ");
  EXPECT_EQ(refusal("a,b\n1,\"2\n3\n4", 10).substr(0, 10), "t.csv:11: ");
}

TEST(CsvReader, TextAfterAClosingQuoteIsRefused) { EXPECT_EQ(refusal("a\n\"b\"c\n"), "t.csv:2: text after a closing quote"); }

TEST(CsvReader, ReadsBackWhatFormatCsvWrites) {
  const std::vector<std::string> fields = {"", "plain", "1,024", "say \"so\"", "two\nlines", "\""};
  const auto records = parse_csv(format_csv(fields) + format_csv(fields), "t.csv");
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].fields, fields);
  EXPECT_EQ(records[1].fields, fields);
  EXPECT_EQ(records[1].line, 3U);
}

/// A shipped profile that ends early: either it ends between two rows, and the kernels before are those of the whole file, or it
/// is refused. A row cut short never becomes a kernel.
using NcuImport = test::Scratch;

TEST_F(NcuImport, TruncatedAtAnyByteIsRefusedOrGivesWholeKernels) {
  const std::filesystem::path shipped = std::filesystem::path(SLUICE_SOURCE_DIR) / "data/h200_torch_ops_ncu.csv";
  const std::string text = read_file(shipped);
  const std::vector<KernelDescriptor> whole = import_ncu(shipped).kernels;
  ASSERT_EQ(static_cast<std::size_t>(std::ranges::count(text, '\n')),
            whole.size() + 2);  // header, units; no line break in a field
  // Every byte of the head and the first kernels; every seventh after that.
  const std::size_t head = text.size() / 4;
  for (std::size_t n = 0; n <= text.size(); n += n < head ? 1 : 7) {
    const std::filesystem::path cut = write("cut.csv", text.substr(0, n));
    const bool at_end = n > 0 && (text[n - 1] == '\n' || text[n] == '\n');
    const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(n), '\n') + (text[n] == '\n' ? 1 : 0);
    try {
      const std::vector<KernelDescriptor> kernels = import_ncu(cut).kernels;
      ASSERT_TRUE(at_end && lines >= 3) << "accepted after " << n << " bytes, in the middle of a row";
      ASSERT_EQ(kernels.size(), static_cast<std::size_t>(lines - 2)) << "after " << n << " bytes";
      const std::vector<KernelDescriptor> before(whole.begin(), whole.begin() + (lines - 2));
      ASSERT_EQ(format_workload({"", kernels}, ""), format_workload({"", before}, "")) << "after " << n << " bytes";
    } catch (const InputError& e) {
      const std::string what = e.what();
      ASSERT_FALSE(at_end && lines >= 3) << "refused after " << n << " bytes, at the end of a row: " << what;
      ASSERT_EQ(what.find(cut.string()), 0U) << what;
      ASSERT_EQ(what.find('\n'), std::string::npos) << what;
    }
  }
}

TEST_F(NcuImport, NamesEachMissingColumn) {
  const std::string text = read_file(std::filesystem::path(SLUICE_SOURCE_DIR) / "data/h200_torch_ops_ncu.csv");
  const std::vector<CsvRecord> page = parse_csv(text, "page");
  for (std::size_t drop = 1; drop < page[0].fields.size(); ++drop) {  // 0 is "ID", which marks the header row
    std::string less;
    for (const CsvRecord& record : page) {
      std::vector<std::string> fields = record.fields;
      fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(drop));
      less += format_csv(fields);
    }
    const std::string said = test::refusal([&] { (void)import_ncu(write("less.csv", less)); });
    EXPECT_NE(said.find("column " + page[0].fields[drop] + " is missing"), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace sluice
