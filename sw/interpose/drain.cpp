// SPDX-License-Identifier: Apache-2.0
// Waits of a program until none of its launches that may sleep is on the GPU.
#include <optional>
#include <set>

#include "sw/interpose/program.h"
#include "sw/interpose/table.h"

namespace sluice::interpose {

std::unique_ptr<Program::Drain> Program::stream_begins() {
  std::unique_lock held(lock_);
  if (!lanes_.stream_begins()) return nullptr;
  auto drain = std::make_unique<Drain>(*this, held, true);
  lanes_.make_spares(held);  // beyond the channels themselves
  return drain;
}

void Program::meets(CUstream stream) {
  if (stream != CU_STREAM_PER_THREAD) return;
  thread_local std::set<ContextId> met;
  const std::optional<ContextId> here = current_context();
  if (!here || !met.insert(*here).second) return;
  const auto drain = stream_begins();
  unsigned long long id = 0;
  SLUICE_REAL(cuStreamGetId)(stream, &id);
}

void Program::make_spares(std::unique_lock<std::mutex>& held, const ContextState& of_graph) {
  if (of_graph.has_spares()) return;
  const Drain drain(*this, held, false);
  if (drain.reached()) lanes_.make_spares(held);  // else with the next node
}

Program::Drain::Drain(Program& program) : program_(program) {
  if (program.ended_) {
    ++program.drains_;
    return;
  }
  std::unique_lock held(program.lock_);
  wait(held, true);
}
Program::Drain::Drain(Program& program, std::unique_lock<std::mutex>& held, bool patient) : program_(program) {
  wait(held, patient);
}
Program::Drain::~Drain() { --program_.drains_; }

void Program::Drain::wait(std::unique_lock<std::mutex>& held, bool patient) {
  ++program_.drains_;
  while (program_.lanes_.outstanding() > 0 && !program_.ended_) {
    if (!patient && program_.lanes_.one_stands_still()) {
      reached_ = false;
      return;
    }
    program_.lanes_.wake();
    program_.lanes_.wait_for_change(held);
  }
}

void Program::launches_natively(const std::string& entry) {
  std::unique_lock held(lock_);
  if (ended_) return;
  const Drain drain(*this, held, false);  // it may wait for the GPU
  const char* reason = "launched by a function of the driver that this build does not know";
  ++coverage_.row({Coverage::Way::Native, entry, reason, 0, current_gpu()}).launches;
}
void launches_natively(const std::string& entry) { Program::instance().launches_natively(entry); }

void Program::wait_while_draining(std::unique_lock<std::mutex>& held) {
  while (drains_ > 0 && !ended_) lanes_.wait_for_change(held);
}

bool Program::sleepers_possible() {
  const std::scoped_lock held(lock_);
  return lanes_.outstanding() > 0;
}

void Program::wait_for_launches(CUstream stream) {
  meets(stream);
  if (!sleepers_possible()) return;
  const Relaxed relaxed;  // the event is behind what the copy would be behind: with the legacy stream, other streams as well
  CUevent event = nullptr;
  if (SLUICE_REAL(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) return;
  if (SLUICE_REAL(cuEventRecord)(event, stream) == CUDA_SUCCESS) SLUICE_REAL(cuEventSynchronize)(event);
  SLUICE_REAL(cuEventDestroy_v2)(event);
}

}  // namespace sluice::interpose
