// SPDX-License-Identifier: Apache-2.0
// What a kernel's transformed form costs alone: made for the shape of its launch, and for any shape as the service's were.
#include <algorithm>

#include "sw/gpu/apps/app_sizes.h"
#include "sw/gpu/experiments/experiments.h"
#include "sw/io/progress.h"
#include "sw/io/raw_store.h"

namespace sluice::gpu {

void forms_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawStore store(options.out / "forms.jsonl");
  const std::vector<std::string> apps = options.apps.empty() ? table2_names() : options.apps;
  Progress progress("forms", apps.size());
  const unsigned sms = session.context().limits().sms;
  struct Form {
    const char* name;
    KernelForm form;
    std::optional<int> carveout;
  };
  const Form forms[] = {{"of its shape", {}, {}},
                        {"of its shape, the driver's split", {}, -1},
                        {"of its shape, warps together", {.warps_apart = false}, {}},
                        {"of any shape", {.any_shape = true}, {}},
                        {"of any shape, the driver's split", {.any_shape = true}, -1}};
  for (const std::string& app : apps) {
    if (!store.has(app)) {
      nlohmann::json told = {{"app", app}, {"on", options.on}};
      const StreamHandle stream = make_stream();
      for (const Form& form : forms) {
        const PreparedKernel kernel(session.context(), session.compiler(), session.tools(),
                                    make_app(app, measured_size(app, kEqualLength)).launch, form.form);
        QuotaJob job(kernel, {.carveout_percent = form.carveout});
        const std::uint64_t spread = (kernel.spec().blocks() + sms - 1) / sms;
        job.order(uniform_quota(sms, static_cast<std::uint32_t>(std::min<std::uint64_t>(kernel.occupancy(), spread))));
        nlohmann::json native = nlohmann::json::array(), under = nlohmann::json::array();
        for (unsigned r = 0; r <= options.repetitions; ++r) {  // in turns; the first ones warm up
          const double a = native_seconds(kernel, stream.get()) * 1e3, b = job.run_timed() * 1e3;
          if (r == 0) continue;
          native.push_back(a);
          under.push_back(b);
        }
        told["forms"][form.name] = {{"native_ms", native},
                                    {"under_ms", under},
                                    {"registers", kernel.persistent().registers()},
                                    {"occupancy", kernel.occupancy()},
                                    {"threads_leave", kernel.threads_leave()},
                                    {"warps_apart", kernel.warps_apart()}};
      }
      store.add(app, std::move(told));
    }
    progress.done(app);
  }
}

}  // namespace sluice::gpu
