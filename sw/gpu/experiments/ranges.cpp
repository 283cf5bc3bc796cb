// SPDX-License-Identifier: Apache-2.0
// Pairs on ranges of SMs: what a partition between SMs instead of within them would give, at every size that the hardware makes.
#include <fmt/format.h>

#include <algorithm>

#include "sw/gpu/experiments/experiments.h"
#include "sw/io/progress.h"
#include "sw/io/raw_store.h"
#include "sw/policy/names.h"

namespace sluice::gpu {

namespace {

class RangeMeasurement {
 public:
  RangeMeasurement(GpuSession& session, const ExperimentOptions& options, const std::vector<std::string>& names, RawStore& store)
      : session_(session), window_(options.window), names_(names), store_(store) {
    for (const std::string& name : names) mix_.push_back(&session.app(name));
    for (std::size_t k = 0; k < mix_.size(); ++k) streams_.push_back(make_stream());
  }

  /// Every split once, briefly; the three with the best STP again in turns, beside Left-Over and each kernel alone.
  void run(unsigned repetitions) {
    if (store_.has(key("done", 0))) return;
    static_cast<void>(native_rates(mix_, all_sms(), window_));  // clocks come up
    const std::vector<double> alone = solo_rates();
    std::vector<std::pair<double, unsigned>> found;
    nlohmann::json sweep = nlohmann::json::array();
    const unsigned sms = session_.context().limits().sms, step = GreenStreams::kGranularity;
    for (unsigned first = step; first + step <= sms; first += step) {
      const MixRates rates = split(first, window_);
      double stp = 0;
      for (std::size_t k = 0; k < alone.size(); ++k) stp += rates.blocks_per_second[k] / alone[k];
      found.emplace_back(stp, first);
      sweep.push_back({{"sms", sms_}, {"blocks_per_second", rates.blocks_per_second}});
    }
    std::ranges::stable_sort(found, [](const auto& a, const auto& b) { return a.first > b.first; });
    found.resize(std::min<std::size_t>(found.size(), 3));
    for (unsigned r = 0; r < repetitions; ++r) {
      const std::vector<double> solo = solo_rates();
      sms_.clear();
      keep(kLeftOver, r, native_rates(mix_, all_sms(), 4 * window_), solo);
      for (const auto& [stp, first] : found) {
        const MixRates rates = split(first, 4 * window_);
        keep("range", r, rates, solo);
      }
    }
    store_.add(key("done", 0), {{"kernels", names_}, {"policy", "sweep"}, {"sweep", sweep}, {"solo_blocks_per_second", alone}});
  }

 private:
  [[nodiscard]] std::string key(const std::string& policy, unsigned r) const {
    return fmt::format("{}/{}/{}", mix_name(names_), policy, r);
  }
  [[nodiscard]] std::vector<CUstream> all_sms() const { return {streams_[0].get(), streams_[1].get()}; }
  [[nodiscard]] std::vector<double> solo_rates() const {
    std::vector<double> out;
    for (std::size_t k = 0; k < mix_.size(); ++k)
      out.push_back(native_rates({mix_[k]}, {streams_[k].get()}, window_).blocks_per_second[0]);
    return out;
  }
  /// The first kernel on `first` SMs, the second on the others.
  [[nodiscard]] MixRates split(unsigned first, double window) {
    const GreenStreams green(session_.context(), 2, first);
    sms_ = green.sms();
    return native_rates(mix_, {green.stream(0), green.stream(1)}, window);
  }
  void keep(const std::string& policy, unsigned r, const MixRates& rates, const std::vector<double>& solo) {
    store_.add(key(sms_.empty() ? policy : fmt::format("{}/{}", policy, sms_[0]), r),
               {{"kernels", names_},
                {"policy", policy},
                {"repetition", r},
                {"sms", sms_},
                {"blocks_per_second", rates.blocks_per_second},
                {"solo_blocks_per_second", solo}});
  }

  GpuSession& session_;
  double window_;
  std::vector<std::string> names_;
  RawStore& store_;
  PreparedMix mix_;
  std::vector<StreamHandle> streams_;
  std::vector<unsigned> sms_;  ///< of each kernel in the last split
};

}  // namespace

void ranges_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawStore store(options.out / "ranges.jsonl");
  const auto pairs = choose(options.apps.empty() ? table2_names() : options.apps, 2);
  Progress progress("ranges", pairs.size());
  for (const std::vector<std::string>& names : pairs) {
    RangeMeasurement(session, options, names, store).run(options.repetitions);
    progress.done(mix_name(names));
  }
}

}  // namespace sluice::gpu
