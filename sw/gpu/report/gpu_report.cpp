#include "sw/gpu/report/gpu_report.h"
namespace sluice::gpu {
int write_report(const std::filesystem::path&, const std::filesystem::path&, bool) { return 0; }
}  // namespace sluice::gpu
