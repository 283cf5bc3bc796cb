// SPDX-License-Identifier: Apache-2.0
// Kernelet's slices on the GPU: what they cost by their length, and the shortest that costs little.
#include <algorithm>

#include "sw/gpu/apps/app_sizes.h"
#include "sw/gpu/experiments/experiments.h"
#include "sw/gpu/experiments/slices.h"
#include "sw/io/progress.h"
#include "sw/io/raw_store.h"

namespace sluice::gpu {

namespace {

/// The whole grid under a task limit that moves on a slice at a time: the slice that runs and the next one may begin.
/// @return milliseconds by the host's clock
double virtual_slices(QuotaJob& job, const QuotaTable& all, std::uint64_t slice) {
  job.restart();
  const Clock::time_point start = Clock::now();
  std::uint64_t limit = 2 * slice;
  job.set(all, limit);
  for (;;) {
    const JobGlance seen = job.glance();
    if (seen.begun + slice >= limit && limit < job.total()) {
      limit = std::min(seen.begun + 2 * slice, job.total());
      job.set(all, limit);
    } else if (job.tend(seen)) {
      break;
    }
  }
  return seconds(Clock::now() - start) * 1e3;
}

}  // namespace

void kernelet_slices_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawStore store(options.out / "kernelet_slices.jsonl");
  const auto& kernels = paper_kernels("kernelet");
  constexpr std::uint32_t kWaves[] = {1, 2, 4, 8, 16, 32};
  Progress progress("kernelet_slices", kernels.size());
  const unsigned sms = session.context().limits().sms;
  for (const PaperKernel& k : kernels) {
    if (!store.has(k.name)) {
      const PreparedKernel& kernel = session.app(k.app, measured_size(k.app, kEqualLength));
      const StreamHandle stream = make_stream();
      kernel.reset_buffers();
      static_cast<void>(native_by_clock(kernel, stream.get()));
      const std::vector<std::uint64_t> wanted = kernel.fingerprints();
      const Slices slices(session, kernel);
      const auto all = static_cast<std::uint32_t>(kernel.spec().blocks());
      QuotaJob job(kernel, {});
      const QuotaTable whole = uniform_quota(sms, kernel.occupancy());
      static_cast<void>(virtual_slices(job, whole, all));
      nlohmann::json points = nlohmann::json::array();
      bool same = true;
      for (const std::uint32_t waves : kWaves)
        for (const std::size_t queued : {std::size_t{1}, std::size_t{2}}) {
          const std::uint32_t blocks = std::min(waves * sms * kernel.native_occupancy(), all);
          kernel.poison_outputs();
          nlohmann::json native = nlohmann::json::array(), cut = nlohmann::json::array(), limited = nlohmann::json::array();
          for (unsigned r = 0; r <= options.repetitions; ++r) {  // in turns; the first ones warm up
            const double b = slices.run(stream.get(), blocks, queued);
            if (r == 0) same = same && kernel.fingerprints() == wanted;
            const double a = native_by_clock(kernel, stream.get());
            if (queued == 2) {
              if (r == 0) kernel.poison_outputs();
              const double v = virtual_slices(job, whole, blocks);
              if (r == 0) same = same && kernel.fingerprints() == wanted;
              if (r > 0) limited.push_back(v);
            }
            if (r == 0) continue;
            native.push_back(a);
            cut.push_back(b);
          }
          points.push_back({{"waves", waves}, {"queued", queued}, {"blocks", blocks}, {"native_ms", native}, {"sliced_ms", cut}});
          if (queued == 2) points.back()["virtual_ms"] = limited;
        }
      store.add(k.name, {{"app", k.app}, {"name", k.name}, {"points", points}, {"bit_identical", same}, {"on", options.on}});
    }
    progress.done(k.name);
  }
}

}  // namespace sluice::gpu
