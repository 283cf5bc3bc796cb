// SPDX-License-Identifier: Apache-2.0
// The sets of apps/user_set.cu and gate_set.cu: bit by bit as untransformed, under quotas and evictions; or a reason why not.
#include <random>
#include <span>

#include "sw/gpu/experiments/experiments.h"
#include "sw/gpu/runtime/embedded.h"

namespace sluice::gpu {

namespace {

struct Launch {
  const char* launch;
  const char* rule = nullptr;  ///< what the gate should say of it: a rule's name, or "" for transformed
};
constexpr Launch kLaunches[] = {
    {"early_return,grid=3000,block=192,args=in:u32:575000:uniform:0:4e9;out:u32:575000;u32:575000"},
    {"early_return_and_barriers,grid=5000,block=128,args=in:u32:640000:uniform:0:4e9;out:u32:640000"},
    {"static_shared,grid=60x50,block=16x16,args=in:f32:768000:uniform:-1:1;out:f32:768000;i32:960"},
    {"dynamic_shared,grid=4000,block=160,smem=1280,args=in:f64:640000:uniform:-9:9;out:f64:640000"},
    {"templated<float, 9>,grid=4000,block=128,args=in:f32:512000:uniform:-1:1;out:f32:512000;f32:1.25"},
    {"templated<unsigned long long, 4>,grid=4000,block=128,args=in:u64:512000:uniform:0:4e9;out:u64:512000;u64:3"},
    {"device_function,grid=13x11x17,block=8x4x2,args=out:u32:155584"},
    {"launch_bounds,grid=7000,block=96,args=in:f32:672000:uniform:-2:2;out:f32:672000"},
    {"three_dimensions,grid=9x14x23,block=8x8x4,args=out:u32:741888;u32:77"},
    {"grid_stride,grid=2000,block=128,args=in:u32:700001:uniform:0:4e9;out:u32:700001;u32:700001"},
    {"integer_atomics,grid=3000,block=256,args=in:u8:12288000:uniform:0:256;inout:u32:256:zero"},
    {"asynchronous_copies,grid=3000,block=64,args=in:u32:1536000:uniform:0:4e9;out:u32:1536000"},
    {"named_barriers,grid=3000,block=256,args=in:u32:768000:uniform:0:4e9;out:u32:768000"},
    {"partial_warp,grid=60x50,block=13x11,args=in:u32:429000:uniform:0:4e9;out:u32:429000;u32:428500"},
    {"partial_warp_3d,grid=9x14x23,block=7x5x3,args=out:u32:304290;u32:77"},
    {"less_than_a_warp,grid=20000,block=20,args=in:u32:400000:uniform:0:4e9;out:u32:400000"},
    {"many_warps,grid=700,block=1000,args=in:f32:700000:uniform:-9:9;out:f32:700000"},
    {"partial_warp_atomics,grid=6000,block=75,args=in:u8:450000:uniform:0:256;inout:u32:256:zero"},
    {"partial_warp_vote,grid=6000,block=75,args=in:u32:450000:uniform:0:4e9;out:u32:450000"},
    {"grid_barrier,grid=100,block=64,args=out:u32:6400"},
    {"cluster,grid=100,block=64,args=out:u32:6400"},
    {"thread_exit,grid=100,block=64,args=out:u32:6400"},
    {"early_return_and_named_barrier,grid=100,block=64,args=out:u32:6400"},
};

constexpr Launch kGateLaunches[] = {
    {"lookback,grid=40000,block=32,args=inout:u32:40000:zero;out:u32:40000", ""},
    {"grid_barrier_by_hand,grid=100,block=64,args=inout:u32:1:zero;out:u32:6400", "waits for all"},
    {"shared_base,grid=3000,block=32,smem=4096,args=out:u32:3000", ""},
    {"conditional_barrier,grid=3000,block=256,args=in:u32:768000:uniform:0:1000;out:u32:768000;u32:767900", ""},
    {"exit_with_a_space,grid=1000,block=64,args=out:u32:64000", "thread exit"},
    {"copy_left_open,grid=4000,block=256,args=in:u32:4096000:iota;out:u32:4000", ""},
    {"module_variable,grid=4000,block=64,args=inout:u32:1:zero", ""},
    {"counted_barrier,grid=3000,block=256,args=out:u32:768000", ""},
    {"counted_barrier_0,grid=1000,block=256,args=out:u32:256000", "barrier count"},
    {"arrive_and_go,grid=1000,block=128,args=out:u32:128000", "barrier arrive"},
    {"all_static_shared,grid=3000,block=256,args=out:u32:768000", ""},
    {"barrier_in_a_function,grid=3000,block=128,args=in:u32:384000:uniform:0:1000;out:u32:384000", ""},
};

void run_set(GpuSession& session, const ExperimentOptions& options, const std::string& name, const std::string& file,
             std::span<const Launch> launches) {
  RawLines lines(options, name, launches.size());
  const unsigned sms = session.context().limits().sms;
  for (const Launch& launch : launches) {
    LaunchSpec spec = parse_launch(file + ":" + launch.launch);
    spec.text = embedded_file(spec.file);
    lines.step(spec.kernel, [&] {
      const PreparedKernel kernel(session.context(), session.compiler(), session.tools(), spec);
      nlohmann::json result = {{"kernel", spec.kernel}, {"blocks", kernel.spec().blocks()}};
      const StreamHandle stream = make_stream();
      kernel.launch_native(stream.get());
      check(driver().cuStreamSynchronize(stream.get()), spec.kernel + " failed on the GPU");
      const HostBuffers native = kernel.download();
      if (launch.rule != nullptr)
        result.update({{"expected", launch.rule}, {"decided", kernel.rule()}, {"waits", kernel.waits()}});
      if (kernel.refusal()) {
        result["refusal"] = *kernel.refusal();
        return result;
      }
      std::mt19937_64 random(11);
      unsigned runs = 0, same = 0, violations = 0, evictions = 0;
      for (const unsigned group : {1U, 8U})
        for (unsigned quota = 1; quota <= kernel.occupancy(); quota += quota < 3 ? 1 : 5) {
          kernel.reset_buffers();
          QuotaJob job(kernel, {.group = group, .count_runs = true});
          for (int i = 0; i < 4; ++i) {
            job.set(uniform_quota(sms, quota));
            sleep_seconds(static_cast<double>(random() % 40) * 1e-6);
            job.evict();
            ++evictions;
          }
          job.set(uniform_quota(sms, quota));
          job.finish(20);
          ++runs;
          same += kernel.download() == native ? 1 : 0;
          violations += job.state().violations + (job.done_total() == job.total() && job.blocks_with_wrong_count() == 0 ? 0 : 1);
        }
      result.update({{"runs", runs},
                     {"bit_identical", same},
                     {"evictions", evictions},
                     {"violations", violations},
                     {"native_registers", kernel.native().registers()},
                     {"registers", kernel.persistent().registers()}});
      return result;
    });
  }
}

}  // namespace

void user_kernels_experiment(GpuSession& session, const ExperimentOptions& options) {
  run_set(session, options, "user_kernels", "apps/user_set.cu", kLaunches);
}

void gate_experiment(GpuSession& session, const ExperimentOptions& options) {
  run_set(session, options, "gate", "apps/gate_set.cu", kGateLaunches);
}

}  // namespace sluice::gpu
