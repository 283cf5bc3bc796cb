// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/rewrite/slice.h"

#include <gtest/gtest.h>

#include "sw/core/errors.h"
#include "sw/gpu/jobs/job_shape.h"
#include "sw/gpu/rewrite/ptx.h"

namespace sluice::gpu {
namespace {

std::string kernel(const std::string& parameters, const std::string& body) {
  return normalised(".version 9.0\n.target sm_90\n.address_size 64\n\n.visible .entry k(" + parameters +
                    ")\n.maxntid 64, 1, 1\n{\n" + body + "\tret;\n}\n");
}

TEST(Slice, FindsItsOwnIndexFromTheSlicesFirstBlock) {
  const std::string text = sliced(
      kernel("\n\t.param .u64 k_param_0\n", "\tmov.u32 \t%r1, %ctaid.x;\n\tmov.u32 \t%r2, %nctaid.x;\n"), "k", {100, 1, 1});
  EXPECT_NE(text.find(".param .u64 k_param_0\n,\n\t.param .u32 slice_first"), std::string::npos) << text;
  EXPECT_NE(text.find("mov.u32 %slice_x, %ctaid.x;\n\tadd.u32 %slice_x, %slice_x, %slice_first;"), std::string::npos) << text;
  EXPECT_NE(text.find("mov.u32 %r1, %slice_x;"), std::string::npos) << text;
  EXPECT_NE(text.find("mov.u32 %r2, 100;"), std::string::npos) << "the whole grid's size, not the slice's:\n" << text;
  EXPECT_EQ(text.find("div"), std::string::npos) << "one axis needs no division";
}

TEST(Slice, CountsAlongXFirst) {
  const std::string text = sliced(kernel("", "\tmov.u32 \t%r1, %ctaid.y;\n"), "k", {10, 5, 2});
  EXPECT_NE(text.find("k(\n\t.param .u32 slice_first"), std::string::npos) << "the only parameter:\n" << text;
  EXPECT_NE(text.find("div.u32 %slice_y, %slice_x, 10;\n\trem.u32 %slice_x, %slice_x, 10;\n\tdiv.u32 %slice_z, %slice_y, 5;\n"
                      "\trem.u32 %slice_y, %slice_y, 5;"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("mov.u32 %r1, %slice_y;"), std::string::npos) << text;
}

TEST(Slice, AGridThatNoNumberCountsIsRefused) { EXPECT_THROW((void)sliced(kernel("", ""), "k", {1U << 31, 2, 1}), InputError); }

TEST(JobShape, TasksBeforeATicketCountTheRangesOfAllLengths) {
  for (const std::uint32_t blocks : {1U, 7U, 1000U, 123457U})
    for (const unsigned group : {0U, 1U, 5U}) {
      const SluiceJob job = job_shape({{blocks, 1, 1}, 3, 264, group});
      EXPECT_EQ(tasks_before(job, 0), 0U);
      EXPECT_EQ(tasks_before(job, job.tickets), std::uint64_t{blocks} * 3) << blocks << " blocks, group " << group;
      EXPECT_EQ(tasks_before(job, job.tickets + 17), std::uint64_t{blocks} * 3) << "CTAs that found the queue empty";
      for (std::uint64_t tasks = 0; tasks < std::uint64_t{blocks} * 3 + 2; tasks += 1 + blocks / 7) {
        const std::uint64_t tickets = tickets_for(job, tasks);
        EXPECT_GE(tasks_before(job, tickets), std::min(tasks, std::uint64_t{blocks} * 3));
        EXPECT_TRUE(tickets == 0 || tasks_before(job, tickets - 1) < tasks) << tasks;
      }
      EXPECT_EQ(tasks_before(job, 1), job.middle_ticket > 0 ? job.group : job.single_ticket > 0 ? job.middle : 1U);
    }
}

}  // namespace
}  // namespace sluice::gpu
