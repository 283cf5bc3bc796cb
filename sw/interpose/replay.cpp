// SPDX-License-Identifier: Apache-2.0
// Replays of graphs: shares, counts, times.
#include <algorithm>
#include <bit>

#include "sw/interpose/program.h"
#include "sw/interpose/table.h"

namespace sluice::interpose {

namespace {
constexpr auto kBetweenTimed = std::chrono::milliseconds(100);
constexpr std::size_t kMostTimed = 64;
}  // namespace

CUresult Graphs::launch(CUgraphExec exec, CUstream stream, const std::function<CUresult()>& driver) {
  std::unique_lock held(program_.lock());
  program_.notice_resets();
  const auto known = execs_.find(exec);
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  if (known == execs_.end() || SLUICE_REAL(cuStreamIsCapturing)(stream, &capture) != CUDA_SUCCESS ||
      capture != CU_STREAM_CAPTURE_STATUS_NONE) {
    held.unlock();
    return driver();
  }
  const InContext in(context_of(stream));
  Exec& e = known->second;
  Lanes& lanes = program_.lanes();
  lanes.enters(held, stream);
  const std::shared_ptr<Lane> lane = e.blocks > 0 ? e.lane : nullptr;
  if (lane != nullptr) {
    lanes.ask_share(*lane, e.largest);
    if (lane->stale) static_cast<void>(lanes.send(*lane));
    if (lane->shares->changes()) lanes.watch(*lane);
    lane->busy = true;
  }
  if (lane != nullptr && lane->watched) program_.wait_while_draining(held);
  ++e.replays;
  const auto now = Clock::now();
  Timed timed;
  if ((std::has_single_bit(e.replays) || now - e.timed > kBetweenTimed) && open_.size() < kMostTimed) {
    e.timed = now;
    static_cast<void>(collect());
    for (const auto& [at, node] : e.nodes) timed.nodes.push_back(key_of(e, node));
    timed.context = current_context().value_or(0);
    SLUICE_REAL(cuEventCreate)(&timed.begin, CU_EVENT_DEFAULT);
    SLUICE_REAL(cuEventCreate)(&timed.end, CU_EVENT_DEFAULT);
    SLUICE_REAL(cuEventRecord)(timed.begin, stream);
  }
  const bool watched = lane != nullptr && lane->watched;
  if (const auto here = lanes.here(); here != nullptr && e.last == nullptr) e.last = here->event(CU_EVENT_DISABLE_TIMING);
  const Event last = e.last;  // one for all: replays of an executable follow each other
  if (watched) ++lane->entering;
  held.unlock();
  const CUresult result = driver();
  if (last != nullptr) SLUICE_REAL(cuEventRecord)(last.get(), stream);
  if (timed.end != nullptr || watched) {
    held.lock();
    if (timed.end != nullptr && SLUICE_REAL(cuEventRecord)(timed.end, stream) == CUDA_SUCCESS) open_.push_back(std::move(timed));
    if (watched) --lane->entering;
    if (watched && last != nullptr && std::ranges::find(lane->replays, last) == lane->replays.end())
      lane->replays.push_back(last);
    const bool asleep = watched && !lanes.polls();
    held.unlock();
    if (asleep) lanes.wake();
  }
  return result;
}

Coverage::Key Graphs::key_of(const Exec& exec, const Node& node) {
  if (!node.reason.empty()) return {Coverage::Way::Native, node.kernel, node.reason, 0, exec.gpu};
  return {Coverage::Way::Quota, node.kernel, "", node.demand.module, exec.gpu};
}

void Graphs::count(Exec& exec) {
  const std::uint64_t fresh = exec.replays - exec.counted;
  exec.counted = exec.replays;
  for (const auto& [at, node] : exec.nodes) program_.coverage().add(key_of(exec, node), fresh, 0, 0);
}

bool Graphs::collect() {
  for (std::size_t i = open_.size(); i-- > 0;) {
    Timed timed = std::move(open_.front());
    open_.pop_front();
    const CUresult done = SLUICE_REAL(cuEventQuery)(timed.end);
    if (done == CUDA_ERROR_NOT_READY) {
      open_.push_back(std::move(timed));
      continue;
    }
    float ms = 0;
    if (done == CUDA_SUCCESS && SLUICE_REAL(cuEventElapsedTime)(&ms, timed.begin, timed.end) == CUDA_SUCCESS &&
        !timed.nodes.empty())
      for (const Coverage::Key& key : timed.nodes)
        program_.coverage().add(key, 0, static_cast<double>(ms) / static_cast<double>(timed.nodes.size()), 1);
    SLUICE_REAL(cuEventDestroy_v2)(timed.begin);
    SLUICE_REAL(cuEventDestroy_v2)(timed.end);
  }
  return !open_.empty();
}

void Graphs::count_all() {
  for (auto& [handle, exec] : execs_) count(exec);
}

}  // namespace sluice::interpose
