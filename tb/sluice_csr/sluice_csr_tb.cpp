#include <Vsluice_csr.h>

#include "tb/sluice_csr/random_traffic.h"

namespace sluice::tb {
namespace {

TEST(SluiceCsr, RtlAndTlmAgreeInEveryCycle) { random_traffic<Vsluice_csr>({16, 4, 8, 2, 64}, campaign(200000, 10000000)); }

}  // namespace
}  // namespace sluice::tb
