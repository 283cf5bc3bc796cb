// SPDX-License-Identifier: Apache-2.0
#include "study/run_result_json.h"

#include <utility>

namespace sluice {

namespace {

using nlohmann::json;

// One table serves both directions: name and member.
constexpr std::pair<const char*, std::uint64_t RunResult::*> kResultFields[] = {
    {"sm_cycles", &RunResult::sm_cycles},
    {"threads_resident", &RunResult::threads_resident},
    {"registers_resident", &RunResult::registers_resident},
    {"shared_bytes_resident", &RunResult::shared_bytes_resident},
};

template <class T, class Fields>
void write_fields(json& out, const T& value, const Fields& fields) {
  for (const auto& [name, member] : fields) out[name] = value.*member;
}

template <class T, class Fields>
T read_fields(const json& in, const Fields& fields) {
  T value;
  for (const auto& [name, member] : fields) in.at(name).get_to(value.*member);
  return value;
}

json sample_to_json(const ProfileSample& s) {
  return {{"kernel", s.kernel.value()},
          {"sm", s.sm.value()},
          {"label", s.ctas.value()},
          {"resident_min", s.resident_min.value()},
          {"resident_max", s.resident_max.value()},
          {"foreign", s.foreign.value()},
          {"warp_instructions", s.warp_instructions},
          {"stall_cycles", s.stall_cycles},
          {"requests", s.requests}};
}

ProfileSample sample_from_json(const json& in) {
  const auto count = [&](const char* name) { return CtaCount(in.at(name).get<std::uint32_t>()); };
  ProfileSample sample;
  sample.kernel = KernelId(in.at("kernel").get<std::uint32_t>());
  sample.sm = SmId(in.at("sm").get<std::uint32_t>());
  sample.ctas = count("label");
  sample.resident_min = count("resident_min");
  sample.resident_max = count("resident_max");
  sample.foreign = count("foreign");
  in.at("warp_instructions").get_to(sample.warp_instructions);
  in.at("stall_cycles").get_to(sample.stall_cycles);
  in.at("requests").get_to(sample.requests);
  return sample;
}

json decision_to_json(const Decision& decision) {
  std::vector<std::uint32_t> kernels;
  for (const KernelId k : decision.kernels) kernels.push_back(k.value());
  json shares = json::array(), samples = json::array();
  for (const Share& s : decision.partition.shares) shares.push_back({s.ctas.value(), s.sms.first.value(), s.sms.count});
  for (const ProfileSample& s : decision.samples) samples.push_back(sample_to_json(s));
  return {{"sampled_at", decision.sampled_at.value()},
          {"decided_at", decision.decided_at.value()},
          {"kernels", kernels},
          {"profiles", decision.profiles},
          {"mode", static_cast<int>(decision.partition.mode)},
          {"shares", std::move(shares)},
          {"samples", std::move(samples)},
          {"reason", static_cast<int>(decision.reason)}};
}

Decision decision_from_json(const json& in) {
  Decision decision;
  decision.sampled_at = Cycles(in.at("sampled_at").get<std::uint64_t>());
  decision.decided_at = Cycles(in.at("decided_at").get<std::uint64_t>());
  for (const std::uint32_t k : in.at("kernels")) decision.kernels.emplace_back(k);
  in.at("profiles").get_to(decision.profiles);
  decision.partition.mode = static_cast<Mode>(in.at("mode").get<int>());
  for (const json& s : in.at("shares"))
    decision.partition.shares.push_back({CtaCount(s.at(0).get<std::uint32_t>()), {SmId(s.at(1).get<std::uint32_t>()), s.at(2)}});
  for (const json& s : in.at("samples")) decision.samples.push_back(sample_from_json(s));
  decision.reason = static_cast<DecisionReason>(in.at("reason").get<int>());
  return decision;
}

}  // namespace

void to_json(json& out, const RunResult& result) {
  out["cycles"] = result.cycles.value();
  out["unknown_opcodes"] = result.unknown_opcodes;
  write_fields(out, result, kResultFields);
  write_fields(out["total"], result.total, kCounterFields);
  write_fields(out["stalls"], result.stalls, kStallFields);
  out["kernels"] = json::array();
  for (const KernelCounters& k : result.kernels) write_fields(out["kernels"].emplace_back(), k, kCounterFields);
  out["kernel_stalls"] = json::array();
  for (const StallCycles& stalls : result.kernel_stalls) write_fields(out["kernel_stalls"].emplace_back(), stalls, kStallFields);
  out["sms"] = json::array();
  for (const SmCounters& sm : result.sms) {
    json& entry = out["sms"].emplace_back();
    write_fields(entry["work"], sm.work, kCounterFields);
    write_fields(entry["stalls"], sm.stalls, kStallFields);
  }
  out["host"] = {{"evictions", result.host.evictions},
                 {"began", result.host.began},
                 {"decisions", result.host.decisions},
                 {"eviction_cycles", result.host.eviction_cycles},
                 {"pcie_reads", result.host.pcie_reads}};
  out["decisions"] = json::array();
  for (const Decision& d : result.decisions) out["decisions"].push_back(decision_to_json(d));
}

void from_json(const json& in, RunResult& result) {
  result = read_fields<RunResult>(in, kResultFields);
  result.cycles = Cycles(in.at("cycles").get<std::uint64_t>());
  in.at("unknown_opcodes").get_to(result.unknown_opcodes);
  result.total = read_fields<KernelCounters>(in.at("total"), kCounterFields);
  result.stalls = read_fields<StallCycles>(in.at("stalls"), kStallFields);
  for (const json& k : in.at("kernels")) result.kernels.push_back(read_fields<KernelCounters>(k, kCounterFields));
  for (const json& stalls : in.at("kernel_stalls"))
    result.kernel_stalls.push_back(read_fields<StallCycles>(stalls, kStallFields));
  for (const json& sm : in.at("sms"))
    result.sms.push_back(
        {read_fields<KernelCounters>(sm.at("work"), kCounterFields), read_fields<StallCycles>(sm.at("stalls"), kStallFields)});
  in.at("host").at("evictions").get_to(result.host.evictions);
  in.at("host").at("began").get_to(result.host.began);
  in.at("host").at("decisions").get_to(result.host.decisions);
  in.at("host").at("eviction_cycles").get_to(result.host.eviction_cycles);
  in.at("host").at("pcie_reads").get_to(result.host.pcie_reads);
  for (const json& d : in.at("decisions")) result.decisions.push_back(decision_from_json(d));
}

}  // namespace sluice
