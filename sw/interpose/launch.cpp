// SPDX-License-Identifier: Apache-2.0
// A launch under a quota. Each stream has a control block of its own: its launches follow each other, so one is enough. The
// grid's last CTA stays until all blocks are done, so the grid's end is the launch's end.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include "sw/gpu/jobs/job_shape.h"
#include "sw/gpu/rewrite/transform.h"
#include "sw/interpose/program.h"
#include "sw/interpose/table.h"

namespace sluice::interpose {

namespace {

constexpr int kRoomForOurs = 28;                    ///< percent of the scratchpad, 64 KB on an H200: eight blocks of ours
constexpr auto kLongest = std::chrono::seconds(1);  ///< for which a launch waits for room among the lanes

bool capturing(CUstream stream) {
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  return SLUICE_REAL(cuStreamIsCapturing)(stream, &capture) != CUDA_SUCCESS || capture != CU_STREAM_CAPTURE_STATUS_NONE;
}

class InDriver {
 public:
  InDriver() { in_driver = true; }
  ~InDriver() { in_driver = false; }
  InDriver(const InDriver&) = delete;
  InDriver& operator=(const InDriver&) = delete;
};

/// Lanes that may hold launches which have not ended, where those may sleep: beside as many streams as the process has channels
/// no grid begins.
std::size_t most_lanes() { return channels_of_process() - 1; }

/// CTAs on each SM for so many blocks.
unsigned rows(std::uint64_t blocks, unsigned sms, unsigned fits) {
  return static_cast<unsigned>(std::min<std::uint64_t>((blocks + sms - 1) / sms, fits));
}

}  // namespace

/// SLUICE_SHORT_US: launches that take less, on average, go on natively; 0: none.
std::string Program::not_worth_it(const std::string& kernel, const Transformed& launch, bool of_graph) {
  static const double least = [] {
    const char* set = std::getenv("SLUICE_SHORT_US");
    return set == nullptr ? 25.0 : std::strtod(set, nullptr);
  }();
  const std::optional<double> us = coverage_.microseconds(kernel, launch.blocks);
  if (us) return *us < least ? kShort : "";
  return of_graph && launch.small && least > 0 ? std::string(gpu::gate_row(gpu::GateRule::SmallNode).native) : "";
}

const Program::Shape& Program::shape(const Kernel& kernel, Part& part, const gpu::LaunchFacts& facts) {
  const unsigned threads = facts.block[0] * facts.block[1] * facts.block[2];
  const auto [at, fresh] = part.shapes.try_emplace({threads, facts.dynamic_shared});
  Shape& shape = at->second;
  if (!fresh) return shape;
  CUdevice device = 0;
  SLUICE_REAL(cuCtxGetDevice)(&device);
  if (kernel.carveout)
    SLUICE_REAL(cuFuncSetAttribute)(part.ours, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, *kernel.carveout);
  int ctas = 0, optin = 0, own = 0, allowed = 0, sms = 0, registers = 0;
  const auto device_attribute = SLUICE_REAL(cuDeviceGetAttribute);
  const auto attribute_of = SLUICE_REAL(cuFuncGetAttribute);
  device_attribute(&optin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device);
  device_attribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
  shape.sms = static_cast<std::uint32_t>(sms);
  attribute_of(&own, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, part.own);
  attribute_of(&allowed, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, part.own);
  if (facts.dynamic_shared > static_cast<unsigned>(allowed)) return shape;  // the driver refuses it
  const int taken = own + static_cast<int>(facts.dynamic_shared);
  shape.shared_left = optin > taken ? static_cast<unsigned>(optin - taken) : 0;
  const auto occupancy = SLUICE_REAL(cuOccupancyMaxActiveBlocksPerMultiprocessor);
  if (occupancy(&ctas, part.own, static_cast<int>(threads), facts.dynamic_shared) == CUDA_SUCCESS)
    shape.native = static_cast<unsigned>(ctas);
  // Blocks that stay until others have run leave scratchpad for ours: an SM's split of L1 stands as long as any block of it.
  if (kernel.form->waits && taken == 0 && !kernel.carveout)
    SLUICE_REAL(cuFuncSetAttribute)(part.own, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, kRoomForOurs);
  const unsigned shared = facts.dynamic_shared + kernel.form->shared_behind;
  if (shared > 0) SLUICE_REAL(cuFuncSetAttribute)
  (part.ours, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
   static_cast<int>(std::max(shared, static_cast<unsigned>(allowed))));
  ctas = 0;
  if (occupancy(&ctas, part.ours, static_cast<int>(threads), shared) == CUDA_SUCCESS)
    shape.transformed = std::min(static_cast<unsigned>(ctas), unsigned{SLUICE_MAX_SLOTS});
  attribute_of(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, part.ours);
  const unsigned of_thread = (static_cast<unsigned>(registers) + 7) / 8 * 8,
                 whole = (threads + 31) / 32 * 32;  // as the device allots
  shape.demand = {kernel.name,       threads,    of_thread * whole, static_cast<unsigned>(taken) + kernel.form->shared_behind,
                  shape.transformed, kernel.text};
  return shape;
}

std::optional<std::string> Program::prepare(Kernel& kernel, Part& part, const ProgramLaunch& launch, Transformed& out) {
  if (const std::string& why = lanes_.shares().native(); !why.empty()) return why;
  if (channels_of_process() == 1 && (lanes_.shares().changes() || (kernel.form != nullptr && kernel.form->waits)))
    return "the process has one channel to the GPU: an order could not pass a launch that waits";
  if (launch.facts.cooperative) return std::string(gpu::gate_row(gpu::GateRule::Cooperative).native);
  if (kernel.form == nullptr) return kernel.why;
  if (kernel.form->refusal) return kernel.form->refusal->reason;
  if (part.ours == nullptr) return "the driver does not load the transformed module";
  const Shape& fits = shape(kernel, part, launch.facts);
  if (fits.native == 0 || fits.transformed == 0) return std::string(gpu::gate_row(gpu::GateRule::SharedRoom).native);
  if (const auto refused = gpu::refuse_launch(*kernel.form, launch.facts, {fits.sms, fits.native, fits.shared_left}))
    return refused->reason;
  char* buffer = nullptr;
  for (void** e = launch.extra; e != nullptr && *e != CU_LAUNCH_PARAM_END; e += 2)
    if (*e == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = static_cast<char*>(e[1]);
  if (!kernel.parameters.empty() && buffer == nullptr && launch.parameters == nullptr) return "no arguments are given";

  out.job =
      std::make_shared<SluiceJob>(gpu::job_shape({launch.facts.grid, fits.sms * fits.transformed, kernel.form->waits ? 1U : 0U}));
  out.job->flags = SLUICE_HELD | sluice_flags(fits.transformed, lanes_.shares().in_parts());
  out.shared = launch.facts.dynamic_shared + kernel.form->shared_behind;
  out.job->shared_at = out.shared - static_cast<unsigned>(sizeof(SluiceState));
  out.function = part.ours;
  out.grid[0] = fits.sms;
  out.grid[1] = rows(out.job->blocks, fits.sms, fits.transformed);
  out.demand = fits.demand;
  out.blocks = out.job->blocks;
  out.waits = kernel.form->waits;
  out.small = out.blocks < 2ULL * fits.sms * fits.native;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    out.parameters.push_back(buffer != nullptr ? buffer + kernel.parameters[i].first : launch.parameters[i]);
    out.bytes.push_back(kernel.parameters[i].second);
  }
  out.parameters.push_back(out.job.get());
  return std::nullopt;
}

Pending Transformed::pending(const gpu::LaunchFacts& facts) const {
  Pending out;
  out.function = function;
  out.demand = demand;
  out.grid = {grid[0], grid[1]};
  out.block = facts.block;
  out.shared = shared;
  out.blocks = blocks;
  out.waits = waits;
  const auto add = [&](const void* from, std::size_t count) {
    const std::size_t at = (out.arguments.size() + 15) / 16 * 16;
    out.at.push_back(at);
    out.arguments.resize(at + count);
    std::memcpy(out.arguments.data() + at, from, count);
  };
  for (std::size_t i = 0; i < bytes.size(); ++i) add(parameters[i], bytes[i]);
  add(job.get(), sizeof(SluiceJob));
  return out;
}

std::shared_ptr<Lane> Program::enter(std::unique_lock<std::mutex>& held, CUstream stream, std::string& reason) {
  std::shared_ptr<Lane> lane = lanes_.of_stream(held, stream);
  if (lane == nullptr) {
    reason = "no memory for the job's state";
    return nullptr;
  }
  const Clock::time_point begin = Clock::now();
  while (lane->watched) {
    const Slot& slot = *lane->slots.front();
    if (slot.told.word == nullptr) break;
    if (slot.pending.empty() ? lanes_.outstanding(lane->context_state->gpu()) < most_lanes() : !lanes_.is_full(*lane)) break;
    if (slot.pending.empty() && Clock::now() - begin > kLongest) {
      reason = "other streams hold launches that have not ended: one stream more could keep their blocks from the GPU";
      return nullptr;
    }
    // Where the lane is full its launches are being looked at: to wake the thread each time would keep the lock from orders.
    if (slot.pending.empty()) lanes_.wake();
    lanes_.wait_for_change(held);
  }
  return lane;
}

void Program::make_room(CUstream stream) {
  meets(stream);
  const InContext in(context_of(stream));
  std::unique_lock held(lock_);
  lanes_.enters(held, stream);
}

CUresult Program::wait_event(CUstream stream, const Native& as_it_is) {
  if (ended_) return as_it_is();
  meets(stream);
  if (!sleepers_possible() || capturing(stream)) return as_it_is();
  const InContext in(context_of(stream));
  {
    std::unique_lock held(lock_);
    lanes_.before_wait(held, stream);
  }
  const CUresult result = as_it_is();
  if (capturing(stream)) return result;  // from here on
  std::unique_lock held(lock_);
  lanes_.after_wait(held, stream);
  return result;
}

CUresult Program::run_native(std::unique_lock<std::mutex>& held, Coverage::Row& row, CUstream stream, const Native& as_it_is,
                             std::uint64_t short_blocks) {
  lanes_.enters(held, stream);
  const auto timed = coverage_.begin(row, short_blocks, stream);
  held.unlock();
  const CUresult result = [&] {
    const InDriver now;
    return as_it_is();
  }();
  if (timed) {
    held.lock();
    coverage_.end(*timed, stream);
  }
  return result;
}

void Followed::look() {
  CUcontext before = nullptr;
  SLUICE_REAL(cuCtxGetCurrent)(&before);
  std::erase_if(under_way_, [&](const Launch& l) {
    if (before == nullptr) SLUICE_REAL(cuCtxSetCurrent)(l.context);  // a thread of ours
    if (SLUICE_REAL(cuEventQuery)(l.behind) == CUDA_ERROR_NOT_READY) return false;
    spare_.push_back({l.context, l.behind});
    return true;
  });
}

bool Followed::full() {
  if (under_way_.size() + entering_ >= most_) look();
  return under_way_.size() + entering_ >= most_;
}

bool Followed::runs() {
  look();
  return entering_ != 0 || std::ranges::any_of(under_way_, [](const Launch& l) {
           return l.lane == nullptr || l.lane->share.ctas.value() != 0 || !l.lane->outstanding();
         });
}

void Followed::entered(CUstream stream, std::shared_ptr<Lane> lane) {
  Launch launch;
  SLUICE_REAL(cuCtxGetCurrent)(&launch.context);
  const auto spare = std::ranges::find(spare_, launch.context, &Launch::context);
  if (spare != spare_.end()) {
    launch = *spare;
    spare_.erase(spare);
  } else {
    SLUICE_REAL(cuEventCreate)(&launch.behind, CU_EVENT_DISABLE_TIMING);
  }
  SLUICE_REAL(cuEventRecord)(launch.behind, stream);
  launch.lane = std::move(lane);
  under_way_.push_back(launch);
  --entering_;
  told_ = false;
}

void Followed::context_ends(CUcontext context) {
  const auto of_it = [&](const Launch& l) { return l.context == context; };
  std::erase_if(spare_, of_it);
  std::erase_if(under_way_, of_it);
}

bool Followed::ended() {
  if (told_ || entering_ != 0) return false;
  look();
  return under_way_.empty() && !told_.exchange(true);
}

bool Program::await_code(std::unique_lock<std::mutex>& held, Kernel& kernel) {
  constexpr auto kMost = std::chrono::seconds(2);
  const Clock::time_point begin = Clock::now();
  const auto there = [&] { return kernel.later == nullptr || kernel.later->done(); };
  while (!there() && ahead_of_code_.full() && !ended_ && kernel.awaited + (Clock::now() - begin) < kMost) {
    held.unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    held.lock();
  }
  kernel.awaited += Clock::now() - begin;
  return there();
}

bool Program::holds() {
  static const std::string set = [] {
    const char* value = std::getenv("SLUICE_OPAQUE");
    return std::string(value == nullptr ? "" : value);
  }();
  return set.empty() ? lanes_.shares().holds() : set == "hold";
}

CUresult Program::run_held(std::unique_lock<std::mutex>& held, Coverage::Row& row, CUstream stream, const Native& as_it_is) {
  const auto behind_what_waits = [&] {  // it would keep the turn from what it waits for
    const std::shared_ptr<Lane> lane = lanes_.known(stream);
    return lane != nullptr && lane->share.ctas.value() == 0 && lane->outstanding();
  };
  Followed& opaque = this->opaque(current_gpu());
  while (opaque.full() || behind_what_waits() || !lanes_.shares().admit(row.key->kernel)) {
    held.unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    held.lock();
  }
  opaque.enters();
  const CUresult result = run_native(held, row, stream, as_it_is);
  if (!held.owns_lock()) held.lock();
  opaque.entered(stream, lanes_.known(stream));
  return result;
}

bool Program::held_one_runs(GpuNumber gpu) {
  const std::scoped_lock held(lock_);
  return opaque(gpu).runs();
}

void Program::look_at_admitted(GpuNumber gpu) {
  if (opaque(gpu).told()) return;
  const std::scoped_lock held(lock_);
  if (opaque(gpu).ended()) lanes_.shares(gpu).admitted_ended();
}

CUresult Program::launch(const ProgramLaunch& launch, const Native& as_it_is, const Ours& with) {
  if (launch.function == nullptr || ended_) return as_it_is();                  // the driver says so
  if (captures_.load(std::memory_order_relaxed) && capturing(launch.stream)) {  // graphs.cpp
    const CUresult result = as_it_is();
    captured(launch.function);
    return result;
  }
  meets(launch.stream);
  std::unique_lock held(lock_);
  notice_resets();
  const KernelPtr k = find(launch.function);
  if (k != nullptr && k->known_row != nullptr && k->known_row->key->gpu == current_gpu() &&
      ((k->never && !launch.facts.cooperative) || k->known == launch.facts) &&
      (k->short_blocks == 0 || k->timed == k->known_row->timed))
    return run_native(held, *k->known_row, launch.stream, as_it_is, k->short_blocks);
  const InContext in(context_of(launch.stream));
  std::string name, reason;
  std::optional<Transformed> ours = transformed(held, launch, false, name, reason);
  if (!ours && k != nullptr && k->later != nullptr && await_code(held, *k)) ours = transformed(held, launch, false, name, reason);
  std::shared_ptr<Lane> lane;
  const std::uint64_t blocks = ours ? ours->blocks : 0;
  if (ours) reason = not_worth_it(name, *ours, false);
  if (!reason.empty()) ours.reset();
  if (ours) {
    lane = enter(held, launch.stream, reason);
    if (lane == nullptr) ours.reset();
  }
  if (!ours) {
    Coverage::Row& row = coverage_.row({Coverage::Way::Native, name, reason, 0, current_gpu()});
    const bool hold = holds() && lanes_.shares().native().empty() && reason != kShort && reason != kNotLoaded;
    if (hold) return run_held(held, row, launch.stream, as_it_is);
    const bool waits = k != nullptr && k->form != nullptr && k->form->waits;
    if (k != nullptr && !waits && reason != kNotLoaded && reason != kOtherContext && k->later == nullptr && k->lazy == nullptr) {
      k->known = launch.facts;  // the next one like it is not decided anew
      k->never = k->form == nullptr && !launch.facts.cooperative;
      k->known_row = &row;
      k->short_blocks = reason == kShort ? blocks : 0;
      k->timed = row.timed;
    }
    Followed* const followed = waits ? &native_waits_ : k != nullptr && k->later != nullptr ? &ahead_of_code_ : nullptr;
    if (followed != nullptr) followed->enters();
    const CUresult result = run_native(held, row, launch.stream, as_it_is, reason == kShort ? blocks : 0);
    if (followed == nullptr) return result;
    if (!held.owns_lock()) held.lock();
    followed->entered(launch.stream, nullptr);
    return result;
  }
  if (ours->waits || lane->watched) lanes_.watch(*lane);
  std::unique_lock<std::mutex> order;
  if (lane->watched) {
    held.unlock();
    order = std::unique_lock(lane->launching);
    held.lock();
    wait_while_draining(held);
  }
  Slot& slot = *lane->slots.front();
  ours->job->control = reinterpret_cast<SluiceControl*>(slot.control);
  ours->job->orders = reinterpret_cast<SluiceOrders*>(lane->orders);
  Lanes::count_runs(held, *lane, slot, *ours->job);
  lanes_.ask_share(*lane, slot.pending.empty() ? ours->demand : lane->told);
  if (lane->stale && !lanes_.send(*lane)) {
    held.unlock();
    return as_it_is();
  }
  if (const unsigned own = lane->share.sms.count; own > 0 && own < ours->grid[0])  // twice: many come where they have to leave
    ours->grid[1] = 2 * rows(ours->blocks, own, sluice_fits(ours->job->flags));
  if (lane->watched) {
    if (slot.pending.empty()) {
      slot.moved = lane->in_front = Clock::now();
      lane->gone = lane->entered;
    }
    slot.pending.push_back(ours->pending(launch.facts));
    slot.pending.back().number = slot.launched;
    slot.pending.back().entered = ++lane->entered;
    lane->busy = true;
  }
  ++slot.launched;
  Coverage::Row& row = coverage_.row({Coverage::Way::Quota, name, "", ours->demand.module, current_gpu()});
  const auto timed = coverage_.begin(row, ours->blocks, launch.stream);
  const bool asleep = lane->watched && !lanes_.polls();
  held.unlock();
  ours->follows_closely = true;
  const CUresult result = [&] {
    const InDriver now;
    return with(*ours);
  }();
  if (timed || result != CUDA_SUCCESS) {
    held.lock();
    if (timed) coverage_.end(*timed, launch.stream);
    if (result != CUDA_SUCCESS) --slot.launched;
    if (result != CUDA_SUCCESS && lane->watched) slot.pending.pop_back();  // none is behind it: this thread has the lane's order
    held.unlock();
  }
  if (asleep) lanes_.wake();
  return result;
}

}  // namespace sluice::interpose
