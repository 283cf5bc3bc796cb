// SPDX-License-Identifier: Apache-2.0
// The GPU model as a whole: what must hold on any machine and mix. Each run is a process of its own (SystemC elaborates once).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

#include "study/run_pool.h"
#include "sw/core/errors.h"
#include "sw/driver/sluice_driver.h"
#include "sw/policy/registry.h"
#include "sw/scheduler/policy_scheduler.h"
#include "sw/scheduler/registry.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/mix.h"
#include "sw/workload/workload_file.h"
#include "tests/systemc/scripted_kernel.h"

namespace sluice {
namespace {

const std::filesystem::path kRoot = SLUICE_SOURCE_DIR;
constexpr WarpSchedulerKind kKinds[] = {WarpSchedulerKind::Gto, WarpSchedulerKind::Lrr, WarpSchedulerKind::TwoLevel,
                                        WarpSchedulerKind::OldestCta};

class GpuModel : public ::testing::Test {
 protected:
  MachineConfig machine = read_machine(kRoot / "configs/machines/fermi_table1.toml");
  Workload workload = read_workload(kRoot / "configs/workloads/table2.toml");

  std::vector<RunResult> run(const std::vector<RunSpec>& specs) { return scripted::run(specs); }
  RunResult run(const RunSpec& spec) { return run(std::vector<RunSpec>{spec}).front(); }

  RunSpec solo(const std::string& name, std::uint64_t window) {
    RunSpec spec;
    spec.machine = machine;
    spec.launches.push_back({mix(name).kernels.front(), 0, Cycles(0)});
    spec.window = Cycles(window);
    return spec;
  }
  RunSpec corun(const std::string& names, const std::string& policy, std::uint64_t target,
                PartitionerKind kind = PartitionerKind::Twin) {
    const Mix chosen = mix(names);
    const PolicyPlan plan = policy_plans(policy, machine, chosen.kernels).front();
    RunSpec spec;
    spec.machine = machine;
    for (const KernelDescriptor& k : chosen.kernels) spec.launches.push_back({k, target, Cycles(0)});
    spec.make_scheduler = scheduler_of(plan, machine);
    spec.partitioner = kind;
    return spec;
  }
  Mix mix(const std::string& names) { return parse_mixes(workload, machine, names).front(); }
};

std::string text(const RunResult& result) { return nlohmann::json(result).dump(); }

TEST_F(GpuModel, RepeatsBitForBitWithTheSameSeedAndNotWithAnother) {
  RunSpec spec = corun("IMG_NN", "warped_slicer", 200000);
  RunSpec other = spec;
  other.seed = 2;
  const auto results = run({spec, spec, other});
  EXPECT_EQ(text(results[0]), text(results[1]));
  EXPECT_NE(text(results[0]), text(results[2]));
}

TEST_F(GpuModel, RtlAndTwinPartitionersGiveTheSameRun) {
  for (const char* names : {"DXT_MVP", "HOT_BFS", "IMG_LBM", "DXT_IMG_NN"}) {
    const auto results =
        run({corun(names, "warped_slicer", 1500000, PartitionerKind::Rtl), corun(names, "warped_slicer", 1500000)});
    EXPECT_EQ(text(results[0]), text(results[1])) << names;
    ASSERT_FALSE(results[0].decisions.empty()) << names;
  }
}

/// RTL and twin side by side, every port in every cycle, in all modes; kernels arrive while others run, and leave.
TEST_F(GpuModel, RtlAndTwinAgreeAtEveryPortWhileTheGpuRuns) {
  const bool full = std::getenv("SLUICE_FULL") != nullptr;
  std::vector<std::string> mixes{"IMG_NN", "DXT_HOT", "MM_MVP", "DXT_IMG_NN"};
  if (full) {
    for (const char* more : {"DXT_BLK", "DXT_KNN", "DXT_LBM", "HOT_BFS", "HOT_NN", "IMG_BLK", "IMG_BFS", "MM_LBM", "MM_KNN",
                             "IMG_MVP", "DXT_MM_BLK"})
      mixes.emplace_back(more);
  }
  std::vector<RunSpec> specs;
  for (const std::string& names : mixes) {
    for (const char* policy : {"left_over", "fcfs", "even", "spatial", "even_mode", "spatial_mode", "warped_slicer"}) {
      RunSpec spec = corun(names, policy, full ? 1000000 : 100000, PartitionerKind::Both);
      spec.launches.back().arrival = Cycles(20000);
      specs.push_back(spec);
    }
  }
  const auto results = run(specs);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    for (const KernelCounters& k : results[i].kernels) EXPECT_GT(k.finish_cycle, 0U) << "run " << i;
  }
}

/// With the phase monitor on, a kernel that changes in mid-run is profiled anew; one that does not change is not.
TEST_F(GpuModel, PhaseMonitorAsksForANewDecisionOnlyWhenAKernelChanges) {
  RunSpec steady = corun("IMG_HOT", "warped_slicer", 6000000, PartitionerKind::Both);
  steady.machine.partitioner.monitor_threshold = 0.5;
  steady.machine.partitioner.drain_cycles = 8192;  // CTAs of IMG live longer than this run can wait
  RunSpec changing = steady;
  KernelDescriptor& kernel = changing.launches[0].kernel;
  kernel.phase = KernelPhase{130, kernel.behaviour};  // then it loads new lines and does little else
  kernel.phase->behaviour.load_fraction = 0.7;
  kernel.phase->behaviour.sfu_fraction = 0;
  kernel.phase->behaviour.transactions = 8;
  kernel.phase->behaviour.reuse_fraction = kernel.phase->behaviour.footprint_fraction = 0;
  RunSpec unwatched = changing;
  unwatched.machine.partitioner.monitor_threshold = 0;
  const auto results = run({steady, changing, unwatched});
  const auto together = [](const RunResult& r) {
    return std::ranges::count_if(r.decisions, [](const Decision& d) { return d.kernels.size() == 2; });
  };
  EXPECT_EQ(together(results[0]), 1);
  EXPECT_GT(together(results[1]), 1);
  EXPECT_EQ(together(results[2]), 1);
}

/// The same while the host evicts and resumes, moves SM masks under running CTAs, and goes through all modes of the hardware.
TEST_F(GpuModel, RtlAndTwinAgreeWhileTheHostEvictsAndMovesMasksAndModes) {
  const bool full = std::getenv("SLUICE_FULL") != nullptr;
  std::vector<std::string> mixes{"HOT_BFS"};
  if (full) mixes = {"IMG_NN", "DXT_HOT", "MM_MVP", "HOT_BFS", "DXT_LBM", "IMG_BLK", "DXT_IMG_NN"};
  const auto range = [](unsigned first, unsigned count) {
    std::vector<unsigned> sms;
    for (unsigned m = first; m < first + count; ++m) sms.push_back(m);
    return sms;
  };
  std::vector<RunSpec> specs;
  for (const std::string& names : mixes) {
    RunSpec spec = corun(names, "left_over", 0, PartitionerKind::Both);
    spec.window = Cycles(full ? 600000 : 200000);
    const std::uint64_t phase = full ? 60000 : 20000;  // cycles between two actions
    const auto at = [&](unsigned n, std::function<void(SluiceDriver&)> act) {
      spec.actions.push_back({Cycles(n * phase), std::move(act)});
    };
    at(1, [](SluiceDriver& d) { d.evict(0, 20); });
    at(2, [](SluiceDriver& d) {
      d.resume(0);
      d.set_mode(Mode::Even);
    });
    at(3, [range](SluiceDriver& d) {
      for (const unsigned slot : {0U, 1U}) {
        d.set_quota(slot, 3);
        d.set_mask(slot, range(slot * 8, 8));
      }
      d.set_mode(Mode::Static);
    });
    at(4, [range](SluiceDriver& d) {  // SMs change hands: one mask shrinks, the other grows over CTAs that still run
      d.set_mask(0, range(0, 2));
      d.set_mask(1, range(1, 15));
    });
    at(5, [range](SluiceDriver& d) {
      d.set_mask(0, range(4, 12));
      d.set_quota(1, 1);
      d.evict(1, 1000);
    });
    at(6, [](SluiceDriver& d) {
      d.resume(1);
      d.set_mode(Mode::Spatial);
    });
    at(7, [phase](SluiceDriver& d) {  // decided before the next action: a mode in mid-decision is an error
      d.configure_sequencer({static_cast<std::uint32_t>(phase / 10), 1024, 100, 0, 1.2, 0, 4096});
      d.set_mode(Mode::Dynamic);
    });
    at(8, [](SluiceDriver& d) { d.evict(0, 5); });
    at(9, [](SluiceDriver& d) {
      d.resume(0);
      d.set_mode(Mode::Fcfs);
    });
    specs.push_back(spec);
  }
  const auto results = run(specs);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    for (const KernelCounters& k : results[i].kernels)
      EXPECT_GT(k.warp_instructions, 0U) << "kernel " << (&k - results[i].kernels.data()) << " of " << mixes[i];
  }
}

TEST_F(GpuModel, EveryKernelReachesItsTargetUnderEveryPolicy) {
  for (const char* policy : {"left_over", "fcfs", "even", "spatial", "even_mode", "spatial_mode", "warped_slicer"}) {
    const RunResult result = run(corun("MM_MVP", policy, 100000));
    for (const KernelCounters& k : result.kernels) {
      EXPECT_GE(k.warp_instructions, 100000U) << policy;
      EXPECT_GT(k.finish_cycle, 0U) << policy;
      EXPECT_LE(k.finish_cycle, result.cycles.value()) << policy;
    }
  }
}

TEST_F(GpuModel, NeverHoldsMoreThanTheSmHas) {
  for (const char* policy : {"left_over", "fcfs", "even", "warped_slicer"}) {
    const RunResult r = run(corun("HOT_DXT", policy, 200000));
    EXPECT_LE(r.threads_resident, r.sm_cycles * machine.sm.capacity.threads) << policy;
    EXPECT_LE(r.registers_resident, r.sm_cycles * machine.sm.capacity.registers) << policy;
    EXPECT_LE(r.shared_bytes_resident, r.sm_cycles * machine.sm.capacity.shared_memory_bytes) << policy;
    EXPECT_GT(r.registers_resident, 0U) << policy;
  }
}

TEST_F(GpuModel, IssuesNoMoreThanItsSchedulersAndPipelinesAllow) {
  for (const KernelDescriptor& kernel : workload.kernels) {
    const RunResult r = run(solo(kernel.name, 30000));
    EXPECT_LE(r.total.warp_instructions, r.sm_cycles * machine.sm.schedulers) << kernel.name;
    EXPECT_LE(r.total.alu_busy, (r.sm_cycles + 16 * 8) * machine.sm.alu_pipes) << kernel.name;
    EXPECT_LE(r.total.ldst_busy, r.sm_cycles) << kernel.name;
    const StallCycles& s = r.stalls;
    EXPECT_LE(s.long_memory + s.execution_resource + s.raw + s.instruction_buffer + s.barrier + s.idle, r.sm_cycles)
        << kernel.name;
    EXPECT_LE(r.total.l1_misses, r.total.l1_accesses) << kernel.name;
    EXPECT_LE(r.total.l2_misses, r.total.l2_accesses) << kernel.name;
    EXPECT_LE(r.total.dram_row_hits, r.total.dram_requests) << kernel.name;
  }
}

TEST_F(GpuModel, DramStaysBelowItsBandwidth) {
  const RunResult r = run(solo("BFS", 50000));
  const double peak = machine.dram.channels * machine.dram.bytes_per_cycle * machine.dram.clock_mhz / machine.core_mhz;
  EXPECT_LT(static_cast<double>(r.total.dram_bytes) / static_cast<double>(r.cycles.value()), peak);
}

TEST_F(GpuModel, AKernelAloneUnderWarpedSlicerGetsEverySm) {
  RunSpec dynamic = solo("DXT", 50000);
  dynamic.make_scheduler = unit_decides(Mode::Dynamic);
  // The plan for one kernel takes some cycles before its first CTA: nothing else may differ.
  const double free = static_cast<double>(run(solo("DXT", 50000)).total.warp_instructions);
  EXPECT_NEAR(static_cast<double>(run(dynamic).total.warp_instructions), free, 0.001 * free);
}

TEST_F(GpuModel, ALateKernelRestartsTheProfiling) {
  RunSpec spec = corun("DXT_MVP", "warped_slicer", 2000000);
  spec.launches[1].arrival = Cycles(60000);
  const RunResult r = run(spec);
  ASSERT_GE(r.decisions.size(), 1U);
  EXPECT_GE(r.decisions.front().sampled_at.value(),
            60000U + machine.partitioner.warm_up_cycles + machine.partitioner.profile_cycles);
}

TEST_F(GpuModel, OfThreeKernelsTheLastTwoAreProfiledAgain) {
  RunSpec spec = corun("DXT_HOT_NN", "warped_slicer", 2000000);
  spec.launches[0].target_warp_instructions = 600000;
  const RunResult r = run(spec);
  ASSERT_GE(r.decisions.size(), 1U);
  EXPECT_EQ(r.decisions.back().kernels.size(), 2U);
}

/// Warped-Slicer, section III-A: the classes of figure 3a and the kernels that it names for them.
TEST_F(GpuModel, TheClassesOfFigure3aComeOut) {
  std::vector<RunSpec> specs;
  std::vector<std::pair<std::string, std::uint32_t>> points;
  const auto most = [&](const std::string& name) { return name == "HOT" ? 3U : 8U; };
  for (const char* name : {"HOT", "IMG", "BLK", "NN", "MVP"})
    for (std::uint32_t ctas = 1; ctas <= most(name); ++ctas) {
      specs.push_back(solo(name, 60000));
      specs.back().machine.sm.capacity.cta_slots = ctas;
      points.emplace_back(name, ctas);
    }
  const std::vector<RunResult> results = run(specs);
  std::map<std::string, std::vector<double>> curve;  // from one CTA on, of the best
  for (std::size_t i = 0; i < points.size(); ++i)
    curve[points[i].first].push_back(static_cast<double>(results[i].total.warp_instructions));
  for (auto& [name, rates] : curve) {
    const double best = *std::max_element(rates.begin(), rates.end());
    for (double& rate : rates) rate /= best;
  }
  const auto at = [&](const std::string& name, std::size_t ctas) { return curve.at(name).at(ctas - 1); };
  EXPECT_LT(at("HOT", 2), 0.8) << "HOT must not saturate";
  EXPECT_EQ(at("HOT", 3), 1.0);
  EXPECT_GT(at("IMG", 6), 0.9) << "IMG must saturate";
  EXPECT_GT(at("IMG", 7), 0.96);
  EXPECT_LT(at("IMG", 4), 0.85) << "but not as early as a memory-intensive kernel";
  EXPECT_GT(at("BLK", 3), 0.95) << "BLK must saturate early";
  for (const char* name : {"NN", "MVP"}) {
    EXPECT_LT(at(name, 1), 0.9) << name << " must rise before it falls";
    EXPECT_LT(at(name, 8), 0.9) << name << " must fall from its peak";
  }
}

TEST_F(GpuModel, EveryMemorySocketKeepsTheTlmBaseProtocol) {
  for (const char* file : {"fermi_table1", "fermi_accelsim"}) {
    machine = read_machine(kRoot / ("configs/machines/" + std::string(file) + ".toml"));
    RunSpec plain = corun("HOT_BFS", "even", 60000), checked = plain;
    checked.check_protocol = true;
    const auto results = run({plain, checked});  // a violation would throw
    EXPECT_EQ(text(results[0]), text(results[1])) << file;
  }
}

TEST_F(GpuModel, CountersOfTheSmsAddUpToTheKernels) {
  const RunResult r = run(corun("IMG_BLK", "even", 100000));
  ASSERT_EQ(r.sms.size(), machine.num_sms);
  KernelCounters sum;
  StallCycles stalls;
  for (const SmCounters& sm : r.sms) {
    sum += sm.work;
    stalls += sm.stalls;
  }
  EXPECT_EQ(sum.warp_instructions, r.total.warp_instructions);
  EXPECT_EQ(sum.l1_misses, r.total.l1_misses);
  EXPECT_EQ(sum.ldst_busy, r.total.ldst_busy);
  EXPECT_EQ(stalls.long_memory, r.stalls.long_memory);
}

TEST_F(GpuModel, EveryStallCycleHasAReasonForEveryKernel) {
  const auto sum = [](const StallCycles& s) {
    return s.long_memory + s.execution_resource + s.raw + s.instruction_buffer + s.barrier + s.idle;
  };
  const RunResult pair = run(corun("DXT_MVP", "even", 60000));
  ASSERT_EQ(pair.kernel_stalls.size(), 2U);
  for (const StallCycles& stalls : pair.kernel_stalls) EXPECT_EQ(sum(stalls), sum(pair.stalls));
  EXPECT_GT(pair.kernel_stalls[0].raw, pair.kernel_stalls[1].raw);                  // DXT: chains of ALU results
  EXPECT_GT(pair.kernel_stalls[1].long_memory, pair.kernel_stalls[0].long_memory);  // MVP: loads
  const RunResult alone = run(solo("MVP", 60000));
  EXPECT_EQ(alone.kernel_stalls[0].long_memory, alone.stalls.long_memory);
  EXPECT_EQ(alone.kernel_stalls[0].execution_resource, alone.stalls.execution_resource);
}

TEST_F(GpuModel, EverySchedulerAndDramPolicyDoesTheSameWork) {
  const auto with = [&](WarpSchedulerKind kind, DramScheduler dram) {
    RunSpec spec = corun("DXT_BLK", "even", 60000);
    spec.machine.sm.scheduler = kind;
    spec.machine.dram.scheduler = dram;
    return run(spec);
  };
  for (const WarpSchedulerKind kind : kKinds) {
    for (const DramScheduler dram : {DramScheduler::Bus, DramScheduler::Bank}) {
      const RunResult r = with(kind, dram);
      for (const KernelCounters& k : r.kernels) EXPECT_GE(k.warp_instructions, 60000U);
      EXPECT_LE(r.total.dram_row_hits, r.total.dram_requests);
    }
  }
}

/// A warp slot whose warp has ended may hold one of another kernel's CTA, while the first CTA still lives.
TEST_F(GpuModel, AKernelThatIsHaltedTakesNoWarpOfTheOthers) {
  std::vector<RunSpec> specs;
  for (std::uint64_t target = 40000; target < 80000; target += 5000) {
    RunSpec spec = corun("IMG_NN", "fcfs", target);
    spec.launches[0].once = true;
    spec.launches[0].target_warp_instructions = 0;
    spec.launches[0].kernel.grid_ctas = 400;
    spec.launches[0].kernel.behaviour.warp_instructions = 2000;
    spec.window = Cycles(1000000);
    specs.push_back(spec);
  }
  for (const RunResult& r : run(specs)) {
    EXPECT_GT(r.kernels[1].finish_cycle, 0U);
    EXPECT_GT(r.kernels[0].finish_cycle, r.kernels[1].finish_cycle);
  }
}

/// Two kernels of one warp an SM, one at each scheduler, that want the LDST queue in every cycle. An odd number of lines a store:
/// turns go by the cycle, so that where the queue opens every other cycle only, one scheduler stays ahead (1.2 with four lines).
TEST_F(GpuModel, SchedulersTakeTurnsAtWhatTheyShare) {
  RunSpec spec;
  spec.machine = machine;
  KernelDescriptor kernel = mix("LBM").kernels.front();
  kernel.block_threads = 32;
  kernel.behaviour = {};
  kernel.behaviour.warp_instructions = 100000;
  kernel.behaviour.store_fraction = 1;
  kernel.behaviour.dependency_distance = 40;
  kernel.behaviour.transactions = 5;
  for (int i = 0; i < 2; ++i) spec.launches.push_back({kernel, 0, Cycles(0)});
  spec.make_scheduler = [m = machine, kernel] {
    return make_scheduler("static", {m, {kernel, kernel}, {CtaCount(1), CtaCount(1)}});
  };
  spec.window = Cycles(100000);
  const RunResult r = run(spec);
  const auto a = static_cast<double>(r.kernels[0].warp_instructions), b = static_cast<double>(r.kernels[1].warp_instructions);
  EXPECT_NEAR(a / b, 1.0, 0.1);
}

/// One kernel only computes and the other only stores: what an SM did tells whose CTAs it held.
TEST_F(GpuModel, SpatialKeepsEachKernelOnItsOwnSms) {
  KernelDescriptor computes = mix("LBM").kernels.front();
  computes.behaviour = {};
  computes.behaviour.warp_instructions = 1000;
  KernelDescriptor stores = computes;
  stores.behaviour.store_fraction = 1;
  RunSpec spec;
  spec.machine = machine;
  spec.launches = {{computes, 0, Cycles(0)}, {stores, 0, Cycles(0)}};
  spec.make_scheduler = [m = machine, computes, stores] { return make_scheduler("spatial", {m, {computes, stores}}); };
  spec.window = Cycles(20000);
  const RunResult r = run(spec);
  for (std::size_t sm = 0; sm < r.sms.size(); ++sm) {
    EXPECT_EQ(r.sms[sm].work.alu_busy != 0, sm < 8) << "SM " << sm;
    EXPECT_EQ(r.sms[sm].work.ldst_busy != 0, sm >= 8) << "SM " << sm;
  }
}

/// What has been stored is in the L2, under way, or in DRAM: stores can't be faster than it for ever.
TEST_F(GpuModel, StoresWaitForTheDram) {
  machine = read_machine(kRoot / "configs/machines/fermi_accelsim.toml");
  RunSpec spec = solo("LBM", 60000);
  KernelBehaviour& b = spec.launches[0].kernel.behaviour;
  b = {};
  b.warp_instructions = 100000;
  b.store_fraction = 0.4;
  b.dependency_distance = 40;
  b.reuse_fraction = b.footprint_fraction = 0;
  b.row_locality = 0.9;
  const RunResult r = run(spec);
  const std::uint64_t held = machine.l2_slices * machine.l2.bytes / 128 + machine.dram.channels * (machine.dram.queue_depth + 16);
  EXPECT_LT(r.total.l2_accesses, r.total.dram_requests + held);
}

/// Loads and stores that wait for each other's bursts must not turn the bus for every single one.
TEST_F(GpuModel, LoadsAndStoresShareTheDramInBatches) {
  machine = read_machine(kRoot / "configs/machines/h200.toml");
  machine.num_sms = 12;
  machine.l2_slices = machine.dram.channels = 2;  // little bandwidth for its SMs
  RunSpec spec = solo("LBM", 60000);
  KernelBehaviour& b = spec.launches[0].kernel.behaviour;
  b = {};
  b.warp_instructions = 100000;
  b.load_fraction = b.store_fraction = 0.25;
  b.dependency_distance = 40;
  b.reuse_fraction = b.footprint_fraction = 0;
  b.row_locality = 1;
  const RunResult r = run(spec);
  const double peak = machine.dram.channels * machine.dram.bytes_per_cycle * machine.dram.clock_mhz / machine.core_mhz;
  EXPECT_GT(static_cast<double>(r.total.dram_bytes) / static_cast<double>(r.cycles.value()), 0.6 * peak);
}

TEST_F(GpuModel, BarriersEndUnderEveryScheduler) {
  for (const WarpSchedulerKind kind : kKinds) {
    RunSpec spec = solo("BFS", 500000);  // 16 warps a CTA, 8 a scheduler; the two-level one looks at 6
    spec.machine.sm.scheduler = kind;
    spec.launches[0].kernel.behaviour.barrier_interval = 8;
    spec.launches[0].target_warp_instructions = 100000;
    const RunResult r = run(spec);
    EXPECT_GT(r.kernels[0].finish_cycle, 0U);
    EXPECT_GT(r.stalls.barrier, 0U);
  }
}

TEST_F(GpuModel, CodeThatDoesNotFitTheInstructionCacheWaitsForIt) {
  machine.sm.fetch.cache_bytes = 2048;
  RunSpec fits = solo("DXT", 30000), misses = fits;
  fits.launches[0].kernel.behaviour.code_bytes = 1024;
  misses.launches[0].kernel.behaviour.code_bytes = 8192;
  const auto results = run({fits, misses});
  EXPECT_GT(results[0].total.warp_instructions, results[1].total.warp_instructions * 5 / 4);
  EXPECT_GT(results[1].stalls.instruction_buffer, 2 * results[0].stalls.instruction_buffer);
}

/// Warps of one kernel that wait for their code must leave the other's warps room in the two-level scheduler's active set.
TEST_F(GpuModel, UnderNoWarpSchedulerIsAPairSlowerTogetherThanOneAfterTheOther) {
  constexpr std::uint64_t kAlone = 100000;
  workload = read_workload(kRoot / "configs/workloads/table2_published.toml");
  for (const WarpSchedulerKind kind : kKinds) {
    machine.sm.scheduler = kind;
    const auto alone = run({solo("DXT", kAlone), solo("LBM", kAlone)});
    RunSpec together = corun("DXT_LBM", "warped_slicer", 0);
    for (std::size_t k = 0; k < 2; ++k) together.launches[k].target_warp_instructions = alone[k].total.warp_instructions;
    EXPECT_LT(run(together).cycles.value(), 2 * kAlone * 11 / 10) << static_cast<int>(kind);
  }
}

TEST_F(GpuModel, AKernelWithASecondPhaseChangesItsBehaviour) {
  RunSpec spec = solo("DXT", 100000);
  KernelDescriptor& kernel = spec.launches[0].kernel;
  RunSpec changed = spec;
  changed.launches[0].kernel.phase = KernelPhase{200, mix("BLK").kernels.front().behaviour};
  changed.launches[0].kernel.phase->behaviour.warp_instructions = kernel.behaviour.warp_instructions;
  const auto results = run({spec, changed});
  EXPECT_GT(results[1].total.dram_bytes, 10 * results[0].total.dram_bytes);
}

TEST_F(GpuModel, EnergyGrowsWithWorkAndLeaksWithTime) {
  const RunResult soon = run(solo("IMG", 20000)), later = run(solo("IMG", 40000));
  const Energy a = energy_of(energy_events(soon.total, soon.cycles), machine),
               b = energy_of(energy_events(later.total, later.cycles), machine);
  EXPECT_GT(b.sm_dynamic, 1.5 * a.sm_dynamic);
  EXPECT_NEAR(b.sm_leakage, 2 * a.sm_leakage, 1e-9);
  EXPECT_NEAR(a.sm_leakage / a.seconds, machine.energy.sm_leakage_watts * machine.num_sms, 1e-6);
}

TEST_F(GpuModel, RefusesAKernelThatFitsNowhere) {
  RunSpec spec = solo("DXT", 1000);
  spec.launches[0].kernel.registers_per_cta = 40000;
  EXPECT_THROW(run(spec), InputError);
}

}  // namespace
}  // namespace sluice
