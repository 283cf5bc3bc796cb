// SPDX-License-Identifier: Apache-2.0
#include "study/run_pool.h"

/// A quantity is its number.
template <class Tag, class Rep>
struct nlohmann::adl_serializer<sluice::Quantity<Tag, Rep>> {
  static void to_json(json& out, const sluice::Quantity<Tag, Rep>& quantity) { out = quantity.value(); }
  static void from_json(const json& in, sluice::Quantity<Tag, Rep>& quantity) {
    quantity = sluice::Quantity<Tag, Rep>(in.get<Rep>());
  }
};

namespace sluice {

static void to_json(nlohmann::json& out, const KernelCounters& counters) {
  for (const auto& [name, member] : kCounterFields) out[name] = counters.*member;
}
static void from_json(const nlohmann::json& in, KernelCounters& counters) {
  for (const auto& [name, member] : kCounterFields) in.at(name).get_to(counters.*member);
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StallCycles, long_memory, execution_resource, raw, instruction_buffer, barrier, idle)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SmCounters, work, stalls)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SmRange, first, count)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Share, ctas, sms)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Partition, mode, shares)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProfileSample, kernel, sm, ctas, warp_instructions, stall_cycles, requests, resident_min,
                                   resident_max, foreign)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BalanceCandidate, ctas, rates, score, again)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BalanceReport, candidates, kept)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Decision, sampled_at, decided_at, kernels, profiles, partition, samples, reason, balance)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostRecord, evictions, began, decisions, eviction_cycles, pcie_reads)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Sampled, ctas, interval)
// Not inline, as the macro above would have it: other files call these.
#define SLUICE_FIELDS(Each)                                                                                              \
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(Each, cycles, kernels, total, stalls, kernel_stalls, sms, sm_cycles,          \
                                           threads_resident, registers_resident, shared_bytes_resident, decisions, host, \
                                           unknown_opcodes, sampled))
void to_json(nlohmann::json& nlohmann_json_j, const RunResult& nlohmann_json_t) { SLUICE_FIELDS(NLOHMANN_JSON_TO) }
void from_json(const nlohmann::json& nlohmann_json_j, RunResult& nlohmann_json_t) { SLUICE_FIELDS(NLOHMANN_JSON_FROM) }

}  // namespace sluice
