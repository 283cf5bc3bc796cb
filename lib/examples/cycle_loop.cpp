// SPDX-License-Identifier: Apache-2.0
// A simulator with a cycle loop of its own holds the partition unit: 4 SMs, two kernels, first as today's GPUs share
// (left_over), then under quotas. An SM here is as simple as can be: in a cycle it does four units of work of the kernel that
// computes and one of the kernel that waits for memory, whatever the number of CTAs. Prints how many cycles both kernels take.
#include <sluice.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr unsigned kSms = 4, kSlots = 8;

void require(sluice_status status) {
  if (status == SLUICE_OK) return;
  std::fprintf(stderr, "%s\n", sluice_error());
  std::exit(status);
}

struct Cta {
  bool there = false;
  unsigned kernel = 0;
  unsigned work = 0;  ///< left
};

/// The whole foreign machine: CTAs in slots of SMs.
struct Machine {
  Cta ctas[kSms][kSlots];

  void begin(const sluice_unit_out& out) { ctas[out.dispatch_sm][out.dispatch_slot] = {true, out.dispatch_kernel, 2000}; }
  /// A CTA that has ended is reported, one a cycle; the others wait with their report.
  void step(unsigned long cycle, sluice_unit_in& in, std::vector<sluice_sm_activity>& activity) {
    for (unsigned m = 0; m < kSms; ++m) {
      unsigned units[] = {4, 1};
      activity[m] = {};
      for (unsigned i = 0; i < kSlots; ++i) {
        const auto s = static_cast<unsigned>((cycle + i) % kSlots);
        Cta& cta = ctas[m][s];
        if (!cta.there) continue;
        if (cta.work > 0 && units[cta.kernel] > 0) {
          --units[cta.kernel];
          --cta.work;
          activity[m].issue_valid = 1;
          activity[m].issue_kernel[0] = static_cast<uint8_t>(cta.kernel);
        }
        if (cta.work > 0 || in.done_valid != 0) continue;
        in.done_valid = 1;
        in.done_sm = static_cast<uint8_t>(m);
        in.done_slot = static_cast<uint8_t>(s);
        cta.there = false;
      }
    }
  }
};

unsigned long run(const char* mode, const unsigned* quotas) {
  const sluice_unit_parameters parameters = {kSms, 2, kSlots, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const sluice_sm sm = {1536, 32768, 49152, kSlots};
  const sluice_kernel kernels[] = {{"computes", 400, 192, 4000, 0, nullptr, 0}, {"waits", 200, 192, 4000, 6000, nullptr, 0}};
  sluice_unit* unit = nullptr;
  require(sluice_unit_new(&parameters, &unit));
  require(sluice_unit_set_machine(unit, &sm));
  require(sluice_unit_set_mode(unit, mode));
  for (unsigned k = 0; k < 2; ++k) {
    if (quotas != nullptr) require(sluice_unit_set_quota(unit, k, quotas[k]));
    require(sluice_unit_launch(unit, k, &kernels[k]));
  }
  Machine machine;
  std::vector<sluice_sm_activity> activity(kSms);
  unsigned long cycle = 0;
  for (unsigned ended = 0; ended < 2; ++cycle) {
    sluice_unit_out out;
    require(sluice_unit_outputs(unit, &out));
    for (unsigned k = 0; k < 2; ++k) ended += (out.kernel_done >> k) & 1U;
    sluice_unit_in in = {};
    in.sms = activity.data();
    in.dispatch_ready = 1;
    if (out.dispatch_valid != 0) machine.begin(out);
    machine.step(cycle, in, activity);
    require(sluice_unit_clock(unit, &in));
  }
  sluice_unit_free(unit);
  return cycle;
}

}  // namespace

int main() {
  const unsigned quotas[] = {5, 3};
  std::printf("left_over: %lu cycles\n", run("left_over", nullptr));
  std::printf("quotas 5 and 3: %lu cycles\n", run("static", quotas));
}
