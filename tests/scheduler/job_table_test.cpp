// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/job_table.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace sluice {
namespace {

constexpr JobState kStates[] = {JobState::Prep,    JobState::Ready, JobState::ToRun, JobState::Running,
                                JobState::ToEvict, JobState::Done,  JobState::Lost};

/// A job in a state that it got into by legal steps.
JobTable table_with(JobState state) {
  JobTable table;
  table.arrive({JobId(7), {}});
  const auto go = [&](std::initializer_list<JobState> steps) {
    for (const JobState to : steps) table.move(JobId(7), to);
  };
  switch (state) {
    case JobState::Prep: break;
    case JobState::Ready: go({JobState::Ready}); break;
    case JobState::ToRun: go({JobState::Ready, JobState::ToRun}); break;
    case JobState::Running: go({JobState::Ready, JobState::ToRun, JobState::Running}); break;
    case JobState::ToEvict: go({JobState::Ready, JobState::ToRun, JobState::Running, JobState::ToEvict}); break;
    case JobState::Done: go({JobState::Ready, JobState::ToRun, JobState::Running, JobState::Done}); break;
    case JobState::Lost: go({JobState::Lost}); break;
  }
  (void)table.take_events();
  return table;
}

/// EffiSha, section 6.1, and Lost from every open state: 13 of 49.
TEST(JobTable, TakesEveryLegalTransitionAndNoOther) {
  unsigned legal = 0;
  for (const JobState from : kStates) {
    for (const JobState to : kStates) {
      JobTable table = table_with(from);
      if (is_legal(from, to)) {
        table.move(JobId(7), to);
        EXPECT_EQ(table.at(JobId(7)).state, to);
        ++legal;
      } else {
        EXPECT_THROW(table.move(JobId(7), to), std::logic_error) << to_string(from) << " to " << to_string(to);
        EXPECT_EQ(table.at(JobId(7)).state, from);
      }
    }
  }
  EXPECT_EQ(legal, 13U);
}

TEST(JobTable, ReportsWhatAMoveMeans) {
  const auto kind = [](JobState from, JobState to) {
    JobTable table = table_with(from);
    table.move(JobId(7), to);
    const std::vector<Event> events = table.take_events();
    return events.empty() ? std::string() : std::string(to_string(events.at(0).kind));
  };
  EXPECT_EQ(kind(JobState::Prep, JobState::Ready), "ready");
  EXPECT_EQ(kind(JobState::ToRun, JobState::Ready), "") << "it was never there";
  EXPECT_EQ(kind(JobState::ToEvict, JobState::Ready), "evicted");
  EXPECT_EQ(kind(JobState::ToEvict, JobState::Done), "done");
  EXPECT_EQ(kind(JobState::Running, JobState::Done), "done");
  EXPECT_EQ(kind(JobState::Running, JobState::Lost), "lost");
  EXPECT_EQ(kind(JobState::Ready, JobState::ToRun), "");
}

TEST(JobTable, KeepsJobsInOrderOfArrivalAndRefusesAnIdTwice) {
  JobTable table;
  table.arrive({JobId(2), {}});
  table.arrive({JobId(0), {}});
  EXPECT_EQ(table.jobs()[0].id, JobId(2));
  EXPECT_EQ(table.jobs()[1].id, JobId(0));
  EXPECT_THROW(table.arrive({JobId(2), {}}), std::logic_error);
  EXPECT_THROW(table.move(JobId(5), JobState::Ready), std::logic_error);
  EXPECT_EQ(table.take_events().size(), 2U);
  EXPECT_FALSE(table.has_events());
}

}  // namespace
}  // namespace sluice
