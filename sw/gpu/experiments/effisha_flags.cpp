// SPDX-License-Identifier: Apache-2.0
// EffiSha's figure 10 with the paper's own flags: what it costs to read them, and how long an eviction by them takes.
#include <algorithm>
#include <random>

#include "sw/gpu/apps/app_sizes.h"
#include "sw/gpu/experiments/experiments.h"
#include "sw/gpu/experiments/slices.h"
#include "sw/io/progress.h"
#include "sw/io/raw_store.h"

namespace sluice::gpu {

namespace {

struct Form {
  const char* name;
  FlagForm flag;
  bool on_host, proxy;
};
constexpr Form kForms[] = {{"basic", FlagForm::EveryThread, true, false},
                           {"leader", FlagForm::Leader, true, false},
                           {"proxy", FlagForm::Pushed, false, true},
                           {"adaptive", FlagForm::AtClaims, false, true},
                           {"pushed", FlagForm::Pushed, false, false}};

/// Tasks between two looks by the paper's rule the right way up: r = 10 looks in a slice of L = 1 ms.
unsigned between_looks(const PreparedKernel& kernel, double native_ms) {
  constexpr double kSliceMs = 1, kLooks = 10;
  const double ctas = kernel.context().limits().sms * kernel.native_occupancy();
  const double task_ms = native_ms * ctas / std::max(static_cast<double>(kernel.spec().blocks()), ctas);
  return static_cast<unsigned>(std::clamp(kSliceMs / (kLooks * task_ms), 1.0, 4096.0));
}

}  // namespace

void effisha_flags_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawStore store(options.out / "effisha_flags.jsonl");
  std::vector<std::string> apps = options.apps;
  if (apps.empty())
    for (const PaperKernel& k : paper_kernels("effisha")) apps.push_back(k.app);
  Progress progress("effisha_flags", apps.size());
  const Kernel proxy = load_flag_proxy(session.context(), session.compiler());
  const unsigned sms = session.context().limits().sms;
  constexpr unsigned kEvictions = 200, kSlowEvictions = 20;  // where every block's end waits for the host's memory
  std::mt19937_64 random(13);
  for (const std::string& app : apps) {
    if (!store.has(app)) {
      const auto paper = std::ranges::find(paper_kernels("effisha"), app, &PaperKernel::app);
      const AppSize size = measured_size(app, paper == paper_kernels("effisha").end() ? kEqualLength : *paper->milliseconds);
      const StreamHandle stream = make_stream();
      nlohmann::json forms = nlohmann::json::object();
      unsigned between = 1;
      for (const Form& form : kForms) {
        AppSize shown = size;
        if (form.on_host) shown.passes = 1;  // one launch takes a thousand times as long
        const PreparedKernel kernel(session.context(), session.compiler(), session.tools(), make_app(app, shown).launch,
                                    {.warps_apart = false, .flag = form.flag});
        kernel.reset_buffers();
        static_cast<void>(native_seconds(kernel, stream.get()));
        const std::vector<std::uint64_t> wanted = kernel.fingerprints();
        kernel.poison_outputs();
        between = between_looks(kernel, native_seconds(kernel, stream.get()) * 1e3);
        const QuotaTable all = uniform_quota(sms, kernel.occupancy());
        JobOptions o;
        o.group = form.flag == FlagForm::AtClaims ? between : 0;
        {
          QuotaJob job(kernel, o);  // loads the code: not beside a proxy
          job.order(all);
          static_cast<void>(job.run_timed());
        }
        o.orders_on_host = form.on_host;
        o.proxy = form.proxy ? &proxy : nullptr;
        nlohmann::json native = nlohmann::json::array(), under = nlohmann::json::array(), grids = nlohmann::json::array();
        std::uint32_t violations = 0;
        kernel.poison_outputs();
        const unsigned runs = form.on_host ? 1 : options.repetitions + 1;  // the first warms up, but where it takes seconds
        for (unsigned r = 0; r < runs; ++r) {                              // in turns
          const double a = native_seconds(kernel, stream.get()) * 1e3;
          if (r == 0) kernel.poison_outputs();
          QuotaJob job(kernel, o);  // a proxy of its own: none runs beside the untransformed kernel
          job.order(all);
          sleep_seconds(2e-4);  // a proxy has seen it
          const double b = job.run_timed() * 1e3;
          violations += job.state().violations;
          if (r == 0 && runs > 1) continue;
          native.push_back(a);
          under.push_back(b);
        }
        const bool same = kernel.fingerprints() == wanted;
        {
          o.passes = 1ULL << 20;
          QuotaJob job(kernel, o);
          for (unsigned i = 0; i < (form.on_host ? kSlowEvictions : kEvictions); ++i) {
            job.set(all);
            static_cast<void>(job.settle());
            sleep_seconds(50e-6 + static_cast<double>(random() % 200) * 1e-6);  // anywhere in a block
            grids.push_back(job.evict().grids * 1e6);
          }
          violations += job.state().violations;
        }
        forms[form.name] = {{"native_ms", native},      {"under_ms", under},     {"grids_us", grids},
                            {"violations", violations}, {"bit_identical", same}, {"group", o.group}};
      }
      store.add(app, {{"app", app}, {"between_looks", between}, {"forms", forms}, {"on", options.on}});
    }
    progress.done(app);
  }
}

}  // namespace sluice::gpu
