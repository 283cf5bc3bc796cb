#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sw/core/kernel.h"
#include "sw/core/machine.h"
#include "sw/device/i_device.h"
#include "sw/workload/mix.h"

// Builds results.json (docs/results_schema.md) from runs.
namespace sluice {

/// One kernel alone. @param curve  IPC of the whole GPU with 1..N CTAs per SM, empty when not measured
[[nodiscard]] nlohmann::json solo_entry(const KernelDescriptor& kernel, const RunResult& result, const MachineConfig& machine,
                                        const std::vector<double>& curve);

/// One mix under one policy. @param partition  what the policy chose; Dynamic: its first decision
[[nodiscard]] nlohmann::json run_entry(const Mix& mix, const std::string& policy, const std::string& partitioner,
                                       const Partition& partition, const RunResult& result, const MachineConfig& machine,
                                       Cycles alone, std::size_t candidates);

/// Fills `normalized_ipc` of every run from the left_over run of the same kernels (null without one), and returns the summary:
/// per category, and for all, what each policy gives on average.
nlohmann::json normalize_and_summarize(nlohmann::json& runs);

/// Thread instructions per cycle, whole GPU.
[[nodiscard]] double ipc(const RunResult& result);

/// One line a run, comma separated, quoted where needed (RFC 4180).
[[nodiscard]] std::string results_csv(const nlohmann::json& results);

/// What a terminal shows: pairs by policies, and the averages.
[[nodiscard]] std::string results_table(const nlohmann::json& results);

}  // namespace sluice
