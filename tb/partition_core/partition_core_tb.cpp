// Bench of the partition core: constrained-random decisions hold the Verilated RTL, its TLM twin and the golden algorithm against
// each other. Quick by default; SLUICE_FULL=1 runs the long campaign. The seed is printed and can be set: SLUICE_SEED=n.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

#include "sw/partition/ipc_scaling.h"
#include "sw/partition/warped_slicer.h"
#include "systemc/partition/i_partition_core.h"

namespace sluice {
namespace {

std::uint64_t seed() {
  const char* given = std::getenv("SLUICE_SEED");
  const std::uint64_t value = given != nullptr ? std::strtoull(given, nullptr, 10) : 20161;
  std::printf("seed %llu\n", static_cast<unsigned long long>(value));
  return value;
}

int cases(int quick, int full) { return std::getenv("SLUICE_FULL") != nullptr ? full : quick; }

struct Sample {
  std::uint32_t insts = 0, stall = 0;
};

/// One decision's stimulus.
struct Stimulus {
  PartitionCoreIn config;
  std::vector<std::vector<Sample>> samples;                   ///< [kernel][count - 1]
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sums;  ///< [kernel] {cta_sum, num_samples}
};

class Generator {
 public:
  explicit Generator(std::uint64_t s) : random_(s) {}

  std::uint32_t in(std::uint32_t low, std::uint32_t high) {
    return std::uniform_int_distribution<std::uint32_t>(low, high)(random_);
  }
  bool chance(double p) { return std::bernoulli_distribution(p)(random_); }
  double real(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }

  /// Anything the ports allow, corner values included.
  Stimulus wild() {
    Stimulus s = frame(in(1, 4), chance(0.5) ? 8 : 32);
    for (auto& kernel : s.samples) {
      const bool dead = chance(0.05);
      for (Sample& sample : kernel) {
        sample.insts = dead ? 0 : chance(0.05) ? (1U << 18) - 1 : in(0, 4 * s.config.window_cycles);
        sample.stall = chance(0.1) ? s.config.window_cycles : in(0, s.config.window_cycles);
      }
    }
    s.config.epsilon = chance(0.7) ? 0 : in(0, kPerfOne / 8);
    s.config.perf_floor = chance(0.5) ? in(0, kPerfOne) : 0;
    return s;
  }

  /// Curves as kernels have them: rising, saturating, or with an interior peak; the paper's window and limits.
  Stimulus realistic() {
    Stimulus s = frame(in(2, 3), 8);
    s.config.window_cycles = 5120;
    for (auto& kernel : s.samples) {
      const double peak = real(500, 10240), knee = real(0.5, 12), droop = chance(0.3) ? real(0, 0.12) : 0, stalls = real(0, 0.9);
      for (std::size_t j = 0; j < kernel.size(); ++j) {
        const double n = static_cast<double>(j + 1);
        const double value =
            peak * (1 - std::exp(-n / knee)) * std::max(0.05, 1 - droop * std::max(0.0, n - knee)) * real(0.98, 1.02);
        kernel[j] = {static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(5120 * stalls * real(0.8, 1.0))};
      }
    }
    s.config.perf_floor = static_cast<std::uint32_t>(std::lround((1 - 1.2 / s.config.num_kernels) * kPerfOne));
    return s;
  }

 private:
  Stimulus frame(std::uint32_t kernels, std::uint32_t slots) {
    Stimulus s;
    s.config.num_kernels = static_cast<std::uint8_t>(kernels);
    s.config.capacity_warps = slots == 8 ? 48 : 64;
    s.config.capacity_registers = slots == 8 ? 32768 : 65536;
    s.config.capacity_shared_bytes = slots == 8 ? 49152 : 233472;
    s.config.capacity_slots = slots;
    s.config.window_cycles = chance(0.5) ? 5120 : in(1024, 65535);
    for (std::uint32_t k = 0; k < kernels; ++k) {
      s.config.demand_warps[k] = in(1, chance(0.1) ? 48 : 8);
      s.config.demand_registers[k] = in(0, s.config.capacity_registers / (chance(0.1) ? 1 : 4));
      s.config.demand_shared_bytes[k] = chance(0.5) ? 0 : in(0, s.config.capacity_shared_bytes / (chance(0.1) ? 1 : 4));
      const std::uint32_t levels = in(1, slots);
      s.samples.emplace_back(levels);
      // At least the samples themselves, and some SMs that repeat a level.
      std::uint32_t sum = levels * (levels + 1) / 2, sms = levels;
      for (std::uint32_t extra = in(0, 100); extra > 0; --extra, ++sms) sum += levels;
      s.sums.emplace_back(sum, sms);
    }
    return s;
  }

  std::mt19937_64 random_;
};

/// Presents a stimulus to a core, port cycle by port cycle: every kernel's sum, then its samples.
class Driver {
 public:
  /// @param late  each sum comes just before its kernel's samples; else all of them come first, as the sequencer does it
  Driver(const Stimulus& stimulus, bool late) : stimulus_(stimulus), in_(stimulus.config) {
    in_.start = true;
    const auto kernels = static_cast<unsigned>(stimulus.samples.size());
    if (!late) {
      for (unsigned k = 0; k < kernels; ++k) steps_.push_back({k, -1});
    }
    for (unsigned k = 0; k < kernels; ++k) {
      if (late) steps_.push_back({k, -1});
      for (int j = 0; j < static_cast<int>(stimulus.samples[k].size()); ++j) steps_.push_back({k, j});
    }
  }
  /// `gap`: nothing is offered in this cycle.
  const PartitionCoreIn& next(bool gap) {
    const bool offer = !in_.start && at_ < steps_.size() && !gap;
    in_.prepare_valid = offer && steps_[at_].level < 0;
    in_.sample_valid = offer && steps_[at_].level >= 0;
    if (offer) {
      const auto [k, level] = steps_[at_];
      in_.prepare_kernel = in_.sample_kernel = static_cast<std::uint8_t>(k);
      in_.prepare_sum = stimulus_.sums[k].first;
      in_.num_samples = stimulus_.sums[k].second;
      if (level >= 0) {
        const Sample& sample = stimulus_.samples[k][static_cast<std::size_t>(level)];
        in_.sample_ctas = static_cast<std::uint8_t>(level + 1);
        in_.sample_warp_insts = sample.insts;
        in_.sample_stall_cycles = sample.stall;
        in_.sample_final = static_cast<std::size_t>(level) + 1 == stimulus_.samples[k].size();
      }
    }
    return in_;
  }
  void observe(const PartitionCoreOut& out) {
    in_.start = false;
    if ((in_.sample_valid && out.sample_ready) || (in_.prepare_valid && out.prepare_ready)) ++at_;
  }

 private:
  struct Step {
    unsigned kernel;
    int level;  ///< -1: the kernel's sum
  };
  const Stimulus& stimulus_;
  PartitionCoreIn in_;
  std::vector<Step> steps_;
  std::size_t at_ = 0;
};

/// @param cycles  from the first sample to done, both included
PartitionCoreOut decide(IPartitionCore& core, const Stimulus& stimulus, unsigned* cycles = nullptr) {
  Driver driver(stimulus, false);
  unsigned count = 0;
  for (int guard = 0; guard < 5000; ++guard) {
    const PartitionCoreIn& in = driver.next(false);
    const PartitionCoreOut out = core.cycle(in);
    if (in.sample_valid || count > 0) ++count;
    driver.observe(out);
    if (out.done) {
      if (cycles != nullptr) *cycles = count;
      return out;
    }
  }
  ADD_FAILURE() << "no decision within 5000 cycles";
  return {};
}

TEST(PartitionCore, RtlAndTlmAgreeInEveryCycle) {
  Generator random(seed());
  const auto rtl = make_rtl_partition_core("", 1000);
  const auto tlm = make_tlm_partition_core();
  unsigned long long compared = 0, no_fit = 0, spatial = 0, resets = 0, restarts = 0, partitions = 0;
  const int decisions = cases(10000, 1000000);
  for (int d = 0; d < decisions; ++d) {
    const Stimulus stimulus = random.wild();
    Driver driver(stimulus, random.chance(0.3));
    const double gaps = random.chance(0.5) ? 0 : 0.3;
    const std::uint32_t cut = random.chance(0.1) ? random.in(0, 300) : 100000;  // a reset, or a new start, in mid-decision
    for (std::uint32_t cycle = 0;; ++cycle) {
      PartitionCoreIn in = driver.next(random.chance(gaps));
      if (cycle == cut) {
        const bool reset = random.chance(0.5);
        ++(reset ? resets : restarts);
        if (!reset) break;
        in.rst_n = false;
        in.start = false;
      }
      const PartitionCoreOut a = rtl->cycle(in);
      const PartitionCoreOut b = tlm->cycle(in);
      ++compared;
      ASSERT_EQ(a.prepare_ready, b.prepare_ready) << "decision " << d << " cycle " << cycle;
      ASSERT_EQ(a.sample_ready, b.sample_ready) << "decision " << d << " cycle " << cycle;
      ASSERT_EQ(a.scaled_valid, b.scaled_valid) << "decision " << d << " cycle " << cycle;
      if (a.scaled_valid) {
        ASSERT_EQ(a.scaled_kernel, b.scaled_kernel) << "decision " << d << " cycle " << cycle;
        ASSERT_EQ(a.scaled_ctas, b.scaled_ctas) << "decision " << d << " cycle " << cycle;
        ASSERT_EQ(a.scaled, b.scaled) << "decision " << d << " cycle " << cycle;
      }
      ASSERT_EQ(a.done, b.done) << "decision " << d << " cycle " << cycle;
      if (!in.rst_n) break;
      driver.observe(a);
      if (!a.done) {
        ASSERT_LT(cycle, 5000U) << "decision " << d << " does not end";
        continue;
      }
      ASSERT_EQ(a.no_fit, b.no_fit) << "decision " << d;
      no_fit += a.no_fit ? 1 : 0;
      if (!a.no_fit) {
        ASSERT_EQ(a.spatial, b.spatial) << "decision " << d;
        ASSERT_EQ(a.ctas, b.ctas) << "decision " << d;
        ++(a.spatial ? spatial : partitions);
      }
      break;
    }
  }
  std::printf("%d decisions, %llu cycles compared; %llu partitions, %llu spatial, %llu no fit, %llu resets, %llu restarts\n",
              decisions, compared, partitions, spatial, no_fit, resets, restarts);
  // A campaign that misses one of these proves nothing about it.
  EXPECT_GT(partitions, 0U);
  EXPECT_GT(spatial, 0U);
  EXPECT_GT(no_fit, 0U);
  EXPECT_GT(resets, 0U);
  EXPECT_GT(restarts, 0U);
}

TEST(PartitionCore, FixedPointKeepsTheGoldenPartition) {
  Generator random(seed());
  const auto rtl = make_rtl_partition_core("", 1000);
  const int decisions = cases(10000, 100000);
  int differ = 0, beyond_one = 0;
  for (int d = 0; d < decisions; ++d) {
    const Stimulus stimulus = random.realistic();
    std::vector<Profile> profiles;
    std::vector<SmResources> demand;
    for (std::size_t k = 0; k < stimulus.samples.size(); ++k) {
      Profile profile;
      for (std::size_t j = 0; j < stimulus.samples[k].size(); ++j) {
        const Sample& sample = stimulus.samples[k][j];
        profile.push_back(scale_ipc(sample.insts / 5120.0, sample.stall / 5120.0, static_cast<double>(j + 1),
                                    static_cast<double>(stimulus.sums[k].first) / stimulus.sums[k].second));
      }
      profiles.push_back(profile);
      demand.push_back({stimulus.config.demand_warps[k] * kWarpSize, stimulus.config.demand_registers[k],
                        stimulus.config.demand_shared_bytes[k], 1});
    }
    const SmResources capacity{stimulus.config.capacity_warps * kWarpSize, stimulus.config.capacity_registers,
                               stimulus.config.capacity_shared_bytes, stimulus.config.capacity_slots};
    const Partition golden = warped_slicer_partition(profiles, demand, capacity, PartitionerConfig{});
    const PartitionCoreOut out = decide(*rtl, stimulus);
    const bool spatial = out.no_fit || out.spatial;
    bool same = spatial == (golden.mode == PartitionMode::Spatial);
    if (same && !spatial) {
      for (std::size_t k = 0; k < profiles.size(); ++k) {
        const int difference = static_cast<int>(out.ctas[k]) - static_cast<int>(golden.ctas[k].value());
        same &= difference == 0;
        beyond_one += std::abs(difference) > 1 ? 1 : 0;
      }
    }
    differ += same ? 0 : 1;
  }
  std::printf("%d decisions: %d differ from double precision (%.3f %%), %d of them by more than one CTA\n", decisions, differ,
              100.0 * differ / decisions, beyond_one);
  EXPECT_LT(differ, decisions * 0.005);
}

TEST(PartitionCore, DecidesWithinItsCycleBound) {
  Generator random(seed());
  const auto rtl = make_rtl_partition_core("", 1000);
  for (const auto& [kernels, levels] : {std::pair<unsigned, unsigned>{2, 8}, {4, 8}, {4, 32}}) {
    unsigned worst = 0;
    for (int d = 0; d < 300; ++d) {
      Stimulus s = random.wild();
      s.config.num_kernels = static_cast<std::uint8_t>(kernels);
      s.config.capacity_slots = levels;
      s.samples.assign(kernels, std::vector<Sample>(levels));
      s.sums.assign(kernels, {levels * (levels + 1) / 2, levels});
      for (auto& kernel : s.samples) {
        std::uint32_t insts = 100;
        for (Sample& sample : kernel) sample = {insts += random.in(1, 300), random.in(0, s.config.window_cycles)};
      }
      unsigned cycles = 0;
      decide(*rtl, s, &cycles);
      worst = std::max(worst, cycles);
    }
    // K*N + S + 64 from the end of the window to valid quotas; the sequencer adds two cycles around the core's.
    const unsigned bound = kernels * levels + levels + 64 - 2;
    std::printf("{\"kernels\":%u,\"levels\":%u,\"cycles_from_first_sample\":%u,\"bound\":%u}\n", kernels, levels, worst, bound);
    EXPECT_LE(worst, bound);
  }
}

}  // namespace
}  // namespace sluice
