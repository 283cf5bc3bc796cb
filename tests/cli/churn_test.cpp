// SPDX-License-Identifier: Apache-2.0
// The unit's option CHURN on the command line, and where it is refused.
#include <gtest/gtest.h>

#include "tests/cli/sluice_program.h"

namespace sluice::test {
namespace {

TEST_F(Sluice, RefusesChurnOutOfItsRange) {
  const std::string scenario = "schedule --scenario " + effisha + " --scheduler piv";
  refuses(scenario + " --churn 15", "--churn: executor fake has no partition unit");
  refuses(scenario + " --churn 20", "--churn: Value 20 not in range 0");
  const std::string sim = "sim --workload " + table2 + " --kernels IMG_NN --window 1000 --machine ";
  refuses(sim + edited(fermi, "epsilon = 0.0", "churn = 20"), "partitioner.churn = 20: must be 0..19");
}

}  // namespace
}  // namespace sluice::test
