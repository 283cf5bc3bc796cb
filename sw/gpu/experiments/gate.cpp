// SPDX-License-Identifier: Apache-2.0
// The kernels of apps/gate_set.cu: bit by bit as untransformed, under quotas and evictions; or a reason why not.
#include <iterator>
#include <random>

#include "sw/gpu/experiments/experiments.h"
#include "sw/gpu/runtime/embedded.h"

namespace sluice::gpu {

namespace {

struct Launch {
  const char* launch;
  const char* rule;  ///< what the gate should say of it: a rule's name, or "" for transformed
};
constexpr Launch kLaunches[] = {
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

}  // namespace

void gate_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawLines lines(options, "gate", std::size(kLaunches));
  const unsigned sms = session.context().limits().sms;
  for (const Launch& launch : kLaunches) {
    LaunchSpec spec = parse_launch(std::string("apps/gate_set.cu:") + launch.launch);
    spec.text = embedded_file(spec.file);
    lines.step(spec.kernel, [&] {
      const PreparedKernel kernel(session.context(), session.compiler(), session.tools(), spec);
      nlohmann::json result = {{"kernel", spec.kernel}, {"blocks", kernel.spec().blocks()}};
      const StreamHandle stream = make_stream();
      kernel.launch_native(stream.get());
      check(driver().cuStreamSynchronize(stream.get()), spec.kernel + " failed on the GPU");
      const HostBuffers native = kernel.download();
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

}  // namespace sluice::gpu
